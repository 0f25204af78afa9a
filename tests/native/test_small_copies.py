"""Copies of small arrays: the elements, layout and errors of the plain functions."""

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import types
from rushlight._array.elementwise import gated_linear
from rushlight._array.shape import concatenate, rearrange, views
from rushlight._native import ufunc_loops
from rushlight._table.nn import interpolation
from rushlight._table.rows.small_arrays import COPIES
from tests.native.loops import Plain, module, placed

Function = Callable[..., Any]
MODULES = {"shape.rearrange": rearrange, "shape.views": views, "shape.concatenate": concatenate}
WAYS = [
    (getattr(MODULES[where], name), letters)
    for (where, name), letters in COPIES.items()
    if letters[0] not in "BEV"
]
TYPES = ["f4", "f8", "i8", "i4", "?", "c16", "f2", "u1", ">f4"]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("copies", tmp_path_factory):
        yield


def told(function: Function, args: Any) -> Any:
    """All that a program sees of a result, or the error."""
    try:
        r = function(*args)
    except Exception as error:
        return type(error), str(error)
    return r.dtype, r.shape, r.strides, r.tobytes(), r.flags.writeable


def operand(rng: Any, rank: int | None = None) -> Any:
    rank = int(rng.integers(0, 5)) if rank is None else rank
    shape = tuple(rng.integers(rng.random() > 0.05, 5, rank))
    x = np.asarray(rng.standard_normal(shape) * 9)
    with np.errstate(all="ignore"):
        x = x.astype(rng.choice(TYPES))
    if rng.random() < 0.2 and rank:
        x = (x.T, x[::-1], x[..., ::2], x[None, ..., :1])[rng.integers(4)]
    return x


def arguments(rng: Any, letters: str) -> tuple[Any, ...]:
    """An operand, or a list of them, and what goes with it: some of it doesn't fit."""

    def number(rank: int) -> Any:
        if rng.random() < 0.03:
            return (None, 1 << 70, True, 1.0, -9, 1 << 40)[rng.integers(6)]
        return int(rng.integers(-rank, rank)) if rank else 0

    def several(count: int, rank: int) -> Any:
        found = tuple(number(rank) for _ in range(count))
        return list(found) if rng.random() < 0.1 else found

    if letters[0] in "JS":
        first = operand(rng)
        many = [first + k if first.dtype.kind == "f" else first for k in range(rng.integers(1, 4))]
        if letters[0] == "J" and rng.random() < 0.5 and first.ndim:
            many[-1] = np.concatenate([many[-1], many[-1]], int(rng.integers(first.ndim)))
        if rng.random() < 0.1:
            many[-1] = operand(rng)
        return many, number(first.ndim + (letters[0] == "S"))
    x = operand(rng)
    kinds = {
        "F": lambda: (several(int(rng.integers(0, 3)), x.ndim),),
        "R": lambda: (number(6), several(2, x.ndim)),
        "M": lambda: (several(1, 9), several(int(rng.integers(0, 2)), x.ndim)),
        "L": lambda: (number(6),), "U": lambda: (number(6),),
        "P": lambda: (several(x.ndim + int(rng.integers(0, 2)), 3),),
    }  # fmt: skip
    return (x, *kinds[letters[0]]()) if letters[0] in kinds else (x,)


@pytest.mark.parametrize(("function", "letters"), WAYS)
def test_any_arrays_and_arguments(function: Function, letters: str) -> None:
    rng = np.random.default_rng(6)
    plain = Plain(function)
    made = ufunc_loops.copy(plain, letters)
    taken = 0
    for _ in range(3000):
        args = arguments(rng, letters)
        before = plain.calls
        assert told(made, args) == told(function, args), args
        taken += plain.calls == before
    assert taken > 300


LARGE = [(300,), (70, 90), (4096, 8), (9, 1, 33, 17), (2, 70, 3, 40), (1, 20000), (3, 2, 5000)]


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "c16", "f2"])
def test_larger_arrays_are_copied_line_by_line(dtype: str) -> None:
    rng = np.random.default_rng(8)
    ways = {letters[0]: function for function, letters in WAYS}
    letters = {letters[0]: letters for _, letters in WAYS}
    for shape in LARGE:
        x = (rng.standard_normal(shape) * 9).astype(dtype)
        last = len(shape) - 1
        wide = x[..., None]
        calls: dict[str, list[Any]] = {
            "F": [((0,),), ((last,),), (tuple(range(len(shape))),), ((-1, 0),)],
            "R": [(k, (0, last)) for k in range(4)],
            "M": [((3,), (0,)), ((-1,), (last,)), ((7,), ())],
            "P": [((2,) * len(shape),), ((1,) * last + (3,),), ((2, *(1,) * len(shape)),)],
            "L": [(1,)], "U": [(-2,)],
        }  # fmt: skip
        for kind, given in calls.items():
            plain = Plain(ways[kind])
            made = ufunc_loops.copy(plain, letters[kind])
            for args in given:
                assert told(made, (x, *args)) == told(ways[kind], (x, *args)), (kind, shape, args)
        for kind in "JS":
            plain = Plain(ways[kind])
            made = ufunc_loops.copy(plain, letters[kind])
            for dim in range(last + 1):
                assert told(made, ([x, x[::-1].copy(), x], dim)) == told(
                    ways[kind], ([x, x[::-1].copy(), x], dim)
                )
            assert not plain.calls
        made = ufunc_loops.copy(ways["O"], letters["O"])
        for view in (
            np.broadcast_to(wide, (*shape, 2)), np.broadcast_to(wide[::-1], (*shape, 3))[..., ::-1],
            np.broadcast_to(x[:1], shape), np.broadcast_to(x[..., ::2], (2, *x[..., ::2].shape)),
            np.broadcast_to(x[..., :1], shape), x.T, x[::-1],
        ):  # fmt: skip
            assert told(made, (view,)) == told(ways["O"], (view,))


def test_subclasses_odd_memory_and_bounds() -> None:
    class Kind(np.ndarray):
        pass

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    usual = {"F": ((0,),), "R": (1, (0, 1)), "M": ((1,), (0,)), "L": (0,), "U": (0,),
             "P": ((2, 2),), "C": (), "O": (), "J": (0,), "S": (0,)}  # fmt: skip
    crooked = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view("f4").reshape(3, 4)
    frozen = x.copy()
    frozen.flags.writeable = False
    many = (
        x.view(Kind), crooked, frozen, x[:0], np.ones((1,) * 9), np.ones((3, 30_000)),
        np.array([["a", "b"]]), np.array([[None, 1]], object), np.ones((2, 2), "M8[s]"),
        np.ones((200, 80), "f4"), np.ones((128, 128), "f4"), np.ones((129, 128), "f4"),
    )  # fmt: skip
    for function, letters in WAYS:
        made = ufunc_loops.copy(function, letters)
        for one in many:
            args = ([one, one] if letters[0] in "JS" else one, *usual[letters[0]])
            assert told(made, args) == told(function, args), (letters, one.dtype, one.shape)
        for wrong in ((), (None,), (x, *[None] * len(usual[letters[0]])), (x, 1, 2, 3, 4)):
            assert told(made, wrong)[0] == told(function, wrong)[0]
    huge = (1 << 62, 1 << 62)
    made = ufunc_loops.copy(rearrange.repeat, "Pr")
    assert told(made, (x, huge)) == told(rearrange.repeat, (x, huge))


def test_nothing_is_left_behind() -> None:
    x = np.ones((3, 4), np.float32)
    made = {letters[0]: ufunc_loops.copy(function, letters) for function, letters in WAYS}
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(3000):
        made["F"](x, (0,)), made["R"](x, 1, (0, 1)), made["M"](x, (1,), ()), made["L"](x, 1)
        made["P"](x, (2, 2)), made["C"](x), made["O"](x.T), made["J"]([x, x], 1)
        made["S"]([x, x], 2)
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == before


def test_tensors_are_copied_with_their_gradients() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for how in (
        lambda t: t.flip(0), lambda t: t.roll(1, 1), lambda t: t.tril(), lambda t: t.repeat(2, 2),
        lambda t: torch.cat([t, t], 1), lambda t: torch.stack([t, t]), torch.rot90,
        lambda t: t.t().contiguous(), torch.clone,
    ):  # fmt: skip
        out = how(x)
        (g,) = torch.autograd.grad(out.sum(), x)
        assert g.shape == x.shape and out.sum() == g.mul(x).sum()
        rows = torch.func.vmap(how)(torch.stack([x, x + 1]).detach())
        assert torch.equal(rows[0], out.detach())
        with torch.inference_mode():
            assert how(x.detach()).is_inference()


def test_conversions_are_those_of_the_plain_function(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    module("copies", tmp_path_factory.mktemp("copies")).set_types(types._TO_RAW)
    plain = Plain(types.convert_array)
    convert = ufunc_loops.copy(plain, "Vt")
    rng = np.random.default_rng(0)
    wanted = [torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.float16,
              torch.uint8, torch.complex64, None, [], "f4", np.dtype("f4")]  # fmt: skip
    odd = [0.0, -0.0, float("nan"), float("inf"), -1e300, 3e9, -1.5, 1e-46, 2.0**24 + 1]
    taken = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(3000):
            x = operand(rng)
            if x.dtype.kind == "f" and x.size and x.dtype.isnative:
                x = x.copy()
                x.flat[0] = odd[turn % len(odd)]
            args = (x, wanted[int(rng.integers(len(wanted)))])
            calls = plain.calls
            assert told(convert, args) == told(types.convert_array, args), args
            taken += plain.calls == calls
    assert taken > 300
    x = np.zeros(3, np.float32)
    assert convert(x, torch.float32) is not x


def test_packed_halves_are_those_of_the_plain_function() -> None:
    plain = Plain(gated_linear._pack)
    pack = ufunc_loops.copy(plain, "Hdf")
    rng = np.random.default_rng(0)
    taken = 0
    for turn in range(2000):
        x = operand(rng)
        dim = (None, 1 << 70, True, 9)[turn % 4] if turn % 50 == 0 else int(rng.integers(-4, 4))
        calls, args = plain.calls, (x, dim, bool(turn % 2))
        a, b = told(pack, args), told(gated_linear._pack, args)
        assert a[:2] == b[:2] and a[3:4] == b[3:4], args  # strides of sizes of one are no matter
        taken += plain.calls == calls
    assert taken > 200
    for dtype in (torch.float32, torch.float64):
        y = torch.randn(6, 4, 8, dtype=dtype)
        for z in (y, y.mT, y[:4:2], y[..., ::2], y[:1].expand(6, 4, 8)):
            for dim in (-1, 0, 1):
                a, b = z.chunk(2, dim)
                assert torch.allclose(torch.nn.functional.glu(z, dim), a * b.sigmoid())


def test_borders_are_those_of_the_plain_function() -> None:
    plain = Plain(rearrange.constant_pad)
    pad = ufunc_loops.copy(plain, "Bpv")
    rng = np.random.default_rng(0)
    numbers = [0, 0.0, -0.0, 1.5, -7, float("nan"), float("inf"), 1e30, 200, True, 1 << 70, None]
    taken = 0
    for turn in range(3000):
        rank = int(rng.integers(0, 6))
        x = rng.standard_normal([int(n) for n in rng.integers(1, 4, rank)])
        x = x.astype(("f4", "f8", "f4", "f8", "f8", "i8", ">f4")[int(rng.integers(7))])
        x = x.transpose(rng.permutation(rank)) if turn % 4 == 0 else x
        count = 2 * int(rng.integers(0, rank + 2)) + (turn % 50 == 0)
        widths: Any = tuple(int(n) for n in rng.integers(-(turn % 5 == 0), 3, count))
        widths = [*widths] if turn % 3 == 0 else widths
        number = numbers[int(rng.choice(len(numbers)))] if turn % 2 else 2.5
        calls = plain.calls
        args = (x, widths, number)
        assert told(pad, args) == told(rearrange.constant_pad, args), args
        taken += plain.calls == calls
    assert taken > 300
    large = np.ones((100, 100))
    assert told(pad, (large, (1, 1), 0)) == told(rearrange.constant_pad, (large, (1, 1), 0))
    for widths in ((1 << 40, 1), (True, 1), (1.0, 1), "11", None, (1,), ((1, 1),)):
        args = (np.ones((2, 2)), widths, 0)
        assert told(pad, args) == told(rearrange.constant_pad, args), widths


def test_enlarged_planes_are_those_of_the_plain_functions() -> None:
    rng = np.random.default_rng(0)
    taken = 0
    for turn in range(3000):
        dims = 1 + turn % 3
        kind = ("nearest", "_nearest_exact")[turn // 3 % 2]
        forward = interpolation.ROWS_BY_KIND[kind, dims].op.raw
        assert COPIES["_table.nn.interpolation", forward.__name__] == "Es" + "f" * dims
        plain = Plain(forward)
        enlarge = ufunc_loops.copy(plain, "Es" + "f" * dims)
        x = rng.standard_normal([int(n) for n in rng.integers(1, 4, dims + 2)])
        x = x.astype(("f4", "f8", "f4", "f8", "f2", "u1")[int(rng.integers(6))])
        x = x.transpose(rng.permutation(dims + 2)) if turn % 5 == 0 else x
        times = [int(n) for n in rng.choice([1, 2, 4, 3], dims)]
        size = tuple(n * k + int(rng.random() < 0.1) for n, k in zip(x.shape[2:], times))
        factors = [rng.choice([None, float(k), float(k), 1.7]) for k in times]
        args = (x, size, *factors)
        assert told(enlarge, args) == told(forward, args), args
        taken += plain.calls == 0
    assert taken > 500


def test_interpolation_remembers_nothing_that_it_should_look_at_again() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    interpolate = torch.nn.functional.interpolate
    for _ in range(2):
        assert interpolate(x, scale_factor=2).shape == (1, 1, 8, 8)
        assert interpolate(x, scale_factor=2.0, mode="bilinear").shape == (1, 1, 8, 8)
        assert interpolate(x, size=2, mode="area").tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
        assert interpolate(x, size=(3, 5)).shape == (1, 1, 3, 5)
        assert interpolate(x[0], scale_factor=2).shape == (1, 4, 8)
        assert interpolate(x[:, :, :2], scale_factor=2).shape == (1, 1, 4, 8)
        assert interpolate(x, size=torch.tensor(3)).shape == (1, 1, 3, 3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="only one of"):
            interpolate(x, 2, 2)
        with pytest.raises(ValueError, match="align_corners"):
            interpolate(x, 2, align_corners=False)
        with pytest.raises(NotImplementedError):
            interpolate(x, 2, mode="none")
        with pytest.raises(AttributeError, match="dim"):
            interpolate([1.0], 2)  # type: ignore[arg-type]
    mapped = torch.func.vmap(lambda t: interpolate(t, scale_factor=2))(torch.stack([x, x + 1]))
    assert mapped.shape == (2, 1, 1, 8, 8) and mapped[1, 0, 0, 7, 7] == 16
    base = x.clone().requires_grad_()
    interpolate(base, scale_factor=2).sum().backward()
    assert base.grad is not None and base.grad.eq(4).all()
    last = interpolate(
        torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last), scale_factor=2
    )
    assert last.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "i4", "?", "c16", "f2", "u1"])
def test_large_arrays_are_turned_alike(kind: str) -> None:
    rng = np.random.default_rng(1)
    for shape in ((700, 501), (3, 40_001), (5, 3, 4003, 7), (300_000,)):
        x = rng.integers(0, 2, shape).astype(kind)
        t = torch.from_numpy(x)
        for dims in ((0,), (-1,), tuple(range(x.ndim))):
            assert np.array_equal(t.flip(dims).numpy(), np.flip(x, dims))
        for turns in (1, 2, 3, -1) if x.ndim > 1 else ():
            assert np.array_equal(t.rot90(turns, (0, 1)).numpy(), np.rot90(x, turns))
