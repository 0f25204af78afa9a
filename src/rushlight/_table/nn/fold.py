"""Patches as columns, and columns back to patches: im2col and col2im."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..rows.composite import composite
from ..rows.gradient_kernels import calling
from ..rows.row import Row, linear
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

convolve = later("_array.nn.convolution")
raw = later("_array.nn.im2col")


def _pairs(**given: Any) -> list[tuple[int, int]]:
    found = []
    for word, value in given.items():
        values = (value, value) if isinstance(value, int) else tuple(value)
        if len(values) != 2:
            raise RuntimeError(f"It is expected {word} equals to 2, but got size {len(values)}")
        found.append(values)
    return found


def _check(k: Any, dilation: Shape, padding: Shape, stride: Shape) -> None:
    for word, prefix, values in (
        ("kernel size", "kernel", k),
        ("dilation", "dilation", dilation),
        ("stride", "stride", stride),
    ):
        if min(values) <= 0:
            raise RuntimeError(
                f"{word} should be greater than zero, but got {prefix}_height: {values[0]} "
                f"{prefix}_width: {values[1]}"
            )
    if min(padding) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: "
            f"{padding[1]}"
        )


def _refuse_integers(x: Array, kernel: str) -> None:
    if x.dtype.kind in "iu":
        raise NotImplementedError(
            errors.not_implemented(kernel, D.scalar_name(T.from_raw(x.dtype)))
        )


def _im2col(x: Array, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Array:
    k, dilation, padding, stride = _pairs(
        kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    )
    _check(k, dilation, padding, stride)
    # PyTorch asks for the size of dimension 2 where there are two.
    if x.ndim < 3:
        raise IndexError(errors.dimension(2, x.ndim))
    if x.ndim > 4 or not all(x.shape[x.ndim - 3 :]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(x.shape)}"
        )
    size = tuple(x.shape[-2:])
    out = convolve.out_sizes(size, k, stride, padding, dilation)
    if min(out) < 1:
        shown = [f"({v[0]}, {v[1]})" for v in (size, k, dilation, padding)]
        raise RuntimeError(
            f"Given input with spatial size {shown[0]}, kernel_size={shown[1]}, "
            f"dilation={shown[2]}, padding={shown[3]}, calculated shape of the array of sliding "
            f"blocks as ({max(out[0], 0)}, {max(out[1], 0)}), but its components must be at least "
            "one."
        )
    _refuse_integers(x, "im2col_out_cpu")
    batch = x if x.ndim == 4 else x[None]
    columns = raw.columns(batch, k, out, stride, padding, dilation)
    return columns if x.ndim == 4 else columns[0]


def _col2im(
    x: Array, output_size: Shape, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape
) -> Array:
    size, k, dilation, padding, stride = _pairs(
        output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding,
        stride=stride,
    )  # fmt: skip
    _check(k, dilation, padding, stride)
    if x.ndim not in (2, 3) or not all(x.shape[x.ndim - 2 :]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )
    rows, count = x.shape[-2:]
    if rows % prod(k):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size=({k[0]}, {k[1]})."
        )
    out = convolve.out_sizes(size, k, stride, padding, dilation)
    if out[0] * out[1] != count or min(out) < 1:
        shown = [f"({v[0]}, {v[1]})" for v in (size, k, dilation, padding, stride)]
        given = (
            f"Given output_size={shown[0]}, kernel_size={shown[1]}, dilation={shown[2]}, "
            f"padding={shown[3]}, stride={shown[4]}, "
        )
        if out[0] * out[1] == count:
            raise RuntimeError(
                f"{given}calculated shape of the array of sliding blocks as ({out[0]}, {out[1]}), "
                "which is too small (non-positive)"
            )
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {out[0]} * {out[1]} = {out[0] * out[1]}, but got "
            f"input.size(2)={count}."
        )
    _refuse_integers(x, "col2im_out_cpu")
    batch = x if x.ndim == 3 else x[None]
    planes = raw.fold(batch, size, k, out, stride, padding, dilation)
    return planes if x.ndim == 3 else planes[0]


im2col = linear(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> "
    "Tensor",
    _im2col,
    self=calling(lambda: col2im, output_size=lambda self_shape: tuple(self_shape[-2:])),
    namespace="private",
    node="Im2ColBackward0",
    samples=lambda mk: [
        (mk(1, 2, 4, 3), (2, 2), (1, 1), (1, 0), (2, 1)),
        (mk(2, 4, 4), (2, 1), (2, 1), (0, 0), (1, 1)),
    ],
    doc="All patches of the last two dimensions, each as a column.",
)
col2im: Row = linear(
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    _col2im,
    self=calling(lambda: im2col),
    namespace="private",
    node="Col2ImBackward0",
    samples=lambda mk: [
        (mk(1, 8, 6), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
        (mk(4, 4), (4, 4), (2, 2), (1, 1), (0, 0), (2, 2)),
    ],
    doc="The sum of all columns, each as a patch at its place.",
)


@composite("nn.functional")
def unfold(
    input: Tensor,
    kernel_size: Shape | int,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: Shape | int = 1,
) -> Tensor:
    """All patches of the last two dimensions, each as a column.

    Shapes: ([N,] C, H, W) to ([N,] C · kernel, patches). Raises: RuntimeError for what doesn't fit.
    """
    return table("im2col")(
        input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )


@composite("nn.functional")
def fold(
    input: Tensor,
    output_size: Shape | int,
    kernel_size: Shape | int,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: Shape | int = 1,
) -> Tensor:  # fmt: skip
    """The sum of columns, each as a patch at its place in planes of `output_size`.

    Shapes: ([N,] C · kernel, patches) to ([N,] C, H, W). Raises: RuntimeError for what doesn't fit.
    """
    return table("col2im")(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding),
        _pair(stride),
    )  # fmt: skip


def _pair(value: object) -> Any:
    return tuple(value) if isinstance(value, Iterable) else (value, value)
