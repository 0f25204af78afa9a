"""Gated linear units: one half of an array lets the other half through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from .. import kernels
from ..types import single
from .activations import sigmoid

if TYPE_CHECKING:
    from ..annotations import Array


def _halves(x: Array, dim: int) -> tuple[Any, Any]:
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


def glu(x: Array, dim: int) -> Any:
    """The first half along `dim`, times the sigmoid of the second half."""
    if x.dtype.itemsize == 2:
        return single(glu, x, dim)
    a, b = _halves(x, dim)
    if x.size >= kernels.LEAST:
        found = kernels.elementwise.glu(x, dim)
        if found is not None:
            return found
    if x.dtype.kind != "f" or x.ndim < 2:
        return np.multiply(a, sigmoid(b))
    # a / (1 + exp(-b)): the halves may be parts of rows, but what is computed is whole.
    out = np.negative(b)
    np.exp(out, out)
    np.add(out, 1, out)
    return np.divide(a, out, out)


def glu_gradients(g: Array, grad_output: Array, x: Array, dim: int) -> tuple[Any, Any]:
    """The gradients of `glu_backward` for its incoming gradient and for its input."""
    (a, b), (first, second) = _halves(x, dim), _halves(g, dim)
    s = sigmoid(b)
    slope = np.multiply(s, np.subtract(1, s))
    along = np.multiply(grad_output, slope)
    inner = np.multiply(second, along)
    outer = along * (first + second * a * (1 - 2 * s))
    return first * s + second * a * slope, np.concatenate([inner, outer], dim)


def glu_backward(g: Array, x: Array, dim: int) -> Any:
    """The gradient of `glu` for its input."""
    a, b = _halves(x, dim)
    if x.size >= kernels.LEAST and type(g) is np.ndarray:
        found = kernels.elementwise.glu_backward(g, x, dim)
        if found is not None:
            return found
    s = sigmoid(b)
    result = np.empty(x.shape, x.dtype)
    first, second = _halves(result, dim)
    np.multiply(g, s, first)
    np.multiply(np.multiply(g, a), np.multiply(s, np.subtract(1, s)), second)
    return result
