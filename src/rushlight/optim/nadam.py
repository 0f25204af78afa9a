"""NAdam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, dtypes, f, words
from ._rule import (
    RuleOptimizer,
    apply_decay,
    decay_kind,
    decay_number,
    move_average,
    new_count,
    rate_of,
    zeros_for,
)
from .optimizer import check_at_least_zero, check_betas, check_lr, number

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["NAdam"]


def _nadam(
    p: TensorLike,
    g: TensorLike,
    exp_avg: TensorLike,
    exp_avg_sq: TensorLike,
    part: Operand,
    beta2: Operand,
    second: Operand,
    eps: Operand,
    decay: Operand,
    of_grad: Operand,
    of_average: Operand,
    correction: Operand,
    *,
    maximize: bool,
    kind: int,
    near: bool,
) -> tuple[TensorLike | None, ...]:
    """Dozat 2016."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    average = move_average(exp_avg, g, part, near)
    square = exp_avg_sq * beta2 + g * second * g
    divisor = words.sqrt(square / correction) + eps
    return p + g * of_grad / divisor + average * of_average / divisor, average, square


_RULE: Final = Rule(_nadam, ("exp_avg", "exp_avg_sq"))


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum, whose weight grows towards beta1 as `momentum_decay` says.

    In step t, with c(t) = b1·(1 - 0.96^(t·momentum_decay) / 2), C(t) the product of the c up to t,
    m and v as in `Adam`: p ← p - lr·(c(t + 1)·m / (1 - C(t + 1)) + (1 - c(t))·g / (1 - C(t))) /
    (√(v / (1 - b2ᵗ)) + eps).
    """

    _rule = _RULE
    _options_since = {"capturable": False, "decoupled_weight_decay": False}
    _capturable_lists = "params, mu_products and state_steps"
    _capturable_lists_of_foreach = "params, mu_products, and state_steps"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_at_least_zero("momentum_decay", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        state["step"] = new_count()
        state["mu_product"] = f.ones((), dtype=dtypes.float32)
        state["exp_avg"] = zeros_for(p)
        state["exp_avg_sq"] = zeros_for(p)

    def _keys(
        self, states: list[OptimizerState], counts: list[float], group: ParamGroup
    ) -> list[Any]:
        """The counts, and the products of how much momentum counted so far."""
        keys = []
        for state, count in zip(states, counts, strict=True):
            product, now = state["mu_product"], _weight(group, count)
            if product._plain and not group["differentiable"]:
                raw = product._raw
                raw *= now
            else:
                product *= now
            keys.append((count, product if group["differentiable"] else product.item()))
        return keys

    def _choose(self, group: ParamGroup, key: object) -> Update:
        near = number(group["betas"][0]) > 0.5
        return _RULE(_RULE.states, group["maximize"], decay_kind(group), near)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        beta1, beta2 = map(number, group["betas"])
        part = 1 - beta1 if beta1 > 0.5 else beta1
        return part, beta2, 1 - beta2, group["eps"], decay_number(group)

    def _factors(self, group: ParamGroup, key: Any) -> tuple[Hyper, ...]:
        count, product = key
        lr, now, soon = rate_of(group), _weight(group, count), _weight(group, count + 1)
        of_grad = -lr * (1.0 - now) / (1.0 - product)
        return of_grad, -lr * soon / (1.0 - product * soon), 1 - number(group["betas"][1]) ** count


def _weight(group: ParamGroup, count: float) -> float:
    """How much momentum counts at a step: 0.96 is Dozat's constant."""
    beta1: float = number(group["betas"][0])
    return float(beta1 * (1.0 - 0.5 * 0.96 ** (count * group["momentum_decay"])))
