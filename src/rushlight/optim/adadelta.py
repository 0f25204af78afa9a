"""Adadelta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, words
from ._rule import RuleOptimizer, apply_decay, decay_kind, plain_rate_of
from .optimizer import check_at_least_zero, check_lr

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, ParamGroup, Params


__all__ = ["Adadelta"]


def _adadelta(
    p: TensorLike,
    g: TensorLike,
    square_avg: TensorLike,
    acc_delta: TensorLike,
    lr: Operand,
    rho: Operand,
    rest: Operand,
    eps: Operand,
    decay: Operand,
    *,
    maximize: bool,
    kind: int,
) -> tuple[TensorLike | None, ...]:
    """Zeiler 2012, algorithm 1, with a learning rate on top."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    square = square_avg * rho + g * rest * g
    step = words.sqrt(acc_delta + eps) / words.sqrt(square + eps) * g
    return p - step * lr, square, acc_delta * rho + step * rest * step


_RULE: Final = Rule(_adadelta, ("square_avg", "acc_delta"))


class Adadelta(RuleOptimizer):
    """Steps scaled by the ratio of the running size of past steps to that of the gradients.

    v ← rho·v + (1 - rho)·g², d = √(u + eps) / √(v + eps)·g, u ← rho·u + (1 - rho)·d², p ← p - lr·d.
    """

    _rule = _RULE
    _options_since = {"capturable": False}
    _capturable_on_xla = False
    _writes_pairs = False

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_zero("epsilon", eps)
        check_at_least_zero("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _choose(self, group: ParamGroup, key: object) -> Update:
        return _RULE(_RULE.states, group["maximize"], decay_kind(group))

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        rho = group["rho"]
        return plain_rate_of(group), rho, 1 - rho, group["eps"], group["weight_decay"]
