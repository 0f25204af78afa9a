"""`while_loop`: a function applied to its own results while another says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._tensor.tensor import Tensor
from ...utils._pytree import tree_leaves

__all__ = ["while_loop"]


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> tuple[Any, ...]:
    """The first `carried` for which `cond_fn(*carried)` is false; `body_fn(*carried)` is the next.

    Raises:
        RuntimeError: for functions that can't be called, for inputs that aren't a tuple of tensors
            and numbers, and where the condition isn't one truth.

    Parameters:
        cond_fn: a function of `carried` that gives a truth, or a tensor with one element.
        body_fn: a function of `carried` that gives as many values.
        carried_inputs: the first `carried`.
    Returns: tuple: the last `carried`.
    Example:
        >>> torch.while_loop(lambda x: x < 10, lambda x: (x * 2,), (torch.tensor(1),))
        (tensor(16),)
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    carried = tuple(carried_inputs) if isinstance(carried_inputs, (tuple, list)) else None
    if carried is None or not all(
        isinstance(leaf, (Tensor, int, float, bool)) for leaf in tree_leaves(carried)
    ):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only"
            f"consists of tensor or int leaves, but got {carried_inputs}."
        )
    while _goes_on(cond_fn(*carried)):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(carried) != len(carried_inputs):
            raise RuntimeError(
                "body_fn should return the same number of elements as carried_inputs: "
                f"{len(carried_inputs)}, but got {len(carried)}"
            )
    return carried


def _goes_on(found: Tensor) -> bool:
    if isinstance(found, Tensor) and found.numel() != 1:
        raise RuntimeError(
            f"cond_fn must return a boolean scalar tensor or a boolean but got {found}."
        )
    return bool(found)
