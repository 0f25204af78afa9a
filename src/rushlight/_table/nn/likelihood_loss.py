"""Losses that are negative log likelihoods, and the divergence of Kullback and Leibler."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._core.apply import apply_n
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..calls.argument_parser import misuse
from ..elementwise.number import plus
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.tensor_namespace import table
from ..rows.warn_once import warn_the_caller
from .loss import raw

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


# ---- likelihoods ------------------------------------------------------------------------------


@composite("nn.functional")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities `input` from the target, reduced.

    "batchmean" divides the sum by the size of the first dimension.
    Raises: ValueError for a `reduction` that is none, RuntimeError for integers.
    """
    batch = reduction == "batchmean"
    if size_average is not None or reduce is not None:
        reduction = R.word_of_old(size_average, reduce)
        batch = False
    elif reduction == "mean":
        warn_the_caller(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    number = R.SUM if batch else R.number(reduction)
    if type(log_target) is not bool:
        raise misuse("torch", "kl_div", (input, target, number), {"log_target": log_target})
    loss = R.apply(_kl_each(input, target, log_target), number)
    return loss / input.size()[0] if batch and input.dim() != 0 else loss


def _kl_each(input: Tensor, target: Tensor, log_target: bool) -> Tensor:
    if not (input.is_floating_point() and target.is_floating_point()):
        kind = "Complex" if input.is_complex() or target.is_complex() else "Integral"
        raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    # The later term is the first to be done, as in PyTorch: leaves get their gradients so.
    if log_target:
        gap = target - input
        return target.exp() * gap
    product = target * input
    return target.xlogy(target) - product


@composite("", name="kl_div")
def kl_div_operator(
    input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False
) -> Any:
    """The Kullback-Leibler divergence; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    return R.apply(_kl_each(input, target, log_target), reduction)


@composite("nn.functional")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, reduced.

    The rates are exp(input).

    `log_input=False` takes the rates themselves; `full` adds Stirling's approximation of log t!.
    Raises: ValueError for a `reduction` that is none.
    """
    if size_average is not None or reduce is not None:
        reduction = R.word_of_old(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return table("poisson_nll_loss")(input, target, log_input, full, eps, R.number(reduction))


@composite("", name="poisson_nll_loss")
def poisson_nll_operator(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """The Poisson negative log-likelihood; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * apply_n(plus.op, [input, eps]).log()
    if full:
        term = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss.add_(term.masked_fill(target <= 1, 0))
    return R.apply(loss, reduction)


def _one_variance_in_a_row(shape: tuple[int, ...], var: tuple[int, ...]) -> bool:
    """Whether `var` is `shape` but for a single 1."""
    if len(shape) != len(var):
        return False
    other = [n for m, n in zip(shape, var, strict=True) if m != n]
    return other == [1]


def _refuse_negative(var: Tensor) -> None:
    if not isinstance(var, TensorBase):
        raise misuse("torch", "any", (var < 0,), {})
    dtype = T.dtype_of(var)
    if dtype.is_complex:
        raise NotImplementedError(errors.not_implemented("lt_cpu", D.scalar_name(dtype)))
    if raw.any_negative(read_by_python(var, "gaussian_nll_loss()")):
        raise ValueError("var has negative entry/entries")


@composite("nn.functional")
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of the target under normal distributions, reduced.

    The variance is at least `eps`; the gradient passes through as if it weren't cut off.
    Shapes: var as input, or without the last dimension, or with 1 there; or a number.
    Raises: ValueError for a negative variance, or one of the wrong shape.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * table("ones_like")(input)
    else:
        _refuse_negative(var)
    if var._raw.shape != input._raw.shape:
        if input._raw.shape[:-1] == var._raw.shape:
            var = var.unsqueeze(-1)
        elif not _one_variance_in_a_row(input._raw.shape, var._raw.shape):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if not (var.is_floating_point() or isinstance(eps, int)):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {D.c_name(var.dtype)}"
        )
    var = var.clone()
    # The value is cut off, the gradient isn't: it flows to `var` as the clone's.
    raw.floor_at(var._raw, eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return R.apply(loss, R.number(reduction))
