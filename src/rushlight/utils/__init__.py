"""What training programs need beside the network: checkpoints, data, weights."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPES_ONLY

from .._base.lazy import listed as _listed

if _TYPES_ONLY:
    from . import (
        benchmark as benchmark,
        checkpoint as checkpoint,
        collect_env as collect_env,
        cpp_extension as cpp_extension,
        data as data,
        deterministic as deterministic,
        dlpack as dlpack,
        flop_counter as flop_counter,
        hooks as hooks,
        module_tracker as module_tracker,
        weak as weak,
    )
    from ._swap import swap_tensors as swap_tensors
else:

    def __getattr__(name: str) -> object:
        """Loads a submodule when it is first asked for."""
        if name == "swap_tensors":
            return _importlib.import_module(f"{__name__}._swap").swap_tensors
        if not name.startswith("__"):
            try:
                return _importlib.import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = [
    "benchmark",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "deterministic",
    "dlpack",
    "flop_counter",
    "hooks",
    "module_tracker",
    "swap_tensors",
    "weak",
]

__dir__ = _listed(globals())
