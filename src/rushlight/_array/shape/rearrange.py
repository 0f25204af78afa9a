"""Copies in another arrangement: repeated, flipped, rolled, turned; triangles and diagonals;
padding.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._native.ufunc_loops import along
from ..axes import ALL, END, axes_of, axis_of
from ..memory import dense_layout as dense
from ..memory.out_of_memory import allocating
from ..nn.channels_last import follow_layout
from ..number import filling
from ..types import FLOAT32, FLOAT64, from_raw, to_raw
from .as_strided import diagonal

if TYPE_CHECKING:
    from ..annotations import Array


def repeat(x: Array, repeats: tuple[int, ...]) -> Array:
    """`x` repeated along every dimension.

    Raises:
        RuntimeError: for too few numbers, or negative ones.
    """
    if len(repeats) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    shape = (1,) * (len(repeats) - x.ndim) + x.shape
    wanted = tuple([r * n for r, n in zip(repeats, shape)])
    for n in wanted:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {errors.shape_text(wanted)}"
            )
    out = np.empty(wanted, x.dtype)
    if not out.size:
        return out
    mixed: list[int] = []
    single: list[int] = []
    for r, n in zip(repeats, shape):
        mixed += [r, n]
        single += [1, n]
    out.reshape(mixed)[...] = x.reshape(single)
    return out


def repeat_backward(g: Array, shape: tuple[int, ...], repeats: tuple[int, ...]) -> Array:
    """The gradient of `repeat`: `g` summed over the repetitions."""
    lead = len(repeats) - len(shape)
    if 0 in repeats:
        return np.zeros(shape, g.dtype)
    full = (1,) * lead + tuple(shape)
    mixed: list[int] = []
    for r, n in zip(repeats, full):
        mixed += [r, n]
    parts = g.reshape(mixed)
    if g.dtype is not FLOAT32 and g.dtype is not FLOAT64:
        return parts.sum(tuple(range(0, 2 * len(repeats), 2))).reshape(shape)
    for axis in range(2 * len(repeats) - 2, -1, -2):
        if mixed[axis] != 1:
            behind = parts.shape[axis + 1 :]
            found: Array | None = along("total", parts, axis) if prod(behind) <= _SHORT else None
            parts = np.add.reduce(parts, axis) if found is None else found
            parts = parts.reshape((*mixed[:axis], 1, *behind))
    return parts.reshape(shape)


_SHORT: Final = 32  # elements of lines to which NumPy takes longer to come than to add


@allocating
def repeated_places(repeats: Array, size: int | None) -> Array:
    """The place k repeated repeats[k] times, for every k.

    Raises:
        RuntimeError, NotImplementedError: for repeats of another shape or type, or negative ones.
    """
    if repeats.dtype.kind != "i" or repeats.dtype.itemsize < 4:
        name = D.scalar_name(from_raw(repeats.dtype))
        raise NotImplementedError(errors.not_implemented("repeat_interleave_cpu", name))
    if size is None and repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if size is not None and repeats.size not in (1, size):
        raise RuntimeError("repeats must have the same size as input along dim")
    if repeats.size and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    count = repeats.size if size is None else size
    return np.repeat(np.arange(count), np.broadcast_to(repeats.reshape(-1), (count,)))


def flip(x: Array, dims: tuple[int, ...]) -> Array:
    """`x` with the order along some dimensions reversed, as a copy."""
    axes = axes_of(dims, x.ndim)
    if not x.ndim:
        return x.copy()
    key = tuple([slice(None, None, -1) if d in axes else ALL for d in range(x.ndim)])
    return dense.copy_laid_out_like(x[key], x)


def roll(x: Array, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """`x` with elements moved along dimensions (or flat); the end comes in at the start.

    Raises:
        RuntimeError: where numbers of shifts and dimensions differ.
    """
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not x.size and len(shifts) == 1 and len(dims) < 2:
        return x.copy()
    if not dims and len(shifts) == 1:
        return np.roll(x, shifts[0])
    if len(shifts) != len(dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if len(dims) == 1 and x.flags.c_contiguous and x.size:
        axis = axis_of(dims[0], x.ndim)
        cut = -shifts[0] % x.shape[axis]
        before = (slice(None),) * axis
        parts = x[(*before, slice(cut, None))], x[(*before, slice(0, cut))]
        return np.concatenate(parts, axis)
    return np.roll(
        x if x.flags.c_contiguous else dense.copy_in_format(x),
        shifts,
        tuple([axis_of(d, x.ndim) for d in dims]),
    )


def rot90(x: Array, k: int = 1, dims: tuple[int, ...] = (0, 1)) -> Array:
    """`x` turned `k` times by a right angle, from the first of `dims` to the second.

    Raises:
        RuntimeError, IndexError: for other than two different dimensions.
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.ndim}")
    a, b = axis_of(dims[0], x.ndim), axis_of(dims[1], x.ndim)
    if a == b:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    k %= 4
    if k == 0:
        return x.copy("K")
    if k == 2:
        return flip(x, (a, b))
    return flip(x, (b,) if k == 1 else (a,)).swapaxes(a, b)


def _triangle(x: Array, diagonal_: int, lower: bool) -> Array:
    if x.ndim < 2:
        raise RuntimeError(
            f"{'tril' if lower else 'triu'}: input tensor must have at least 2 dimensions"
        )
    n, m = x.shape[-2:]
    if not -END <= diagonal_ <= END:
        raise ValueError(errors.LONG)
    mask = _mask(n, m, diagonal_, lower) if n * m <= _KEPT else _new_mask(n, m, diagonal_, lower)
    out = np.zeros(x.shape, x.dtype)
    np.copyto(out, x, where=mask)
    return out


_KEPT: Final = 1 << 20  # elements up to which the masks of triangles are kept


def _new_mask(n: int, m: int, diagonal_: int, lower: bool) -> Array:
    mask = np.tri(n, m, diagonal_ if lower else diagonal_ - 1, dtype=bool)
    return mask if lower else ~mask


_mask = lru_cache(16)(_new_mask)


def tril(x: Array, diagonal: int = 0) -> Array:
    """The lower triangles of matrices, zeros above."""
    return _triangle(x, diagonal, True)


def triu(x: Array, diagonal: int = 0) -> Array:
    """The upper triangles of matrices, zeros below."""
    return _triangle(x, diagonal, False)


@allocating
def triangle_places(row: int, col: int, offset: int, dtype: D.dtype, lower: bool) -> Array:
    """The places of a triangle of a matrix, rows in order: two rows of numbers.

    Raises:
        RuntimeError, NotImplementedError: for negative sizes, or a type that isn't an integer.
    """
    for name, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{name} must be non-negative, got{n}")
    raw = to_raw(dtype)
    if raw.kind not in "iu":
        word = "tril" if lower else "triu"
        raise NotImplementedError(errors.not_implemented(f"{word}_indices", D.scalar_name(dtype)))
    if not row or not col:
        return np.empty((2, 0), raw)
    if lower:  # rows first, one place each time further, up to whole ones
        first, last = min(max(-offset, 0), row), row
        short = max(min(col - offset, row) - first, 0)
        least = min(max(first + offset + 1, 0), col)
        total = short * least + short * (short - 1) // 2 + (row - first - short) * col
    else:  # whole rows, then one place each time less
        first, last = 0, max(min(row, col - offset), 0)
        whole = min(max(1 - offset, 0), last)
        short = last - whole
        least = col - (last - 1) - offset if short else 0
        total = whole * col + short * least + short * (short - 1) // 2
    if total > (2**63 - 1) // (2 * raw.itemsize):
        raise RuntimeError(errors.storage_overflow((2, total)))
    if not total:
        return np.empty((2, 0), raw)
    rows = np.arange(first, last)
    ends = np.clip(rows + (offset + 1), 0, col) if lower else np.full(len(rows), col)
    starts = np.zeros_like(rows) if lower else np.clip(rows + offset, 0, col)
    counts = ends - starts
    before = np.cumsum(counts) - counts
    made = np.empty((2, total), raw)
    made[0] = np.repeat(rows, counts)
    made[1] = np.arange(total) - np.repeat(before - starts, counts)
    return made


def diag_embed(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Matrices with the last dimension of `x` on a diagonal, zeros elsewhere.

    Raises:
        RuntimeError, IndexError: for dimensions that are the same, or aren't there.
    """
    ndim = x.ndim + 1
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for d in sorted((a, b)):
        shape.insert(d, n)
    out = np.zeros(shape, x.dtype)
    diagonal(out, offset, a, b)[...] = x
    return out


def trace(x: Array) -> Any:
    """The sum of the diagonal of a matrix; of integers as int64.

    Raises:
        RuntimeError: for anything but a matrix.
    """
    if x.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    found = diagonal(x)
    if x.dtype is FLOAT32 or x.dtype is FLOAT64:
        return np.add.reduce(found)
    if x.dtype.kind in "biu":
        return found.sum(dtype=np.int64)
    if x.dtype.itemsize == 2:
        return found.astype(np.float32).sum().astype(x.dtype)
    return found.sum()


def constant_pad(x: Array, pad: tuple[int, ...], value: float = 0) -> Array:
    """`x` with `value` around it: pairs of widths from the last dimension on.

    Raises:
        RuntimeError: for an odd number of widths, or too many, or where nothing would be left.
    """
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > x.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            "Pad length "
            f"is {len(pad)}while the input has {x.ndim}dimensions."
        )
    shape = list(x.shape)
    inner: list[Any] = [ALL] * x.ndim
    taken: list[Any] = [ALL] * x.ndim
    for k in range(len(pad) // 2):
        d = x.ndim - 1 - k
        before, after = pad[2 * k], pad[2 * k + 1]
        n = shape[d]
        shape[d] = n + before + after
        first, last = max(-before, 0), n - max(-after, 0)
        if last < first:
            raise RuntimeError("narrow(): length must be non-negative.")
        if shape[d] < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {before} and {after} resulted in a "
                "negative "
                "output size, which is invalid. Check dimension "
                f"{d} of your input."
            )
        taken[d] = slice(first, last)
        inner[d] = slice(max(before, 0), max(before, 0) + last - first)
    if not any(pad):
        return x.copy(order="K")
    value = filling(value, x.dtype, prod(shape))
    out = np.zeros(shape, x.dtype) if not value else np.full(shape, value, x.dtype)
    out[tuple(inner)] = x[tuple(taken)]
    return follow_layout(out, x)


def sum_dims(shape: tuple[int, ...], size: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions to sum over to bring `shape` to `size`.

    Raises:
        RuntimeError: where `size` doesn't broadcast to `shape`.
    """
    lead = len(shape) - len(size)
    fits = lead >= 0 and all(n in (1, m) for n, m in zip(size, shape[max(lead, 0) :]))
    if not fits:
        raise RuntimeError(
            f"size {{{errors.shape_text(size)}}} is not expandable to size "
            f"{{{errors.shape_text(shape)}}}."
        )
    return tuple(range(lead)) + tuple(
        [d for d in range(lead, len(shape)) if size[d - lead] == 1 and shape[d] != 1]
    )


def unravel(x: Array, shape: tuple[int, ...]) -> list[Array]:
    """The index in every dimension of the elements at flat places of an array of `shape`."""
    steps = [1] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        steps[d] = steps[d + 1] * shape[d + 1]
    if not shape:
        return []
    stack = np.stack([(x // s) % n for s, n in zip(steps, shape)], -1)
    return [stack[..., d] for d in range(len(shape))]
