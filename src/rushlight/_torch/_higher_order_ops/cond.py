"""`torch.cond`: one of two functions, chosen by a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._tensor.tensor import Tensor
from ...utils._pytree import tree_leaves

__all__ = ["cond"]


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """What `true_fn(*operands)` gives where `pred` is true, else what `false_fn(*operands)` gives.

    Raises:
        RuntimeError: for a `pred` that is no single number, for branches that can't be called, and
            for operands that hold anything but tensors and whole numbers.

    Parameters:
        pred: a truth, or a tensor with one element.
        true_fn, false_fn: the two branches.
        operands: their arguments.
    Shapes: `pred` has one element; others are any.
    Returns: what the branch gives.
    Example:
        >>> x = torch.tensor([4.0])
        >>> torch.cond(x.sum() > 0, torch.sqrt, torch.neg, (x,))
        tensor([2.])
    """
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not all(
        isinstance(leaf, (Tensor, int)) for leaf in tree_leaves(operands)
    ):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {operands}."
        )
    return true_fn(*operands) if pred else false_fn(*operands)
