"""`Variable`, what tensors were called once: calling it gives the tensor itself."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, cast

from .._base.errors import type_name
from .._core.run import RUNNING, queue_callback as _queue
from .._core.storage import TensorBase
from .._tensor.tensor import Tensor, set_requires_grad
from .backward import backward, grad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class ExecutionEngine:
    """The part of the engine's old interface that programs use."""

    @staticmethod
    def queue_callback(callback: Callable[..., object]) -> None:
        """Has `callback()` called when the backward in progress has finished."""
        _queue(callback)

    @staticmethod
    def run_backward(
        tensors: Sequence[Tensor],
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Any, ...]:
        """One run of the engine, as `backward` (with `accumulate_grad`) and `grad` start it."""
        if accumulate_grad:
            backward(tensors, grad_tensors, keep_graph, create_graph, inputs=tuple(inputs) or None)
            return ()
        return grad(tensors, inputs, grad_tensors, keep_graph, create_graph,
                    allow_unused=allow_unreachable)  # fmt: skip

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether all gradients are being computed: not within `grad`, nor with `inputs=`."""
        run = RUNNING.get()
        return run is None or run.captures is None


class VariableMeta(type):
    """What makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, TensorBase)


class Variable(metaclass=VariableMeta):
    """`Variable(t, requires_grad)` is `t`; every tensor is an instance.

    Parameters:
        data: a tensor; None: an empty one.
        requires_grad: whether operations on it are recorded.
        volatile: accepted; it means nothing any more.
    Raises: TypeError: for anything but a tensor, and a whole number for each of the others.
    Example:
        >>> torch.autograd.Variable(torch.ones(1), requires_grad=True)
        tensor([1.], requires_grad=True)
    """

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        made = Tensor() if data is None else data
        wanted, _ = index(requires_grad), index(volatile)
        if not isinstance(made, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(made)}")
        alias = cast("Tensor", made).detach()
        if wanted:
            set_requires_grad(alias, True)
        return alias
