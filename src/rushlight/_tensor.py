"""`torch._tensor`: the class `Tensor` under the module where PyTorch has it."""

from __future__ import annotations

from .overrides import (
    get_default_nowrap_functions,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
)
from .serialization.names import rebuild_from_type as _rebuild_from_type_v2
from .tensor import Tensor

__all__ = [
    "Tensor", "_rebuild_from_type_v2", "get_default_nowrap_functions", "handle_torch_function",
    "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
]  # fmt: skip
