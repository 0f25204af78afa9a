"""Reductions over dimensions whose lines are short, by halves.

Note [Short lines]
NumPy reduces an array line by line, and a line costs it 15 ns and more, however few elements it
has. Where one half of the lines is combined with the other, again and again, what lies behind a
dimension and half of it are one line.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_LARGE: Final = 4096  # elements from which this is worth its calls
_SHORT: Final = 16  # elements of a line that is short
_SERIAL: Final = 4096  # the same where NumPy has one step wait for the last one
_BLOCK: Final = 1 << 16  # elements that are halved at a time
_BOOL: Final = np.dtype(np.bool_)


def fold(ufunc: Any, x: Array, axis: Any, keepdim: bool, dtype: RawType | None = None) -> Any:
    """`x` reduced by a ufunc whose order does not matter, as its `reduce` does it.

    Its elements are converted to `dtype`; to that of bools by a logical ufunc alone.
    """
    found = _fold_lines(ufunc, x, axis, dtype) if x.size >= _LARGE else None
    if found is None:
        return ufunc.reduce(x, axis, None if dtype is _BOOL else dtype, None, keepdim)
    return np.expand_dims(found, axis) if keepdim else found


def _fold_lines(ufunc: Any, x: Array, axis: Any, dtype: RawType | None = None) -> Array | None:
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    if not isinstance(axis, int) or x.dtype.kind not in "fiub" or not x.flags.c_contiguous:
        return None
    axis %= x.ndim
    before, lines, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    groups, length = prod(before), prod(after)
    # Along the last dimension a line is all that is reduced, else what lies behind.
    most = _SERIAL if ufunc is np.multiply and length == 1 else _SHORT
    if lines < 2 or (lines if length == 1 else length) > most or groups < _SHORT:
        return None
    parts = x.reshape(groups, lines, length)
    out = np.empty((groups, length), dtype or x.dtype)
    block = max(1, _BLOCK // (lines * length))
    for start in range(0, groups, block):
        part = parts[start : start + block].astype(out.dtype, copy=False)
        _fold_block(ufunc, part, out[start : start + block])
    return out.reshape(before + after)


def _fold_block(ufunc: Any, part: Array, out: Array) -> None:
    """Reduces (groups, lines, length) over the lines."""
    while part.shape[1] * part.shape[2] > _SHORT and part.shape[1] > 1:
        half = part.shape[1] // 2
        found = ufunc(part[:, :half], part[:, half : 2 * half])
        if part.shape[1] % 2:
            ufunc(found[:, :1], part[:, 2 * half :], out=found[:, :1])
        part = found
    for k in range(part.shape[2]):
        to = out[:, k]
        np.copyto(to, part[:, 0, k])
        for line in range(1, part.shape[1]):
            ufunc(to, part[:, line, k], out=to)
