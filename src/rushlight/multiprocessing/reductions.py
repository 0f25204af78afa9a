"""How tensors go from one process to another: through memory that both see, not by value."""

from __future__ import annotations

from collections import OrderedDict
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from .._tensor.sharing import reduce_tensor
from .._tensor.tensor import Tensor
from ..nn.parameter import Parameter, _rebuild_parameter, _rebuild_parameter_with_state

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["init_reductions", "reduce_parameter", "reduce_tensor"]


def reduce_parameter(parameter: Tensor) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """How a parameter goes to another process: as its tensor does."""
    parameter.share_memory_()
    state = dict(vars(parameter))
    data = parameter.data
    if not state:
        return _rebuild_parameter, (data, parameter.requires_grad, OrderedDict())
    return (
        _rebuild_parameter_with_state,
        (data, parameter.requires_grad, OrderedDict(), state),
    )


def init_reductions() -> None:
    """Has queues, pipes and new processes send tensors in this way."""
    ForkingPickler.register(Tensor, reduce_tensor)
    ForkingPickler.register(Parameter, reduce_parameter)
