"""Tensor: the class, its methods, storage, printed form, subclasses and their protocols.

PyTorch has a module of this name, `torch._tensor`: what programs ask of that is found here.
"""

from __future__ import annotations

from .._base.lazy import lazy

_OVERRIDES = (
    "get_default_nowrap_functions", "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic",
)  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "Tensor": ".tensor:Tensor",
        "_rebuild_from_type_v2": "serialization.names:rebuild_from_type",
        **{name: f"_torch.overrides:{name}" for name in _OVERRIDES},
    },
)
