"""A context in which an optimizer works on other parameters."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._ground import Tensor
from .optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """A context in which `optimizer` has other parameters and another state.

    The parameters come in the order of the optimizer's own; the state has the form of
    `state_dict()`. Its tensors are used themselves, so a step inside writes to them.

    Raises:
        ValueError: where the numbers of parameters or groups differ.

    Parameters:
        optimizer: the optimizer.
        swapin_parameters: the parameters by name.
        swapin_optim_state: the state that belongs to them.
    Shapes: any.
    Returns: a context manager.
    Example:
        >>> a, b = torch.ones(1, requires_grad=True), torch.zeros(1, requires_grad=True)
        >>> sgd = optim.SGD([a], lr=0.5)
        >>> b.grad = torch.ones(1)
        >>> with optim.swap_in_optimizer_params_and_state(sgd, {"b": b}, sgd.state_dict()):
        ...     sgd.step()
        >>> a.detach(), b.detach()
        (tensor([1.]), tensor([-0.5000]))
    """
    own_groups, own_state = optimizer.param_groups, optimizer.state
    given = list(swapin_parameters.values())
    packed = swapin_optim_state["param_groups"]
    count = sum(len(group["params"]) for group in own_groups)
    if len(given) != count or len(packed) != len(own_groups):
        raise ValueError(
            f"expected {count} parameters in {len(own_groups)} groups, "
            f"got {len(given)} in {len(packed)}"
        )
    numbers = [number for group in packed for number in group["params"]]
    by_number = dict(zip(numbers, given, strict=True))
    groups = [
        {**group, "params": [by_number[number] for number in group["params"]]} for group in packed
    ]
    state = type(own_state)(dict)
    for key, value in swapin_optim_state["state"].items():
        state[by_number.get(key, key)] = dict(value) if isinstance(value, dict) else value
    try:
        optimizer.param_groups, optimizer.state = groups, state
        yield
    finally:
        optimizer.param_groups, optimizer.state = own_groups, own_state
