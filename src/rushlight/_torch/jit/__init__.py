"""`torch.jit`: programs that ask for TorchScript run as the Python that they are.

`script` and `trace` give objects of PyTorch's kinds that call the program's own code, so results,
gradients and parameters are the same. What only a graph can tell (`.graph`, a file in TorchScript's
format) raises an error that says so.
"""

from ..._base.lazy import list_names as _listed
from ...utils._futures import Future
from .._jit_internal import (
    Attribute,
    Final,
    _copy_to_script_wrapper,
    _drop as _drop,
    _isinstance,
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)
from . import annotations as annotations
from ._script import (
    CompilationUnit,
    Error,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    ScriptWarning,
    freeze,
    interface,
    optimize_for_inference,
    run_frozen_optimizations,
    script,
    script_method,
)
from ._trace import (
    TopLevelTracedModule,
    TracedModule,
    TracerWarning,
    TracingCheckError,
    _get_trace_graph,
    _script_if_tracing,
    _trace,
    is_tracing,
    script_if_tracing,
    trace,
    trace_module,
)
from .files import jit_module_from_flatbuffer, load, save, save_jit_module_to_flatbuffer
from .switches import (
    enable_onednn_fusion,
    fork,
    fuser,
    last_executed_optimized_graph,
    onednn_fusion_enabled,
    optimized_execution,
    parallel,
    set_fusion_strategy,
    strict_fusion,
    wait,
)

isinstance = _isinstance


def annotate(the_type: object, the_value: object) -> object:
    """The value itself; to a reader, with a type.

    Parameters:
        the_type: the type that TorchScript would give it.
        the_value: the value.
    Returns: the value.
    Raises: nothing.
    Example:
        >>> torch.jit.annotate(list[int], [])
        []
    """
    return the_value


def export_opnames(m: object) -> list[str]:
    """The operators of a module's graph.

    Parameters:
        m: a scripted module.
    Returns: no names: a scripted module has no graph here.
    Raises: nothing.
    Example:
        >>> torch.jit.export_opnames(torch.jit.script(nn.ReLU()))
        []
    """
    return []


__all__ = [
    "Attribute", "CompilationUnit", "Error", "Final", "Future", "RecursiveScriptModule",
    "ScriptFunction", "ScriptModule", "ScriptWarning", "TopLevelTracedModule", "TracedModule",
    "TracerWarning", "TracingCheckError", "_copy_to_script_wrapper", "_get_trace_graph",
    "_overload", "_overload_method", "_script_if_tracing", "_trace", "annotate", "annotations",
    "enable_onednn_fusion", "export", "export_opnames", "fork", "freeze", "fuser", "ignore",
    "interface", "is_scripting", "is_tracing", "isinstance", "jit_module_from_flatbuffer",
    "last_executed_optimized_graph", "load", "onednn_fusion_enabled", "optimize_for_inference",
    "optimized_execution", "parallel", "run_frozen_optimizations", "save",
    "save_jit_module_to_flatbuffer", "script", "script_if_tracing", "script_method",
    "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

__dir__ = _listed(globals())
