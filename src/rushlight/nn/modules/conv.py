"""Convolution and transposed convolution over one to three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import functional as F, init
from .._ground import Tensor, f
from ..parameter import Parameter
from ._own_names import own
from ._sizes import _each
from .module import Module

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype


__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have: parameters, their start, and how they print."""

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Tensor | None
    _reversed_padding_repeated_twice: list[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        # As `F.pad` takes it: the last dimension first, both sides of each.
        self._reversed_padding_repeated_twice = _around(kernel_size, dilation, padding)
        rows, columns = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (rows, columns // groups, *kernel_size)
        self.weight = Parameter(f.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(f.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias afresh: uniform in ±1/√(in_channels / groups · kernel)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


def _check(
    in_channels: int,
    out_channels: int,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    groups: int,
    padding_mode: str,
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
            )
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        modes = "{" + ", ".join(repr(m) for m in _PADDING_MODES) + "}"
        raise ValueError(
            f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'"
        )


def _around(
    kernel_size: tuple[int, ...], dilation: tuple[int, ...], padding: str | tuple[int, ...]
) -> list[int]:
    sides: list[int] = []
    if isinstance(padding, str):
        for d, k in zip(reversed(dilation), reversed(kernel_size)):
            total = d * (k - 1) if padding == "same" else 0
            sides += [total // 2, total - total // 2]
        return sides
    for p in reversed(padding):
        sides += [p, p]
    return sides


class _Forward(_ConvNd):
    """A convolution; `_function` and `_dims` say over how many dimensions."""

    _dims: int
    _function: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        dims = self._dims
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            padding if isinstance(padding, str) else _each(padding, dims),
            _each(dilation, dims),
            False,
            (0,) * dims,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        function = getattr(F, self._function)
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            mode: Any = self.padding_mode
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=mode)
            padding = (0,) * self._dims
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


@own("__init__", "forward")
class Conv1d(_Forward):
    """The convolution over one dimension: `Conv2d` tells what is computed.

    Shapes: input ([N,] in_channels, L), weight (out_channels, in_channels / groups, kernel).
    """

    _dims = 1
    _function = "conv1d"


@own("__init__", "forward")
class Conv2d(_Forward):
    """The convolution over two dimensions.

    As in all such libraries the window isn't turned over: channel o of the result is the sum, over
    the input's channels c, of weight[o, c] times what lies below the window, plus bias[o]. A
    dimension of length L becomes ⌊(L + 2·padding - dilation·(kernel - 1) - 1) / stride⌋ + 1 long.
    With `groups` = in_channels each channel has windows of its own ("depthwise"). "same" wants a
    stride of 1. Weight and bias start uniform in ±1/√(in_channels / groups · elements of the
    window).

    Shapes: input ([N,] in_channels, H, W), weight (out_channels, in_channels / groups, kernel…).
    """

    _dims = 2
    _function = "conv2d"


@own("__init__", "forward")
class Conv3d(_Forward):
    """The convolution over three dimensions: `Conv2d` tells what is computed.

    Shapes: input ([N,] in_channels, D, H, W), weight (out_channels, in_channels / groups, kernel…).
    """

    _dims = 3
    _function = "conv3d"


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution; `_function` and `_dims` say over how many dimensions."""

    _dims: int
    _function: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {self.__class__.__name__}'
            )
        dims = self._dims
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            _each(padding, dims),
            _each(dilation, dims),
            True,
            _each(output_padding, dims),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """What must be added at the end for an output of `output_size`."""
        if output_size is None:
            return self.output_padding
        dims = num_spatial_dims
        batched = input.dim() == dims + 2
        if len(output_size) == dims + (2 if batched else 1):
            output_size = output_size[len(output_size) - dims :]
        if len(output_size) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or "
                f"{input.dim()} elements (got {len(output_size)})"
            )
        lead = input.dim() - dims
        dilations = dilation if dilation is not None else (1,) * dims
        smallest = [
            (input.size(d + lead) - 1) * stride[d]
            - 2 * padding[d]
            + dilations[d] * (kernel_size[d] - 1)
            + 1
            for d in range(dims)
        ]
        largest = [low + stride[d] - 1 for d, low in enumerate(smallest)]
        for size, low, high in zip(output_size, smallest, largest):
            if size < low or size > high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from "
                    f"{smallest} to {largest} (for an input of {input.size()[2:]})"
                )
        return [size - low for size, low in zip(output_size, smallest)]

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        dims = self._dims
        assert isinstance(self.padding, tuple)
        extra = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, dims, self.dilation
        )
        return getattr(F, self._function)(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )


@own("__init__", "forward")
class ConvTranspose1d(_ConvTransposeNd):
    """The transposed convolution over one dimension: `ConvTranspose2d` tells what is computed.

    Shapes: input ([N,] in_channels, L), weight (in_channels, out_channels / groups, kernel).
    """

    _dims = 1
    _function = "conv_transpose1d"


@own("__init__", "forward")
class ConvTranspose2d(_ConvTransposeNd):
    """The transposed convolution over two dimensions.

    It is the gradient of the convolution with these numbers: each element of the input lays the
    window, times itself, into the result. A dimension of length L becomes (L - 1)·stride -
    2·padding + dilation·(kernel - 1) + output_padding + 1 long. A convolution makes several
    lengths the same: `output_padding`, or `output_size` in the call, says which it was. Weight and
    bias start uniform in ±1/√(out_channels / groups · elements of the window).

    Shapes: input ([N,] in_channels, H, W), weight (in_channels, out_channels / groups, kernel…).
    """

    _dims = 2
    _function = "conv_transpose2d"


@own("__init__", "forward")
class ConvTranspose3d(_ConvTransposeNd):
    """The transposed convolution over three dimensions: `ConvTranspose2d` tells what is computed.

    Shapes: input ([N,] in_channels, D, H, W), weight (in_channels, out_channels / groups, kernel…).
    """

    _dims = 3
    _function = "conv_transpose3d"
