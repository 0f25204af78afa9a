"""Bodies of several ufuncs over large arrays, run block by block so that each stays in the cache.

A chain of ufuncs over a whole large array streams every temporary through memory, and each of them
is fresh memory at that. Over blocks of 128 KB the temporaries stay where they are, and the fixed
cost of a call is a tenth of its work. A body writes its result to its first argument:

    def body(out, x, y): np.subtract(x, y, out); np.multiply(out, out, out)

Note [Bounds by clip]
`numpy.maximum` and `numpy.minimum` of an array and a number take 0.3 ns an element, for only pairs
of whole arrays are vectorised there; the ufunc under `numpy.clip` takes a quarter of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..memory.parallel import get_num_threads, run_chunks
from ..reduce.row_sums import vecdot
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..annotations import Array

# Elements of a block, and elements from which a block's calls are worth a function of their own.
BLOCK: Final = 32768
LARGE: Final = 4096
# Elements from which blocks go to several threads, and of such a block: a core that sleeps may take
# some milliseconds to wake up, and smaller blocks queue for the interpreter lock.
_THREADED: Final = 4_000_000
_CHUNK: Final = 131_072
# Rows of products are added up in the type of the elements, the rows' sums in float64.
_ROW: Final = 4096

_core: Any = getattr(np, "_core", None) or np.core  # type: ignore[attr-defined,unused-ignore]
clip: Final[Any] = _core.umath.clip  # See Note [Bounds by clip].
INF: Final = float("inf")

# For each type the integers of its size and its sign bit, all other bits, as 0-d arrays.
SIGN_BITS: Final[dict[Any, tuple[Any, Any, Any]]] = {
    FLOAT32: (
        np.dtype(np.int32),
        np.array(-(1 << 31), np.int32),
        np.array((1 << 31) - 1, np.int32),
    ),
    FLOAT64: (
        np.dtype(np.int64),
        np.array(-(1 << 63), np.int64),
        np.array((1 << 63) - 1, np.int64),
    ),
}


def fits(x: Array, *others: object) -> bool:
    """Whether the arrays are large, of one shape and one type (float32 or float64), in C order."""
    if x.size < LARGE:
        return False
    dtype = x.dtype
    if not (dtype is FLOAT32 or dtype is FLOAT64) or not x.flags.c_contiguous:
        return False
    for other in others:
        if (
            type(other) is not np.ndarray
            or other.dtype is not dtype
            or other.shape != x.shape
            or not other.flags.c_contiguous
        ):
            return False
    return True


def map_blocks(body: AnyCallable, x: Array, *others: Array, dtype: Any = None) -> Array:
    """What `body` writes for each block of arrays that `fits`; of the type of `x` by default.

    A 0-d array among the others is handed to each block as it is.
    """
    out = np.empty(x.shape, dtype or x.dtype)
    size = x.size
    if size <= BLOCK:
        body(out, x, *others)
        return out
    flat = [a.reshape(-1) if a.ndim else a for a in (out, x, *others)]
    if size < _THREADED or get_num_threads() == 1:
        for start in range(0, size, BLOCK):
            body(*[a[start : start + BLOCK] if a.ndim else a for a in flat])
        return out

    def chunk(number: int) -> None:
        start = number * _CHUNK
        body(*[a[start : start + _CHUNK] if a.ndim else a for a in flat])

    run_chunks(-(-size // _CHUNK), chunk)
    return out


def sum_blocks(body: Callable[..., float], length: int, x: Array, *others: Array) -> float:
    """The sum of what `body(scratch, piece, ...)` gives for pieces of arrays, of some length.

    A body may use `scratch`, of the piece's size.
    """
    size = x.size
    flat = [a.reshape(-1) for a in (x, *others)]
    scratch = np.empty(min(length, size), x.dtype)
    if size <= length:
        return body(scratch, *flat)
    total = 0.0
    for start in range(0, size, length):
        pieces = [a[start : start + length] for a in flat]
        total += body(scratch[: pieces[0].size], *pieces)
    return total


def products(a: Array, b: Array) -> float:
    """The sum in float64 of the products of two flat arrays, of which rows are exact enough."""
    whole = a.size // _ROW * _ROW
    if not whole:
        return float(np.dot(a, b))
    rows = vecdot(a[:whole].reshape(-1, _ROW), b[:whole].reshape(-1, _ROW))
    found = float(np.add.reduce(rows, dtype=FLOAT64))
    return found if whole == a.size else found + float(np.dot(a[whole:], b[whole:]))
