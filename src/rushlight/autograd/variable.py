"""`Variable`, what tensors were called once: calling it gives the tensor itself."""

from __future__ import annotations

from typing import Any

from .._core.run import queue_callback as _queue
from .._core.storage import TensorBase
from ..tensor import Tensor, set_requires_grad


class _ExecutionEngine:
    """The part of the engine's old interface that programs use."""

    @staticmethod
    def queue_callback(callback: Any) -> None:
        """Has `callback()` called when the backward in progress has finished."""
        _queue(callback)


class _VariableType(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, TensorBase)


class Variable(metaclass=_VariableType):
    """`Variable(t, requires_grad)` is `t`; every tensor is an instance."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        made = Tensor() if data is None else data
        alias = made.detach()
        if requires_grad:
            set_requires_grad(alias, True)
        return alias
