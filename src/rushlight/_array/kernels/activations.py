"""Activations by kernels over flat arrays; each function gives None where none applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._formula import gelu as gelu_of, words
from .launch import Kernel, floating, ready

if TYPE_CHECKING:
    from ..annotations import Array

_GELU = {word: Kernel(value, "f") for word, (value, _) in gelu_of.FORMULAS.items()}
_GELU_BACK = {word: Kernel(slope, "f", "f") for word, (_, slope) in gelu_of.FORMULAS.items()}
_LOGISTIC = Kernel(words.sigmoid, "f")


def _flat(kernel: Kernel | None, *operands: Array) -> Array | None:
    x = operands[0]
    dtype = x.dtype
    if kernel is None or not floating(dtype) or operands[-1].shape != x.shape or not ready():
        return None
    out = np.empty(x.shape, dtype)
    return out if kernel.flat(dtype, operands, (out,), x.size) else None


def gelu(x: Array, approximate: str) -> Array | None:
    """See `erf.gelu`."""
    return _flat(_GELU.get(approximate), x)


def gelu_backward(g: Array, x: Array, approximate: str) -> Array | None:
    """See `erf.gelu_backward`."""
    return _flat(_GELU_BACK.get(approximate), g, x)


def logistic(x: Array) -> Array | None:
    """1 / (1 + exp(-x))."""
    return _flat(_LOGISTIC, x)
