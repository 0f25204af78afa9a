"""Gradients of activations by element: large ones by a kernel each, small ones by NumPy.

Each takes the incoming gradient, the input, and the activation's numbers. Float16 and bfloat16 are
computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ..types import single
from .activations import sigmoid, softplus
from .masks import keep, where

__all__ = [
    "elu_backward", "hardsigmoid_backward", "hardswish_backward", "hardtanh_backward",
    "leaky_relu_backward", "log_sigmoid_backward", "mish_backward", "softplus_backward",
]  # fmt: skip


def elu_backward(g: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """The gradient of `elu`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("elu_backward", g, x, alpha, scale, input_scale)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(elu_backward, g, x, alpha, scale, input_scale)
    low = np.exp(np.minimum(x, 0) * input_scale)
    return where(np.greater(x, 0), g * scale, g * (low * (alpha * scale * input_scale)))


def leaky_relu_backward(g: Any, x: Any, negative_slope: float) -> Any:
    """The gradient of `leaky_relu`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("leaky_relu_backward", g, x, negative_slope)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(leaky_relu_backward, g, x, negative_slope)
    return where(np.greater(x, 0), g, g * negative_slope)


def softplus_backward(g: Any, x: Any, beta: float, threshold: float) -> Any:
    """The gradient of `softplus`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("softplus_backward", g, x, beta, threshold)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(softplus_backward, g, x, beta, threshold)
    t = np.multiply(x, beta)
    return where(np.greater(t, threshold), g, g * sigmoid(t))


def log_sigmoid_backward(g: Any, x: Any) -> Any:
    """The gradient of `log_sigmoid`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("log_sigmoid_backward", g, x)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(log_sigmoid_backward, g, x)
    return g * sigmoid(np.negative(x))


def mish_backward(g: Any, x: Any) -> Any:
    """The gradient of `mish`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("mish_backward", g, x)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(mish_backward, g, x)
    s, t = sigmoid(x), np.tanh(softplus(x))
    return g * (t + x * s * (1 - t * t))


def hardtanh_backward(g: Any, x: Any, min_val: Any, max_val: Any) -> Any:
    """The gradient of `hardtanh`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("hardtanh_backward", g, x, min_val, max_val)
        if found is not None:
            return found
    return keep(g, ~(np.less_equal(x, min_val) | np.greater_equal(x, max_val)))


def hardsigmoid_backward(g: Any, x: Any) -> Any:
    """The gradient of `hardsigmoid`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("hardsigmoid_backward", g, x)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(hardsigmoid_backward, g, x)
    return keep(g / 6, np.greater(x, -3) & np.less(x, 3))


def hardswish_backward(g: Any, x: Any) -> Any:
    """The gradient of `hardswish`."""
    if x.size >= kernels.LEAST:
        found = kernels.elements.slope("hardswish_backward", g, x)
        if found is not None:
            return found
    if x.dtype.itemsize == 2:
        return single(hardswish_backward, g, x)
    return where(np.less(x, 3), keep(g * (x / 3 + 0.5), np.greater(x, -3)), g)
