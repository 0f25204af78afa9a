"""`torch.ao`: quantisation and pruning for it, which aren't here and say so when used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Loads a submodule when it is first asked for."""
    if name in ("nn", "pruning", "quantization"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
