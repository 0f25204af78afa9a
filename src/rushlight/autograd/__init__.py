"""Automatic differentiation: running backward, modes, custom functions, access to the graph."""

from __future__ import annotations

import importlib
from typing import Any

from . import (
    attributes as _attributes,  # noqa: F401
    forward_ad,
)
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .backward import backward, grad
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .variable import Variable

# Parts that few programs use, by name: the module that has it.
_LATER = {
    "NestedIOFunction": "function",
    "_calculate_shape": "engine_calls",
    "_engine_run_backward": "engine_calls",
    "_is_checkpoint_valid": "engine_calls",
    "_make_grads": "engine_calls",
    "_tensor_or_tensors_to_tuple": "engine_calls",
    "SavedTensor": "saving",
    "kineto_available": "profiler",
    "_force_original_view_tracking": "grad_mode",
    "_unsafe_preserve_version_counter": "grad_mode",
    "is_view_replay_enabled": "grad_mode",
    "GradcheckError": "gradcheck",
    "functional": "functional",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "_profiler_enabled": "profiler",
    "profiler": "profiler",
    "profiler_util": "profiler_util",
}


def __getattr__(name: str) -> Any:
    """Loads a part when it is first asked for."""
    if name == "torch":  # a name that PyTorch's package has by importing itself
        return importlib.import_module(__package__.rpartition(".")[0])
    if name in ("_functions", "anomaly_mode", "graph"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module = importlib.import_module(f"{__name__}.{_LATER[name]}")
    found = module if name in ("functional", "profiler", "profiler_util") else getattr(module, name)
    globals()[name] = found
    if _LATER[name] == "gradcheck":  # importing the submodule has bound its own name here
        globals()["gradcheck"] = module.gradcheck
    return found


__all__ = [
    "Function", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad",
    "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip
