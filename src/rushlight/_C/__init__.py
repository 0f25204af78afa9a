"""Names that programs take from `torch._C`, PyTorch's compiled part: what autograd programs ask.

Everything here stands elsewhere under a name of its own; this is where `torch._C.x` finds it.
"""

from __future__ import annotations

from typing import Any

from .. import autograd
from .._core.mode import is_grad_enabled as _is_grad_enabled
from .._core.mode import set_grad as _set_grad_enabled
from .._core.run import RUNNING, execution_order, will_run
from .._core.storage import TensorBase
from ..autograd.edges import core_of, seen_as
from ..autograd.function import Function as _FunctionBase
from ..autograd.variable import ExecutionEngine as _ImperativeEngine
from ..device import device
from ..dtypes import dtype
from ..random import Generator
from ..size import Size
from . import _autograd, _functions


def _current_graph_task_id() -> int:
    """The number of the backward in progress; -1 outside of one."""
    run = RUNNING.get()
    return -1 if run is None else int(run.number)


def _current_autograd_node() -> Any:
    """The node whose hooks or whose own code runs now; None outside of a backward."""
    run = RUNNING.get()
    return None if run is None or run.node is None else seen_as(run.node)


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward in progress sends a gradient through `node`.

    Raises:
        RuntimeError: outside of a backward, and for a leaf whose gradient `autograd.grad` gives.
    """
    return will_run(core_of(node))


def _current_graph_task_execution_order() -> list[Any]:
    """The nodes of the backward in progress in the order in which it runs them.

    Raises:
        RuntimeError: outside of a backward.
    """
    return [seen_as(vertex) for vertex in execution_order()]


def _set_multithreading_enabled(enabled: bool) -> None:
    """Notes whether backward may use several threads."""
    autograd.set_multithreading_enabled(enabled)


def _is_multithreading_enabled() -> bool:
    """What `_set_multithreading_enabled` has noted."""
    return autograd.is_multithreading_enabled()


def _set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Does nothing: there are no streams on the CPU."""


def _get_privateuse1_backend_name() -> str:
    """The name of the device type that extensions may claim."""
    return "privateuseone"


__all__ = [
    "Generator", "Size", "TensorBase", "_FunctionBase", "_ImperativeEngine", "_autograd",
    "_current_autograd_node", "_current_graph_task_execution_order", "_current_graph_task_id",
    "_functions", "_get_privateuse1_backend_name", "_is_grad_enabled", "_is_multithreading_enabled",
    "_set_grad_enabled", "_set_multithreading_enabled",
    "_set_warn_on_accumulate_grad_stream_mismatch", "_will_engine_execute_node", "device", "dtype",
]  # fmt: skip
