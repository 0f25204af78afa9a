"""The `reduction` of losses, from words and the booleans of old to the number that rows take."""

from __future__ import annotations

import warnings
from typing import Any, Final

from .._core.mode import current
from .._core.storage import TensorBase

NONE: Final = 0
MEAN: Final = 1
SUM: Final = 2
_NUMBERS: Final = {"none": NONE, "mean": MEAN, "sum": SUM}
# Note [Losses by number]
# The losses of `torch` itself take a number. Their signatures promise the mean, which PyTorch's
# parser of Python arguments reads as 0: without a `reduction` they give a loss for each element.
# The operators of the same names in `torch.ops.aten` do give the mean.
#: The losses whose operator has a mean as its default, and at which position.
MEAN_OPERATORS: Final = {
    "binary_cross_entropy_with_logits": 4, "cosine_embedding_loss": 4, "ctc_loss": 5,
    "hinge_embedding_loss": 3, "kl_div": 2, "margin_ranking_loss": 4, "triplet_margin_loss": 7,
}  # fmt: skip


def mean_operator(name: str, function: Any) -> Any:
    """The function as an operator: its `reduction` is the mean unless another one is asked for."""
    position = MEAN_OPERATORS.get(name)
    if position is None:
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= position:
            kwargs.setdefault("reduction", MEAN)
        return function(*args, **kwargs)

    return run


def number(reduction: str, size_average: Any = None, reduce: Any = None) -> int:
    """0 for "none", 1 for "mean", 2 for "sum".

    Raises:
        ValueError: for other words.
    """
    if size_average is not None or reduce is not None:
        return _NUMBERS[word_of_old(size_average, reduce)]
    found = _NUMBERS.get(reduction)
    if found is None:
        if reduction == "elementwise_mean":
            warnings.warn(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
                stacklevel=3,
            )
            return MEAN
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def word_of_old(size_average: Any, reduce: Any) -> str:
    """The word that the two booleans of old meant; warns."""
    average = True if size_average is None else size_average
    reduced = True if reduce is None else reduce
    word = "none" if not reduced else "mean" if average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.",
        stacklevel=4,
    )
    return word


def apply(each: Any, reduction: int) -> Any:
    """A tensor of losses, reduced."""
    if reduction == MEAN:
        return each.mean()
    return each.sum() if reduction == SUM else each


def spread(g: Any, count: int, reduction: int) -> Any:
    """The gradient of each loss from that of the reduced one."""
    return g / count if reduction == MEAN else g


def refuse_gradient(function: str, **tensors: Any) -> None:
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
