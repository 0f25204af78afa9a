"""Gated linear units: one half of an array lets the other half through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from ..._formula import words
from ..._native import ufunc_loops
from .. import kernels
from ..memory.dense_layout import copy as dense_copy
from ..types import single
from .activations import sigmoid
from .chains import take_chains
from .generated import generate

if TYPE_CHECKING:
    from ..annotations import Array


_gate: Final = generate("gate", words.gate, ("a", "b"), {})
_FEW: Final = 512
#: The same of few elements.
_small_gate: Final = take_chains(_gate, lambda: None, "ff")


def halves(x: Array, dim: int) -> tuple[Any, Any]:
    """The two halves of `x` along `dim`.

    Raises:
        RuntimeError: for an array without dimensions or of odd size.
        IndexError: for a dimension that isn't there.
    """
    if not x.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(errors.dimension(dim, x.ndim))
    size = x.shape[dim]
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % x.ndim} is size {size}"
        )
    lead = (slice(None),) * (dim % x.ndim)
    return x[lead + (slice(0, size // 2),)], x[lead + (slice(size // 2, None),)]


def _pack(x: Array, dim: int, second: bool) -> Array:
    """One half of `x` along `dim`, packed, so that digits don't depend on how it lies."""
    half = halves(x, dim)[second]
    return np.ascontiguousarray(half) if x.flags.c_contiguous else dense_copy(half, half.dtype)


_pack_few: Final = ufunc_loops.copy(_pack, "Hdf")


def glu(x: Array, dim: int) -> Array:
    """The first half along `dim`, times the sigmoid of the second half."""
    if x.dtype.itemsize == 2:
        return single(glu, x, dim)
    if x.size <= _FEW:
        return _small_gate(_pack_few(x, dim, False), _pack_few(x, dim, True))
    a, b = halves(x, dim)
    if x.size >= kernels.LEAST << 2:
        found = kernels.gated_linear.glu(x, dim)
        if found is not None:
            return found
    return _gate(a, b)


def glu_backward(g: Array, x: Array, dim: int) -> Array:
    """The gradient of `glu` for its input."""
    a, b = halves(x, dim)
    if x.size >= kernels.LEAST and type(g) is np.ndarray:
        found = kernels.gated_linear.glu_backward(g, x, dim)
        if found is not None:
            return found
    s = sigmoid(b)
    result = np.empty(x.shape, x.dtype)
    first, second = halves(result, dim)
    np.multiply(g, s, first)
    np.multiply(np.multiply(g, a), np.multiply(s, np.subtract(1, s)), second)
    return result
