"""Adamax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, words
from ._rule import RuleOptimizer, apply_decay, decay_kind, move_average, rate_of
from .optimizer import check_at_least_zero, check_betas, check_lr, number

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, ParamGroup, Params


__all__ = ["Adamax"]


def _adamax(
    p: TensorLike,
    g: TensorLike,
    exp_avg: TensorLike,
    exp_inf: TensorLike,
    part: Operand,
    beta2: Operand,
    eps: Operand,
    decay: Operand,
    rate: Operand,
    *,
    maximize: bool,
    kind: int,
    near: bool,
) -> tuple[TensorLike | None, ...]:
    """Kingma and Ba 2015, algorithm 2."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    average = move_average(exp_avg, g, part, near)
    largest = words.maximum(exp_inf * beta2, words.absolute(g) + eps)
    return p - average * rate / largest, average, largest


_RULE: Final = Rule(_adamax, ("exp_avg", "exp_inf"))


class Adamax(RuleOptimizer):
    """Adam with the largest recent gradient in place of the root mean square.

    In step t: m ← b1·m + (1 - b1)·g, u ← max(b2·u, |g| + eps), p ← p - lr / (1 - b1ᵗ)·m / u.
    """

    _rule = _RULE
    _options_since = {"capturable": False}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_at_least_zero("epsilon", eps)
        check_betas(betas)
        check_at_least_zero("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _choose(self, group: ParamGroup, key: object) -> Update:
        near = number(group["betas"][0]) > 0.5
        return _RULE(_RULE.states, group["maximize"], decay_kind(group), near)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        beta1, beta2 = map(number, group["betas"])
        part = 1 - beta1 if beta1 > 0.5 else beta1
        return part, beta2, group["eps"], group["weight_decay"]

    def _factors(self, group: ParamGroup, key: float) -> tuple[Hyper, ...]:
        return (rate_of(group) / (1 - number(group["betas"][0]) ** key),)
