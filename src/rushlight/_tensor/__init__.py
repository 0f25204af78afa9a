"""Tensor: the class, its methods, storage, printed form, subclasses and their protocols.

PyTorch has a module of this name, `torch._tensor`: what programs ask of that is found here.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_HOMES: Final = {
    "Tensor": "_tensor.tensor",
    "_rebuild_from_type_v2": "serialization.names",  # there `rebuild_from_type`
    **dict.fromkeys(
        ("get_default_nowrap_functions", "handle_torch_function", "has_torch_function",
         "has_torch_function_unary", "has_torch_function_variadic"),
        "_torch.overrides",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What PyTorch has in `torch._tensor`, loaded when it is first asked for."""
    if name in _HOMES:
        home = importlib.import_module(f"rushlight.{_HOMES[name]}")
        return getattr(home, "rebuild_from_type" if name == "_rebuild_from_type_v2" else name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
