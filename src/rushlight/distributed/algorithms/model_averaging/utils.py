"""The means of parameters over a group's ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....nn.parameter import Parameter
from ..._ground import f
from ...collectives import all_reduce
from ...process_group import choose, get_world_size, is_member

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...annotations import Given
    from ...process_group import ProcessGroup

__all__ = [
    "average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average",
]  # fmt: skip


def average_parameters(params: Iterable[Given], process_group: ProcessGroup | None) -> None:
    """Puts the means over a group's ranks into parameters, all in one message.

    Parameters:
        params: the parameters, the same ones on every rank.
        process_group: the ranks; None means all. A rank outside of it does nothing.
    Returns: None.
    Raises: RuntimeError: for a rank that doesn't answer.
    """
    if not is_member(process_group):
        return
    given = list(params)
    row = f.cat([p.data.reshape(-1) for p in given])
    row /= get_world_size(process_group)
    all_reduce(row, group=choose(process_group))
    start = 0
    for p in given:
        p.data = row[start : start + p.numel()].view_as(p).type_as(p)
        start += p.numel()


def get_params_to_average(params: Iterable[Given]) -> list[Given]:
    """The parameters that have a gradient.

    Parameters:
        params: parameters, or an optimizer's groups of them.
    Returns: a list of parameters.
    Raises: NotImplementedError: for anything else.
    """
    found = []
    for param in params:
        if isinstance(param, Parameter):
            found.append(param)
        elif isinstance(param, dict):
            found.extend(param["params"])
        else:
            raise NotImplementedError(f"Parameter input of type {type(param)} is not supported")
    return [param for param in found if param.grad is not None]


def average_parameters_or_parameter_groups(
    params: Iterable[Given], process_group: ProcessGroup | None
) -> None:
    """Puts the means over a group's ranks into all parameters that have a gradient.

    Parameters:
        params: parameters, or an optimizer's groups of them.
        process_group: the ranks; None means all.
    Returns: None.
    Raises: NotImplementedError: for anything else.
    """
    average_parameters(get_params_to_average(params), process_group)
