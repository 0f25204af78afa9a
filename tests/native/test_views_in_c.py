"""Views made in C: the memory, strides and flags of the plain functions."""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.shape import concatenate, views
from rushlight._native import ufunc_loops
from rushlight._table.rows import small_arrays
from tests.native.loops import Plain, module

Function = Callable[..., Any]
WAYS = list(small_arrays.VIEWS.items())
HUGE = (1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, 1 << 80)
SIZES = [
    (), (1,), (-1,), (12,), (3, 4), (4, 3), (2, -1), (-1, -1), (5, -1), (2, 3, 4), (24,), (-2, 6),
    (1, 12, 1), (0, 12), (3, 4, 0), (7, 3, 4), (7, -1, 4), (-1, 3, 4), (1, 3, 4), (3, -1, 4),
    (2, 1, 3, 4), (3, 5), (1,) * 16, (1,) * 17, (1 << 40, 3, 4), (1 << 62, 4), (1 << 63,),
    (1 << 13, 1 << 13, 3, 4), (12.0,), (True, 12), (np.int64(12),), ("12",), [12], 12, None,
]  # fmt: skip
PLACES = (None, 0, 1, 2, 3, -1, -2, -3, 4, -4, True, 1.0, np.int64(1), *HUGE)


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The extension module, in its place."""
    found = module("views", tmp_path_factory.mktemp("views"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "VIEWS", found)
        yield found


def arrays() -> list[Any]:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    fixed = np.arange(12.0).reshape(3, 4)
    fixed.flags.writeable = False

    class Kind(np.ndarray):
        pass

    return [
        x, x[0], x[0, 0], x[0, 0, 0:1], np.array(1.5), x.T, x[:, ::2], x[:, :, ::-1], x[0].T,
        np.broadcast_to(x[:, :1], (2, 3, 4)), x[:, :1], x[:1], fixed, x[:0], x[:, :, :0],
        np.ones((3, 4), bool), np.arange(12), np.ones((3, 4), complex), np.ones((3, 4), ">f4"),
        np.ones((3, 4), "f2"), np.array(["a", "b"]), np.array([None, 1]), x[0].view(Kind),
        np.frombuffer(b"\0" * 49, np.uint8)[1:].view(np.float32).reshape(3, 4),
        torch.ones(3, 4, dtype=torch.bfloat16)._raw, np.ones((1,) * 17), np.ones((2, 1, 3))[:, 0:1],
    ]  # fmt: skip


def arguments(letters: str) -> Iterator[Any]:
    if letters[0] in "VP":
        orders = [*itertools.permutations(range(3)), (0, -2, 2), (1, 0), (-1, 0), (0, 0), (0,)]
        return iter([(size,) for size in (*SIZES, *orders)])
    if letters[0] == "E":
        return iter([(size, False) for size in SIZES])
    if letters[0] == "L":
        few = (None, 0, 1, 3, -1, -5, 9, HUGE[2], -(1 << 63), 1 << 70)
        return itertools.product((0, 1, -1, 2, 5, True), few, few, (1, 2, 3, 0, -1, 1 << 50))
    if letters[0] == "B":
        ends = (None, 0, 1, 2, -1, -9, 9, HUGE[2], 1 << 70)
        slices = [slice(a, b, c) for a in ends for b in ends[:7] for c in (None, 1, 2, HUGE[2])]
        few = [
            0,
            -1,
            1,
            5,
            -5,
            1 << 70,
            None,
            ...,
            slice(None),
            slice(1, None),
            slice(None, None, 2),
        ]
        keys = [k for n in (1, 2, 3, 4) for k in itertools.product(few, repeat=n)]
        keys = keys[:130] + keys[130::97] + [(one,) for one in slices[::3]]
        keys += [(None,) * 17, (None,) * 40, (0, slice(None), slice(1, 2), None, None)]
        return iter([(key,) for key in map(ufunc_loops._basic_key, keys) if key is not None])
    # A bool as a place makes a copy, of which nobody asks.
    found = [place for place in PLACES if letters[0] != "I" or place is not True]
    return itertools.product(found, repeat=len(letters) - 1)


def told(found: Any) -> Any:
    """All that a program sees of a view."""
    if isinstance(found, tuple):
        return found
    base = found
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    where = found.__array_interface__["data"] if found.size else None
    return (
        type(found), found.dtype, found.shape, found.strides, where, id(base),
        found.flags.writeable, found.flags.c_contiguous, found.flags.f_contiguous,
        found.flags.aligned, found.flags.owndata,
    )  # fmt: skip


def attempt(function: Function, args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("function", "letters"), WAYS, ids=lambda one: getattr(one, "__name__", one)
)
def test_views_of_all_arrays_and_arguments(function: Function, letters: str) -> None:
    plain = Plain(function)
    made = ufunc_loops.view(plain, letters)
    taken = 0
    for x in arrays():
        for args in arguments(letters):
            before = plain.calls
            found, wanted = attempt(made, (x, *args)), attempt(function, (x, *args))
            assert told(found) == told(wanted), (x.shape, x.strides, x.dtype, args)
            taken += plain.calls == before
    assert taken >= 10


def test_keys_of_basic_indices(built: Any) -> None:
    ints = [0, -1, 1 << 40, 1 << 70, True, 1.0, np.int64(1), "0", [0], (), None, ..., np.newaxis]
    ends = [None, 1, -1, 1 << 70, True, np.int64(1), 1.0]
    slices = [slice(a, b, c) for a in ends for b in ends for c in (*ends, 0, -(1 << 70))]
    for items in itertools.chain(
        itertools.product(ints + slices[::23], repeat=2), [(one,) for one in slices], [(), (...,)],
    ):  # fmt: skip
        found, wanted = built.basic_key(items), ufunc_loops._basic_key(items)
        assert found == wanted and (found is items) == (wanted is items), items
    with pytest.raises(TypeError):
        built.basic_key([1])


def test_parts_are_those_that_recorded_indices_leave() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    for base in (x, x.mT, x[:, ::2], x[:, :1], x.expand(2, 2, 3, 4)[0]):
        for key in (
            (None, 0), (0, None), (slice(None), None), (..., None), (None, ..., None, 0),
            (slice(0, 2, 2), None), (slice(1, None), ..., slice(None, None, 3)), (0, 0, 1, None),
            (None, None, slice(1)), (slice(None), 0, None), (slice(1, 1), None),
        ):  # fmt: skip
            plain, recorded = base[key], base.detach().requires_grad_()[key]
            assert torch.equal(plain, recorded) and plain.stride() == recorded.stride(), key
            assert plain.data_ptr() == recorded.data_ptr()
    for key in ((0, 0, 0, 0), (5,), (slice(None, None, -1),), (0, None, 9), (slice(0, 1, 0), None)):
        with pytest.raises((IndexError, ValueError)) as plain_error:
            x[key]
        with pytest.raises((IndexError, ValueError)) as recorded_error:
            x.detach().requires_grad_()[key]
        assert str(plain_error.value) == str(recorded_error.value), key
    written = x.clone()
    written[None, ..., ::2] = 7
    written[:, None, 0] = torch.zeros(2, 1, 4)
    assert written[0, 1].tolist() == [7, 5, 7, 7] and written[:, 0].sum() == 0


def test_views_hold_their_memory_and_leave_nothing() -> None:
    made = {letters[0]: ufunc_loops.view(f, letters) for f, letters in WAYS}
    kept = made["V"](np.arange(12.0), (3, 4))
    for _ in range(10):
        kept = made["T"](made["L"](made["U"](kept, 0), 1, 0, None, 1)[0], 0, 1)
    assert kept.sum() == 66
    x = np.ones((3, 4), np.float32)
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(1000):
        made["V"](x, (12,)), made["E"](x, (2, 3, 4), False), made["A"](x)
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == before
    assert made["V"](x, size=(12,)).shape == (12,)
    assert attempt(made["V"], ()) == attempt(views.view, ())


def test_types_and_sizes_of_arguments(tmp_path: Any) -> None:
    calls = module("calls", tmp_path)

    class Sizes(tuple[int, ...]):
        pass

    class Broken(list[int]):
        def __iter__(self) -> Any:
            raise ValueError("no items")

    for args in (
        (), (1,), (1, 2), (True, 2), (1, 2.0), ((1, 2),), ([3, 4],), ([],), ((),), ((1, True),),
        (torch.Size((2, 3)),), (Sizes((1, 2)),), ((1,), 2), (1, (2,)), (None,), ("12",),
        (Broken([1]),), (np.int64(3),), (1 << 80, -1), ({1: 2},),
    ):  # fmt: skip
        assert calls.types_of(args) == ufunc_loops._types_of(args)
        found, wanted = attempt(calls.sizes_of, (args,)), attempt(ufunc_loops._sizes_of, (args,))
        assert found == wanted and type(found) is type(wanted), args
    for function in (calls.types_of, calls.sizes_of):
        with pytest.raises(TypeError):
            function([1])
    one = object()
    before = sys.getrefcount(one), sys.getrefcount(int), sys.getrefcount(None)
    for _ in range(2000):
        calls.types_of((one, 1)), calls.sizes_of((one,)), calls.sizes_of(((1, 2),))
    after = sys.getrefcount(one), sys.getrefcount(int), sys.getrefcount(None)
    assert after[0] == before[0] and after[1] - before[1] < 100 > after[2] - before[2]


def test_tensors_see_the_same_views() -> None:
    x = torch.arange(12.0).reshape(3, 4).clone().requires_grad_()
    for how in (
        lambda t: t.view(4, 3), lambda t: t.unsqueeze(-1), lambda t: t.transpose(0, 1),
        lambda t: t.permute(1, 0), lambda t: t.expand(2, 3, 4), lambda t: t[1:, ::2],
    ):  # fmt: skip
        out = how(x)
        assert out._base is x and out._is_view() and out.grad_fn is not None
        (g,) = torch.autograd.grad(out.sum(), x)
        assert torch.equal(g != 0, g > 0)
        rows = torch.func.vmap(how)(x.detach()[None].expand(2, 3, 4))
        assert torch.equal(rows[1], how(x))
        with torch.inference_mode():
            assert not how(x.detach()).is_inference()
    copy = x.detach().clone()
    copy.view(4, 3)[0, 0] = 7
    assert copy[0, 0] == 7 and copy._version == 1


def test_shapes_over_elements_that_lie_apart_are_those_of_the_plain_function() -> None:
    plain = Plain(views.view)
    view = ufunc_loops.view(plain, "Vs")
    rng = np.random.default_rng(0)
    taken = 0
    for _ in range(3000):
        rank = int(rng.integers(1, 5))
        sizes = [int(n) for n in rng.choice([1, 2, 3, 4], rank)]
        x = np.arange(2**rank * math.prod(sizes), dtype=np.float32)
        x = x.reshape([2 * n for n in sizes])[tuple(slice(n) for n in sizes)]
        x = x[tuple(slice(None, None, int(s)) for s in rng.choice([1, 1, 2, -1], rank))]
        x = x.transpose(rng.permutation(rank))
        size: list[int] = []
        left = x.size
        while left > 1:
            n = int(rng.choice([k for k in range(2, left + 1) if left % k == 0]))
            size.append(n)
            left //= n
        for _ in range(int(rng.integers(0, 3))):
            size.insert(int(rng.integers(0, len(size) + 1)), 1)
        if size and rng.random() < 0.3:
            size[int(rng.integers(len(size)))] = -1
        if rng.random() < 0.1:
            size = [*x.shape]
        calls = plain.calls
        ours, theirs = (told(attempt(f, (x, tuple(size)))) for f in (view, views.view))
        assert ours == theirs, (x.shape, x.strides, size)
        sure = ufunc_loops.VIEWS.has_shape(x, tuple(size))
        assert not sure or theirs[0] is np.ndarray
        taken += sure and plain.calls == calls
    assert taken > 500


def test_reshaping_gives_views_and_copies_as_ever() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    for apart in (x[:, :, ::2], x.transpose(0, 1), x[:, 1:], x[..., 0], x[0, :, :1]):
        for size in ((-1,), (1, -1), (-1, 1), tuple(apart.shape), (1, *apart.shape)):
            found = apart.reshape(size)
            wanted = apart.detach()._raw.reshape(size)
            assert found._raw.strides == wanted.strides or found.is_contiguous()
            assert (found.data_ptr() == apart.data_ptr()) == np.shares_memory(wanted, x._raw)
    base = x.clone().requires_grad_()
    column = (base * 1)[:, 0, ::2]
    found = column.reshape(1, 2, 2)
    assert type(found.grad_fn).__name__ == "ReshapeAliasBackward0" and found._base is column._base
    found.sum().backward()
    assert base.grad is not None and base.grad.sum() == 4
    mapped = torch.func.vmap(lambda t: t[::2].reshape(2, 1))(x[0])
    assert mapped.shape == (3, 2, 1) and mapped.tolist()[0] == [[0.0], [2.0]]


def test_pieces_are_those_of_the_plain_functions() -> None:
    for x in arrays():
        for function, letters, others in (
            (concatenate.unbind, "Nd", [()]),
            (concatenate.split, "Ssd", [(n,) for n in (1, 2, 3, 7, 0, -1, True, 1 << 63)]),
        ):
            made = ufunc_loops.view(function, letters)
            for other in others:
                for dim in (0, 1, -1, 2, -2, 5, -(1 << 63), 1 << 63, True):
                    ours, theirs = (pieces(f, x, *other, dim) for f in (made, function))
                    assert ours == theirs, (x.shape, other, dim)


def pieces(function: Function, *args: object) -> Any:
    try:
        found = function(*args)
    except Exception as error:
        return type(error), str(error)
    assert type(found) is list
    return [(one.shape, one.strides, one.dtype, one.flags.writeable, one.tobytes(),
             one.__array_interface__["data"][0] if one.size else 0) for one in found]  # fmt: skip
