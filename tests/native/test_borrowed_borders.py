"""Borders of an array's own elements in C: the elements and layout of the plain function."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from rushlight._array.shape import padding
from rushlight._native import ufunc_loops
from tests.native.loops import Plain, placed

MODES = ["reflect", "replicate", "circular"]
TYPES = ["f4", "f8", "c16", "i8", "i2", "u1", "?", "f2"]
plain_borrow = padding._borrow


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("copies", tmp_path_factory):
        yield


def made() -> tuple[Any, Plain]:
    plain = Plain(plain_borrow)
    return ufunc_loops.copy(plain, "Wpm"), plain


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    return (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)


def same(a: Any, b: Any) -> bool:
    kept = (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides)
    return kept and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_the_plain_ones(mode: str, dtype: str) -> None:
    borrow, plain = made()
    rng = np.random.default_rng(1)
    for _ in range(200):
        shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 5)))
        x = drawn(shape, dtype)
        widths: list[int] = []
        for k in range(int(rng.integers(1, len(shape) + 1))):
            n = shape[-1 - k]
            most = {"reflect": n - 1, "circular": n, "replicate": 4}[mode]
            widths += [int(w) for w in rng.integers(0, most + 1, 2)]
        before = plain.calls
        found = borrow(x, tuple(widths), mode)
        assert (plain.calls == before) == any(widths)
        assert same(found, plain_borrow(x, tuple(widths), mode)), (shape, widths)
        assert not np.shares_memory(found, x) and found.flags.writeable


def test_signs_and_what_is_not_a_number() -> None:
    borrow, _ = made()
    x = np.array([[-0.0, np.nan, np.inf, 1e-42]], "f4")
    for mode in MODES:
        assert same(borrow(x, (2, 3), mode), plain_borrow(x, (2, 3), mode))


def test_what_is_left_to_the_plain_function() -> None:
    borrow, plain = made()
    x = drawn((6, 7), "f4")
    left: list[tuple[Any, ...]] = [
        (x.T, (1, 1), "reflect"), (x[:, ::2], (1, 1), "circular"), (x, (-1, 1), "reflect"),
        (x, (0, 0), "reflect"), (x.astype(">f4"), (1, 1), "reflect"), (x, (1, -1), "replicate"),
        (x, (np.int64(1), 1), "reflect"), (x, (True, 1), "reflect"),
    ]  # fmt: skip
    for k, args in enumerate(left):
        found = borrow(*args)
        assert plain.calls == k + 1, k
        assert np.array_equal(found, plain_borrow(*args))
    odd: list[tuple[Any, ...]] = [
        (x, (7, 0), "reflect"), (x, (1, 1, 1), "reflect"), (x, (1,) * 6, "reflect"),
        (x, (8, 0), "circular"), (x, (1, 1), "other"), (x, (1 << 70, 1), "replicate"),
        (x, (1.0, 1), "replicate"), (x, None, "reflect"), (x, (1, 1), None),
    ]  # fmt: skip
    calls = plain.calls
    for k, args in enumerate(odd):
        with suppress(ValueError, IndexError, TypeError, OverflowError, MemoryError):
            borrow(*args)
        assert plain.calls == calls + k + 1, k


def test_large_arrays_and_nothing_that_leaks() -> None:
    borrow, plain = made()
    x = drawn((4, 8, 64, 64), "f4")
    assert same(borrow(x, (3, 2, 1, 4), "reflect"), plain_borrow(x, (3, 2, 1, 4), "reflect"))
    assert plain.calls == 0
    counts = []
    for _ in range(3):
        for _ in range(100):
            borrow(x, (1, 1, 1, 1), "circular")
        counts.append((sys.getrefcount(x), sys.getrefcount(x.dtype)))
    assert counts[1] == counts[2]
    borrow(x[:1, :1], (100_000, 0), "replicate")  # of more bytes than are made in C
    assert plain.calls == 1


def test_dimensions_in_another_order_are_copied_as_numpy_does_it() -> None:
    plain = Plain(lambda x: np.array(x, order="C"))
    copy = ufunc_loops.copy(plain, "O")
    rng = np.random.default_rng(2)
    for turn in range(300):
        rank = int(rng.integers(1, 5))
        x = drawn(tuple(int(n) for n in rng.integers(1, 20, rank)), TYPES[turn % len(TYPES)])
        x = x.transpose(rng.permutation(rank))
        if turn % 3 == 0:
            x = x[..., ::2] if turn % 2 else x[::-1]
        if turn % 5 == 0:
            x = np.broadcast_to(x[..., :1], (*x.shape[:-1], 33))
        assert same(copy(x), np.array(x, order="C")), (x.shape, x.strides)
    heads = drawn((16, 64, 8, 32), "f4").transpose(0, 2, 1, 3)  # of more bytes than others may have
    plain.calls = 0
    assert same(copy(heads), np.array(heads, order="C")) and plain.calls == 0
    assert same(copy(heads.transpose(3, 0, 1, 2)), np.array(heads.transpose(3, 0, 1, 2), order="C"))
    assert plain.calls == 1
