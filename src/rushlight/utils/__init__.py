"""What training programs need beside the network: checkpoints, data, weights."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def __getattr__(name: str) -> Any:
    """Loads a submodule when it is first asked for."""
    if name == "swap_tensors":
        return importlib.import_module(f"{__name__}._swap").swap_tensors
    if any(module.name == name for module in pkgutil.iter_modules(__path__)):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
