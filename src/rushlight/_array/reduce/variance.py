"""Variances and standard deviations, of real and complex numbers, computed in float64."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from . import moments
from .reduce import axes_of, in_order, reduced_count

if TYPE_CHECKING:
    from ..._base.annotations import Shape, TensorLike
    from ..annotations import Array, RawType

_HUGE = 1 << 22  # elements from which one sum of all is quicker than blocks
_FEW = 16384  # elements up to which plain passes beat the blocks of `moments`
_WIDE = np.dtype(np.float64)
_add: Any = np.add.reduce


def var_mean(
    name: str,
    x: Array,
    dim: Shape | None,
    correction: float | None,
    keepdim: bool,
    family: str = "",
) -> tuple[Array, Array]:
    """The variance (in float64, or in the type of `x`) and the mean over `dim`.

    The sum of squares is divided by the number of elements less `correction` (None: 1), or by 0
    where that is negative. Messages speak of `name`, refusals of a type of the `family`.

    Raises:
        RuntimeError: for integers.
    """
    kind = x.dtype.kind
    if kind == "c":
        real, real_mean = var_mean(name, x.real, dim, correction, keepdim)
        imag, imag_mean = var_mean(name, x.imag, dim, correction, keepdim)
        mean = np.empty(np.shape(real_mean), x.dtype)
        mean.real, mean.imag = real_mean, imag_mean
        return real + imag, mean
    if kind in "biu":
        raise RuntimeError(f"{family or name} only support floating point and complex dtypes")
    axis = None if dim is None else axes_of(x.ndim, dim)
    count = x.size if axis is None else reduced_count(x.shape, axis)
    freedom = count - (1 if correction is None else correction)
    if freedom <= 0 or (axis is not None and not x.size):
        _warn_few(name)
        freedom = 0.0
    huge = axis is None and x.size > _HUGE and x.size < kernels.LEAST
    if x.size > _FEW and not huge:
        return moments.var_mean(x, axis, 1 if correction is None else correction, keepdim)
    wide = x.astype(_WIDE)
    if axis is None and not keepdim and count:
        # NumPy scalars cost less than arrays of one element.
        wide = wide.reshape(-1)
        mean = _add(wide) / count
        wide -= mean
        return wide.dot(wide) / np.float64(freedom), mean
    if count == 0:
        total = _add(wide, axis, None, None, keepdim) * np.nan
        return total, total
    mean = _add(wide, axis, None, None, True) / count
    wide -= mean
    wide *= wide
    variance = _add(wide, axis, None, None, keepdim) / np.float64(freedom)
    if not keepdim:
        mean = mean.reshape(variance.shape)
    return variance, mean


def _warn_few(name: str) -> None:
    warnings.warn(
        f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
        "reduction "
        "factor (input numel divided by output numel).",
        UserWarning,
        stacklevel=2,
    )


def _real(raw: RawType) -> RawType:
    """The NumPy dtype of the parts of `raw`."""
    return np.dtype(f"f{raw.itemsize // 2}") if raw.kind == "c" else raw


def var(
    x: Array, dim: Shape | None = None, correction: float | None = None, keepdim: bool = False
) -> TensorLike:
    """The variance over `dim`."""
    variance, _ = var_mean("var", x, dim, correction, keepdim, "std and var")
    return in_order(variance.astype(_real(x.dtype)), x)


def std(
    x: Array, dim: Shape | None = None, correction: float | None = None, keepdim: bool = False
) -> TensorLike:
    """The square root of the variance over `dim`."""
    variance, _ = var_mean("std", x, dim, correction, keepdim, "std and var")
    return in_order(np.sqrt(variance).astype(_real(x.dtype)), x)


def var_and_mean(
    x: Array, dim: Shape | None = None, correction: float | None = None, keepdim: bool = False
) -> Any:
    """The variance and the mean over `dim`, in the type of `x`."""
    variance, mean = var_mean("var_mean", x, dim, correction, keepdim)
    return in_order(variance.astype(_real(x.dtype)), x), in_order(mean.astype(x.dtype), x)


def std_and_mean(
    x: Array, dim: Shape | None = None, correction: float | None = None, keepdim: bool = False
) -> Any:
    """The standard deviation and the mean over `dim`, in the type of `x`."""
    variance, mean = var_mean("std_mean", x, dim, correction, keepdim)
    return in_order(np.sqrt(variance).astype(_real(x.dtype)), x), in_order(mean.astype(x.dtype), x)
