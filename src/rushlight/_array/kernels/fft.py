"""Discrete Fourier transforms by emitted code: see `_native.emitted.fft`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import fft as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from .. import kernels
from ..memory.parallel import get_num_threads
from ..types import FLOAT32, FLOAT64, in_order_copy
from .launch import address, guard_launch, ready

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_FRAME: Final = struct.Struct("13q2d").pack
_MOST: Final = 1 << 20  # numbers of a line: their factors are kept, and more leave the caches
_HIGH: Final = 1 << 14  # numbers of a column: a vector of them fills a cache
_THREADED: Final = 1 << 14  # numbers from which threads are worth waking
_PARTS: Final[dict[RawType, RawType]] = {
    np.dtype(np.complex64): FLOAT32,
    np.dtype(np.complex128): FLOAT64,
}
_WHOLES: Final[dict[RawType, RawType]] = {
    FLOAT32: np.dtype(np.complex64),
    FLOAT64: np.dtype(np.complex128),
}


@cache
def _code(dtype: RawType, lanes: int) -> dict[str, int]:
    return code.load(F32 if dtype is FLOAT32 else F64, lanes)


@cache
def _choices(dtype: RawType) -> tuple[int, ...]:
    return code.choices(F32 if dtype is FLOAT32 else F64)


@lru_cache(maxsize=256)
def _split(n: int) -> tuple[int, ...]:
    """The radices of passes for so many numbers; none where there are other factors."""
    left, found = n, []
    for prime in (7, 5, 3):
        while left % prime == 0:
            found.append(prime)
            left //= prime
    if left & (left - 1):
        return ()
    twos = left.bit_length() - 1
    while twos > 4 or twos == 3:
        found.append(8)
        twos -= 3
    return (*found, *{0: (), 1: (2,), 2: (4,), 4: (4, 4)}[twos])


def _radices(n: int, lanes: int) -> tuple[int, ...]:
    """The radices of the passes after the first; none where such lines have too few numbers for so
    many lanes, or others than products of 2, 3, 5 and 7."""
    if n % lanes or n // lanes < lanes or n > _MOST:
        return ()
    return _split(n // lanes)


def _lanes(n: int, dtype: RawType) -> int:
    """The most lanes that such lines can be transformed with; 0 where there are none."""
    return next((lanes for lanes in _choices(dtype) if _radices(n, lanes)), 0)


def _units(places: Array, n: int) -> Array:
    """exp(-2 pi i place / n)."""
    angles = places % n * (-2 * np.pi / n)
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def _of_passes(left: int, radices: tuple[int, ...]) -> Iterator[Array]:
    for radix in radices:
        yield _units(np.multiply.outer(np.arange(left // radix), np.arange(1, radix)), left)
        left //= radix


@lru_cache(maxsize=32)
def _column_factors(n: int, dtype: RawType) -> tuple[Array, Array]:
    """Radices and the factors of all passes along columns of `n` numbers."""
    radices = _split(n)
    factors = np.concatenate([part.ravel() for part in _of_passes(n, radices)])
    return np.array(radices, np.int64), factors.astype(dtype)


@lru_cache(maxsize=8)  # up to 50 MB each
def _factors(n: int, lanes: int, dtype: RawType, real: bool) -> tuple[Array, Array, Array]:
    """Radices, the factors of all passes, and those for real lines."""
    radices = _radices(n, lanes)
    count = n // lanes
    first = _units(np.multiply.outer(np.arange(lanes), np.arange(count)), n)
    found = [first[..., 0], first[..., 1]]
    factors = np.concatenate([part.ravel() for part in [*found, *_of_passes(count, radices)]])
    factors = factors.astype(dtype)
    mirror = _units(np.arange(n if real else 0), 2 * n).T.astype(dtype)
    return np.array(radices, np.int64), factors, np.ascontiguousarray(mirror)


def _rows(x: Array) -> tuple[int, int] | None:
    """How many lines an array has, and the bytes from one to the next; None if no such."""
    *outer, near = x.strides
    if near != x.itemsize or not x.flags.aligned:
        return None
    count, step, reach = 1, 0, 0
    for length, stride in zip(reversed(x.shape[:-1]), reversed(outer), strict=True):
        if length == 1:
            continue
        if count == 1:
            step = stride
        elif stride != reach:
            return None
        count, reach = count * length, stride * length
    return (count, step) if step >= 0 and step % near == 0 else None


def _run(
    x: Array, out: Array, n: int, dtype: RawType, kind: int, forward: bool, scale: float
) -> Array:
    """Transforms lines of `n` complex numbers, whose parts are of a type, to those of `out`."""
    lines = _rows(x)
    if lines is None:
        x = in_order_copy(x)
        lines = x.size // x.shape[-1], x.shape[-1] * x.itemsize
    count, step = lines
    lanes = _lanes(n, dtype)
    radices, factors, mirror = _factors(n, lanes, dtype, kind != code.COMPLEX)
    threads = min(get_num_threads(), count) if n * count >= _THREADED else 1
    grain = -(-count // threads)
    room = np.empty(threads * 4 * n, dtype)
    line_to = out.shape[-1] * (out.itemsize // dtype.itemsize)
    frame = _FRAME(
        address(x), address(out), address(room), address(radices), address(factors),
        address(mirror), n, count, grain, step // dtype.itemsize, line_to, len(radices), kind,
        1.0 if forward else -1.0, scale,
    )  # fmt: skip
    pool.run(_code(dtype, lanes)["fft"], frame, threads, threads)
    return out


def _in_order(x: Array) -> bool:
    return type(x) is np.ndarray and x.flags.c_contiguous and x.flags.aligned and x.size > 0


def _takes(x: Array, n: int, parts: RawType) -> bool:
    """Whether lines of `n` complex numbers, with parts of a type, have a kernel."""
    if type(x) is not np.ndarray or not x.size or x.nbytes < kernels.LEAST * parts.itemsize:
        return False
    return ready() and _lanes(n, parts) > 0


@guard_launch
def c2c(x: Array, forward: bool, scale: float) -> Array | None:
    """The transform along the last axis, in C order; None where no kernel applies."""
    n, parts = x.shape[-1], _PARTS.get(x.dtype)
    if parts is None or not _takes(x, n, parts):
        return None
    return _run(x, np.empty(x.shape, x.dtype), n, parts, code.COMPLEX, forward, scale)


@guard_launch
def along_columns(x: Array, axis: int, forward: bool, scale: float) -> Array | None:
    """The transform of what is in C order along an axis that isn't the last; None where no kernel
    applies."""
    n, dtype = x.shape[axis], _PARTS.get(x.dtype)
    if dtype is None or not _in_order(x) or x.nbytes < kernels.LEAST * dtype.itemsize:
        return None
    columns = prod(x.shape[axis:]) // n
    lanes = next((lanes for lanes in _choices(dtype) if lanes <= columns), 0)
    if not lanes or n > _HIGH or not _split(n) or not ready():
        return None
    radices, factors = _column_factors(n, dtype)
    units = x.size // (n * columns) * -(-columns // lanes)
    threads = min(get_num_threads(), units) if x.size >= _THREADED else 1
    room, out = np.empty(threads * 4 * n * lanes, dtype), np.empty(x.shape, x.dtype)
    frame = _FRAME(
        address(x), address(out), address(room), address(radices), address(factors), 0, n, units,
        -(-units // threads), columns, 0, len(radices), 0, 1.0 if forward else -1.0, scale,
    )  # fmt: skip
    pool.run(_code(dtype, lanes)["columns"], frame, threads, threads)
    return out


@guard_launch
def r2c(x: Array, scale: float) -> Array | None:
    """The half of the transform of real lines that the other one mirrors."""
    n, odd = divmod(x.shape[-1], 2)
    whole = _WHOLES.get(x.dtype)
    if odd or whole is None or not _takes(x, n, _PARTS[whole]):
        return None
    out = np.empty((*x.shape[:-1], n + 1), whole)
    return _run(x, out, n, _PARTS[whole], code.REAL, True, scale)


@guard_launch
def c2r(x: Array, length: int, scale: float) -> Array | None:
    """The inverse transform to real lines of a length, from the half that isn't mirrored."""
    n, odd = divmod(length, 2)
    parts = _PARTS.get(x.dtype)
    if odd or parts is None or x.shape[-1] <= n or not _takes(x, n, parts):
        return None
    out = np.empty((*x.shape[:-1], length), parts)
    return _run(x, out, n, parts, code.HALF, False, scale)
