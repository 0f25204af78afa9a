"""What programs take from `torch._C._functions`: classes of some nodes, and two that are called.

`UndefinedGrad()(t)` and `DelayedError(message, n)(*tensors)` give their inputs with a node behind
them that sends no gradient on, or raises.
"""

from __future__ import annotations

from typing import Any

from ..._core.copyslices import CopySlices, custom_op
from ..._core.node import Node
from ...autograd import delayed_error as _delayed
from ...autograd.delayed_error import Error, behind
from ...autograd.edges import AccumulateGrad, MakesNodes


class UndefinedGradBackward(Node):
    """Sends no gradient on."""

    __slots__ = ()
    _namespace = "torch::autograd::"

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> list[Any]:
        """No gradient for any input."""
        return [None] * len(need)


_UNDEFINED = custom_op("undefined_grad", UndefinedGradBackward)
_UNDEFINED.runs_on_none = True


class DelayedError(_delayed.DelayedError, MakesNodes):
    """Called with tensors it gives equal ones, whose backward raises `RuntimeError(message)`."""


class UndefinedGrad(MakesNodes):
    """Called with a tensor it gives an equal one, whose gradient goes nowhere."""

    def __call__(self, *inputs: Any) -> Any:
        """The tensor (several: a tuple) with a node behind it that sends no gradient on."""
        outs = behind(_UNDEFINED, inputs)[1]
        return outs[0] if len(outs) == 1 else tuple(outs)


class CopyBackwards:
    """The class of nodes that copy between devices in PyTorch; here there is one device."""


__all__ = ["AccumulateGrad", "CopyBackwards", "CopySlices", "DelayedError", "Error",
           "UndefinedGrad", "UndefinedGradBackward"]  # fmt: skip
