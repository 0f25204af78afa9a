"""Views of arrays: other shapes, orders and windows over the same memory, with PyTorch's checks and strides.

Every function here but the `*_backward` ones returns an array that shares its argument's memory, or raises.

Note [Windows by buffer]
`np.broadcast_to` and `as_strided` take microseconds, and the first gives an array that can't be written.
`np.ndarray(shape, dtype, buffer, offset, strides)` makes any window over an array's memory in 0.3 µs; its
buffer must be contiguous: the array itself, its transpose, or the array that owns the memory.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from .. import dtypes as D
from .. import errors
from .types import from_raw, owner, to_raw, type_name

ALL: Final = slice(None)
LEAD: Final = tuple((ALL,) * d for d in range(65))  # the first d dimensions, whole
END: Final = (1 << 63) - 1  # the end of a slice that has none

_VIEW_ERROR: Final = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
    "two contiguous subspaces). Use .reshape(...) instead."
)


def axis_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front.

    Raises:
        IndexError: for a dimension that isn't there; arrays without dimensions have one here.
    """
    limit = ndim or 1
    if -limit <= dim < limit:
        return dim + limit if dim < 0 else dim
    raise IndexError(errors.dimension(dim, ndim))


def axes_of(dims: Any, ndim: int) -> list[int]:
    """`dims` counted from the front.

    Raises:
        IndexError: for a dimension that isn't there.
        RuntimeError: for one that appears twice.
    """
    found: list[int] = []
    for dim in dims:
        axis = axis_of(dim, ndim)
        if axis in found:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        found.append(axis)
    return found


# ---- windows ----------------------------------------------------------------------------------
def window(x: Any, shape: tuple[int, ...], strides: tuple[int, ...], skip: int = 0) -> Any:
    """The elements at `strides` (in bytes) from `skip` bytes after the first of `x`, as a view.

    See Note [Windows by buffer]. The window must lie within the elements of `x`.
    """
    if x.dtype.kind == "V":  # bfloat16 doesn't lend its buffer
        return window(x.view(np.uint16), shape, strides, skip).view(x.dtype)
    flags = x.flags
    if flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, skip, strides)
    if flags.f_contiguous:
        return np.ndarray(shape, x.dtype, x.T, skip, strides)
    if not x.size:
        return np.ndarray(shape, x.dtype, np.empty(1, x.dtype), 0, strides)
    whole = storage(x)
    return np.ndarray(shape, x.dtype, whole, _first(x) - _first(whole) + skip, strides)


def _first(x: Any) -> int:
    address: int = x.__array_interface__["data"][0]
    return address


def storage(x: Any) -> Any:
    """The C-contiguous array over all the memory that `x` is part of."""
    whole = owner(x)
    if whole.dtype.kind == "V":
        whole = whole.view(np.uint16)
    if not whole.flags.c_contiguous:
        order = sorted(range(whole.ndim), key=lambda d: -whole.strides[d])
        whole = whole.transpose(order)
    return whole


def element_strides(x: Any) -> tuple[int, ...]:
    """The strides of `x`, in elements."""
    size = x.itemsize
    return tuple([s // size for s in x.strides])


def storage_offset(x: Any) -> int:
    """How many elements lie before the first of `x` in the memory that it is part of."""
    return (_first(x) - _first(storage(x))) // int(x.itemsize) if x.size else 0


def as_strided(x: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int | None = None,
               *geometry: Any) -> Any:  # fmt: skip
    """The elements at the given strides in the memory that `x` is part of.

    Raises:
        RuntimeError: where that leaves the memory, or for negative strides.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    for s in stride:
        if s < 0:
            raise RuntimeError(
                "as_strided: Negative strides are not supported at the moment, got strides: "
                + errors.shape_text(stride)
            )
    whole = storage(x)
    item = x.itemsize
    start = storage_offset(x) if offset is None else offset
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    for n in size:
        if n < 0:
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={errors.shape_text(size)} and "
                f"strides={errors.shape_text(stride)}"
            )
    if prod(size):
        need = (start + 1 + sum((n - 1) * s for n, s in zip(size, stride))) * item
        if need > whole.nbytes:
            raise RuntimeError(
                f"setStorage: sizes {errors.shape_text(size)}, strides {errors.shape_text(stride)}, "
                f"storage offset {start}, and itemsize {item} requiring a storage size of {need} are out "
                f"of bounds for storage of size {whole.nbytes}"
            )
    else:
        whole, start = np.empty(1, x.dtype), 0
    strides = tuple([s * item for s in stride])
    if x.dtype.kind == "V":
        return np.ndarray(size, np.uint16, whole.view(np.uint16), start * item, strides).view(x.dtype)
    return np.ndarray(size, x.dtype, whole, start * item, strides)


def strided_places(size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """Where in memory each element of a strided window lies, counted in elements."""
    places = np.full(size, offset, np.int64)
    for d, (n, s) in enumerate(zip(size, stride)):
        places += np.arange(0, n * s, s).reshape((n,) + (1,) * (len(size) - 1 - d)) if s and n else 0
    return places


def window_index(shape: tuple[int, ...], size: tuple[int, ...], stride: tuple[int, ...],
                 offset: int | None, in_stride: tuple[int, ...], in_offset: int) -> Any:  # fmt: skip
    """Which element of a tensor (flat, C order) each element of a window over its memory is.

    The tensor has `shape`, `in_stride`, `in_offset`. Places that it doesn't show get its number of elements.
    """
    count = prod(shape)
    outer = strided_places(size, stride, in_offset if offset is None else offset)
    inner = strided_places(shape, in_stride, in_offset)
    extent = max(int(outer.max(initial=0)), int(inner.max(initial=0))) + 1
    table = np.full(extent, count, np.int64)
    table[inner.reshape(-1)] = np.arange(count)
    return table[outer]


# ---- shapes -----------------------------------------------------------------------------------
def resolved_shape(count: int, size: tuple[int, ...]) -> tuple[int, ...]:
    """`size` with its -1 filled in.

    Raises:
        RuntimeError: where an array of `count` elements has no such shape.
    """
    known = 1
    open_place = -1
    for place, n in enumerate(size):
        if n == -1:
            if open_place >= 0:
                raise RuntimeError("only one dimension can be inferred")
            open_place = place
        elif n < 0:
            raise RuntimeError(
                f"invalid shape dimension {n} at index {place} of shape {errors.shape_text(size)}"
            )
        else:
            known *= n
    if open_place >= 0 and known and count % known == 0:
        return size[:open_place] + (count // known,) + size[open_place + 1 :]
    if open_place < 0 and known == count:
        return size
    if open_place >= 0 and count == 0 and known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {errors.shape_text(size)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise RuntimeError(f"shape '{errors.shape_text(size)}' is invalid for input of size {count}")


def reshaped(x: Any, size: tuple[int, ...]) -> tuple[Any, bool]:
    """`x` in another shape, and whether that is a view.

    Raises:
        RuntimeError: where `x` has no such shape.
    """
    try:
        found = x.reshape(size)
    except ValueError:
        resolved_shape(x.size, size)
        raise
    if x.flags.c_contiguous:
        if not x.size:
            resolved_shape(0, size)
        return found, True
    base = found.base
    return found, base is x or (base is not None and base is x.base) or not x.size


def view(x: Any, size: tuple[int, ...]) -> Any:
    """`x` in another shape, over the same memory.

    Raises:
        RuntimeError: where `x` has no such shape, or its layout doesn't allow it.
    """
    if not x.flags.c_contiguous:
        found, shared = reshaped(x, size)
        if not shared:
            raise RuntimeError(_VIEW_ERROR)
    else:
        try:
            found = x.reshape(size)
        except ValueError:
            resolved_shape(x.size, size)
            raise
    if found.shape != size:
        resolved_shape(x.size, size)
    return found


def view_dtype(x: Any, dtype: D.dtype) -> Any:
    """The bits of `x` read as another element type.

    Raises:
        RuntimeError: where the last dimension can't be split or joined.
    """
    raw = to_raw(dtype)
    if raw == x.dtype:
        return x[...]
    old, new = x.itemsize, raw.itemsize
    if old == new:
        return x.view(raw)
    names = f"{D.scalar_name(from_raw(x.dtype))} as {D.scalar_name(dtype)} (different element sizes)"
    if x.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 to view {names}")
    step = x.strides[-1] // old
    if step != 1 and x.shape[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to view {names}, but got {step}")
    if new > old:
        ratio = new // old
        if x.shape[-1] % ratio:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {ratio} to view {names}, but got {x.shape[-1]}"
            )
        for d in range(x.ndim - 1):
            if x.strides[d] % new and x.shape[d] > 1:
                raise RuntimeError(
                    f"self.stride({d}) must be divisible by {ratio} to view {names}, but got "
                    f"{x.strides[d] // old}"
                )
    return x.view(raw)


def unsafe_view(x: Any, size: tuple[int, ...]) -> Any:
    """A contiguous array in another shape."""
    return x.reshape(size)


def alias(x: Any) -> Any:
    """All of `x`."""
    return x[...]


def expand(x: Any, size: tuple[int, ...], implicit: bool = False) -> Any:
    """`x` with dimensions of size one repeated without copying (-1: as it is).

    Raises:
        RuntimeError: where another dimension would have to grow.
    """
    shape, strides = x.shape, x.strides
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({type_name(x.dtype)}{{{errors.shape_text(shape)}}}, size={errors.shape_text(size)}): "
            f"the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)})"
        )
    found = list(size)
    steps = [0] * len(size)
    # PyTorch gives a new dimension of size one the stride of a contiguous one, a longer one zero.
    step = x.itemsize
    for d in range(len(size) - 1, -1, -1):
        n = size[d]
        if d >= lead:
            have = shape[d - lead]
            if n == -1 or n == have:
                found[d] = have
                steps[d] = strides[d - lead]
            elif have == 1 and n >= 0:
                steps[d] = 0
            else:
                raise _expand_error(n, have, d, size, shape)
        elif n < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                f"dimension {d}"
            )
        elif n == 1:
            steps[d] = step
        step = steps[d] * found[d]
    return window(x, tuple(found), tuple(steps))


def _expand_error(n: int, have: int, d: int, size: Any, shape: Any) -> RuntimeError:
    return RuntimeError(
        f"The expanded size of the tensor ({n}) must match the existing size ({have}) at non-singleton "
        f"dimension {d}.  Target sizes: {errors.shape_text(size)}.  Tensor sizes: {errors.shape_text(shape)}"
    )


def squeeze(x: Any, dim: Any = None) -> Any:
    """`x` without its dimensions of size one, or without those of `dim` that have size one."""
    if dim is None:
        return x.squeeze()
    shape = x.shape
    if isinstance(dim, int):
        axis = axis_of(dim, len(shape))
        return x.squeeze(axis) if shape and shape[axis] == 1 else x[...]
    axes = axes_of(dim, len(shape))
    return x.squeeze(tuple(a for a in axes if shape and shape[a] == 1))


def unsqueeze(x: Any, dim: int) -> Any:
    """`x` with a dimension of size one at `dim`.

    Raises:
        IndexError: for a place that isn't there.
    """
    shape = x.shape
    ndim = len(shape)
    if dim < 0:
        dim += ndim + 1
    if not 0 <= dim <= ndim:
        raise IndexError(errors.dimension(dim if dim > ndim else dim - ndim - 1, ndim + 1))
    # NumPy's reshape gives the new dimension PyTorch's stride where `x` is contiguous.
    if x.flags.c_contiguous:
        return x.reshape(shape[:dim] + (1,) + shape[dim:])
    strides = x.strides
    step = shape[dim] * strides[dim] if dim < ndim else x.itemsize
    return window(x, shape[:dim] + (1,) + shape[dim:], strides[:dim] + (step,) + strides[dim:])


# ---- orders -----------------------------------------------------------------------------------
def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """`x` with two dimensions exchanged.

    Raises:
        IndexError: for a dimension that isn't there.
    """
    ndim = x.ndim
    if not (-ndim <= dim0 < ndim and -ndim <= dim1 < ndim):
        axis_of(dim0, ndim)
        axis_of(dim1, ndim)
        return x[...]  # no dimensions
    return x.swapaxes(dim0, dim1)


def t(x: Any) -> Any:
    """The transpose of a matrix; a vector as it is.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return x.T


def permute(x: Any, dims: tuple[int, ...]) -> Any:
    """`x` with its dimensions in the order `dims`.

    Raises:
        RuntimeError: where `dims` isn't an order of all dimensions.
        IndexError: for a dimension that isn't there.
    """
    ndim = x.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            f"the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    try:
        return x.transpose(dims)
    except ValueError:
        for dim in dims:
            axis_of(dim, ndim)
        raise RuntimeError("permute(): duplicate dims are not allowed.") from None


# ---- parts ------------------------------------------------------------------------------------
def select(x: Any, dim: int, index: int) -> Any:
    """The part of `x` at one place of a dimension.

    Raises:
        IndexError: for a dimension or place that isn't there.
    """
    if dim == 0 and x.ndim:
        try:
            return x[index, ...]
        except IndexError:
            pass
    elif x.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, x.ndim)
    n = x.shape[axis]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {errors.shape_text(x.shape)} at "
            f"dimension {axis}"
        )
    return x[LEAD[axis] + (index, ...)]


def slice_(x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """The part of `x` between two places of a dimension, every `step`-th.

    Raises:
        RuntimeError, ValueError: for no dimensions, for a step that isn't positive.
    """
    if x.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if dim == 0 and step > 0:
        return x[start:end:step]
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return x[LEAD[axis_of(dim, x.ndim)] + (slice(start, end, step),)]


def narrow_bounds(x: Any, dim: int, start: int, length: int) -> tuple[int, int]:
    """The axis and the first place that `narrow` means.

    Raises:
        RuntimeError, IndexError: where they lie outside.
    """
    if x.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    axis = axis_of(dim, x.ndim)
    n = x.shape[axis]
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return axis, start


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two dimensions, as the last one.

    Raises:
        IndexError, RuntimeError: for dimensions that aren't there, or are the same.
    """
    shape, strides = x.shape, x.strides
    if offset == 0 and dim1 == 0 and dim2 == 1 and len(shape) == 2:
        return window(x, (min(shape),), (strides[0] + strides[1],))
    a, b = axis_of(dim1, len(shape)), axis_of(dim2, len(shape))
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if offset >= 0:
        length = max(min(shape[a], shape[b] - offset), 0)
        skip = offset * strides[b]
    else:
        length = max(min(shape[a] + offset, shape[b]), 0)
        skip = -offset * strides[a]
    rest = [d for d in range(len(shape)) if d != a and d != b]
    return window(
        x,
        tuple([shape[d] for d in rest] + [length]),
        tuple([strides[d] for d in rest] + [strides[a] + strides[b]]),
        skip if length and x.size else 0,
    )


def unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along a dimension, `step` apart; the window is the last dimension.

    Raises:
        RuntimeError: for a size or step that doesn't fit.
    """
    axis = axis_of(dimension, x.ndim)
    shape, strides = x.shape or (1,), x.strides or (x.itemsize,)
    n = shape[axis]
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if x.ndim == 0:
        return window(x, (size,), (x.itemsize,))
    count = (n - size) // step + 1
    return window(
        x,
        (*shape[:axis], count, *shape[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
    )


def view_as_real(x: Any) -> Any:
    """A complex array as a real one with a last dimension of real and imaginary part.

    Raises:
        RuntimeError: for an array that isn't complex.
    """
    if x.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    part = x.real
    return np.ndarray(
        x.shape + (2,), part.dtype, x.view(part.dtype), 0, x.strides + (part.itemsize,)
    ) if x.flags.c_contiguous and x.ndim else _parts(x, part)  # fmt: skip


def _parts(x: Any, part: Any) -> Any:
    if not x.size:
        return np.empty(x.shape + (2,), part.dtype)
    whole = storage(x)
    skip = _first(x) - _first(whole)
    return np.ndarray(x.shape + (2,), part.dtype, whole, skip, x.strides + (part.itemsize,))


def view_as_complex(x: Any) -> Any:
    """A real array whose last dimension holds real and imaginary parts as a complex one.

    Raises:
        RuntimeError: for other types, shapes and layouts.
    """
    if x.dtype.kind != "f":
        name = D.scalar_name(from_raw(x.dtype))
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {name}"
        )
    if x.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    item = x.itemsize
    if x.size and x.strides[-1] != item:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    for s in x.strides[:-1]:
        if x.size and s % (2 * item):
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    wide = to_raw(from_raw(x.dtype).to_complex())
    if not x.size:
        return np.empty(x.shape[:-1], wide)
    whole = storage(x)
    return np.ndarray(x.shape[:-1], wide, whole, _first(x) - _first(whole), x.strides[:-1])


# ---- gradients of parts -----------------------------------------------------------------------
def select_backward(g: Any, input_sizes: tuple[int, ...], dim: int, index: int) -> Any:
    """`g` at its place in zeros."""
    out = np.zeros(input_sizes, g.dtype)
    out[LEAD[dim % len(input_sizes)] + (index,)] = g
    return out


def slice_backward(g: Any, input_sizes: tuple[int, ...], dim: int, start: int | None, end: int | None,
                   step: int) -> Any:  # fmt: skip
    """`g` at its place in zeros."""
    out = np.zeros(input_sizes, g.dtype)
    out[LEAD[dim % len(input_sizes)] + (slice(start, end, step),)] = g
    return out


def diagonal_backward(g: Any, input_sizes: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Any:
    """`g` on the diagonal of zeros."""
    out = np.zeros(input_sizes, g.dtype)
    diagonal(out, offset, dim1, dim2)[...] = g
    return out


def unfold_backward(g: Any, input_sizes: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    """The sum of all windows in `g`, each at its place: one addition for each place in a window."""
    out = np.zeros(input_sizes or (1,), g.dtype)
    axis = axis_of(dim, len(input_sizes))
    if not input_sizes:
        return g.sum().reshape(()) if size else out.reshape(())
    count = g.shape[axis]
    lead = LEAD[axis]
    for k in range(size):
        out[lead + (slice(k, k + (count - 1) * step + 1, step),)] += g[..., k]
    return out


def placed_or_dropped(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """`g` added at the flat places `index` of zeros; places past the end are dropped."""
    count = prod(shape)
    out = np.zeros(count + 1, g.dtype)
    np.add.at(out, index.reshape(-1), g.reshape(-1))
    return out[:count].reshape(shape)


def taken_or_zero(x: Any, index: Any) -> Any:
    """The elements of the flat `x` at `index`, zero where that is the number of its elements."""
    flat = np.append(x.reshape(-1), np.zeros(1, x.dtype))
    return flat[index]


# ---- copies -----------------------------------------------------------------------------------
def is_dense(x: Any) -> bool:
    """Whether the elements of `x` fill their memory without gaps or overlap, in some order."""
    expected = x.itemsize
    for stride, n in sorted(zip(x.strides, x.shape)):
        if n != 1:
            if stride != expected:
                return False
            expected *= n
    return True


def clone(x: Any) -> Any:
    """A copy, laid out like `x` where that is dense."""
    if x.flags.c_contiguous:
        return x.copy()
    if x.size and is_dense(x):
        return x.copy("K")
    return x.copy("K") if 0 not in x.strides else _without_overlap(x)


def _without_overlap(x: Any) -> Any:
    # PyTorch lays an expanded tensor out anew, in the order of its strides; ties keep their order.
    return np.ascontiguousarray(x)


def contiguous_copy(x: Any) -> Any:
    """A C-contiguous copy."""
    return x.copy("C")


def channels_last_copy(x: Any) -> Any:
    """A copy whose channels (dimension 1) lie last in memory."""
    last = (0, *range(2, x.ndim), 1)
    back = (0, x.ndim - 1, *range(1, x.ndim - 1))
    return x.transpose(last).copy("C").transpose(back)


def narrow_copy(x: Any, dim: int, start: int, length: int) -> Any:
    """A copy of `length` places of a dimension from `start` on."""
    axis, first = narrow_bounds(x, dim, start, length)
    return x[LEAD[axis] + (slice(first, first + length),)].copy("C")
