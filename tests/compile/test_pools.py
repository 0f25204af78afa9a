"""Pools of maxima are taken before relus where nobody sees the difference."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target
from rushlight.nn import functional as F

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")

POOLS: dict[str, dict[str, Any]] = {
    "apart": {"kernel_size": 2}, "overlapping": {"kernel_size": 3, "stride": 2},
    "padded": {"kernel_size": 3, "stride": 1, "padding": 1},
    "to the end": {"kernel_size": 2, "ceil_mode": True},
    "dilated": {"kernel_size": 2, "stride": 1, "dilation": 2},
}  # fmt: skip


def awkward(shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers with ties, windows without any above zero, zeros of both signs."""
    x = torch.randn(*shape, dtype=dtype)
    x[0] = -x[0].abs()
    x[1] = x[1].round()
    x[1, 0] = 0.0
    x[1, 1] = -0.0
    return x


def differs(run: Any) -> bool:
    """Whether a compiled step has a relu behind a pool."""
    kinds = [getattr(i, "name", type(i).__name__) for i in run.machine.plan.items]
    text = str(run.machine)
    return "max_pool2d_with_indices" in kinds and "relu" in text.partition("max_pool2d")[2]


def trained(step_of: Callable[[Any, Any], Any], x: Any, compiled: bool) -> tuple[Any, list[Any]]:
    torch.manual_seed(4)
    layer = nn.Conv2d(3, 4, 3, padding=1).to(x.dtype)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        y = step_of(layer, x)
        (y * y).sum().backward()
        optimizer.step()
        return y.detach()

    run = torch.compile(step) if compiled else step
    for _ in range(5):
        y = run(x)
    return run, [y, *layer.parameters(), *(p.grad for p in layer.parameters())]


def assert_same(step_of: Callable[[Any, Any], Any], x: Any, exchanged: bool = True) -> None:
    _, eager = trained(step_of, x, False)
    run, found = trained(step_of, x, True)
    assert run.machine is not None, run.explain()
    assert differs(run) == exchanged, str(run.machine)
    for a, b in zip(eager, found, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4 * float(a.detach().abs().max()),
                              equal_nan=True)  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("options", POOLS.values(), ids=POOLS.keys())
@pytest.mark.parametrize("size", [(6, 7), (14, 13)], ids=str)
def test_a_relu_follows_the_pool(options: dict[str, Any], size: Any, dtype: Any) -> None:
    torch.manual_seed(5)
    x = awkward((3, 3, *size), dtype)
    assert_same(lambda layer, x: F.max_pool2d(F.relu(layer(x)), **options), x)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_comes_through(bad: float) -> None:
    x = torch.randn(3, 3, 8, 8)
    x[1, 2, 3, 4] = bad
    layer = nn.Conv2d(3, 4, 1)

    def run(x: Any) -> Any:
        return F.max_pool2d(F.relu(layer(x)), 2)

    way = torch.compile(run)
    for _ in range(3):
        with torch.no_grad():
            assert torch.allclose(way(x), run(x), equal_nan=True)


def _seen(layer: Any, x: Any) -> Any:
    y = F.relu(layer(x))
    return F.max_pool2d(y, 2) + y[:, :, ::2, ::2]


def _places(layer: Any, x: Any) -> Any:
    y, where = F.max_pool2d(F.relu(layer(x)), 2, return_indices=True)
    return y + where % 2


def _twice(layer: Any, x: Any) -> Any:
    y = F.relu(layer(x))
    return F.max_pool2d(y, 2) + F.max_pool2d(y, 2, stride=2).exp()


def _in_place(layer: Any, x: Any) -> Any:
    y = F.relu(layer(x))
    z = F.max_pool2d(y, 2)
    return z.mul_(2)


@pytest.mark.parametrize("step_of", [_seen, _places, _twice])
def test_where_others_see_the_relu_or_the_places_it_stays(step_of: Any) -> None:
    torch.manual_seed(6)
    assert_same(step_of, awkward((3, 3, 8, 8), torch.float32), False)


def test_what_is_written_afterwards_is_as_before() -> None:
    torch.manual_seed(7)
    x = awkward((3, 3, 8, 8), torch.float32)
    eager, found = trained(_in_place, x, False)[1], trained(_in_place, x, True)[1]
    for a, b in zip(eager, found, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4)


def test_a_relu_in_place_and_a_second_derivative_are_as_before() -> None:
    torch.manual_seed(8)
    x = awkward((3, 3, 8, 8), torch.float64).requires_grad_()

    def step(x: Any) -> Any:
        y = F.max_pool2d(F.relu_(x * 2), 2)
        (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
        (h,) = torch.autograd.grad((g * g).sum(), x)
        return g.detach(), h

    way = torch.compile(step)
    for _ in range(3):
        for a, b in zip(step(x), way(x), strict=True):
            assert torch.allclose(a, b)
