"""Adamax."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor, f
from ._plain import Plain, next_step
from ._rule import (
    RuleOptimizer,
    as_real,
    ascent,
    counted,
    kept,
    new_count,
    rate_of,
    settled,
    zeros_for,
)
from .optimizer import check_at_least_zero, check_betas, check_lr, number

__all__ = ["Adamax"]


class Adamax(RuleOptimizer):
    """Adam with the largest recent gradient in place of the root mean square.

    Source: Kingma and Ba 2015, algorithm 2.
    """

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("capturable", False)

    def _state(self, p: Tensor) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["exp_avg"] = zeros_for(p)
            state["exp_inf"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        beta1, beta2 = (number(beta) for beta in group["betas"])
        lr = rate_of(group)
        states = [self._state(p) for p in plain.params]
        sweep.adamax_(
            plain.raws,
            plain.grads,
            [state["exp_avg"]._raw for state in states],
            [state["exp_inf"]._raw for state in states],
            [lr / (1 - beta1 ** next_step(state["step"])) for state in states],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p)
        count = counted(state)
        beta1, beta2 = group["betas"]
        grad, target, average, largest = as_real(
            ascent(p, group), p, state["exp_avg"], state["exp_inf"]
        )
        average.lerp_(grad, 1 - beta1)
        largest.copy_(f.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"])))
        rate = rate_of(group) / (1 - beta1**count)
        target.addcdiv_(kept(average, group), kept(largest, group), value=-settled(rate))
