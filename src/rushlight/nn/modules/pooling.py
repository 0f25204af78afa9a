"""Pooling over windows, to a given size, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import functional as F
from .._ground import Tensor
from ._own_names import own
from ._sizes import _each
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


# ---- maxima -----------------------------------------------------------------------------------
class _MaxPoolNd(Module):
    """The largest element of each window; with `return_indices` also its place."""

    __constants__ = [
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    ]
    _function: str

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


@own("forward")
class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of the last dimension: ([N,] C, L)."""

    _function = "max_pool1d"


@own("forward")
class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of the last two dimensions: ([N,] C, H, W)."""

    _function = "max_pool2d"


@own("forward")
class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of the last three dimensions: ([N,] C, D, H, W)."""

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    """Zeros, and the elements where max pooling found them."""

    _dims: int
    _function: str

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self._dims)
        self.stride = _each(stride if stride is not None else kernel_size, self._dims)
        self.padding = _each(padding, self._dims)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: int | Sequence[int] | None = None
    ) -> Tensor:
        return getattr(F, self._function)(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@own("__init__", "forward")
class MaxUnpool1d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool1d`, from its values and indices."""

    _dims = 1
    _function = "max_unpool1d"


@own("__init__", "forward")
class MaxUnpool2d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool2d`, from its values and indices."""

    _dims = 2
    _function = "max_unpool2d"


@own("__init__", "forward")
class MaxUnpool3d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool3d`, from its values and indices."""

    _dims = 3
    _function = "max_unpool3d"


# ---- means ------------------------------------------------------------------------------------
class _AvgPoolNd(Module):
    """The mean of each window."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of the last dimension: ([N,] C, L)."""

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, 1)
        self.stride = _each(stride if stride is not None else kernel_size, 1)
        self.padding = _each(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolWide(_AvgPoolNd):
    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]
    _function: str

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


@own("__init__", "forward")
class AvgPool2d(_AvgPoolWide):
    """The mean of each window of the last two dimensions: ([N,] C, H, W)."""

    _function = "avg_pool2d"


@own("__init__", "forward")
class AvgPool3d(_AvgPoolWide):
    """The mean of each window of the last three dimensions: ([N,] C, D, H, W)."""

    _function = "avg_pool3d"


# ---- power means ------------------------------------------------------------------------------
class _LPPoolNd(Module):
    """The `norm_type`-norm of each window."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _function: str

    def __init__(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


@own("forward")
class LPPool1d(_LPPoolNd):
    """The `norm_type`-norm of each window of the last dimension: ([N,] C, L)."""

    _function = "lp_pool1d"


@own("forward")
class LPPool2d(_LPPoolNd):
    """The `norm_type`-norm of each window of the last two dimensions: ([N,] C, H, W)."""

    _function = "lp_pool2d"


@own("forward")
class LPPool3d(_LPPoolNd):
    """The `norm_type`-norm of each window of the last three dimensions: ([N,] C, D, H, W)."""

    _function = "lp_pool3d"


# ---- to a given size --------------------------------------------------------------------------
class _AdaptiveAvgPoolNd(Module):
    """The means of windows that divide the last dimensions into `output_size`."""

    __constants__ = ["output_size"]
    _function: str

    def __init__(self, output_size: int | Sequence[int]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@own("forward")
class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last dimension into `output_size`."""

    _function = "adaptive_avg_pool1d"


@own("forward")
class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last two dimensions; None keeps a size."""

    _function = "adaptive_avg_pool2d"


@own("forward")
class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of windows that divide the last three dimensions; None keeps a size."""

    _function = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(Module):
    """The largest elements of windows that divide the last dimensions into `output_size`."""

    __constants__ = ["output_size", "return_indices"]
    _function: str

    def __init__(self, output_size: int | Sequence[int], return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return getattr(F, self._function)(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@own("forward")
class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last dimension into `output_size`."""

    _function = "adaptive_max_pool1d"


@own("forward")
class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last two dimensions; None keeps a size."""

    _function = "adaptive_max_pool2d"


@own("forward")
class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide the last three dimensions; None keeps a size."""

    _function = "adaptive_max_pool3d"


# ---- windows at random places -----------------------------------------------------------------
class _FractionalMaxPoolNd(Module):
    """The largest elements of windows at random places."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _dims: int
    _function: str

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self._dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _each(output_size, self._dims)
        self.output_ratio = None if output_ratio is None else _each(output_ratio, self._dims)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling "
                "ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


@own("__init__", "forward")
class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last two dimensions.

    Raises: ValueError unless exactly one of `output_size` and `output_ratio` is given.
    """

    _dims = 2
    _function = "fractional_max_pool2d"


@own("__init__", "forward")
class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of the last three dimensions.

    Raises: ValueError unless exactly one of `output_size` and `output_ratio` is given.
    """

    _dims = 3
    _function = "fractional_max_pool3d"
