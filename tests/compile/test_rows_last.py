"""Reductions along any dimension, and places by index along any: native, as in eager."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight._compile.step import CompiledStep
from rushlight._native.llvm import target

F = torch.nn.functional
pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")

_Function = Callable[[torch.Tensor], Any]
REDUCTIONS: dict[str, _Function] = {
    "logsumexp, middle": lambda x: x.logsumexp(1),
    "logsumexp, first, kept": lambda x: x.logsumexp(0, keepdim=True),
    "logsumexp, two": lambda x: x.logsumexp((0, 1)),
    "logsumexp, outer two": lambda x: x.logsumexp((0, 2)),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(0),
    "amax": lambda x: x.amax(1, keepdim=True),
    "amin, outer two": lambda x: x.amin((0, 2)),
    "max": lambda x: x.max(1),
    "min, kept": lambda x: x.min(0, keepdim=True),
    "argmax": lambda x: x.argmax(1),
    "var": lambda x: x.var(1),
    "std, first, kept": lambda x: x.std(0, keepdim=True),
    "norm": lambda x: x.norm(dim=1),
    "mean, outer two": lambda x: x.mean((0, 2)),
}
LAYOUTS: dict[str, _Function] = {
    "in order": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2).contiguous().transpose(0, 2),
    "a part": lambda x: torch.cat([x, x], 2)[:, :, 1 : 1 + x.shape[2]],
    "expanded": lambda x: x[:, :1].expand(-1, 4, -1),
}


def step_of(function: _Function, wanted: bool) -> Callable[[torch.Tensor], Any]:
    """Results of a function, and the gradient of what they add up to."""

    def step(x: torch.Tensor) -> Any:
        y = x.detach().requires_grad_()
        found = function(y * 1.5)
        outs = list(found) if isinstance(found, tuple) else [found]
        if wanted:
            total: Any = sum((o * o).sum() for o in outs if o.is_floating_point())
            outs += torch.autograd.grad(total, y)
        return outs

    return step


def agree(step: Any, compiled: CompiledStep, x: torch.Tensor) -> None:
    for ours, theirs in zip(compiled(x), step(x), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        assert ours.stride() == theirs.stride()
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def calls_left(compiled: CompiledStep) -> list[str]:
    machine = compiled.machine
    assert machine is not None, str(compiled.explain())
    return [str(i) for i in machine.plan.list_left()]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_along_any_dimension_are_native(name: str, layout: str) -> None:
    wanted = name != "argmax"
    step = step_of(lambda y: REDUCTIONS[name](LAYOUTS[layout](y)), wanted)
    compiled = CompiledStep(step)
    torch.manual_seed(len(name))
    for _ in range(4):
        agree(step, compiled, torch.randn(3, 4, 5))
    if layout == "in order":
        assert calls_left(compiled) == []


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_special_values_come_through(dim: int) -> None:
    step = step_of(lambda y: (y.logsumexp(dim), y.softmax(dim), *y.max(dim)), False)
    compiled = CompiledStep(step)
    x = torch.randn(3, 4, 5)
    for value in (1.0, float("inf"), -float("inf"), float("nan"), -0.0, 3e38):
        x[1, 2, 3] = value
        for ours, theirs in zip(compiled(x), step(x), strict=True):
            torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_a_sum_of_single_elements_adds_to_zero() -> None:
    def step(x: torch.Tensor) -> Any:
        return x.sum(1), x.mean(1, keepdim=True), x.sum((0, 1)) if len(x) == 1 else x.sum(1)

    compiled = CompiledStep(step)
    for x in (torch.tensor([[-0.0]]), torch.tensor([[1.5]]), torch.tensor([[float("nan")]])) * 2:
        for ours, theirs in zip(compiled(x), step(x), strict=True):
            assert ours.shape == theirs.shape
            assert str(ours) == str(theirs)  # the sign of a zero, too
    assert calls_left(compiled) == []


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "max", "min"])
def test_the_larger_of_two_joins_a_kernel(name: str) -> None:
    function = getattr(torch, name)
    step = step_of(lambda y: function(y, y.flip(0) + 0.1) * 2, True)
    compiled = CompiledStep(step)
    for _ in range(3):
        agree(step, compiled, torch.randn(4, 6))
    assert calls_left(compiled) == []


def take(x: torch.Tensor, index: torch.Tensor) -> Any:
    y = x.detach().requires_grad_()
    found = [y[:, index[:, 0]], y.index_select(2, index[:, 1]), y[:, :, index[:, :2]]]
    found.append(F.embedding(index[:, 1], y[0]))
    total = sum((o * o).sum() for o in found)
    return [*found, *torch.autograd.grad(total, y)]


def test_columns_of_indices_name_places_along_any_dimension() -> None:
    compiled = CompiledStep(take)
    x = torch.randn(3, 4, 5)
    for k in range(4):
        index = torch.tensor([[k, 3, 9], [1, 0, 9], [1, 2, 9], [3, 3, 9]])
        for ours, theirs in zip(compiled(x, index), take(x, index), strict=True):
            torch.testing.assert_close(ours, theirs)
    assert calls_left(compiled) == []


@pytest.mark.parametrize("wrong", [4, 5, -6, 2**40, -(2**62)])
@pytest.mark.parametrize("column", [0, 1])
def test_an_index_out_of_range_is_refused_as_in_eager(wrong: int, column: int) -> None:
    compiled = CompiledStep(take)
    x = torch.randn(3, 4, 5)
    index = torch.tensor([[0, 3, 9], [1, 0, 9], [3, 3, 9]])
    for _ in range(3):
        compiled(x, index)
    index[1, column] = wrong
    try:
        expected = take(x, index)
    except (IndexError, RuntimeError) as error:
        with pytest.raises(type(error)):
            compiled(x, index)
        return
    for ours, theirs in zip(compiled(x, index), expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_an_index_that_is_changed_after_its_copy_is_checked() -> None:
    def step(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        mine = index[:, 0].clone()
        mine += index[:, 1]
        return x[:, mine] * 2

    compiled = CompiledStep(step)
    x, index = torch.randn(2, 8), torch.tensor([[0, 1], [2, 3], [1, 6]])
    for _ in range(3):
        assert torch.equal(compiled(x, index), step(x, index))
    for last in (7, 2**40):
        index[2, 1] = last
        with pytest.raises(IndexError):
            compiled(x, index)


def test_an_index_argument_that_is_written_is_read_in_order() -> None:
    def step(x: torch.Tensor, index: torch.Tensor) -> Any:
        before = x[:, index[:, 0]]
        index[:, 0] += 1
        return before, x[:, index[:, 0]]

    compiled = CompiledStep(step)
    x = torch.randn(2, 8)
    for k in range(4):
        ours, theirs = (torch.tensor([[k, 1], [2, 3]]) for _ in range(2))
        for a, b in zip(compiled(x, ours), step(x, theirs), strict=True):
            assert torch.equal(a, b)
        assert torch.equal(ours, theirs)


def test_gradients_of_attention_lie_in_the_order_of_the_batch() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def step(x: torch.Tensor) -> Any:
        layer.zero_grad()
        loss = (layer(x) ** 2).mean()
        loss.backward()
        return [loss, *(p.grad.clone() for p in layer.parameters() if p.grad is not None)]

    compiled = CompiledStep(step)
    for _ in range(4):
        x = torch.randn(2, 12, 16)
        for ours, theirs in zip(compiled(x), step(x), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert calls_left(compiled) == []
