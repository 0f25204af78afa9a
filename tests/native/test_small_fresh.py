"""New arrays of numbers, and what is asked of small arrays."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import types
from rushlight._array.linalg import fft
from rushlight._array.memory import dense_layout
from rushlight._array.reduce import searchsorted
from rushlight._array.shape import create, indexing, nested_sequences
from rushlight._base import dtypes as D
from tests.native.loops import module, same

NUMBERS: list[Any] = [
    0, 1, -1, 3, 0.0, -0.0, 0.1, 1 / 3, -7.25, 1e-40, 5e-324, 1e36, -1e36, 9.9e36, 1e37, 3.4e38,
    1e300, float("inf"), -float("inf"), float("nan"), 1 << 24, (1 << 53) + 1, 1 << 62,
    1 << 63, -(1 << 80), True, None, 1j, np.float64(2), "1",
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield module("fresh", tmp_path_factory.mktemp("fresh"))


def test_numbers_from_one_to_another(built: Any) -> None:
    taken = 0
    for start in NUMBERS:
        for end in NUMBERS:
            for steps in (2, 3, 16, 1001, 8192, 0, 1, -1, 65537, 1 << 70, True, 3.0, None):
                found = built.spaced(start, end, steps)
                if found is not None:
                    assert same(found, create.linspace(start, end, steps, D.float32)), (start, end)
                    taken += 1
    rng = np.random.default_rng(0)
    for _ in range(500):
        start, end = (float(n) for n in rng.standard_normal(2) * 10.0 ** rng.integers(-9, 9))
        steps = int(rng.integers(2, 300))
        for dtype, more in ((D.float32, ()), (D.float64, (True,))):
            found = built.spaced(start, end, steps, *more)
            assert same(found, create.linspace(start, end, steps, dtype))
    assert taken > 500 and built.spaced(0, 1) is None and built.spaced() is None


class Alike(np.ndarray):
    """An array of another class."""


def test_ranges_of_elements(built: Any) -> None:
    like = np.ones((3, 4), np.float32)
    nan, inf = float("nan"), float("inf")
    for kind in (np.float32, np.float64):
        for values in ([0, 1, 0.5], [-0.0], [1.0000001], [-1e-45], [nan, 0], [0, nan], [inf],
                       [-inf, 0.5], [0.5] * 100):  # fmt: skip
            x = np.array(values, kind)
            wanted = all(0 <= v <= 1 for v in x.tolist())
            assert built.are_between(x, 0, 1) is wanted and built.are_between(x, 0.0, 1.0) is wanted
    for odd in (like.T, like.astype("i4"), like.astype(np.float16), like.view(Alike), 1, None):
        assert built.are_between(odd, 0, 1) is None
    for args in ((like, "0", 1), (like, 0), (like, 0, None), (like, 0, 1 << 60), ()):
        assert built.are_between(*args) is None


def test_counts_in_bins(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchsorted, "FRESH", None)
    rng = np.random.default_rng(0)
    odd = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 1e30, -1e38, 3.4e38, float("inf"), float("nan")]
    bounds: list[Any] = [
        0, 1, -1, 0.5, 1e-3, 1.0000000001, 1e38, -3.4e38, 1e300, float("nan"), True,
    ]  # fmt: skip
    taken = 0
    with np.errstate(all="ignore"):
        for kind in (np.float32, np.float64):
            arrays = [(rng.standard_normal(n) * scale).astype(kind)
                      for n in (1, 2, 7, 16, 300) for scale in (1, 1e-3, 1e6)]  # fmt: skip
            arrays += [np.full(5, 2.5, kind), rng.choice(odd[:5], 50).astype(kind)]
            arrays += [rng.choice(odd, 4).astype(kind) for _ in range(50)]
            for x in (*arrays, arrays[9].reshape(4, 4)):
                for bins in (1, 2, 10, 100):
                    for low, high in [(0, 0), *rng.choice(bounds, (12, 2)).tolist()]:
                        found = built.counted(x, bins, low, high)
                        if found is not None:
                            assert same(found, searchsorted.histc(x, bins, low, high))
                            taken += 1
    assert taken > 1000
    x = np.ones((4, 4), np.float32)
    for other in (x.T[::2], x[:, ::2], x.astype(np.float16), x.view(Alike), x[:0], [1.0], None,
                  x.astype(">f4"), np.ones(8193, np.float32)):  # fmt: skip
        assert built.counted(other, 10, 0, 0) is None
    for args in ((0, 0, 0), (-1, 0, 0), (10, 0, "1"), (10.0, 0, 0), (1 << 70, 0, 0), (10, 2, 1)):
        assert built.counted(x, *args) is None


def test_arrays_filled_with_a_number(built: Any) -> None:
    types = {float: D.float32, int: D.int64, bool: D.bool_}
    taken = 0
    shapes = [(), (1,), (3, 4), (2,) * 8, (2,) * 9, (0,), (-1,), (8192,), (91, 91), (300, 300),
              (1 << 70,)]  # fmt: skip
    for shape in shapes:
        for value in NUMBERS:
            found = built.filled(shape, value)
            if found is not None:
                assert same(found, create.full(shape, value, types[type(value)])), (shape, value)
                assert found.flags.owndata and found.flags.writeable
                taken += 1
    assert taken > 50
    for odd in ([2, 2], (2.0,), (True,), 3, None):
        assert built.filled(odd, 1.0) is None
    for n in (1, 2, 5, 90, 256):
        assert same(built.eye(n), np.eye(n, dtype=np.float32))
    assert [built.eye(n) for n in (0, -1, 257, 1.0, True, None, 1 << 70)] == [None] * 7


def test_whether_arrays_are_equal(built: Any) -> None:
    rng = np.random.default_rng(1)
    taken = 0
    for _ in range(3000):
        dtype = rng.choice(["f4", "f8", "i8", "?", "f2", "c8", "i4"])
        shape = tuple(int(n) for n in rng.integers(0, 4, rng.integers(0, 3)))
        a = rng.integers(0, 2, shape).astype(dtype)
        b = a.copy() if rng.random() < 0.5 else rng.integers(0, 2, shape).astype(dtype)
        if a.dtype.kind == "f" and a.size and rng.random() < 0.3:
            a.flat[0] = b.flat[-1] = rng.choice([np.nan, -0.0, np.inf])
        if rng.random() < 0.2:
            b = (b.T, b.reshape(-1), b.real.astype("f4"), b[..., None])[rng.integers(4)]
        known = built.are_equal(a, b)
        assert known is None or known is bool(a.shape == b.shape and (a == b).all()), (a, b)
        taken += known is not None
    long, other = np.ones(20000), np.ones(20000)
    assert built.are_equal(long, other) is None and built.are_equal(long, long[1:]) is False
    other[-1] = 2
    assert built.are_equal(long, other) is None  # NumPy says
    other[7] = 2
    assert built.are_equal(long, other) is False
    assert taken > 500 and built.are_equal(1, 2) is None and built.are_equal(a) is None
    bits = np.frombuffer(b"\2\0\1", bool)  # truth isn't one bit
    assert built.are_equal(bits, np.array([True, False, True])) is True


def test_results_in_order_stay_as_they_are(built: Any) -> None:
    rng = np.random.default_rng(2)
    sure = 0
    for _ in range(4000):
        shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 5)))
        operands = []
        for _ in range(rng.integers(1, 4)):
            own = [n if rng.random() < 0.7 else 1 for n in shape]
            x = np.zeros(own).transpose(order := rng.permutation(len(own)))
            x = (
                x.transpose(np.argsort(order))
                if rng.random() < 0.5
                else np.zeros(np.array(own)[order])
            )
            x = x if x.shape == tuple(own) else x.transpose(np.argsort(order))
            if rng.random() < 0.2:
                x = np.repeat(x, 2, -1)[..., ::2]
            operands.append(np.broadcast_to(x, shape) if rng.random() < 0.2 else x)
        result = np.zeros(np.broadcast_shapes(*[x.shape for x in operands]))
        if built.is_in_order(result, tuple(operands)):
            sure += 1
            named = tuple([(x.shape, x.strides) for x in operands])
            assert dense_layout.order_by(result, named) is result, (shape, named)
    assert sure > 200
    assert not built.is_in_order(1, (1,)) and not built.is_in_order(result, [result])


def test_defaults_and_modes_are_asked() -> None:
    calls = [
        lambda: torch.linspace(0, 1, 5), lambda: torch.eye(3), lambda: torch.full((2, 2), 1.5),
        lambda: torch.rand(3), lambda: torch.randn(3),
    ]  # fmt: skip
    torch.set_default_dtype(torch.float64)
    try:
        assert all(call().dtype is torch.float64 for call in calls)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(call().dtype is torch.float32 for call in calls)
    with torch.device("meta"):
        assert all(call().is_meta for call in calls)
    with torch.inference_mode():
        assert all(call().is_inference() for call in calls)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(lambda x: x + torch.rand(3))(torch.zeros(2, 3))
    assert torch.full((2,), True).dtype is torch.bool and torch.full((2,), 3).dtype is torch.int64
    assert torch.equal(torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))


def test_nothing_is_left_behind(built: Any) -> None:
    x, number = np.ones((2, 3), np.float32), 1.5
    kept = [x, number, x.dtype]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(10_000):
        built.spaced(number, 2.5, 4), built.filled((2, 2), number), built.eye(3)
        built.are_equal(x, x), built.is_in_order(x, (x, x))
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip(kept, before))


def test_short_transforms_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64, np.float16):
        for shape in ((1,), (2,), (3,), (4, 4), (1, 5), (7, 1), (2, 3, 8), (40, 40), (3, 1, 6)):
            x = rng.standard_normal(shape).astype(kind)
            for y in (x, x.T, x[..., ::-1]):
                for norm in (0, 1, 2):
                    name = ("backward", "ortho", "forward")[norm]
                    found = fft.r2c(y, (y.ndim - 1,), norm, True)
                    assert same(found.copy(), np.fft.rfft(y, norm=name).copy())


def test_places_are_looked_at_as_the_plain_way_looks(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    least, most = -(1 << 63), (1 << 63) - 1
    for values in ([0, 3], [0, 4], [-1, 2], [least], [most], [3, 3, 3], [[0, 1], [2, 4]]):
        x = np.array(values, np.int64)
        for y in (x, x[::-1], x.astype(np.int32), x.view(Alike)):
            said = []
            for fresh in (built, None):
                monkeypatch.setattr(indexing, "FRESH", fresh)
                said.append([indexing.are_places(y, n) for n in (1, 4, 5, 1 << 60, most)])
            assert said[0] == said[1] and all(type(one) is bool for one in said[0])
    assert built.are_between(np.array([2, 3]), 2, 3) is True
    assert built.are_between() is None and built.are_between(1, 2, 3) is None
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for places, wanted in (([[0, 1], [1, 0]], [[1, 4], [3, 2]]), ([[-1, 0]], [[3, 2]])):
        assert table.take_along_dim(torch.tensor(places), 0).tolist() == wanted


def test_numbers_in_sequences_are_read_as_one_by_one(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_sequences, "FRESH", None)
    rng = np.random.default_rng(0)
    numbers = [*NUMBERS[:24], 1 << 53, -(1 << 53) - 1, -(1 << 63), 1e39, True, False]

    def sequence(shape: tuple[int, ...], few: list[Any]) -> Any:
        if not shape:
            return few[rng.integers(len(few))]
        items = [sequence(shape[1:], few) for _ in range(shape[0])]
        return items if rng.random() < 0.7 else tuple(items)

    kinds = (None, D.float32, D.float64, D.int64)
    taken = 0
    for _ in range(3000):
        shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 5)))
        few = [numbers[k] for k in rng.integers(len(numbers), size=rng.integers(1, 4))]
        value, kind = sequence(shape, few), kinds[rng.integers(4)]
        found = built.numbers(value, None if kind is None else types.to_raw(kind))
        if found is not None:
            assert same(found, nested_sequences.array_of(value, kind)), (value, kind)
            assert found.flags.owndata and found.flags.writeable
            taken += 1
    assert taken > 800
    holds_itself: list[Any] = []
    holds_itself.append(holds_itself)
    for odd in ([], [[]], [1, [1]], [[1], 1], [[1], [1, 2]], [1j], ["1"], "1", 1.0, None, {1: 2},
                [None], [np.float64(1)], [np.ones(2)], holds_itself, [Whole(1)], Several([1]),
                [[[[[[[[[1]]]]]]]]], [0] * 70_000, [1 << 70], range(3)):  # fmt: skip
        assert built.numbers(odd, None) is None
    for kind in (np.dtype(np.float16), np.dtype(">f4"), "f4", np.float32, 3):
        assert built.numbers([1], kind) is None
    assert built.numbers([1.5], np.dtype(np.int64)) is None
    assert built.numbers() is None and built.numbers([1]) is None
    kept = [0.5, 7, [1.0]]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(1000):
        built.numbers([kept[0], kept[1]], None), built.numbers(kept, None)
    assert all(abs(sys.getrefcount(one) - n) < 20 for one, n in zip(kept, before))


class Whole(int):
    """A number of another class."""


class Several(list[int]):
    """A list of another class."""


def test_tensors_of_lists_ask_for_defaults_and_modes() -> None:
    for value in ([1.0, 2], [[1], [2]], [True, False], (1.5,)):
        plain = torch.tensor(value, requires_grad=False)
        found = torch.tensor(value)
        assert found.dtype is plain.dtype and found.tolist() == plain.tolist()
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor([1.0]).dtype is torch.float64
        assert torch.tensor([1]).dtype is torch.int64
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.device("meta"):
        assert torch.tensor([1.0]).is_meta
    with torch.inference_mode():
        assert torch.tensor([1.0]).is_inference()
    with pytest.raises(ValueError, match="expected sequence of length 1"):
        torch.tensor([[1.0], [1.0, 2.0]])


def test_numbers_are_written_throughout(built: Any) -> None:
    rng = np.random.default_rng(0)
    for kind in ("f4", "f8", "i8"):
        for size in (1, 3, 17, 1000, 70_001):
            for value in (0, 1, -7, 2**53, 1.5, -0.0, np.inf, np.nan, 3e38, 4e38, 2**53 + 1, True):
                x = rng.integers(0, 9, size).astype(kind)
                before = x.copy()
                value = float(value) if isinstance(value, np.floating) else value
                if built.fill(x, value):
                    wanted = np.full(size, value, kind)
                    assert x.tobytes() == wanted.tobytes()
                    assert kind != "i8" or type(value) is int
                else:
                    np.testing.assert_array_equal(x, before)


def test_what_is_odd_is_not_filled(built: Any) -> None:
    locked = np.zeros(4, "f4")
    locked.flags.writeable = False
    for odd in (np.zeros(4, ">f4"), np.zeros((4, 4), "f4").T[:2], np.zeros(4, "f2"), locked, [1.0],
                np.zeros(4, "i4"), np.zeros(4, "c8")):  # fmt: skip
        assert not built.fill(odd, 1.0)
    assert not built.fill(np.zeros(4, "f4"), None) and not built.fill(np.zeros(4, "f4"))
    assert not built.fill(np.zeros(4, "i8"), 1.0) and not built.fill(np.zeros(4, "f4"), 1e39)


def test_long_lines_are_those_of_the_plain_function(built: Any) -> None:
    for start, end in ((0, 1), (-3.5, 2), (1e30, -1e30), (5, 5)):
        for steps in (2, 3, 65_537, 200_000):
            for kind, name in ((np.float32, D.float32), (np.float64, D.float64)):
                found = built.spaced(start, end, steps, *([True] if kind is np.float64 else []))
                wanted = create.linspace(start, end, steps, name)
                assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
