"""Sums, differences, products and quotients of two arrays by emitted code, against NumPy's."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import large_pairs
from rushlight._array.kernels import pairs
from rushlight._array.memory import parallel
from rushlight._native.emitted import pairs as code
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((400,), (400,)), ((37, 53), (37, 53)), ((37, 53), (53,)), ((37, 53), (37, 1)),
    ((37, 53), (1, 53)), ((37, 53), ()), ((), (37, 53)), ((37, 53), (1, 1)), ((37, 1), (53,)),
    ((9, 1, 64), (1, 11, 64)), ((9, 11, 64), (9, 1, 64)), ((9, 11, 64), (11, 1)),
    ((9, 11, 65), (9, 1, 1)), ((3, 4, 5, 70), (4, 1, 70)), ((3, 1, 5, 1), (1, 4, 1, 70)),
    ((2, 1, 1, 3, 20), (2, 1, 4, 1, 20)), ((2, 3, 4, 5, 20), (20,)), ((70000,), (1,)),
    ((2, 40000), (2, 1)), ((5, 16), (5, 16)), ((1, 1, 300), (300,)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels for any size."""
    for name in ("PLAIN", "BROADCAST"):
        monkeypatch.setattr(pairs, name, 1)
    monkeypatch.setattr(kernels, "LEAST", 1)
    pairs.plan.cache_clear()
    yield
    pairs.plan.cache_clear()


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    if x.size > 20:  # all that floats are
        flat = x.reshape(-1)
        flat[3:15:2] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42]
        flat[-1] = np.finfo(dtype).max
    return x


def equal(a: Any, b: Any) -> bool:
    """Whether every bit is the same but those of nan."""
    same = a.dtype == b.dtype and a.shape == b.shape and a.strides == b.strides
    return same and np.where(np.isnan(a), 7, a).tobytes() == np.where(np.isnan(b), 7, b).tobytes()


@pytest.mark.parametrize("word", code.COMBINED)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_bit_is_numpys(word: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        for k, (left, right) in enumerate(SHAPES):
            a, b = drawn(left, dtype, k), drawn(right, dtype, k + 50)
            for x, y in ((a, b), (b, a)):
                found = pairs.combine(word, x, y)
                assert found is not None, (left, right)
                assert equal(found, getattr(np, word)(x, y)), (left, right)


def parts(x: Any) -> Iterator[Any]:
    """Views of an array of three axes, as they may lie."""
    yield x
    yield x.transpose(2, 0, 1)
    yield x.swapaxes(0, 1)
    yield x[::-1]
    yield x[..., ::-1]
    yield x[::2]
    yield x[..., ::2]
    yield x[:, 1:, 3:]
    yield x[:, :1]
    yield x[..., :1]
    yield np.broadcast_to(x[:1], x.shape)
    yield np.broadcast_to(x[..., :1], x.shape)
    yield np.broadcast_to(x[:, :1, :1], x.shape)
    yield np.lib.stride_tricks.sliding_window_view(x.reshape(-1)[:90], 40)[:20, :]
    yield np.asfortranarray(x)
    yield np.asfortranarray(x)[:, :1]


@pytest.mark.parametrize("word", code.COMBINED)
def test_views_of_any_kind_are_taken_as_numpy_takes_them_or_left(word: str) -> None:
    first, second = drawn((21, 22, 40), "f4", 1), drawn((21, 22, 40), "f4", 2)
    taken = 0
    with np.errstate(all="ignore"):
        for a in parts(first):
            for b in parts(second):
                try:
                    expected = getattr(np, word)(a, b)
                except ValueError:
                    assert pairs.combine(word, a, b) is None
                    continue
                found = pairs.combine(word, a, b)
                taken += found is not None
                assert found is None or equal(found, expected), (a.shape, a.strides, b.strides)
    assert taken > 25


def test_threads_change_no_bit() -> None:
    a, b = drawn((90, 1, 70), "f4", 1), drawn((80, 70), "f4", 2)
    before = parallel.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            found.append(pairs.combine("divide", a, b))
    finally:
        parallel.set_num_threads(before)
    assert all(equal(found[0], other) for other in found[1:])


def test_what_is_left_to_numpy() -> None:
    x = np.ones((30, 40), np.float32)
    for other in (x.astype("f8"), x[:7], x[:, :3]):
        assert pairs.combine("add", x, other) is None
    for dtype in ("i4", "c8", "f2", "?", ">f4"):
        assert pairs.combine("add", x.astype(dtype), x.astype(dtype)) is None
    for shape in ((30, 0), (0,), (5, 3)):  # nothing, and rows of a few
        assert pairs.combine("add", np.ones(shape, "f4"), np.ones(shape, "f4")) is None
    a, b = np.ones((2, 3, 1, 3, 20), "f4"), np.ones((2, 1, 4, 1, 20), "f4")
    assert pairs.combine("add", a, b) is None  # five axes
    odd = np.zeros(30 * 40 * 8, np.uint8).view([("skip", "u1"), ("x", "f4"), ("y", "u1", 3)])["x"]
    assert pairs.combine("add", odd, odd) is None  # bytes between elements that aren't elements


def test_small_arrays_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PLAIN", 1 << 18)
    monkeypatch.setattr(pairs, "BROADCAST", 1 << 16)
    pairs.plan.cache_clear()
    x = np.ones((1 << 8, 1 << 9), np.float32)
    assert pairs.combine("add", x, x) is None
    assert pairs.combine("add", x, x[:1]) is not None
    assert pairs.combine("add", x[: 1 << 6], x[:1]) is None


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (np.add, "add"), (np.subtract, "subtract"), (np.multiply, "multiply"),
        (np.true_divide, "divide"), (np.power, ""), (lambda g, other: g * other, "multiply"),
        (lambda g, other: g / other, "divide"), (lambda g, other: other * g, ""),
        (lambda g, other: -g * other, ""), (lambda g, other: g * g, ""),
        (lambda g, other: g * 2, ""), (lambda g, other: g, ""), (lambda g: g, ""),
        (lambda g, other: g * other + g, ""), (lambda g, other: np.exp(g), ""), (len, ""),
    ],
)  # fmt: skip
def test_functions_are_known_by_what_they_do(function: Callable[..., Any], word: str) -> None:
    assert large_pairs.word_of(function) == word
    taken = large_pairs.take_large(function, "ff")
    assert (taken is not function) == bool(word)
    if word:
        a, b = drawn((50, 60), "f4", 1), drawn((60,), "f4", 2)
        with np.errstate(all="ignore"):
            assert equal(taken(a, b), function(a, b))
            assert equal(taken(a, 2.0), function(a, 2.0))
        assert np.array_equal(taken(np.arange(9), 2), function(np.arange(9), 2))
        with pytest.raises(ValueError, match="broadcast"):
            taken(a, b[:7])
