"""What pooling refuses, in PyTorch's words: each operation has its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.dtypes import scalar_name as scalar_name
from ..._base.lazy import later
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike

raw = later("_array.nn.pooling")

Sizes = tuple[int, ...]
_COUNT: Final = {2: "two", 3: "three"}


def require(x: Array, kinds: str, kernel: str, half: bool = True) -> None:
    """Refuses element types that a kernel doesn't have.

    Raises:
        NotImplementedError: with the kernel's name in PyTorch.
    """
    if x.dtype.kind not in kinds or (not half and x.dtype.itemsize == 2 and x.dtype.kind in "fV"):
        raise NotImplementedError(
            errors.not_implemented(kernel, D.scalar_name(T.from_raw(x.dtype)))
        )


def each(value: Shape | int, dims: int) -> Sizes:
    """One number for all dimensions, or one for each."""
    if isinstance(value, int):
        return (value,) * dims
    values: Sizes = tuple(value)
    return values * dims if len(values) == 1 else values


def by_dimension(value: object, dims: int) -> tuple[Any, ...]:
    """What is given one after the other, or one value for all dimensions."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def _read_sizes(text: str, value: Shape, dims: int, may_be_empty: bool = False) -> Sizes:
    values = (value,) if isinstance(value, int) else tuple(value or ())
    if len(values) == 1:
        return values * dims
    if len(values) != dims and not (may_be_empty and not values):
        raise RuntimeError(text)
    return values


def _require_ints(*numbers: int) -> None:
    if any(not -(1 << 31) <= n < 1 << 31 for n in numbers):  # PyTorch counts by 32 bits
        raise RuntimeError(errors.no_conversion("int"))


def avg_parameters(
    dims: int, kernel_size: Shape, stride: Shape, padding: Shape, divisor: int | None
) -> tuple[Sizes, Sizes, Sizes]:
    """Kernel, stride and padding by dimension.

    Raises:
        RuntimeError: for lists of another length, and for a divisor of zero.
    """
    name, count = f"avg_pool{dims}d", _COUNT[dims]
    must = "must either be" if dims == 2 else "must be"
    rule = f"a single int, or a tuple of {count} ints"
    k = _read_sizes(f"{name}: kernel_size {must} {rule}", kernel_size, dims)
    s = _read_sizes(f"{name}: stride {must} omitted, {rule}", stride, dims, True)
    p = _read_sizes(f"{name}: padding {must} {rule}", padding, dims)
    _require_ints(*k, *s, *p)
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    return k, s or k, p


def max_parameters(
    dims: int, name: str, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """Kernel, stride, padding and dilation by dimension.

    Raises:
        RuntimeError: for lists of another length.
    """
    tail = f"a single int, or a tuple of {_COUNT[dims]} ints"
    k = _read_sizes(f"{name}: kernel_size must either be {tail}", kernel_size, dims)
    s = _read_sizes(f"{name}: stride must either be omitted, {tail}", stride, dims, True)
    p = _read_sizes(f"{name}: padding must either be {tail}", padding, dims)
    d = _read_sizes(f"{name}: dilation must be either {tail}", dilation, dims)
    _require_ints(*k, *s, *p, *d)
    return k, s or k, p, d


def pool_shape(
    maximum: str, x: Array, k: Sizes, s: Sizes, p: Sizes, d: Sizes, ceil_mode: bool
) -> Sizes:
    """The sizes of the output; `maximum` is the kernel's name of a max pooling, '' of a mean.

    Raises:
        RuntimeError: for shapes and parameters that don't fit.
        NotImplementedError: for element types.
    """
    dims = len(k)
    if maximum or dims == 3:
        if x.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"
            )
    elif x.ndim < 3:
        # PyTorch asks for the sizes of dimensions -3, -2, -1, in this order.
        raise IndexError(errors.dimension(-3, x.ndim))
    size = x.shape[x.ndim - dims :]
    out = []
    for n, m, step, pad, dilation in zip(size, k, s, p, d):
        if step == 0:
            raise RuntimeError("stride should not be zero")
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > int(((m - 1) * dilation + 1) / 2):  # which C rounds towards zero
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={m} and dilation={dilation}"
            )
        out.append(raw.pooled_size(n, m, step, pad, dilation, ceil_mode))
    _positive(dims, k, s, d)
    shape = list(x.shape)
    if dims == 2:
        full = all(shape[-3:]) if x.ndim == 3 else x.ndim == 4 and all(shape[1:])
        if not full:
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
                f"but got:{shape}"
            )
    elif not all(shape[x.ndim - 4 :]):
        caller = "max_pool3d_with_indices_out_cpu_template()" if maximum else "avg_pool3d()"
        raise RuntimeError(
            f"{caller}: Expected input's non-batch dimensions to have positive length, but input "
            f"has a shape of {shape} and non-batch dimension 0 has length zero!"
        )
    if dims == 3 and not maximum and any(n < m for n, m in zip(size, k)):
        raise RuntimeError(
            "input image (T: {} H: {} W: {}) smaller than kernel size "
            "(kT: {} kH: {} kW: {})".format(*size, *k)
        )
    if any(n < 1 for n in out):
        planes = shape[x.ndim - dims - 1]
        raise RuntimeError(
            f"Given input size: ({'x'.join(map(str, [planes, *size]))}). Calculated output size: "
            f"({'x'.join(map(str, [planes, *out]))}). Output size is too small"
        )
    if maximum:
        require(x, "fViu", maximum)
    else:
        kernel = "avg_pool2d" if dims == 2 else "avg_pool3d_out_frame"
        if x.dtype.kind not in "fV" and T.from_raw(x.dtype) is not D.int64:
            require(x, "", kernel)
        require(x, "fViu", kernel, dims == 2)
    return tuple(out)


def _positive(dims: int, k: Sizes, s: Sizes, d: Sizes) -> None:
    axes = "THW"[3 - dims :]
    for word, prefix, values in (
        ("kernel size", "k", k),
        ("stride", "d", s),
        ("dilation", "dilation", d),
    ):
        if any(n <= 0 for n in values):
            listed = " ".join(f"{prefix}{a}: {n}" for a, n in zip(axes, values))
            raise RuntimeError(f"{word} should be greater than zero, but got {listed}")


# ---- lines ------------------------------------------------------------------------------------
def line_of(x: Array, name: str) -> None:
    """Refuses what isn't ([N,] C, L).

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if x.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )


def single(name: str, **lists: Any) -> list[Any]:
    """The one number in each of several lists; None in an empty one.

    Raises:
        RuntimeError: for lists of another length.
    """
    found = []
    for word, value in lists.items():
        values = (value,) if isinstance(value, int) else tuple(value or ())
        if len(values) > 1 or (not values and word != "stride"):
            raise RuntimeError(
                f"{name}() argument '{word}' should contain one int (got {len(values)})"
            )
        found.append(values[0] if values else None)
    return found


def max_line(
    x: Array,
    kernel_size: Shape,
    stride: int | Sequence[int] | None,
    padding: Shape,
    dilation: Shape,
    ceil_mode: bool,
) -> tuple[int, int, int, int]:
    """The parameters of `max_pool1d`.

    Raises:
        RuntimeError: for shapes and parameters that don't fit.
    """
    full = all(x.shape[-2:])
    if x.ndim not in (2, 3) or not full:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )
    found: list[Any] = []
    for word, value, kinds in (
        ("kernel_size", kernel_size, "an int, list of ints or tuple of ints"),
        ("stride", stride, "None, an int, list of ints, or tuple of ints"),
        ("padding", padding, "an int, list of ints, or tuple of ints"),
        ("dilation", dilation, "an int, list of ints or tuple of ints"),
    ):
        values = (value,) if isinstance(value, int) else tuple(value or ())
        if len(values) != 1 and not (word == "stride" and not values):
            raise RuntimeError(
                f"max_pool1d() {word} must be {kinds} of size 1 but got size {len(values)}"
            )
        found.append(values[0] if values else found[0])
    k, s, p, d = found
    for word, n in (("kernel_size", k), ("stride", s)):
        if n <= 0:
            raise RuntimeError(f"max_pool1d() {word} must be greater than zero, but got {n}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={p} and kernel_size={k}"
        )
    if d <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {d}")
    out = raw.pooled_size(x.shape[-1], k, s, p, d, ceil_mode)
    if out <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {out}")
    return k, s, p, d


# ---- the way back -----------------------------------------------------------------------------
def unpool(
    dims: int, x: Array, indices: Array, output_size: Shape, stride: Shape | None = None
) -> None:
    """Refuses indices and shapes that don't fit.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if T.from_raw(indices.dtype) is not D.int64:
        given = f" but got: {D.scalar_name(T.from_raw(indices.dtype))}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{given}")
    if x.ndim not in (dims + 1, dims + 2):
        word = f"max_unpooling{dims}d"
        if dims == 2:
            raise RuntimeError(
                f"Input to {word} should be a 3d or 4d Tensor, but got a tensor with {x.ndim} "
                "dimensions."
            )
        raise RuntimeError(
            f"Input to {word} should be a 4d or 5d Tensor, but got a tensor with {x.ndim} "
            "dimensions."
        )
    if len(output_size) != dims:
        raise RuntimeError(
            f"There should be exactly {_COUNT[dims]} elements "
            f"({'height, width' if dims == 2 else 'depth, height, width'}) in output_size, but "
            f"got {len(output_size)} elements."
        )
    if x.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(x.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    empty = next((d for d in range(x.ndim - dims, x.ndim) if not x.shape[d]), None)
    if empty is not None:
        raise RuntimeError(
            f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for "
            f"non-batch dimensions, but got {list(x.shape)} with dimension {empty} being empty."
        )
    if stride is not None and min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")


def unpool_size(
    input: TensorLike, k: Sizes, s: Sizes, p: Sizes, output_size: Shape | None
) -> list[int]:
    """The size of the planes to fill.

    Raises:
        ValueError: for an impossible `output_size`.
    """
    shape = input.shape
    default = [(shape[len(shape) - len(k) + d] - 1) * s[d] + k[d] - 2 * p[d] for d in range(len(k))]
    if output_size is None:
        for d, n in enumerate(default):
            fits = n >= 0
            if isinstance(fits, TensorBase):
                raise TypeError(
                    "cond must be a bool, but got a Tensor. For tensor conditions, use "
                    "torch._check_tensor_all() to assert that all elements are true."
                )
            if not fits:
                raise ValueError(
                    "max_unpooling: output_size must contain non-negative spatial dimensions, but "
                    f"got output_size[{d}]={n}"
                )
        return default
    size = output_size
    if len(size) == len(k) + 2:
        size = size[2:]
    if len(size) != len(k):
        raise ValueError(
            "output_size should be a sequence containing "
            f"{len(k)} or {len(k) + 2} elements, but it has a length of '{len(size)}'"
        )
    for d in range(len(k)):
        low, high = default[d] - s[d], default[d] + s[d]
        if not low < size[d] < high:
            raise ValueError(
                f'invalid output_size "{size}" (dim {d} must be between {low} and {high})'
            )
    return list(size)
