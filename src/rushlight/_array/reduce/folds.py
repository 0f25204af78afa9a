"""Reductions over dimensions whose lines are short, by halves.

Note [Short lines]
NumPy reduces an array line by line, and a line costs it 15 ns and more, however few elements it
has. Where one half of the lines is combined with the other, again and again, what lies behind a
dimension and half of it are one line.

Note [Places by numbers]
`argmax` goes line by line, too, and copies an array whose lines don't lie together. With the
largest element known, the first that equals it is found by arithmetic on bytes: elements of a line
that equal it count as many as there are from there to its end; the largest count is the first one.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.ufunc_loops import along
from ..memory.dense_layout import is_dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..annotations import Array, RawType

_LARGE: Final = 4096  # elements from which this is worth its calls
_SHORT: Final = 16  # elements of a line that is short
_SERIAL: Final = 4096  # the same where NumPy has one step wait for the last one
_BLOCK: Final = 1 << 16  # elements that are halved at a time
_PLACES: Final = 32  # lines from which NumPy, which looks at each until it knows, is quicker
_TURNED: Final = 64  # elements of a line up to which those of several groups are laid side by side
_BOOL: Final = np.dtype(np.bool_)


def fold(ufunc: np.ufunc, x: Array, axis: Any, keepdim: bool, dtype: RawType | None = None) -> Any:
    """`x` reduced by a ufunc whose order does not matter, as its `reduce` does it.

    Its elements are converted to `dtype`; to that of bools by a logical ufunc alone.
    """
    found = None
    if axis is not None and (dtype is None or x.dtype is dtype):
        found = _fold_lanes(ufunc, x, axis)
    if found is None and x.size >= _LARGE:
        found = _fold_lines(ufunc, x, axis, dtype)
        if found is None and not x.flags.c_contiguous:
            found = by_memory_order(lambda y, d: fold(ufunc, y, d, False, dtype), x, axis, False)
    if found is None:
        reduce: Any = ufunc.reduce  # by keywords it takes longer
        return reduce(x, axis, None if dtype is _BOOL else dtype, None, keepdim)
    return np.expand_dims(found, axis) if keepdim else found


def by_memory_order(
    reduce: Callable[[Array, Any], Array | None], x: Array, axis: Any, keepdim: bool
) -> Array | None:
    """`reduce(x, axis)` of an array that is dense in another order of its dimensions than C's, of
    which the closest in memory is reduced, done in that order; the result is in C order.

    None for other arrays, and where `reduce` has none.
    """
    if axis is None or x.ndim < 2:
        return None
    axes = {d % x.ndim for d in (axis if type(axis) is tuple else (axis,))}
    closest = min(range(x.ndim), key=x.strides.__getitem__)
    if closest not in axes or x.shape[closest] < 2 or not is_dense(x):
        return None  # NumPy's loop is over elements side by side
    steps = x.strides
    order = sorted(range(x.ndim), key=lambda d: -steps[d])
    found = reduce(x.transpose(order), tuple([k for k, d in enumerate(order) if d in axes]))
    if found is None:
        return None
    kept = [d for d in order if d not in axes]
    if len(kept) > 1:
        back = sorted(range(len(kept)), key=kept.__getitem__)
        found = np.ascontiguousarray(found.transpose(back))
    return (
        found.reshape([1 if d in axes else n for d, n in enumerate(x.shape)]) if keepdim else found
    )


def _fold_lanes(ufunc: np.ufunc, x: Array, axis: object) -> Array | None:
    """`x` reduced over one dimension in C; None for what is left to others."""
    if type(axis) is tuple:
        if len(axis) != 1:
            return None
        (axis,) = axis
    if x.dtype.kind == "f" and x.size < _LARGE:  # signs of zeros and digits are NumPy's there
        return None
    found: Array | None = along(ufunc.__name__, x, axis)
    return found


def _fold_lines(
    ufunc: np.ufunc, x: Array, axis: object, dtype: RawType | None = None
) -> Array | None:
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


def _fold_block(ufunc: np.ufunc, part: Array, out: Array) -> None:
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


def find_extremes(ufunc: np.ufunc, x: Array, axis: int) -> tuple[Array, Array] | None:
    """The largest (smallest) elements over a dimension by `maximum` (`minimum`), and where the
    first of them are, without that dimension; None for what is left to NumPy.

    See Note [Places by numbers].
    """
    if x.ndim and (axis != x.ndim - 1 or x.shape[axis] <= _TURNED):
        known: tuple[Array, Array] | None = along("top" if ufunc is np.maximum else "low", x, axis)
        if known is not None:
            return known
    if x.size < _LARGE:
        return None
    before, lines, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    groups, length = prod(before), prod(after)
    most = _SHORT if length == 1 else _PLACES
    if not 1 < lines <= most or max(groups, length) < _SHORT:
        return None
    if not (x.dtype.kind in "iub" or x.dtype.char in "fd") or not x.flags.c_contiguous:
        return None
    parts = x.reshape(groups, lines, length)
    values, places = np.empty((groups, length), x.dtype), np.empty((groups, length), np.int64)
    step, width = max(1, _BLOCK // (lines * length)), max(_TURNED, _BLOCK // lines)

    for start in range(0, groups, step):
        rows = slice(start, start + step)
        part, value, place = parts[rows], values[rows], places[rows]
        if length <= _TURNED:  # what lies together are lines of other groups
            turned = np.ascontiguousarray(part.reshape(len(part), -1).T)
            found = _find_first(ufunc, turned.reshape(lines, -1))
            for out, one in zip((value, place), found, strict=True):
                np.copyto(out, one.reshape(length, -1).T)
            continue
        for left in range(0, length, width):
            columns = slice(left, left + width)
            value[:, columns], place[:, columns] = _find_first(ufunc, part[:, :, columns])
    return values.reshape(before + after), places.reshape(before + after)


def _find_first(ufunc: np.ufunc, x: Array) -> tuple[Array, Array]:
    """The extremes of (…, lines, columns) over the lines, and where the first of them are."""
    lines = x.shape[-2]
    top = ufunc.reduce(x, -2)
    same = x == top[..., None, :]
    if x.dtype.kind == "f" and (top != top).any():
        same |= x != x
    count = np.arange(lines, 0, -1, dtype=np.uint8)[:, None]
    places = np.subtract(lines, np.maximum.reduce(same.view(np.uint8) * count, -2), dtype=np.int64)
    if x.dtype.kind == "f" and not top.all():  # of zeros with either sign, the first one's
        top = np.take_along_axis(x, places[..., None, :], -2)[..., 0, :]
    return top, places
