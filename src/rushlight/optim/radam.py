"""RAdam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, words
from ._rule import RuleOptimizer, apply_decay, decay_kind, decay_number, move_average, rate_of
from .optimizer import check_at_least_zero, check_betas, check_lr, number

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, ParamGroup, Params


__all__ = ["RAdam"]


def _rectification(beta2: float, count: float, correction: float) -> float:
    """What scales the adaptive rate; 0 while the average of squares is too short for one."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * count * (beta2**count) / correction
    if length <= 5.0:
        return 0.0
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return float(ratio**0.5)


def _radam(
    p: TensorLike,
    g: TensorLike,
    exp_avg: TensorLike,
    exp_avg_sq: TensorLike,
    part: Operand,
    beta2: Operand,
    second: Operand,
    eps: Operand,
    decay: Operand,
    lr: Operand,
    first: Operand,
    root: Operand,
    rectification: Operand,
    *,
    maximize: bool,
    kind: int,
    near: bool,
    rectified: bool,
) -> tuple[TensorLike | None, ...]:
    """Liu et al. 2020, algorithm 2."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    average = move_average(exp_avg, g, part, near)
    square = exp_avg_sq * beta2 + g * second * g
    step = average / first * lr
    if rectified:
        step = step * (root / (words.sqrt(square) + eps)) * rectification
    return p - step, average, square


_RULE: Final = Rule(_radam, ("exp_avg", "exp_avg_sq"))


class RAdam(RuleOptimizer):
    """Adam that waits with scaling until the average of squares has little enough variance."""

    _rule = _RULE
    _options_since = {"capturable": False, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _choose(self, group: ParamGroup, key: float) -> Update:
        beta1, beta2 = map(number, group["betas"])
        rectified = _rectification(beta2, key, 1 - beta2**key) != 0
        kind = decay_kind(group)
        return _RULE(_RULE.states, group["maximize"], kind, beta1 > 0.5, rectified)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        beta1, beta2 = map(number, group["betas"])
        part = 1 - beta1 if beta1 > 0.5 else beta1
        return part, beta2, 1 - beta2, group["eps"], decay_number(group), rate_of(group)

    def _factors(self, group: ParamGroup, key: float) -> tuple[Hyper, ...]:
        beta1, beta2 = map(number, group["betas"])
        correction = 1 - beta2**key
        return 1 - beta1**key, correction**0.5, _rectification(beta2, key, correction)
