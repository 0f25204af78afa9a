"""Sums and exponentials along rows, which softmax, losses and moments share.

Float32 and float64 are computed in their own precision (sums that decide a loss or a mean end in
float64), float16 and bfloat16 in float32. Every result is a new ndarray of the input's dtype unless
it says otherwise.

Note [Row sums by BLAS]
`x @ ones` sums rows in 0.05 ns an element where `x.sum(1)` takes 0.15-0.3 (float32, rows of
64-1000), and its several accumulators are as exact. Rows past `LONG_ROW` are summed in pieces of
that length, and the pieces in float64, so that the error does not grow with the row.

Note [Softmax without the row maximum]
The row maximum costs more than the exponential (0.3-0.9 ns an element on rows of 64-256). It only
guards the range: where every logit of a block is below `TOP` and every row of exponentials sums to
more than a floor, exp(x) neither overflows nor loses digits, and leaving the subtraction out even
saves its rounding error. Otherwise, NaN and infinities included, the block goes the classical way.
So do logarithms near zero, as of a confident prediction: there the difference of two large numbers
has lost the digits, and may have the wrong sign.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.ufunc_loops import along
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..annotations import Array, RawType

LONG_ROW = 2048
# Elements worked on at a time: few enough for the cache, enough to make the calls cheap.
_BLOCK = 131_072
# See Note [Softmax without the row maximum]. In float32 exp(60) leaves room for rows of 1e10, and
# e^-16 for probabilities down to e^-70. In float64 the bounds are close: nothing holds a
# log-sum-exp more exactly.
TOP = {4: 60.0, 8: 8.0}
CONFIDENT = 0.01  # what is nearer to zero is a difference that has lost its digits
FLOOR = {4: exp(-16.0), 8: exp(-8.0)}


def _inner_products(left: Any, right: Any) -> Array:
    return np.einsum("ij,ij->i", left, right)


# NumPy 2 has it as a ufunc that calls BLAS.
vecdot: Any = getattr(np, "vecdot", _inner_products)


@lru_cache(maxsize=64)
def ones(length: int, dtype: RawType) -> Array:
    ones = np.ones(length, dtype)
    ones.flags.writeable = False
    return ones


def _compute_in(dtype: RawType) -> RawType:
    """The dtype to compute in for values of `dtype`."""
    if dtype in (np.float32, np.float64):
        return dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return np.dtype(np.float32)
    raise TypeError(f"expected an array of floating point numbers, got dtype {dtype}")


def lift(x: Any) -> Any:
    if x.dtype is FLOAT32 or x.dtype is FLOAT64:
        return x
    dtype = _compute_in(x.dtype)
    return x if x.dtype == dtype else x.astype(dtype)


def row_sum(rows: Array, exact: bool = False) -> Any:
    """The sum of each row of a matrix; `exact` leaves those of long rows in float64.

    See Note [Row sums by BLAS].
    """
    length = rows.shape[1]
    if length <= 2 * LONG_ROW:
        return rows @ ones(length, rows.dtype)
    whole = length // LONG_ROW * LONG_ROW
    pieces = rows[:, :whole].reshape(rows.shape[0], -1, LONG_ROW)
    total = np.add.reduce(pieces @ ones(LONG_ROW, rows.dtype), axis=1, dtype=np.float64)
    if whole < length:
        total += rows[:, whole:] @ ones(length - whole, rows.dtype)
    return total if exact else total.astype(rows.dtype)


_SHORT_LINES: Final = 32  # elements up to which what follows a dimension is short
_MANY_LINES: Final = 8  # lines from which a product for each sum pays
_MOST_LINES: Final = 1 << 16  # lines up to which there are ones: NumPy adds one by one, too


def sum_short_lines(x: Array, first: int, count: int = 1) -> Array | None:
    """The sums over `count` dimensions from `first` on, without these, where short lines follow;
    None where NumPy's way is as quick, which goes over each line by itself.

    Shapes: x in C order, of float32 or float64.
    """
    before, after = x.shape[:first], x.shape[first + count :]
    lines, length, groups = prod(x.shape[first : first + count]), prod(after), prod(before)
    if (
        not groups
        or not 1 < length <= _SHORT_LINES
        or not 0 < lines <= _MOST_LINES
        or not x.flags.c_contiguous
    ):
        return None
    if lines < _MANY_LINES:
        found: Array | None = along("total", x.reshape(groups, lines, length), 1)
        return found if found is None else found.reshape(before + after)
    row = ones(lines, x.dtype)[None]
    return np.matmul(row, x.reshape(groups, lines, length)).reshape(before + after)


def row_max(rows: Array, find: AnyCallable = np.ndarray.argmax) -> Array:
    """The maximum of each row of a C-ordered matrix, NaN where a row has one.

    The minimum with `ndarray.argmin` as `find`. Searching for it and reading it takes half of what
    `numpy.maximum.reduce` takes along rows.
    """
    count, length = rows.shape
    return rows.reshape(-1).take(find(rows, 1) + row_starts(count, length))


@lru_cache(maxsize=256)
def row_starts(rows: int, length: int) -> Array:
    """The flat places at which the rows of a matrix begin."""
    starts = np.arange(0, rows * length, length or 1)[:rows]
    starts.flags.writeable = False
    return starts


_SHORT_DOT: Final = 32  # elements of a row to which a call of BLAS costs more than they do
_IN_C: Final = 8192  # elements up to which loops in C take rows, with the digits of `vecdot`


def row_dot(left: Array, right: Array) -> Any:
    """The inner product of each row of one matrix with the same row of another."""
    length = left.shape[1]
    if 0 < length < _SHORT_DOT and left.size > _IN_C:
        return (left * right) @ ones(length, left.dtype)
    if length <= 2 * LONG_ROW:
        return vecdot(left, right)
    whole = length // LONG_ROW * LONG_ROW
    shape = (left.shape[0], -1, LONG_ROW)
    pieces = vecdot(left[:, :whole].reshape(shape), right[:, :whole].reshape(shape))
    total = np.add.reduce(pieces, axis=1, dtype=np.float64)
    if whole < length:
        total += vecdot(left[:, whole:], right[:, whole:])
    return total.astype(left.dtype)


def row_blocks(rows: int, length: int) -> range:
    """The starts of runs of rows that the cache holds; its step is the number of rows in a run."""
    return range(0, rows, max(1, _BLOCK // max(length, 1)))


def reduced_axes(ndim: int, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if axis is None or axis == ():
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(a % ndim for a in axes)) if ndim else ()


def gather_rows(x: Array, axes: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """`x` as a C-ordered matrix with `axes` as its columns, and the shape of what remains."""
    kept = tuple(a for a in range(x.ndim) if a not in axes)
    shape = tuple(x.shape[a] for a in kept)
    length = prod(x.shape[a] for a in axes)
    if kept + axes != tuple(range(x.ndim)):
        x = x.transpose(kept + axes)
    return np.ascontiguousarray(x).reshape(prod(shape), length), shape


# --- exponentials ---------------------------------------------------------------------------------


def exponentials(rows: Array, out: Array) -> tuple[Array | None, Array]:
    """Writes exp(x - shift) to `out`; the shift (None: zero) and the row sums as columns."""
    size = rows.dtype.itemsize
    if np.maximum.reduce(rows, axis=None) < TOP[size]:
        np.exp(rows, out)
        total = row_sum(out)
        if np.minimum.reduce(total) > FLOOR[size]:
            return None, total[:, None]
    shift = row_max(rows)[:, None] if rows.flags.c_contiguous else np.maximum.reduce(
        rows, axis=1, keepdims=True
    )  # fmt: skip
    # A row of -inf, and one with inf: the same NaN as PyTorch, from inf - inf.
    np.subtract(rows, shift, out)
    np.exp(out, out)
    return shift, row_sum(out)[:, None]


def from_top(rows: Array) -> tuple[Array, Array]:
    """How far the elements are below the largest of their row, and the log of the row sums."""
    lower = np.subtract(rows, np.maximum.reduce(rows, axis=1, keepdims=True))
    return lower, np.log(np.add.reduce(np.exp(lower), axis=1, keepdims=True))


def log_totals(shift: Array | None, total: Array) -> Array:
    """log of the row sums of exponentials, shift included, in float64."""
    result = np.log(total.astype(np.float64))
    return result if shift is None else result + shift


def log_softmax_rows(out: Array, rows: Array) -> None:
    """Writes the logarithm of the softmax of rows to `out`.

    See Note [Softmax without the row maximum].
    """
    shift, total = exponentials(rows, out)
    if shift is not None:
        np.subtract(rows, shift, out)
        np.subtract(out, np.log(total), out)
        return
    exact = log_totals(None, total)
    high = exact.astype(rows.dtype)
    np.subtract(rows, high, out)
    # Below 8 the error of rounding is no larger than that of most results.
    if rows.dtype != FLOAT64 and np.maximum.reduce(np.abs(high), axis=None) > 8:
        np.subtract(out, (exact - high).astype(rows.dtype), out)
    if np.maximum.reduce(out, axis=None) > -CONFIDENT:
        np.subtract(*from_top(rows), out)


def logsumexp_rows(rows: Array) -> Array:
    """The log of the sum of exponentials of each row, in float64; allocates only a block."""
    out = np.empty(rows.shape[0], np.float64)
    if rows.size == 0:
        out.fill(-np.inf)
        return out
    starts = row_blocks(*rows.shape)
    scratch = np.empty((min(starts.step, rows.shape[0]), rows.shape[1]), rows.dtype)
    for start in starts:
        piece = rows[start : start + starts.step]
        shift, total = exponentials(piece, scratch[: len(piece)])
        out[start : start + starts.step] = log_totals(shift, total)[:, 0]
    return out
