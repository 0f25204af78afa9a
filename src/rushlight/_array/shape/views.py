"""Views of arrays: other shapes, orders and windows over the same memory, with PyTorch's checks
and strides.

Every function here but the `*_backward` ones returns an array that shares its argument's memory,
or raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..axes import LEAD, axes_of, axis_of
from ..memory import dense_layout as dense
from ..memory.out_of_memory import refusal
from ..types import byte_strides, from_raw, in_order_copy, internal_type_name, to_raw
from .as_strided import own_offset, window

if TYPE_CHECKING:
    from ..._base.annotations import Shape, TensorLike
    from ..annotations import Array

_NEVER_COPIES: Final = hasattr(np, "unstack")  # NumPy from 2.1 on, where that is asked
_VIEW_ERROR: Final = (
    "view size is not compatible with input tensor's size and stride (at least one dimension "
    "spans across "
    "two contiguous subspaces). Use .reshape(...) instead."
)


# ---- shapes -----------------------------------------------------------------------------------
def resolve_shape(count: int, size: tuple[int, ...]) -> tuple[int, ...]:
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
    if not count and known >= 1 << 63:
        raise RuntimeError(errors.NUMEL_OVERFLOW)
    raise RuntimeError(f"shape '{errors.shape_text(size)}' is invalid for input of size {count}")


def reshape_array(x: Array, size: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """The shape that `x` has as `size`, and whether it has it as a view.

    Raises:
        RuntimeError: where `x` has no such shape.
    """
    if _NEVER_COPIES and not x.flags.c_contiguous:
        try:
            return x.reshape(size, copy=False).shape, True
        except ValueError:  # where it would be a copy, or there is no such shape
            return resolve_shape(x.size, size), False
    try:
        found = x.reshape(size)
    except MemoryError as error:
        raise refusal(error) from None
    except ValueError:
        resolve_shape(x.size, size)
        raise
    if x.flags.c_contiguous:
        if not x.size:
            resolve_shape(0, size)
        return found.shape, True
    base = found.base
    return found.shape, base is x or (base is not None and base is x.base) or not x.size


def view(x: Array, size: tuple[int, ...]) -> TensorLike:
    """`x` in another shape, over the same memory.

    Raises:
        RuntimeError: where `x` has no such shape, or its layout doesn't allow it.
    """
    if not x.flags.c_contiguous:
        if not reshape_array(x, size)[1]:
            raise RuntimeError(_VIEW_ERROR)
        found = x.reshape(size)
    else:
        try:
            found = x.reshape(size)
        except ValueError:
            resolve_shape(x.size, size)
            raise
    if found.shape != size and size != _FLAT:
        resolve_shape(x.size, size)
    return found


_FLAT: Final = (-1,)


def view_dtype(x: Array, dtype: D.dtype) -> Array:
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
    names = (
        f"{D.scalar_name(from_raw(x.dtype))} as {D.scalar_name(dtype)} (different element sizes)"
    )
    if x.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 to view {names}")
    steps = byte_strides(x)
    if new > old:
        ratio = new // old
        _divisible("size(-1)", x.shape[-1], ratio, names)
        _divisible("storage_offset()", own_offset(x), ratio, names)
    if steps[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to view {names}, but got {steps[-1]}")
    if new > old:
        for d, step in enumerate(steps[:-1]):
            _divisible(f"stride({d})", step, ratio, names)
    found = x.view(raw)
    return found if x.size else window(found, found.shape, (*(s * old for s in steps[:-1]), new))


def _divisible(what: str, number: int, ratio: int, names: str) -> None:
    if number % ratio:
        raise RuntimeError(
            f"self.{what} must be divisible by {ratio} to view {names}, but got {number}"
        )


def unsafe_view(x: Array, size: tuple[int, ...]) -> Array:
    """A contiguous array in another shape."""
    return x.reshape(size)


def alias(x: Array) -> Array:
    """All of `x`."""
    return x[...]


def expand(x: Array, size: tuple[int, ...], implicit: bool = False) -> Any:
    """`x` with dimensions of size one repeated without copying (-1: as it is).

    Raises:
        RuntimeError: where another dimension would have to grow.
    """
    shape, strides = x.shape, x.strides
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({internal_type_name(x.dtype)}{{{errors.shape_text(shape)}}}, "
            f"size={errors.shape_text(size)}): "
            f"the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)})"
        )
    found = list(size)
    steps = [0] * len(size)
    below = False
    # PyTorch gives a new dimension of size one the stride of a contiguous one, a longer one zero.
    step = x.itemsize
    for d in range(len(size) - 1, -1, -1):
        n = size[d]
        if d >= lead:
            have = shape[d - lead]
            if n == -1 or n == have:
                found[d] = have
                steps[d] = strides[d - lead]
            elif have == 1:
                below = below or n < 0
            else:
                raise _expand_error(n, have, d, size, shape)
        elif n < 0:
            if n == -1 and shape:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, "
                    f"non-existing dimension {d}"
                )
            below = True
        elif n == 1:
            steps[d] = step
        step = steps[d] * found[d]
    if below:
        raise RuntimeError(errors.NUMEL_OVERFLOW)
    return window(x, tuple(found), tuple(steps))


def _expand_error(n: int, have: int, d: int, size: Shape, shape: Shape) -> RuntimeError:
    return RuntimeError(
        f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
        "non-singleton "
        f"dimension {d}.  Target sizes: {errors.shape_text(size)}.  Tensor sizes: "
        f"{errors.shape_text(shape)}"
    )


def squeeze(x: Array, dim: int | Shape | None = None) -> Array:
    """`x` without its dimensions of size one, or without those of `dim` that have size one."""
    if dim is None:
        return x.squeeze()
    shape = x.shape
    if isinstance(dim, int):
        axis = axis_of(dim, len(shape))
        return x.squeeze(axis) if shape and shape[axis] == 1 else x[...]
    axes = axes_of(dim, len(shape))
    return x.squeeze(tuple(a for a in axes if shape and shape[a] == 1))


def unsqueeze(x: Array, dim: int) -> TensorLike:
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
def transpose(x: Array, dim0: int, dim1: int) -> Array:
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


def t(x: Array) -> Array:
    """The transpose of a matrix; a vector as it is.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return x.T


def permute(x: Array, dims: tuple[int, ...]) -> Array:
    """`x` with its dimensions in the order `dims`.

    Raises:
        RuntimeError: where `dims` isn't an order of all dimensions.
        IndexError: for a dimension that isn't there.
    """
    ndim = x.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of "
            f"the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to "
            "len(dims) = "
            f"{len(dims)}"
        )
    try:
        return x.transpose(dims)
    except ValueError:
        for dim in dims:
            axis_of(dim, ndim)
        raise RuntimeError("permute(): duplicate dims are not allowed.") from None


# ---- parts ------------------------------------------------------------------------------------
def select(x: Array, dim: int, index: int) -> Array:
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
            f"select(): index {index} out of range for tensor of size "
            f"{errors.shape_text(x.shape)} at "
            f"dimension {axis}"
        )
    return x[LEAD[axis] + (index, ...)]


def slice_(
    x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """The part of `x` between two places of a dimension, every `step`-th.

    Raises:
        IndexError, RuntimeError: for no dimensions, for a step that isn't positive.
    """
    if x.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if dim == 0 and step > 0:
        return x[start:end:step]
    axis = axis_of(dim, x.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return x[LEAD[axis] + (slice(start, end, step),)]


def part(x: Any, key: tuple[Any, ...]) -> Array:
    """The part of `x` that ints, slices that go on, None and `...` leave, one after the other.

    Raises:
        IndexError: for a place that isn't there, or too many of them.
    """
    if not any(item is None for item in key):
        return x[key]
    left = x.ndim - sum([item is not None and item is not Ellipsis for item in key])
    if left < 0:
        raise IndexError("too many indices")
    dim = 0
    for item in key:
        if item is None:
            x = unsqueeze(x, dim)
        elif item is not Ellipsis:
            x = x[(*LEAD[dim], item, ...)]
        dim += left if item is Ellipsis else type(item) is not int
    return x


def narrow_bounds(x: Array, dim: int, start: int, length: int) -> tuple[int, int]:
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


# ---- gradients of parts -----------------------------------------------------------------------
def select_backward(g: Array, input_sizes: tuple[int, ...], dim: int, index: int) -> Array:
    """`g` at its place in zeros."""
    out = np.zeros(input_sizes, g.dtype)
    out[LEAD[dim % len(input_sizes)] + (index,)] = g
    return out


def slice_backward(
    g: Array, input_sizes: tuple[int, ...], dim: int, start: int | None, end: int | None, step: int
) -> Array:
    """`g` at its place in zeros."""
    out = np.zeros(input_sizes, g.dtype)
    out[LEAD[dim % len(input_sizes)] + (slice(start, end, step),)] = g
    return out


# ---- copies -----------------------------------------------------------------------------------
def clone(x: Array) -> Array:
    """A copy, laid out like `x`."""
    return x.copy() if x.ndim < 4 and x.flags.c_contiguous else dense.copy(x, x.dtype)


def contiguous_copy(x: Array) -> Array:
    """A C-contiguous copy."""
    return in_order_copy(x)


def channels_last_copy(x: Array) -> Array:
    """A copy whose channels (dimension 1) lie last in memory."""
    last = (0, *range(2, x.ndim), 1)
    back = (0, x.ndim - 1, *range(1, x.ndim - 1))
    return in_order_copy(x.transpose(last)).transpose(back)


def narrow_copy(x: Array, dim: int, start: int, length: int) -> Array:
    """A copy of `length` places of a dimension from `start` on."""
    if dim >= x.ndim > 0:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request "
            "to PyTorch.)"
        )
    axis, first = narrow_bounds(x, dim, start, max(length, 0))
    if length < 0:
        raise RuntimeError(
            f"start ({first}) + length ({length}) exceeds dimension size ({x.shape[axis]})."
        )
    return x[LEAD[axis] + (slice(first, first + length),)].copy("C")
