"""Batch and group norms of planes: sums of planes, and kernels that join what is around them."""

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")


def draw(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64)


SHAPES = [(5, 6, 40), (3, 6, 7, 6), (2, 6, 4, 3, 3), (2, 6, 33, 1), (4, 6, 128, 65), (5, 6, 7)]


def trained(norm: Any, x: Any, run_compiled: bool, steps: int = 8) -> tuple[Any, list[Any]]:
    """A step with work around the norm, and what it leaves after some calls."""
    weight = nn.Parameter(torch.linspace(0.5, 2, x.shape[1], dtype=x.dtype)[
        (slice(None), *(None,) * (x.dim() - 2))
    ])  # fmt: skip
    optimizer = torch.optim.SGD([weight, *norm.parameters()], lr=0.01)
    x = x.clone().requires_grad_()

    def step(scale: Any) -> Any:
        optimizer.zero_grad()
        y = torch.relu(norm(x * weight) + x)
        loss = (y * y).mean() + y.amax()
        loss.backward()
        optimizer.step()
        return loss.detach() * scale

    run = torch.compile(step) if run_compiled else step
    for k in range(steps):
        loss = run(torch.tensor(k + 1.0, dtype=x.dtype))
    return run, [loss, weight, x.grad, *norm.parameters(), *norm.buffers()]


def make(x: Any, **options: Any) -> Any:
    norm = getattr(nn, f"BatchNorm{x.dim() - 2}d")(x.shape[1], **options).to(x.dtype)
    if options.get("affine", True):
        with torch.no_grad():
            norm.weight.copy_(torch.linspace(-1, 2, x.shape[1]))
            norm.bias.copy_(torch.linspace(2, -1, x.shape[1]))
    return norm


def assert_same(x: Any, tolerance: float, native: bool = True, **options: Any) -> None:
    _, eager = trained(make(x, **options), x, False)
    run, found = trained(make(x, **options), x, True)
    assert run.machine is not None, run.explain()
    left = {i.name for i in run.machine.plan.list_left()}
    assert not native or not left & {"native_batch_norm", "batch_norm_backward"}, run.explain()
    for a, b in zip(eager, found, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        bound = tolerance * max(1.0, float(a.detach().abs().max()))
        assert float((a - b).detach().abs().max()) <= bound


@pytest.mark.parametrize("options", [
    {}, {"affine": False}, {"track_running_stats": False}, {"eps": 1e-2, "momentum": 0.7},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_planes_are_normalised_natively(shape: tuple[int, ...], options: dict[str, Any]) -> None:
    torch.manual_seed(3)
    assert_same(draw(*shape), 1e-11, **options)
    assert_same(draw(*shape).float(), 2e-4, **options)


def test_statistics_far_from_zero_keep_their_digits() -> None:
    torch.manual_seed(4)
    x = draw(4, 6, 8, 8).float()
    assert_same(x + torch.arange(6.0)[:, None, None] * 300, 2e-3, affine=False)


@pytest.mark.parametrize("shape", [(1, 6, 8, 8), (5, 6, 3, 3), (7, 6, 1, 1), (3, 6, 31)], ids=str)
def test_one_sample_and_short_planes_are_normalised_so_too(shape: tuple[int, ...]) -> None:
    torch.manual_seed(5)
    assert_same(draw(*shape), 1e-11)


GROUPS = [(4, 6, 7, 6), (2, 6, 40), (1, 6, 3, 3), (3, 6, 2, 3, 2), (2, 6, 33, 1), (4, 6, 128, 65)]


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("shape", [*GROUPS, (3, 6), (2, 6, 1, 1)], ids=str)
def test_groups_are_normalised_natively(shape: tuple[int, ...], groups: int, affine: bool) -> None:
    torch.manual_seed(7)
    for dtype, tolerance in ((torch.float64, 1e-11), (torch.float32, 2e-4)):
        x = draw(*shape).to(dtype)
        norms = [nn.GroupNorm(groups, 6, eps=1e-3, affine=affine).to(dtype) for _ in range(2)]
        if affine:
            for norm in norms:
                with torch.no_grad():
                    norm.weight.copy_(torch.linspace(-1, 2, 6))
        _, eager = trained(norms[0], x, False)
        run, found = trained(norms[1], x, True)
        left = {i.name for i in run.machine.plan.list_left()}
        assert shape not in GROUPS or not left, run.explain()
        for a, b in zip(eager, found, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            bound = tolerance * max(1.0, float(a.detach().abs().max()))
            assert float((a - b).detach().abs().max()) <= bound


def test_groups_far_from_zero_keep_their_digits() -> None:
    torch.manual_seed(8)
    x = draw(4, 6, 8, 8).float() + torch.arange(6.0)[:, None, None] * 300
    way = torch.compile(lambda x: nn.functional.group_norm(x * 1, 6) + 0)
    for _ in range(4):
        found = way(x)
    assert float((found - nn.functional.group_norm(x, 6)).abs().max()) <= 2e-3


def test_instances_are_normalised_natively() -> None:
    torch.manual_seed(9)
    x = draw(3, 6, 7, 6)
    _, eager = trained(nn.InstanceNorm2d(6, affine=True).double(), x, False)
    run, found = trained(nn.InstanceNorm2d(6, affine=True).double(), x, True)
    assert not run.machine.plan.list_left(), run.explain()
    for a, b in zip(eager, found, strict=True):
        assert float((a - b).detach().abs().max()) <= 1e-11 * max(
            1.0, float(a.detach().abs().max())
        )


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(6), nn.GroupNorm(2, 6)], ids=str)
def test_a_gradient_that_is_expanded_or_turned_is_read_where_it_lies(norm: Any) -> None:
    torch.manual_seed(10)
    weights = [nn.Parameter(w.detach().clone()) for w in norm.parameters()]

    def step(x: Any) -> Any:
        names = dict(zip(("weight", "bias"), weights))
        y = torch.func.functional_call(norm, names, (x * 2,))
        loss = y.mean((2, 3)).sum() + (y.transpose(2, 3) * x).sum()
        return loss, *torch.autograd.grad(loss, weights)

    way = torch.compile(step)
    for _ in range(4):
        x = torch.randn(3, 6, 5, 5)
        for a, b in zip(way(x), step(x), strict=True):
            assert torch.allclose(a.detach(), b.detach(), rtol=1e-4, atol=1e-3)


def test_an_average_of_all_batches_and_evaluation_between_are_as_before() -> None:
    x = draw(3, 6, 7, 6)
    torch.manual_seed(6)

    def run(compiled: bool) -> list[Any]:
        norm = make(x, momentum=None)

        def forward(x: Any) -> Any:
            return norm(x) * 2

        way = torch.compile(forward) if compiled else forward
        found = []
        for k in range(6):
            norm.train(k % 3 != 2)
            found.append(way(x + k).detach())
        return [*found, *norm.buffers()]

    for a, b in zip(run(False), run(True), strict=True):
        assert torch.allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_spoils_its_channel_alone(bad: float) -> None:
    x = draw(3, 6, 7, 6)
    x[1, 2, 3, 4] = bad
    norm, twin = make(x), make(x)
    way = torch.compile(lambda x: norm(x) + 1)
    for _ in range(3):
        found, exact = way(x), twin(x) + 1
    assert bool((found.isnan() == exact.isnan()).all())
    assert torch.allclose(found[:, :2], exact[:, :2])
    for a, b in zip(norm.buffers(), twin.buffers(), strict=True):
        assert torch.allclose(a.double(), b.double(), equal_nan=True)
