"""What order decides of small arrays: the elements, places, layout and errors of the plain ways."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.reduce import extreme, scan, sort
from rushlight._native import ufunc_loops
from rushlight._table.reduce import sort as table_sort
from rushlight._table.rows.small_arrays import ORDERS
from tests.native.loops import Plain, placed

Function = Callable[..., Any]
MODULES = {"reduce.sort": sort, "reduce.extreme": extreme, "reduce.scan": scan}
WAYS = [
    (getattr(MODULES[where], name), letters)
    for (where, name), letters in ORDERS.items()
    if letters[0] not in "wu"
]
TYPES = ["f4", "f8", "i8", "i4", "?", "c8", "f2", "u1", ">f4", ">i8"]
SPECIAL = [0.0, -0.0, 1.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 3.0, 1e-40]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("orders", tmp_path_factory):
        yield


def told(function: Function, args: Any) -> Any:
    """All that a program sees of results, or the error."""
    try:
        found = function(*args)
    except Exception as error:
        return type(error), str(error)
    return [
        (r.dtype, np.shape(r), getattr(r, "strides", None) if np.ndim(r) else (), r.tobytes())
        for r in (found if isinstance(found, tuple) else (found,))
    ]


def operand(rng: Any) -> Any:
    """An array in any layout, of numbers of which some are equal and some special."""
    rank = int(rng.integers(0, 4))
    shape = tuple(rng.integers(rng.random() > 0.1, 8, rank))
    if rng.random() < 0.05:
        shape = (*shape[:1], int(rng.choice([60, 64, 65, 70, 250])))
    few = rng.integers(-2, 3, shape) if rng.random() < 0.5 else rng.standard_normal(shape)
    x = np.asarray(few if rng.random() < 0.6 else rng.choice(SPECIAL, shape))
    with np.errstate(all="ignore"):
        x = x.astype(rng.choice(TYPES[:3] if rng.random() < 0.7 else TYPES))
    if rng.random() < 0.2 and rank:
        x = (x.T, x[::-1], x[..., ::2], x[None])[rng.integers(4)]
    return x


def arguments(rng: Any, letters: str, x: Any) -> list[Any]:
    rank, made = x.ndim, []
    for one in letters[1:]:
        if rng.random() < 0.02:
            made.append(rng.choice(np.array([None, 1 << 70, True, 1.0, -9], object)))
        elif one == "d":
            made.append(int(rng.integers(-rank, rank)) if rank else 0)
        elif one == "k":
            made.append(int(rng.integers(0, 6)))
        else:
            made.append(bool(rng.integers(2)))
    return made


@pytest.mark.parametrize(("function", "letters"), WAYS)
def test_any_arrays_dimensions_and_numbers(function: Function, letters: str) -> None:
    rng = np.random.default_rng(5)
    plain = Plain(function)
    made = ufunc_loops.order(plain, letters)
    taken = 0
    for _ in range(3000):
        x = operand(rng)
        args = (x, *arguments(rng, letters, x))
        kept, before = x.tobytes(), plain.calls
        assert told(made, args) == told(function, args), (x.dtype, x.shape, x.strides, args)
        assert x.tobytes() == kept
        taken += plain.calls == before
    assert taken > 700


def test_subclasses_memory_that_is_not_aligned_and_bounds_go_to_the_function() -> None:
    class Kind(np.ndarray):
        pass

    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
    crooked = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view("f4").reshape(8, 8)
    for function, letters in WAYS:
        usual = [{"d": 0, "k": 1, "f": False, "-": None}[one] for one in letters[1:]]
        plain = Plain(function)
        made = ufunc_loops.order(plain, letters)
        odd = (x.view(Kind), crooked, x[:0], np.ones((1,) * 9, "f4"), np.ones(4000, "f4"), x[0, 0])
        for one in odd:
            before = plain.calls
            assert told(made, (one, *usual)) == told(function, (one, *usual))
            assert plain.calls == before + 1
        with pytest.raises(TypeError):
            made()
        with pytest.raises(TypeError):
            made(x, *usual, 1, 2, 3, 4, 5)
        frozen = x.copy()
        frozen.flags.writeable = False
        before = plain.calls
        results = made(frozen, *usual)
        for one in results if isinstance(results, tuple) else (results,):
            assert one.flags.writeable and one.base is None
        assert plain.calls == before


def test_nothing_is_left_behind() -> None:
    x = np.array([[1, np.nan, 3], [2, 2, 0]], np.float32)
    kept = [x, x.dtype, np.dtype("i8")]
    made = [(ufunc_loops.order(f, letters), letters) for f, letters in WAYS]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(3000):
        for one, letters in made:
            one(x, *[{"d": 1, "k": 2, "f": False, "-": None}[k] for k in letters[1:]])
    assert [sys.getrefcount(one) for one in kept] == before


def test_tensors_are_put_in_order() -> None:
    x = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], requires_grad=True)
    values, places = x.sort(1, True)
    (g,) = torch.autograd.grad((values * torch.tensor([1.0, 2.0, 3.0])).sum(), x)
    assert places.tolist() == [[0, 2, 1], [1, 2, 0]] and g.tolist() == [[1, 3, 2], [3, 1, 2]]
    top = torch.func.vmap(lambda row: row.topk(2)[0])(x)
    assert top.tolist() == [[3, 2], [5, 4]]
    with torch.inference_mode():
        assert x.detach().cummax(0)[1].is_inference()
    assert type(x.max(1)).__name__ == "max" and x.max(1).indices.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="out of range"):
        x.topk(4)


def test_the_median_of_all_elements() -> None:
    plain = Plain(sort.median)
    made = ufunc_loops.order(plain, "w")
    rng = np.random.default_rng(8)
    taken = 0
    for _ in range(3000):
        x = operand(rng)
        if rng.random() < 0.1:
            x = np.resize(x, (1, 64 + int(rng.integers(2)))) if x.size else x
        before = plain.calls
        assert told(made, (x,)) == told(sort.median, (x,)), (x.dtype, x.shape, x)
        taken += plain.calls == before
    assert taken > 500


def test_rows_by_their_numbers() -> None:
    x = torch.arange(12.0).reshape(4, 3)
    for at in ([0, 3, 3], [-1, 0], [], [2]):
        index = torch.tensor(at, dtype=torch.int64)
        wanted = x.numpy()[np.array(at, np.int64)]
        for source in (x, x.long(), x > 3, x.t().contiguous().t(), x[:, 1:], x[:, 0].clone()):
            rows = source[index]
            assert rows.numpy().tolist() == source.numpy()[np.array(at, np.int64)].tolist()
        assert x[index].numpy().tolist() == wanted.tolist()
        leaf = x.clone().requires_grad_()
        assert leaf[index].grad_fn.name() == "IndexBackward0"
        with torch.inference_mode():
            assert x[index].is_inference()
    for wrong in ([4], [0, -5]):
        with pytest.raises(IndexError, match=f"index {wrong[-1]} is out of bounds for dimension 0"):
            x[torch.tensor(wrong)]
    assert x[torch.tensor([1], dtype=torch.int32)].tolist() == [[3, 4, 5]]
    assert x[torch.tensor([True, False, True, False])].tolist() == [[0, 1, 2], [6, 7, 8]]


def test_distinct_values_are_those_of_the_plain_function() -> None:
    plain = Plain(table_sort._distinct)
    distinct = ufunc_loops.order(plain, "u-ff")
    rng = np.random.default_rng(0)
    for kind in ("f4", "f8", "i8"):
        for shape in ((1,), (5,), (4, 4), (2, 4, 8), (1, 1)):
            x = rng.integers(-3, 3, shape).astype(kind) + (kind == "i8" or 0.5)
            args = (x, True, False, False)
            assert told(distinct, args) == told(table_sort._distinct, args)
    assert plain.calls == 0
    x = np.array([np.nan, 1, np.nan, np.inf, -np.inf, 1], "f4")
    ours, theirs = distinct(x, False, False, False), table_sort._distinct(x, False, False, False)
    assert ours[0].tobytes() == theirs[0].tobytes() and plain.calls == 0
    zeros = distinct(np.array([0.0, -0.0, 0.0]), True, False, False)[0]
    assert zeros.tolist() == [0.0] and plain.calls == 0
    for args in (
        (x, True, True, False), (x, True, False, True), (x, True, 0, 0),
        (x[::2], True, False, False),
        (x[:0], True, False, False), (np.arange(65.0), True, False, False),
        (x.astype("f2"), True, False, False), (x > 1, True, False, False),
        (x.astype(">f4"), True, False, False), (np.ones((2, 3)).T, True, False, False),
    ):  # fmt: skip
        calls = plain.calls
        distinct(*args)
        assert plain.calls == calls + 1


def test_distinct_values_of_tensors_of_all_kinds() -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 1.0]])
    for _ in range(2):
        assert torch.unique(x).tolist() == [1, 2, 3]
        assert torch.unique(x.t()).tolist() == [1, 2, 3]
        assert torch.unique(x.int()).tolist() == [1, 2, 3]
        assert [k.tolist() for k in torch.unique(x, return_counts=True)] == [[1, 2, 3], [2, 1, 1]]
        assert x.unique(return_inverse=True)[1].tolist() == [[2, 0], [1, 0]]
        with torch.inference_mode():
            assert torch.unique(x).is_inference()
    found = torch.unique(x.requires_grad_())
    with pytest.raises(NotImplementedError):
        found.sum().backward()
