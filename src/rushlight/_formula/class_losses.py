"""Losses of class targets, of each row: what rows of the table, kernels and compiled steps read.

Rows lie along `dim`; a gradient takes that of each row's loss, with a one for `dim`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .words import Word, exp, log, pick, place, row_sum, row_top

if TYPE_CHECKING:
    from .._base.annotations import TensorLike


def _likelihood(x: TensorLike, target: TensorLike, dim: int) -> TensorLike:
    return -pick(x, target, dim)


def _likelihood_gradient(g: TensorLike, x: TensorLike, target: TensorLike, dim: int) -> TensorLike:
    return place(-g, target, x, dim)


def _entropy(x: TensorLike, target: TensorLike, dim: int) -> TensorLike:
    # A difference of x - log Σ exp(x) would lose the digits of a confident prediction.
    top = row_top(x, dim)
    return log(row_sum(exp(x - top), dim)) - (pick(x, target, dim) - top)


def _entropy_gradient(g: TensorLike, x: TensorLike, target: TensorLike, dim: int) -> TensorLike:
    e = exp(x - row_top(x, dim))
    return e * (g / row_sum(e, dim)) - place(g, target, x, dim)


#: Of each row, by the name of the function on arrays.
LOSSES: Final[dict[str, Word]] = {
    "nll_loss": _likelihood, "nll_loss2d": _likelihood, "cross_entropy": _entropy,
}  # fmt: skip
GRADIENTS: Final[dict[str, Word]] = {
    "nll_loss_backward": _likelihood_gradient, "cross_entropy_backward": _entropy_gradient,
}  # fmt: skip
