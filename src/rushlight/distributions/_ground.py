"""Everything that `distributions` takes from the layers below it, named once."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from .._base import dtypes
from .._base.memory_format import contiguous_format
from .._base.numeric_limits import finfo
from .._base.size import Size
from .._table import namespace
from .._tensor.tensor import Tensor
from ..autograd.backward import grad
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..nn import functional as _functional
from ..nn._ground import f, linalg

special: Any = namespace("special").module("rushlight's special functions")
binary_cross_entropy_with_logits: Any = _functional.binary_cross_entropy_with_logits
log_softmax: Any = _functional.log_softmax
one_hot: Any = _functional.one_hot
pad: Any = _functional.pad
softmax: Any = _functional.softmax
softplus: Any = _functional.softplus

__all__ = [
    "Function",
    "Size",
    "Tensor",
    "binary_cross_entropy_with_logits",
    "contiguous_format",
    "dtypes",
    "enable_grad",
    "f",
    "finfo",
    "grad",
    "inf",
    "linalg",
    "log_softmax",
    "nan",
    "no_grad",
    "one_hot",
    "pad",
    "softmax",
    "softplus",
    "special",
]
