"""What training programs need beside the network: checkpoints, data, weights."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Loads a submodule when it is first asked for."""
    if name == "swap_tensors":
        return importlib.import_module(f"{__name__}._swap").swap_tensors
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
