"""RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, words
from ._rule import (
    RuleOptimizer,
    apply_decay,
    decay_kind,
    move_average,
    new_count,
    plain_rate_of,
    zeros_for,
)
from .optimizer import check_at_least_zero, check_lr

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["RMSprop"]


def _rmsprop(
    p: TensorLike,
    g: TensorLike,
    square_avg: TensorLike,
    grad_avg: TensorLike,
    momentum_buffer: TensorLike,
    lr: Operand,
    alpha: Operand,
    second: Operand,
    part: Operand,
    eps: Operand,
    decay: Operand,
    momentum: Operand,
    *,
    maximize: bool,
    kind: int,
    near: bool,
) -> tuple[TensorLike | None, ...]:
    """Hinton 2012, lecture 6e; Graves 2013, equations 38-45, for the centred version."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    square = variance = square_avg * alpha + g * second * g
    if grad_avg is not None:
        grad_avg = move_average(grad_avg, g, part, near)
        variance = square - grad_avg * grad_avg
    divisor = words.sqrt(variance) + eps
    if momentum_buffer is None:
        return p - g * lr / divisor, square, grad_avg, None
    velocity = momentum_buffer * momentum + g / divisor
    return p - velocity * lr, square, grad_avg, velocity


_RULE: Final = Rule(_rmsprop, ("square_avg", "grad_avg", "momentum_buffer"))


class RMSprop(RuleOptimizer):
    """Steps divided by the root of a running average of squared gradients.

    v ← alpha·v + (1 - alpha)·g², p ← p - lr·g / (√v + eps).

    `centered` subtracts the square of the running mean first; `momentum` runs on the scaled steps.
    """

    _rule = _RULE
    _options_since = {"momentum": 0, "centered": False, "capturable": False}
    _foreach_on_xla = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_at_least_zero("epsilon", eps)
        check_at_least_zero("momentum", momentum)
        check_at_least_zero("weight_decay", weight_decay)
        check_at_least_zero("alpha", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        state["step"] = new_count()
        state["square_avg"] = zeros_for(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_for(p)
        if group["centered"]:
            state["grad_avg"] = zeros_for(p)

    def _choose(self, group: ParamGroup, key: object) -> Update:
        means = ("grad_avg",) if group["centered"] else ()
        buffers = ("momentum_buffer",) if group["momentum"] > 0 else ()
        names = ("square_avg", *means, *buffers)
        return _RULE(names, group["maximize"], decay_kind(group), group["alpha"] > 0.5)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        alpha = group["alpha"]
        part = 1 - alpha if alpha > 0.5 else alpha
        eps, decay, momentum = group["eps"], group["weight_decay"], group["momentum"]
        return plain_rate_of(group), alpha, 1 - alpha, part, eps, decay, momentum
