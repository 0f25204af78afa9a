"""What training programs need beside the network: checkpoints, data, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPES_ONLY

from .._base.lazy import lazy as _lazy, list_names as _listed, submodules as _submodules

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
    __getattr__ = _lazy(
        __name__, {"swap_tensors": "utils._swap:swap_tensors"}, _submodules(__name__)
    )


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
