"""What programs take from `torch._C._functions`: classes of some nodes, and two that are called.

`UndefinedGrad()(t)` and `DelayedError(message, n)(*tensors)` give their inputs with a node behind
them that sends no gradient on, or raises.
"""

from __future__ import annotations

from typing import Any

from .._core.copyslices import CopySlices, custom_op
from .._core.node import Node, Vertex, new_node
from .._core.storage import new_tensor, target
from .._core.views import current_node
from ..autograd.edges import AccumulateGrad


class UndefinedGradBackward(Node):
    """Sends no gradient on."""

    __slots__ = ()

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> list[Any]:
        """No gradient for any input."""
        return [None] * len(need)


class Error(Node):
    """Raises when a gradient reaches it."""

    __slots__ = ("message",)

    message: str

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> list[Any]:
        """Never returns.

        Raises:
            RuntimeError: with the message that was given.
        """
        raise RuntimeError(self.message)


_UNDEFINED = custom_op("undefined_grad", UndefinedGradBackward)
_UNDEFINED.runs_on_none = True
_ERROR = custom_op("delayed_error", Error)


def _behind(op: Any, inputs: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """A node with an edge to each input, and the inputs' elements in new tensors behind it."""
    goals: list[Vertex | None] = []
    for t in inputs:
        current_node(t)
        goals.append(target(t))
    node = new_node(op, tuple(goals), ())
    node.nrs = tuple(t._nr for t in inputs)
    node.out_meta = tuple((t._raw.shape, t._raw.dtype) for t in inputs)
    outs: list[Any] = []
    for k, t in enumerate(inputs):
        out = new_tensor(t._raw)
        out._node = node
        out._nr = k + 1
        out._requires_grad = True
        outs.append(out)
    return node, outs


class UndefinedGrad:
    """Called with a tensor it gives an equal one, whose gradient goes nowhere."""

    def __call__(self, *inputs: Any) -> Any:
        """The tensor (several: a tuple) with a node behind it that sends no gradient on."""
        outs = _behind(_UNDEFINED, inputs)[1]
        return outs[0] if len(outs) == 1 else tuple(outs)


class DelayedError:
    """Called with tensors it gives equal ones, whose backward raises `RuntimeError(message)`."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *inputs: Any) -> Any:
        """The tensor (several: a tuple) with a node behind it that raises."""
        node, outs = _behind(_ERROR, inputs)
        node.message = self.message
        return outs[0] if len(outs) == 1 else tuple(outs)


class CopyBackwards:
    """The class of nodes that copy between devices in PyTorch; here there is one device."""


__all__ = ["AccumulateGrad", "CopyBackwards", "CopySlices", "DelayedError", "UndefinedGrad",
           "UndefinedGradBackward"]  # fmt: skip
