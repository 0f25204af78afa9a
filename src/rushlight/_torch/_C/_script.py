"""What `torch._C` has for TorchScript: its switches, which change nothing, and its classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _jit_internal

__all__ = ["find"]


def _get_tracing_state() -> Any:
    """Something inside of `torch.jit.trace`, None outside of it."""
    return _jit_internal.TRACING if _jit_internal.TRACING.on else None


def _is_tracing() -> bool:
    """Whether a trace is being made."""
    return _jit_internal.TRACING.on


def _log_api_usage_once(event: str) -> None:
    """Does nothing: nobody counts."""


_SWITCHES: dict[str, Any] = {
    "_jit_set_profiling_executor": True,
    "_jit_set_profiling_mode": True,
    "_jit_set_texpr_fuser_enabled": True,
    "_jit_set_nvfuser_enabled": False,
    "_jit_set_nvfuser_single_node_mode": False,
    "_jit_set_autocast_mode": True,
    "_jit_override_can_fuse_on_cpu": False,
    "_jit_override_can_fuse_on_gpu": False,
    "_jit_set_num_profiled_runs": 1,
    "_jit_set_bailout_depth": 20,
    "_jit_set_inline_everything_mode": False,
    "_jit_set_texpr_reductions_enabled": False,
    "_debug_set_autodiff_subgraph_inlining": True,
    "_debug_set_fusion_group_inlining": True,
}


def _switch(name: str) -> Callable[[Any], Any]:
    def set_switch(value: Any) -> Any:
        before, _SWITCHES[name] = _SWITCHES[name], value
        return before

    set_switch.__name__ = name
    set_switch.__doc__ = "Notes the value and gives the one before; there is no graph to change."
    return set_switch


_CLASSES = {
    "ScriptFunction": "ScriptFunction",
    "ScriptModule": "ScriptModule",
    "CompilationUnit": "CompilationUnit",
    "JITException": "Error",
}

# What a TorchScript graph is made of: named in annotations and `isinstance`, and never made.
_PARTS: dict[str, Any] = {
    name: type(name, (), {"__module__": "torch._C", "__doc__": "A part of a TorchScript graph."})
    for name in ("Block", "Graph", "Node", "Value")
}


def find(name: str) -> Any:
    """The function, switch or class of this name.

    Raises:
        KeyError: where there is none.
    """
    if name in ("_get_tracing_state", "_is_tracing", "_log_api_usage_once"):
        return globals()[name]
    if name in _SWITCHES:
        return _switch(name)
    if name.endswith("Type"):
        from ..jit import script_types

        if name in script_types.__all__:
            return getattr(script_types, name)
    if name in _PARTS:
        return _PARTS[name]
    if name in _CLASSES:
        from .. import jit

        return getattr(jit, _CLASSES[name])
    if name == "Future":
        from ...utils._futures import Future

        return Future
    raise KeyError(name)
