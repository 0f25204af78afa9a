"""The `reduction` of losses, from words and the booleans of old to the number that rows take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._core.mode import current
from ..._core.storage import TensorBase
from .warn_once import warn_the_caller

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

NONE: Final = 0
MEAN: Final = 1
SUM: Final = 2
_NUMBERS: Final = {"none": NONE, "mean": MEAN, "sum": SUM}


def number(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0 for "none", 1 for "mean", 2 for "sum".

    Raises:
        ValueError: for other words.
    """
    if size_average is not None or reduce is not None:
        return _NUMBERS[word_of_old(size_average, reduce)]
    found = _NUMBERS.get(reduction) if isinstance(reduction, str) else None
    if found is None:
        if isinstance(reduction, str) and reduction == "elementwise_mean":
            warn_the_caller(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead."
            )
            return MEAN
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def word_of_old(size_average: bool | None, reduce: bool | None) -> str:
    """The word that the two booleans of old meant; warns."""
    average = True if size_average is None else size_average
    reduced = True if reduce is None else reduce
    mean = average and reduced  # the average is asked first
    word = "mean" if mean else "sum" if reduced else "none"
    warn_the_caller(
        f"size_average and reduce args will be deprecated, please use reduction='{word}' instead."
    )
    return word


def apply(each: Tensor, reduction: int) -> Tensor:
    """A tensor of losses, reduced."""
    if reduction == MEAN:
        return each.mean()
    return each.sum() if reduction == SUM else each


def expand_gradient(g: Tensor, count: int, reduction: int) -> Tensor:
    """The gradient of each loss from that of the reduced one."""
    return g / count if reduction == MEAN else g


def refuse_gradient(function: str, **tensors: object) -> None:
    """Refuses tensors that require grad where a loss has no gradient for them.

    Raises:
        RuntimeError: naming the argument.
    """
    if not current().grad:
        return
    for name, t in tensors.items():
        if isinstance(t, TensorBase) and t._requires_grad:
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. "
                "This input cannot have requires_grad True."
            )
