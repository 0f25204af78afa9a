"""The steps of `backward` and `grad` under the names that programs import from `torch.autograd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._core.storage import TensorBase
from .backward import root_gradient
from .edges import GradientEdge, public_form
from .hooks import vertex_of_tensor
from .output_metadata import outputs_of
from .variable import ExecutionEngine

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


def _calculate_shape(output: Any, grad: Any, is_grads_batched: bool) -> tuple[object, object]:
    """The shapes of an output and of its gradient (of one, where they come in a batch)."""
    if isinstance(output, GradientEdge):
        node: Any = output.node
        known = outputs_of(node)
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        return (None if known is None else known[output.output_nr][0]), grad.shape
    if output.is_nested:
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with Nested Tensor.")
        return output._nested_tensor_size(), grad._nested_tensor_size()
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def _make_grads(
    outputs: Sequence[object], grads: Sequence[object], is_grads_batched: bool
) -> tuple[object, ...]:
    """The gradients that a run from `outputs` starts with: ones where None, all checked."""
    made: list[Any] = []
    for i, (out, g) in enumerate(zip(outputs, grads)):
        if g is None and isinstance(out, TensorBase) and not out._requires_grad:
            made.append(None)
        else:
            made.append(root_gradient(out, g, i, True, is_grads_batched))
    return tuple(made)


def _tensor_or_tensors_to_tuple(tensors: Sequence[Tensor], length: int) -> tuple[object, ...]:
    """A tensor, several, or None for each of `length`, as a tuple."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)


def _is_checkpoint_valid() -> bool:
    """Whether the backward in progress (or any) computes all gradients."""
    return ExecutionEngine.is_checkpoint_valid()


def _engine_run_backward(t_outputs: Any, *args: Any, **kwargs: Any) -> tuple[object, ...]:
    """One run of the engine."""
    return ExecutionEngine.run_backward(t_outputs, *args, **kwargs)


def _get_grad_fn_or_grad_acc(t: Tensor) -> object:
    """The node that a tensor's gradient goes to: its `grad_fn`, or its `AccumulateGrad`."""
    if isinstance(t, GradientEdge):
        return t.node
    return public_form(vertex_of_tensor(t)[0])


__all__ = [
    "_calculate_shape",
    "_engine_run_backward",
    "_get_grad_fn_or_grad_acc",
    "_is_checkpoint_valid",
    "_make_grads",
    "_tensor_or_tensors_to_tuple",
]
