"""Automatic differentiation: running backward, modes, custom functions, access to the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.lazy import lazy, list_names
from . import (
    attributes as _attributes,  # noqa: F401
)
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .backward import backward, grad
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

if TYPE_CHECKING:
    from . import forward_ad
    from .function import Function
    from .variable import Variable

# Parts that few programs use, by name: the module that has it.
_LATER = {
    "torch": "..",  # a name that PyTorch's package has by importing itself
    "Function": ".function:Function",
    "NestedIOFunction": ".function:NestedIOFunction",
    "SavedTensor": ".saved_tensor_hooks:SavedTensor",
    "Variable": ".variable:Variable",
    "GradcheckError": ".gradcheck:GradcheckError",
    "gradcheck": ".gradcheck:gradcheck",
    "gradgradcheck": ".gradcheck:gradgradcheck",
    "kineto_available": ".profiler:kineto_available",
    "_profiler_enabled": ".profiler:_profiler_enabled",
    **{name: f".{name}" for name in (
        "_functions", "anomaly_mode", "forward_ad", "function", "functional", "graph", "profiler",
        "profiler_util", "variable",
    )},
    **{name: f".engine_calls:{name}" for name in (
        "_calculate_shape", "_engine_run_backward", "_is_checkpoint_valid", "_make_grads",
        "_tensor_or_tensors_to_tuple",
    )},
    **{name: f".grad_mode:{name}" for name in (
        "_force_original_view_tracking", "_unsafe_preserve_version_counter",
        "is_view_replay_enabled",
    )},
}  # fmt: skip

if TYPE_CHECKING:
    from . import functional, graph, profiler as profiler
    from .function import NestedIOFunction as NestedIOFunction
    from .gradcheck import GradcheckError, gradcheck, gradgradcheck
    from .saved_tensor_hooks import SavedTensor as SavedTensor
else:
    __getattr__ = lazy(__name__, _LATER)


__all__ = [
    "Function", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad",
    "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip

__dir__ = list_names(globals())
