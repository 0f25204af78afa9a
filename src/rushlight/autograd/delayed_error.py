"""Nodes that stand behind equal tensors and refuse, or stop, the gradient that reaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._core.copyslices import custom_op
from .._core.mode import ready
from .._core.node import Node, Vertex, new_node
from .._core.storage import TensorBase, new_tensor, target
from .._core.views import current_node

if TYPE_CHECKING:
    from .._array.annotations import Array


class Error(Node):
    """Raises when a gradient reaches it."""

    __slots__ = ("message",)
    _namespace = "torch::autograd::"

    message: str

    def call(self, grads: list[Array], need: list[bool], traced: bool) -> list[Any]:
        """Never returns.

        Raises:
            RuntimeError: with the message that was given.
        """
        raise RuntimeError(self.message)


_ERROR: Final = custom_op("delayed_error", Error)


def behind(op: Any, inputs: tuple[TensorBase | None, ...]) -> tuple[Any, list[Any]]:
    """A node with an edge to each input, and the inputs' elements in new tensors behind it.

    An input that is None comes out as None, with an edge that leads nowhere. Where no input
    requires grad there is nothing behind the new tensors.
    """
    goals: list[Vertex | None] = []
    for t in inputs:
        if t is None:
            goals.append(None)
        else:
            current_node(t)
            goals.append(target(t))
    live = ready().grad and any(goal is not None for goal in goals)
    node = new_node(op, tuple(goals), ())
    node.nrs = tuple(0 if t is None else t._nr for t in inputs)
    node.out_meta = tuple(None if t is None else (t._raw.shape, t._raw.dtype) for t in inputs)
    outs: list[Any] = []
    for k, t in enumerate(inputs):
        if t is None:
            outs.append(None)
            continue
        out = new_tensor(t._raw)
        if live:
            out._node = node
            out._nr = k + 1
            out._requires_grad = True
        outs.append(out)
    return node, outs


class DelayedError:
    """Called with tensors it gives equal ones, whose backward raises `RuntimeError(message)`."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *inputs: TensorBase | None) -> Any:
        """The tensor (several: a tuple) with a node behind it that raises."""
        node, outs = behind(_ERROR, inputs)
        node.message = self.message
        return outs[0] if len(outs) == 1 else tuple(outs)


__all__ = ["DelayedError", "Error", "behind"]
