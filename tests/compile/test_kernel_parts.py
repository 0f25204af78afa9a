"""Kernels in parts, as where no llvmlite is: they give what whole kernels and eager steps give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight._compile.assembly import call_frames, kernel_parts, lower
from rushlight._formula.ir import Group
from rushlight._native.llvm import target
from rushlight._native.llvm.loader import UnforeseenError
from rushlight.nn import functional as F
from tests.compile import test_fuzz_programs as fuzz
from tests.compile.twins import check

pytestmark = pytest.mark.skipif(not target.compiles(), reason="llvmlite compiles whole kernels")
Step = Callable[..., Any]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Group]]:
    """No kernel of several instructions is found; the groups that were asked for in their place."""
    asked: list[Group] = []
    formulas = {str(group) for group in kernel_parts.formulas()}

    def find(group: Group, vectors: int | None, ragged: bool) -> int:
        raise UnforeseenError(group.name)

    def find_part(group: Group, vectors: int | None, ragged: bool) -> int:
        if len(group.body) > 8 and str(group) not in formulas:
            raise UnforeseenError("not one of those with a part of their own")
        asked.append(group)
        return call_frames.kernel_address(group, vectors, ragged)

    monkeypatch.setattr(lower, "kernel_address", find)
    monkeypatch.setattr(kernel_parts, "kernel_address", find_part)
    yield asked
    known = {str(x) for x in (*kernel_parts.primitives(), *kernel_parts.formulas())}
    assert {str(group) for group in asked} <= known


def agree(step: Step, *arguments: Any, exact: bool = False, left: bool = False) -> Any:
    """The compiled step, which gives in parts what it gives eagerly, call after call."""
    run = torch.compile(step)
    for call in range(5):
        torch.manual_seed(call)
        given = [x() if callable(x) else x for x in arguments]
        expected, found = step(*given), run(*given)
        pairs = zip(expected, found) if isinstance(expected, tuple) else [(expected, found)]
        for a, b in pairs:
            a, b = a.detach().numpy(), b.detach().numpy()
            assert a.dtype == b.dtype and a.shape == b.shape
            if exact:
                np.testing.assert_array_equal(a, b)
            else:
                largest = float(np.abs(a).max(initial=1))
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5 * largest)
    assert run.machine is not None, run.explain()
    if not left:
        assert run.machine.parts, run.explain()
    return run


def rand(*shape: int, **options: Any) -> Callable[[], Any]:
    return lambda: torch.randn(*shape, **options)


STEPS: dict[str, tuple[Step, list[Callable[[], Any]]]] = {
    "numbers": (lambda x: (x * 2 + 1) / 3 - x.abs().sqrt(), [rand(7, 5)]),
    "rows": (lambda x, r: (x - r) * r + r / (x.abs() + 1), [rand(7, 5), rand(7, 1)]),
    "columns": (lambda x, c: (c - x) * (c + 1) / (2 + c.abs()) + x * c, [rand(7, 5), rand(5)]),
    "rows and columns": (lambda r, c: (r * c).exp().sum(0) + (r + c).sum(), [rand(7, 1), rand(5)]),
    "choices": (lambda x, y: torch.where(x > y, x, 0.0) + torch.where(x <= 0.5, 1.0, y)
                + torch.where((x > 0) & ~(y > 0) | (x == y), x, y), [rand(9, 4), rand(9, 4)]),
    "bools": (lambda x: ((x > 0) ^ (x < 1)).logical_not(), [rand(9, 4)]),
    "counts": (lambda x: (x > 0).sum() + (x > 1).sum(), [rand(9, 4)]),
    "whole": (lambda n: (n * 3 - 7).clamp(0, 9) + (n > 4).long(), [lambda: torch.arange(12)]),
    "softmax": (lambda x: (x.softmax(-1), x.log_softmax(0)), [rand(6, 11)]),
    "maxima": (lambda x: (x.amax(1), x.amin(0), x.logsumexp(1)), [rand(6, 11)]),
    "norm": (lambda x, w, b: F.layer_norm(x, (11,), w, b), [rand(6, 11), rand(11), rand(11)]),
    "polynomials": (lambda x: ((((x * 2 + 3) * x + 4) * x + 5) * x + 6) * x + (x * x + 1) * x,
                    [rand(33)]),
    "gelu": (lambda x: F.gelu(x) + F.gelu(x, approximate="tanh") + F.mish(x), [rand(70, 3)]),
    "names": (lambda x, t: F.cross_entropy(x, t),
              [rand(6, 5), lambda: torch.tensor([0, 4, 1, 2, 3, 3])]),
    "turned": (lambda x, y: x.t() * y + x.t().sum(0), [rand(5, 7), rand(7, 5)]),
    "cut": (lambda x: (x[:, 1:4] * 2).exp().sum(1) + x[:, 2], [rand(7, 5)]),
    "repeated": (lambda x, y: (x[:, None] * y[None]).tanh() + y, [rand(3, 4), rand(6, 4)]),
    "channels": (lambda x, w: (x * w[:, None, None] + 1).sum((0, 2, 3)),
                 [rand(4, 3, 5, 5), rand(3)]),
    "one": (lambda x: (x * 3).sin() / 2, [lambda: torch.randn(())]),
    "doubles": (lambda x: (x * 2).tanh().sum(-1), [rand(5, 4, dtype=torch.float64)]),
    "blocks": (lambda x: (x * 2 + 1).exp().mean() + x.sum(0), [rand(50, 1001)]),
    "pieces": (lambda x: (torch.sin(x) * 2 + x).sum() + (x * 3).tanh(), [rand(300, 307)]),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_step_in_parts_gives_what_it_gives_eagerly(name: str, asked: list[Group]) -> None:
    step, arguments = STEPS[name]
    agree(step, *arguments)
    assert asked


@pytest.mark.parametrize("name", ["numbers", "rows", "columns", "choices", "polynomials", "gelu"])
def test_elements_are_those_of_whole_kernels_to_the_bit(name: str, monkeypatch: Any) -> None:
    step, arguments = STEPS[name]
    odd = [x() for x in arguments]
    for x in odd:
        x.view(-1)[:4] = torch.tensor([float("nan"), float("inf"), -0.0, -float("inf")])
    found = []
    for parts in (False, True):
        if parts:
            monkeypatch.setattr(lower, "kernel_address", refuse)
        run = torch.compile(step)
        for _ in range(4):
            result = run(*odd)
        assert bool(run.machine.parts) is parts
        found.append(result.numpy())
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(*[np.signbit(x) for x in found])


def refuse(group: Group, *_: Any) -> int:
    raise UnforeseenError(group.name)


def test_a_formula_with_a_part_of_its_own_is_one_call(asked: list[Group]) -> None:
    def step(x: Any) -> Any:
        y = x.detach().requires_grad_()
        return torch.autograd.grad(F.gelu(y * 2).square().sum() + F.gelu(y - 1).sum(), y)[0]

    agree(step, rand(33, 5))
    formulas = {str(group) for group in kernel_parts.formulas()}
    assert sum(str(group) in formulas for group in dict.fromkeys(asked)) == 2


MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "layers": (lambda: nn.Sequential(nn.Linear(6, 9), nn.LayerNorm(9), nn.GELU(), nn.Linear(9, 4)),
               (5, 6)),
    "batches": (lambda: nn.Sequential(nn.Linear(6, 9), nn.BatchNorm1d(9), nn.ELU()), (8, 6)),
    "planes": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4), nn.SiLU(),
                                     nn.MaxPool2d(2), nn.BatchNorm2d(4)), (3, 2, 8, 8)),
    "channels": (lambda: nn.Sequential(nn.Conv1d(2, 4, 3), nn.PReLU(), nn.InstanceNorm1d(4)),
                 (3, 2, 9)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (2, 9, 8)),
    "activations": (lambda: nn.Sequential(nn.Softplus(), nn.Hardswish(), nn.LeakyReLU(), nn.CELU(),
                                          nn.Softsign(), nn.Tanhshrink(), nn.LogSigmoid()), (7, 5)),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", MODULES)
def test_training_in_parts_is_training(name: str, kind: str, asked: list[Group]) -> None:
    make, shape = MODULES[name]
    losses = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model, x = make().double(), torch.randn(*shape, dtype=torch.float64)
        extra = nn.Parameter(torch.ones((), dtype=torch.float64))
        optimizer = getattr(torch.optim, kind)([*model.parameters(), extra], lr=0.01)

        def step(x: Any, model: Any = model, extra: Any = extra, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            y = model(x) * extra
            loss = F.smooth_l1_loss(y, torch.zeros_like(y))
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = torch.compile(step) if compiled else step
        losses.append([run(x).item() for _ in range(8)])
        if compiled:
            assert run.machine is not None and run.machine.parts, run.explain()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(200, 230))
def test_a_random_step_in_parts_gives_what_eager_gives(seed: int, asked: list[Group]) -> None:
    fuzz.check(seed, native=True)


# ---- memory --------------------------------------------------------------------------------------


def test_an_operand_is_given_out_before_what_is_computed_over_it(asked: list[Group]) -> None:
    """The gradient for `w` takes the memory of `v`, which is a result as well."""
    w, other = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)

    def step(a: torch.Tensor, b: torch.Tensor) -> Any:
        values = [w * b.mean(), a.topk(1)[0]]
        loss = other.sum() * 0.01 + sum(v.clamp(-9, 9).mean() for v in values)
        values += torch.autograd.grad(loss, [other, w])
        return tuple(v.detach() * 1 for v in values)

    agree(step, lambda: torch.randn(7, 7), lambda: torch.randn(5, 7))


def test_results_that_are_kept_stay_as_they_were(asked: list[Group]) -> None:
    run = torch.compile(lambda x: (x * 2 + 1, (x - 1).exp()))
    kept = []
    for call in range(6):
        x = torch.full((4, 3), float(call))
        kept.append((call, *run(x)))
    for call, a, b in kept:
        assert a.tolist() == [[2.0 * call + 1] * 3] * 4
        assert torch.allclose(b, torch.full((4, 3), float(call - 1)).exp())


@pytest.mark.parametrize("native", [True])
def test_writes_in_place_are_seen_as_eager_ones(native: bool, asked: list[Group]) -> None:
    state, other = torch.ones(6, 5), torch.zeros(6, 5)

    def step(x: Any, state: Any, other: Any) -> Any:
        before = state * 2
        state.mul_(0.5).add_(x)
        other.copy_(state)
        other += before.sum(0)
        state[:, 1:3] = x[:, :2] - 1
        return before, other * 1

    def scenario(twin: Any) -> None:
        run = twin(step)
        a, b = state.clone(), other.clone()
        for call in range(6):
            if call == 4:
                a.zero_()  # by the user, between two calls
            twin.note(run(torch.randn(6, 5), a, b))
            twin.note((a.clone(), b.clone()))

    check(scenario, native)


def test_the_same_memory_as_two_arguments_and_shapes_that_change(asked: list[Group]) -> None:
    def step(x: Any, y: Any) -> Any:
        y.mul_(2).add_(1)
        return (x + y).exp()

    def scenario(twin: Any) -> None:
        run = twin(step)
        for call in range(9):
            x = torch.randn(6 if call % 4 < 3 else 7, 4)
            twin.note(run(x, x if call % 3 == 2 else torch.randn(*x.shape)))
            twin.note(x)
            twin.note(run(x.double(), torch.ones(*x.shape).double()))
            twin.note(run(x.t(), torch.ones(*x.t().shape)))

    check(scenario, True)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (1, 1), (1, 5), (5, 1)])
def test_few_elements_and_none(shape: tuple[int, int], asked: list[Group]) -> None:
    def step(x: Any) -> Any:
        return (x * 2 + 1).tanh(), x.softmax(-1), (x * x).sum(), (x + 1).sum(0)

    run = torch.compile(step)
    x = torch.randn(*shape)
    for _ in range(4):
        for a, b in zip(step(x), run(x), strict=True):
            assert a.shape == b.shape and torch.allclose(a, b, equal_nan=True)


def test_results_are_the_same_for_any_number_of_threads(asked: list[Group]) -> None:
    x = torch.randn(200, 1003)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            run = torch.compile(
                lambda x: ((x * 2).sin().sum(), (x + 1).sum(0), x.softmax(1), x.sum(1) * x.sum())
            )
            for _ in range(4):
                result = run(x)
            assert run.machine.parts
            found.append(result)
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


# ---- what has no parts ---------------------------------------------------------------------------


def test_what_has_no_parts_is_called_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(group: Group, *others: Any) -> int:
        if any(one.op == "sin" for one in group.body):
            raise UnforeseenError("sin")
        return call_frames.kernel_address(group, *others)

    monkeypatch.setattr(lower, "kernel_address", refuse)
    monkeypatch.setattr(kernel_parts, "kernel_address", find)
    run = agree(lambda x, y: (x.sin() @ y + 1).exp().sum(), rand(4, 5), rand(5, 3))
    assert [i.name for i in run.machine.plan.list_left()] == ["sin"]


def test_long_rows_are_left_to_numpy(asked: list[Group]) -> None:
    def step(x: Any, y: Any) -> Any:
        return F.layer_norm(x, (3_000_000,)).sum() + (y + 1).exp().sum()

    run = agree(step, rand(2, 3_000_000), rand(3), left=True)
    assert run.machine.parts and run.machine.plan.list_left()


def test_a_note_says_that_kernels_are_in_parts(asked: list[Group]) -> None:
    run = agree(lambda x: (x * 2).exp(), rand(4, 5))
    assert "kernels in parts: 1 that didn't come with the package" in run.explain()
