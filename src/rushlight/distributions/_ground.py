"""Everything that `distributions` takes from the layers below it, named once."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Callable

    class _Special:
        """The special functions, which all give one tensor."""

        def __getattr__(self, name: str) -> Callable[..., Tensor]: ...

    special: _Special
else:
    special = namespace("special").module("rushlight's special functions")
binary_cross_entropy_with_logits = _functional.binary_cross_entropy_with_logits
log_softmax = _functional.log_softmax
one_hot = _functional.one_hot
pad = _functional.pad
softmax = _functional.softmax
softplus = _functional.softplus

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
