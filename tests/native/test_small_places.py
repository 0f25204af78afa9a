"""What indices name in small arrays: the elements, layout and errors of the plain functions."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.nn import class_losses, embedding
from rushlight._array.shape import gather, indexing, scatter
from rushlight._native import ufunc_loops
from tests.native.loops import Plain, placed

Function = Callable[..., Any]
WAYS = [(scatter.gather, "Gdif"), (scatter.index_select, "Idi")]
TYPES = ["f4", "f8", "i8", "i4", "?", "c16", "f2", "u1", ">f4"]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The extension module, in its place."""
    with placed("places", tmp_path_factory) as found:
        yield found


def told(function: Function, args: Any) -> Any:
    """All that a program sees of a result, or the error."""
    try:
        with np.errstate(all="ignore"):
            found = np.asanyarray(function(*args))
    except Exception as error:
        return type(error), str(error)
    return (
        type(found), found.dtype, found.shape, found.strides, found.tobytes(),
        found.flags.writeable,
    )  # fmt: skip


def operands(rng: Any, whole: bool) -> tuple[Any, int, Any]:
    """An array in any layout, a dimension and indices, which now and then don't fit."""

    def seldom() -> bool:
        return bool(rng.random() < 0.05)

    rank = int(rng.integers(0, 5))
    shape = tuple(rng.integers(0 if seldom() else 1, 6, rank))
    x = np.asarray(rng.standard_normal(shape) * 9).astype(rng.choice(TYPES))
    for _ in range(rng.integers(0, 3) if rank else 0):
        x = (x, x.T, x[::-1], x[..., ::2])[rng.integers(4)]
    dim = int(rng.integers(-rank, rank)) if rank and not seldom() else int(rng.integers(-5, 5))
    count = x.shape[dim] if -rank <= dim < rank else 3
    rank = int(rng.integers(0, 4)) if seldom() else rank if whole else 1
    most = [*x.shape, 4, 4, 4, 4]
    sizes = [int(rng.integers(0 if seldom() else 1, max(most[k], 1) + 1 + seldom()))
             for k in range(rank)]  # fmt: skip
    index = np.asarray(rng.integers(-seldom(), max(count, 1) + seldom(), sizes))
    if seldom():
        index = index.astype(rng.choice(["i4", "f4", "u1"]))
    return x, dim, index.T if seldom() else index


@pytest.mark.parametrize(("function", "letters"), WAYS)
def test_any_arrays_dimensions_and_indices(function: Function, letters: str) -> None:
    rng = np.random.default_rng(4)
    plain = Plain(function)
    made = ufunc_loops.places(plain, letters)
    taken = 0
    for _ in range(4000):
        args: tuple[Any, ...] = operands(rng, function is scatter.gather)
        if function is scatter.gather:
            args = (*args, False)
        before = plain.calls
        assert told(made, args) == told(function, args), (args[0].strides, args)
        taken += plain.calls == before
    assert taken > 500


def additions(rng: Any, whole: bool) -> tuple[Any, ...]:
    """What is added where: an array, a dimension, indices and a source, which may not fit."""
    x, dim, index = operands(rng, whole)
    if rng.random() < 0.8:
        x = np.array(x.real, rng.choice(["f4", "f8"]), order="C")
    shape = list(index.shape if whole else x.shape)
    if not whole and -len(shape) <= dim < len(shape):
        shape[dim] = index.size
    if rng.random() < 0.3:
        shape = [n + int(rng.integers(0, 2)) for n in shape]
    source = np.asarray(rng.integers(-90, 90, shape) / 7).astype(x.dtype)
    if rng.random() < 0.1:
        source = (source.T, source.real.astype("f2"), source[::-1] if shape else source)[
            rng.integers(3)
        ]
    if whole and rng.random() < 0.3 and index.size:
        index = np.broadcast_to(index[..., :1], index.shape) if index.ndim else index
    return x, dim, index, source


@pytest.mark.parametrize(
    ("function", "letters"), [(scatter.scatter_add, "Sdis"), (scatter.index_add, "Adis1")]
)
def test_anything_added_at_places(function: Function, letters: str) -> None:
    rng = np.random.default_rng(5)
    plain = Plain(function)
    made = ufunc_loops.places(plain, letters)
    taken = 0
    for _ in range(4000):
        args = additions(rng, letters[0] == "S")
        if letters[0] == "A":
            args = (*args, rng.choice([1, 1, 1, 2]) if rng.random() < 0.2 else 1)
        kept, before = [np.array(a) for a in (args[0], args[2], args[3])], plain.calls
        assert told(made, args) == told(function, args), args
        assert all(np.array_equal(a, b) for a, b in zip(kept, (args[0], args[2], args[3])))
        taken += plain.calls == before
    assert taken > 500
    x, at = np.zeros((3, 2), np.float32), np.zeros(2000, np.int64)
    many = (10.0 ** rng.uniform(-3, 6, (2000, 2))).astype(np.float32)  # whose order counts
    for args in ((x, 0, at, many, 1), (x[:, :1].copy(), 0, at, many[:, :1].copy(), 1)):
        if letters[0] == "S":
            args = (x, 0, np.broadcast_to(at[:, None], (2000, 2)), many)
        assert told(made, args) == told(function, args)


LARGE = [
    ((70, 90), 0),
    ((70, 90), 1),
    ((5000,), 0),
    ((9, 33, 40), 1),
    ((40, 2, 90), -1),
    ((4200, 3), 0),
]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "?", "f2", "c8"])
@pytest.mark.parametrize(("shape", "dim"), LARGE)
def test_larger_arrays_are_read_and_written_along_a_dimension(
    shape: tuple[int, ...], dim: int, dtype: str
) -> None:
    rng = np.random.default_rng(7)
    x, y = ((rng.standard_normal(shape) * 50).astype(dtype) for _ in range(2))
    n = shape[dim]
    at = rng.integers(0, n, shape)
    longer = np.concatenate([at, at], dim)
    wrong = at.copy()
    wrong.reshape(-1)[-1] = n
    below = at.copy()
    below.reshape(-1)[1] = -1
    line = rng.integers(0, n, n)
    fronts = {
        letters: ufunc_loops.places(function, letters)
        for function, letters in (
            (scatter.gather, "Gdif"), (scatter.scatter, "Tdis"), (scatter.scatter_add, "Sdis"),
            (scatter.index_select, "Idi"),
        )
    }  # fmt: skip
    plain = {"Gdif": scatter.gather, "Tdis": scatter.scatter, "Sdis": scatter.scatter_add,
             "Idi": scatter.index_select}  # fmt: skip
    kept = x.copy()
    for index in (at, longer, wrong, below, at[:-1], at.T, at[::-1], at.astype(np.int32)):
        wide = np.concatenate([y, y], dim) if index is longer else y
        calls: list[tuple[str, Any]] = [
            ("Gdif", (x, dim, index, False)), ("Gdif", (x[::-1], dim, index, False)),
            ("Tdis", (x, dim, index, wide)), ("Tdis", (x, dim, index, 3)),
            ("Tdis", (x, dim, index, -2.5)), ("Tdis", (x, dim, index, 1e30)),
            ("Tdis", (x, dim, index, True)), ("Tdis", (x, dim, index, 1 << 70)),
            ("Tdis", (x, dim, index, wide[::-1])), ("Tdis", (x, dim, index, x[:1])),
        ]  # fmt: skip
        if dtype in ("f4", "f8", "i8"):
            calls.append(("Sdis", (x, dim, index, wide)))
        for letters, args in calls:
            assert told(fronts[letters], args) == told(plain[letters], args), (letters, args)
    for places in (line, np.concatenate([line, line[:3]]), line * 0 + n, line * 0 - 1):
        args = (x, dim, places)
        assert told(fronts["Idi"], args) == told(plain["Idi"], args)
    assert np.array_equal(x, kept)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize(("shape", "dim"), LARGE)
def test_parts_are_added_one_after_the_other(
    shape: tuple[int, ...], dim: int, dtype: str, built: Any
) -> None:
    rng = np.random.default_rng(9)
    x = (rng.standard_normal(shape) * 1e4).astype(dtype)
    for n in (shape[dim], 7, 1):
        at = rng.integers(0, min(n, shape[dim]), min(shape[dim], 4000))
        sizes = list(shape)
        sizes[dim] = at.size
        y = (rng.standard_normal(sizes) * 1e4).astype(dtype)
        expected = np.moveaxis(x, dim, 0).copy()
        np.add.at(expected, at, np.moveaxis(y, dim, 0))
        expected = np.ascontiguousarray(np.moveaxis(expected, 0, dim))
        out = x.copy()
        assert built.add_at(out, dim, at, y) and out.tobytes() == expected.tobytes()
        made = ufunc_loops.places(scatter.index_add, "Adis1")
        found = made(x, dim, at, y, 1)
        if dtype == "i8":
            assert found.tobytes() == expected.tobytes()
        else:
            np.testing.assert_allclose(found, expected, 1e-4, 100)
        written = np.moveaxis(x, dim, 0).copy()
        for k, place in enumerate(at):
            written[place] = np.moveaxis(y, dim, 0)[k]
        put = x.copy()
        assert built.put_at(put, dim, at, y)
        assert put.tobytes() == np.ascontiguousarray(np.moveaxis(written, 0, dim)).tobytes()
        for wrong in (at * 0 - 1, at * 0 + shape[dim]):
            assert not built.put_at(put, dim, wrong, y)
            assert told(made, (x, dim, wrong, y, 1)) == told(
                scatter.index_add, (x, dim, wrong, y, 1)
            )
            assert not built.add_at(out, dim, wrong, y) and out.tobytes() == expected.tobytes()
        assert not built.add_at(out, dim, at, y.astype("f2"))
        assert not built.add_at(out, dim, at, y[..., None])
        assert not built.add_at(out, len(shape), at, y)
    assert not built.add_at(out, dim, np.arange(shape[dim]), out)  # their own memory
    out.flags.writeable = False
    assert not built.add_at(out, dim, at, y)
    assert not built.add_at()


def test_ones_at_any_places() -> None:
    rng = np.random.default_rng(6)
    plain = Plain(gather.one_hot)
    made = ufunc_loops.places(plain, "Hn")
    for _ in range(2000):
        rank = int(rng.integers(0, 4))
        x = np.asarray(rng.integers(-1 if rng.random() < 0.1 else 0, 9, rng.integers(0, 5, rank)))
        x = x.T if rng.random() < 0.2 else x
        for classes in (-1, 9, int(rng.integers(-3, 20)), 9000, 1 << 80, True):
            if classes == 1 << 80 and not x.size:
                continue
            assert told(made, (x, classes)) == told(gather.one_hot, (x, classes)), (x, classes)
    plain.calls = 0
    made(np.array([2, 0]), -1), made(np.array([2, 0]), 3)
    assert not plain.calls
    for odd in (np.array([1 << 40]), np.array([1.0]), np.array([1], np.int32), np.array(3)):
        assert told(made, (odd, 4)) == told(gather.one_hot, (odd, 4))


def test_rows_of_any_table() -> None:
    rng = np.random.default_rng(7)
    plain = Plain(embedding.embedding)
    made = ufunc_loops.places(plain, "Wi---")
    for _ in range(2000):
        x = (rng.standard_normal(rng.integers(0, 5, 2)) * 9).astype(rng.choice(TYPES))
        x = (x, x, x, x.T, x[::-1], x.reshape(-1))[rng.integers(6)]
        index = operands(rng, True)[2]
        args = (x, index % max(1, len(x)) if rng.random() < 0.9 else index, -1, False, False)
        assert told(made, args) == told(embedding.embedding, args), args
    plain.calls = 0
    made(np.ones((3, 2)), np.array([[0], [2]]), -1, False, False)
    assert not plain.calls


def test_losses_of_any_rows() -> None:
    rng = np.random.default_rng(8)
    plain = Plain(class_losses.nll_loss)
    made = ufunc_loops.places(plain, "Ntnri")
    for _ in range(3000):
        rows, classes = rng.integers(0 if rng.random() < 0.05 else 1, 40, 2)
        x = rng.standard_normal((rows, classes)).astype(rng.choice(["f4", "f8"]))
        x = (x, x, x, x.T.copy().T, x[:, ::-1])[rng.integers(5)]
        x[rng.random(x.shape) < 0.01] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
        at = rng.integers(-(rng.random() < 0.02), max(classes, 1) + (rng.random() < 0.02), rows)
        weight = np.ones(classes, x.dtype) if rng.random() < 0.1 else None
        ignored = int(rng.choice([-100, -100, 0, 3, 50, -1]))
        for reduction in (0, 1, 2):
            args = (x, at, weight, reduction, ignored)
            assert told(made, args) == told(class_losses.nll_loss, args), args
    plain.calls = 0
    for reduction in (0, 1, 2):
        made(np.ones((3, 2)), np.array([1, 0, 1]), None, reduction, -100)
    assert not plain.calls
    for reduction in (True, 1.0, 1 << 70, -1):
        args = (np.ones((3, 2)), np.array([1, 0, 1]), None, reduction, 1 << 70)
        assert told(made, args) == told(class_losses.nll_loss, args)


def test_bounds_of_what_is_small() -> None:
    for function, letters in WAYS:
        made = ufunc_loops.places(function, letters)
        for x, index in (
            (np.arange(9.0), np.zeros(4096, np.int64)), (np.arange(9.0), np.zeros(4097, np.int64)),
            (np.ones((3, 5000)), np.zeros(2, np.int64)), (np.ones((0, 3)), np.zeros(1, np.int64)),
            (np.ones((1,) * 9), np.zeros(1, np.int64)), (np.array(["a"]), np.zeros(1, np.int64)),
            (np.arange(3.0), np.array([1 << 62])), (np.arange(3.0), np.array([-(1 << 63)])),
            (np.frombuffer(bytes(49), np.uint8)[1:].view("f4"), np.array([1, 1])),
            (np.arange(3.0), np.frombuffer(bytes(17), np.uint8)[1:].view("i8")),
        ):  # fmt: skip
            for dim in (0, -1, 1 << 70, True, 0.0, None):
                args: tuple[Any, ...] = (x, dim, index)
                args = (*args, False) if function is scatter.gather else args
                assert told(made, args) == told(function, args), (x.shape, dim)


def test_nothing_is_left_behind() -> None:
    x, index = np.ones((4, 4), np.float32), np.array([[0], [3]])
    made = [ufunc_loops.places(function, letters) for function, letters in WAYS]
    kept = [x, index, x.dtype, index.dtype]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(50_000):
        made[0](x, 0, index, False)
        made[1](x, 0, index[:, 0].copy())
    assert [sys.getrefcount(one) for one in kept] == before


def test_tensors_find_the_same() -> None:
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    at = torch.tensor([[0], [2], [2]])
    x.gather(1, at).sum().backward()
    assert x.grad is not None and x.grad.sum() == 3 and x.gather(1, at).tolist() == [[0], [6], [10]]
    assert x.index_select(0, at[:, 0]).tolist()[1] == [8, 9, 10, 11]
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.gather(1, at + 4)
    with pytest.raises(IndexError, match="out of range"):
        x.index_select(0, torch.tensor([3]))


def test_places_of_what_is_not_zero_are_those_of_the_plain_function() -> None:
    plain = Plain(indexing.nonzero)
    find = ufunc_loops.places(plain, "Z")
    rng = np.random.default_rng(0)
    for kind in ("f4", "f8", "i8", "?"):
        for shape in ((1,), (5,), (4, 4), (2, 3, 4), (1, 1, 7), (2048,)):
            x = rng.integers(0, 3, shape).astype(kind)
            x.flat[0] = 1
            assert told(find, (x,)) == told(indexing.nonzero, (x,))
    x = np.array([np.nan, 0.0, -0.0, np.inf, -1e-320])
    assert told(find, (x,)) == told(indexing.nonzero, (x,))
    assert plain.calls == 0
    odd = [
        np.zeros((2, 3)), np.zeros((0, 3)), np.array(1.0), np.ones((3, 2)).T, np.ones(8)[::2],
        np.ones(2049), np.ones(3, "f2"), np.ones(3, ">f8"), np.ones(3, "i4"), np.ones(3, "c8"),
        np.frombuffer(b"\1" * 25, np.uint8)[1:].view("f8"),
    ]  # fmt: skip
    for x in odd:
        calls = plain.calls
        assert told(find, (x,)) == told(indexing.nonzero, (x,))
        assert plain.calls == calls + 1
    x = np.ones((4, 4), "f4")
    before = sys.getrefcount(x), sys.getrefcount(np.dtype(np.int64))
    for _ in range(100):
        find(x)
    after = sys.getrefcount(x), sys.getrefcount(np.dtype(np.int64))
    assert all(abs(a - b) < 5 for a, b in zip(before, after))
    found = torch.nonzero(torch.eye(2))
    found.add_(1)  # memory of its own, that can be written
    assert found.tolist() == [[1, 1], [2, 2]] and found.stride() == (1, 2)


def keys(rng: Any) -> tuple[Any, Any]:
    """An array and a tuple of indices, which now and then are unusual or don't fit."""

    def seldom() -> bool:
        return bool(rng.random() < 0.04)

    rank = int(rng.integers(1, 5))
    shape = tuple(rng.integers(0 if seldom() else 1, 7, rank))
    x = np.asarray(rng.integers(-90, 90, shape) / 7).astype(
        rng.choice(TYPES[:2] if rng.random() < 0.7 else TYPES)
    )
    if seldom():
        x = (x.T, x[::-1], x[..., ::2])[rng.integers(3)]
    before = int(rng.integers(0, rank))
    count = int(rng.integers(1, rank - before + 1 + seldom()))
    lengths = tuple(
        rng.integers(0 if seldom() else 1, 50 if seldom() else 6, rng.integers(seldom() == 0, 3))
    )
    found: list[Any] = [None] * before
    for d in range(before, before + count):
        n = max(x.shape[d], 1) if d < rank else 3
        at = np.asarray(rng.integers(-n - seldom(), n + seldom(), lengths))
        if seldom():
            at = (
                at.astype("i4"),
                at.T,
                at.T[:1] if at.ndim else at,
                np.asarray(rng.random(lengths) > 0.5),
                None,
            )[rng.integers(5)]
        elif rng.random() < 0.2 and len(lengths) == 1:
            at = np.repeat(at, 2)[::2]
        found.append(at)
    if seldom():
        found.extend([None] * int(rng.integers(1, 3)))
    if all(i is None for i in found):
        found[0] = np.zeros(1, np.int64)
    return x, tuple(found)


def seen(function: Function, args: Any) -> Any:
    """`told`, where strides of dimensions of one element don't count."""
    found = told(function, args)
    if len(found) == 2:
        return found
    kind, dtype, shape, strides, *rest = found
    if 0 in shape:
        strides = ()
    return kind, dtype, shape, [s for s, n in zip(strides, shape) if n > 1], rest


def test_any_indices_of_several_dimensions() -> None:
    rng = np.random.default_rng(9)
    plain = Plain(indexing.index)
    made = ufunc_loops.places(plain, "Xi")
    taken = 0
    for _ in range(6000):
        args, before = keys(rng), plain.calls
        assert seen(made, args) == seen(indexing.index, args), args
        taken += plain.calls == before
    assert taken > 2000
    large = np.ones((64, 64, 64), np.float32)  # more than is copied here
    args = (large, (np.zeros(4, np.int64),))
    assert seen(made, args) == seen(indexing.index, args)
    for odd in ((), [np.zeros(1, np.int64)], (np.zeros(1, np.int64),) * 9):
        assert seen(made, (large, odd)) == seen(indexing.index, (large, odd))


def test_anything_added_at_indices_of_several_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    code = ufunc_loops.PLACES
    taken = 0
    for turn in range(6000):
        x, at = keys(rng)
        try:
            g = indexing.index(x, at)
        except (IndexError, ValueError, RuntimeError):
            g = x
        if turn % 3:  # digits that depend on the order
            g = (g * 10.0 ** rng.integers(-3, 4, g.shape)).astype(g.dtype)
        if rng.random() < 0.2 and g.ndim:
            g = np.broadcast_to(g[..., :1], g.shape)
        args = (g, tuple(map(int, x.shape)), at)
        monkeypatch.setattr(indexing, "PLACES", None)
        wanted = seen(indexing.index_backward, args)
        monkeypatch.setattr(indexing, "PLACES", code)
        assert seen(indexing.index_backward, args) == wanted, args
        taken += code.add_indexed(*args) is not None
    assert taken > 1500
    rows = (10.0 ** rng.uniform(-3, 6, (100, 20))).astype(np.float32)
    for count in (1, 3, 50):  # wide rows of which many, or few, meet
        args = (rows, (count, 20), (rng.integers(0, count, 100),))
        monkeypatch.setattr(indexing, "PLACES", None)
        wanted = seen(indexing.index_backward, args)
        monkeypatch.setattr(indexing, "PLACES", code)
        assert seen(indexing.index_backward, args) == wanted
    for odd in ((), ((2,),), (None, 2), (1 << 70,), (-3,), (True,), (5000,)):
        assert code.add_indexed(np.ones(2, np.float32), odd, (np.zeros(2, np.int64),)) is None
    assert code.add_indexed() is None and code.add_indexed(1, 2, 3) is None


def test_indices_leave_nothing_behind() -> None:
    x, at = np.ones((4, 4), np.float32), np.array([0, 3])
    made = ufunc_loops.places(Plain(indexing.index), "Xi")
    code = ufunc_loops.PLACES
    key, wide = (at, at), np.broadcast_to(x[:2, :1], (2, 4))
    kept = [x, at, key, wide, x.dtype]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(20_000):
        made(x, key)
        code.add_indexed(x[0, :2].copy(), (4, 4), key)
        code.add_indexed(wide, (4, 4), (at,))
        code.add_indexed(wide, (4, 4), (at + 9,))
    assert [sys.getrefcount(one) for one in kept] == before


def test_indices_that_another_thread_changes_meanwhile_stay_inside() -> None:
    guard = 64
    whole = np.zeros((guard + 300 + guard, 100), np.float32)
    out, index = whole[guard:-guard], np.zeros(400, np.int64)
    parts, stop = np.ones((400, 100), np.float32), threading.Event()

    def change() -> None:
        while not stop.is_set():
            index[:] = 310  # outside `out`, inside `whole`
            index[:] = -3
            index[:] = 5

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(2000):
            ufunc_loops.PLACES.add_at(out, 0, index, parts)
            ufunc_loops.PLACES.put_at(out, 0, index, parts)
    finally:
        stop.set()
        thread.join()
    assert out[5].any()
    assert not whole[:guard].any() and not whole[-guard:].any()


def test_parts_of_elements_are_written_along_a_dimension(built: Any) -> None:
    rng = np.random.default_rng(3)
    for kind in ("f4", "f2", "c16", "?", "i8"):
        for _ in range(60):
            rank = int(rng.integers(1, 4))
            sizes = rng.integers(1, 5, rank)
            dim = int(rng.integers(0, rank))
            few = [int(rng.integers(1, n + 1)) for n in sizes]
            source = np.arange(np.prod(sizes + 1)).reshape(sizes + 1).astype(kind)
            few[dim] = int(rng.integers(1, sizes[dim] + 2))
            index = rng.integers(0, sizes[dim], few)
            put, wanted = np.zeros(sizes, kind), np.zeros(sizes, kind)
            assert built.put_along(put, dim - rank * int(rng.integers(0, 2)), index, source)
            for place in np.ndindex(*few):
                there = list(place)
                there[dim] = index[place]
                wanted[tuple(there)] = source[place]
            np.testing.assert_array_equal(put, wanted)
            for wrong in (-1, int(sizes[dim]), -(1 << 63)):
                index.flat[-1] = wrong
                assert not built.put_along(put, dim, index, source)
            np.testing.assert_array_equal(put, wanted)


def test_indices_in_the_memory_that_is_written_are_left_to_others(built: Any) -> None:
    x = np.zeros((3, 3), "i8")
    for way in (built.put_at, built.add_at):
        assert not way(x, 0, x[0], np.ones((3, 3), "i8"))
        assert not way(x, 0, np.zeros((1, 3), "i8"), np.ones((3, 3), "i8"))
    assert not built.put_along(x, 0, x[:1], np.ones((3, 3), "i8"))
    assert not x.any()
