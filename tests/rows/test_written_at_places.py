"""Writes in place at computed places, which don't copy the tensor: they are those of the copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

I = torch.tensor  # noqa: E741
ROWS = torch.arange(9.0).view(3, 3)

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "add": (torch.Tensor.index_add, (0, I([1, 1, 3]), ROWS)),
    "add a multiple": (lambda x, *a: x.index_add(*a, alpha=-0.5), (0, I([1, 1, 3]), ROWS)),
    "add to columns": (torch.Tensor.index_add, (1, I([2, 0]), torch.arange(8.0).view(4, 2))),
    "copy": (torch.Tensor.index_copy, (0, I([3, 1, 0]), ROWS)),
    "copy columns": (torch.Tensor.index_copy, (-1, I([2, 0]), torch.arange(8.0).view(4, 2))),
    "fill": (torch.Tensor.index_fill, (0, I([1, -1]), 2.5)),
    "fill with a tensor": (torch.Tensor.index_fill, (1, I([1, -1]), I(2.5))),
    "scatter": (torch.Tensor.scatter, (0, I([[0, 1, 2], [1, 2, 3]]), ROWS)),
    "scatter a number": (torch.Tensor.scatter, (1, I([[0], [1], [2], [0]]), 1.5)),
}


def _write(name: str, x: Any, args: tuple[Any, ...]) -> Any:
    function: Any = CALLS[name][0]
    method = getattr(function, "__name__", "")
    if method == "<lambda>":
        return x.index_add_(*args, alpha=-0.5)
    return getattr(x, method + "_")(*args)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.int64])
@pytest.mark.parametrize("turned", [False, True])
def test_they_are_those_of_the_copy(name: str, kind: torch.dtype, turned: bool) -> None:
    function, args = CALLS[name]
    args = tuple(a.to(kind) if isinstance(a, torch.Tensor) and a.ndim != 1 and a.is_floating_point()
                 else a for a in args)  # fmt: skip
    x = torch.arange(12.0).view(3, 4).t() if turned else torch.arange(12.0).view(4, 3)
    x = x.to(kind)
    if kind is torch.int64 and "multiple" in name:
        return
    expected, version = function(x, *args), x._version
    assert _write(name, x, args) is x
    assert torch.equal(x, expected) and x._version == version + 1


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("part", [False, True])
def test_their_gradients_are_those_of_the_copy(name: str, part: bool) -> None:
    function, args = CALLS[name]
    if not part and "columns" in name:
        return  # of four rows
    found = []
    for inside in (True, False):
        leaf = torch.arange(18.0).view(6, 3).requires_grad_(True)
        given = [a.detach().clone().requires_grad_(True)
                 if isinstance(a, torch.Tensor) and a.is_floating_point() else a
                 for a in args]  # fmt: skip
        z = leaf * 2
        if inside:
            _write(name, z[1:5] if part else z, tuple(given))
        else:
            rows = function(z[1:5] if part else z, *given)
            z = torch.cat([z[:1], rows, z[5:]]) if part else rows
        (z * z).sum().backward()
        leaves = [leaf, *(a for a in given if isinstance(a, torch.Tensor) and a.requires_grad)]
        found.append([leaf.grad for leaf in leaves])
    for a, b in zip(*found, strict=True):
        assert torch.equal(a, b)


def test_what_a_node_has_saved_is_told_of_the_write() -> None:
    z = torch.ones(4, 3, requires_grad=True) * 2
    y = z * z
    z.index_add_(0, I([1, 1, 3]), ROWS)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda x: x.index_add_(0, I([1, 4, 0]), ROWS), "index 4 is out of bounds"),
        (lambda x: x.index_add_(0, I([1, 0, 0]), x[:3]), "refer to a single memory location"),
        (lambda x: x.index_copy_(0, I([0, 9, 1]), ROWS), "index 9 is out of bounds"),
        (lambda x: x.index_fill_(0, I([0, 9]), 1.0), "index 9 is out of bounds"),
        (lambda x: x.scatter_(0, I([[0, 1, 2], [1, 2, 9]]), ROWS), "index 9 is out of bounds"),
        (lambda x: x.scatter_(0, I([[0, 1, 2]]), x), "refer to a single memory location"),
    ],
)
def test_nothing_is_written_where_it_is_refused(write: Callable[[Any], Any], text: str) -> None:
    x = torch.arange(12.0).view(4, 3)
    with pytest.raises((RuntimeError, IndexError), match=text):
        write(x)
    assert torch.equal(x, torch.arange(12.0).view(4, 3)) and x._version == 0


def test_an_operand_may_be_a_part_of_what_is_written() -> None:
    x = torch.arange(12.0).view(4, 3)
    expected = x.index_copy(1, I([2, 1]), x[:, ::2])
    assert torch.equal(x.index_copy_(1, I([2, 1]), x[:, ::2]), expected)
    expected = x.scatter(1, I([[2, 1]] * 4), x[:, ::2])
    assert torch.equal(x.scatter_(1, I([[2, 1]] * 4), x[:, ::2]), expected)
    expected = x[:, :2].index_add(0, I([3, 0]), x[:2, 1:])
    assert torch.equal(x[:, :2].index_add_(0, I([3, 0]), x[:2, 1:]), expected)


def test_an_inference_tensor_is_written_once() -> None:
    with torch.inference_mode():
        x = torch.zeros(4, 3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.index_add_(0, I([1, 1, 3]), ROWS)
    assert x[3].tolist() == [6.0, 7.0, 8.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda x, i, s: x.index_add_(0, i, s),
        lambda x, i, s: x.index_copy_(0, i, s),
        lambda x, i, s: x.index_fill_(0, i, 3.0),
        lambda x, i, s: x.scatter_(0, i[:, None], 2.0),
        lambda x, i, s: x.index_put_((i,), s, accumulate=True),
    ],
    ids=["index_add_", "index_copy_", "index_fill_", "scatter_", "index_put_"],
)
def test_what_may_not_be_written_is_not(write: Any) -> None:
    array = np.zeros((40, 4), np.float32)
    array.flags.writeable = False
    x = torch.from_numpy(array)
    with pytest.raises(ValueError, match="read-only"):
        write(x, torch.tensor([0, 1]), torch.ones(2, 4))
    assert not array.any()


@pytest.mark.parametrize("alpha", [1, -1, 0, 2.5])
def test_a_number_is_added_to_a_number(alpha: float) -> None:
    x = torch.tensor(2.0)
    assert x.index_add_(0, torch.tensor([0]), torch.tensor(3.0), alpha=alpha) is x
    assert x.item() == 2 + 3 * alpha


def test_a_call_of_index_put_writes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight._array.shape import indexing

    real, calls = indexing.index_put_into, []

    def count(*args: Any) -> Any:
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(indexing, "index_put_into", count)
    x = torch.zeros(4, 3)
    index = torch.tensor([1, 1])
    for given in (x, x.clone().requires_grad_()):
        for accumulate, wanted in ((False, 1.0), (True, 2.0)):
            calls.clear()
            found = given.index_put((index,), torch.ones(2, 3), accumulate)
            assert float(found[1, 0].detach()) == wanted and len(calls) == 1


def test_an_index_in_the_memory_that_is_written_is_refused() -> None:
    for call in ("index_add_", "index_copy_", "scatter_"):
        x = torch.arange(3).repeat(3, 1)
        index = x[:1] if call == "scatter_" else x[0]
        with pytest.raises(RuntimeError, match="memory"):
            getattr(x, call)(0, index, torch.ones(3, 3, dtype=torch.int64))
        assert torch.equal(x, torch.arange(3).repeat(3, 1)) and x._version == 0


@pytest.mark.parametrize("call", ["index_add_", "index_copy_", "scatter_"])
def test_what_is_refused_has_written_nothing(call: str) -> None:
    for wrong in ([0, 3, 1], [0, -1, 1]):
        x = torch.zeros(3, 3)
        index = I(wrong)[None] if call == "scatter_" else I(wrong)
        with pytest.raises((IndexError, RuntimeError)):
            getattr(x, call)(0, index, ROWS)
        assert not x.any() and x._version == 0


def test_a_leaf_that_requires_grad_is_not_written_at_places() -> None:
    x = torch.zeros(3, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.index_add_(0, I([0, 1, 2]), ROWS)
    source = ROWS.clone().requires_grad_()
    y = torch.zeros(3, 3).index_add_(0, I([0, 1, 0]), source)
    y.sum().backward()
    assert torch.equal(source.grad, torch.ones(3, 3))


def test_numbers_are_written_at_places() -> None:
    for kind in (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool):
        for dim in (0, 1, -1):
            for value in (0, 1, -1.0, 1 << 30, -0.0):
                x = torch.arange(12).view(3, 4).to(kind)
                wanted = x.index_fill(dim, I([2, 0, 2]), value)
                assert torch.equal(x.index_fill_(dim, I([2, 0, 2]), value), wanted)
    x = torch.arange(3)
    with pytest.raises((IndexError, RuntimeError)):
        torch.zeros(3).index_fill_(0, I([3]), 1.0)
    assert torch.equal(torch.zeros(3).index_fill_(0, I([-1]), 1.0), I([0.0, 0.0, 1.0]))
    with pytest.raises(RuntimeError, match="memory"):
        x.index_fill_(0, x[1:2], 7)
    assert x.tolist() == [0, 1, 2]


def test_one_bound_is_that_of_numpy() -> None:
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([nan, inf, -inf, -0.0, 0.0, 1.5, -2.0, 3e38])
    for kind in (torch.float32, torch.float64):
        y = x.to(kind)
        for _ in range(40):  # by NumPy first, then by chains
            for bound in (0.0, -0.0, 1.0, -1, inf, -inf, nan):
                low, high = y.clamp(min=bound), y.clamp(max=bound)
                at = np.array(bound, y.numpy().dtype)
                assert low.numpy().tobytes() == np.maximum(y.numpy(), at).tobytes()
                assert high.numpy().tobytes() == np.minimum(y.numpy(), at).tobytes()
                assert y.clone().clamp_(min=bound).numpy().tobytes() == low.numpy().tobytes()
    with pytest.raises(RuntimeError, match="At least one"):
        x.clamp(None, None)
