"""RMSprop."""

from typing import Any

from .._array.optimizers import updates as sweep
from ._ground import Tensor
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
from .optimizer import check_at_least_zero, check_lr, number

__all__ = ["RMSprop"]


class RMSprop(RuleOptimizer):
    """Steps divided by the root of a running average of squared gradients.

    `centered` subtracts the square of the running mean first; `momentum` runs on the scaled steps.

    Source: Hinton 2012, lecture 6e; Graves 2013 for the centred version.
    """

    _foreach_on_xla = True

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("momentum", 0)
            group.setdefault("centered", False)
            group.setdefault("capturable", False)

    def _state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["square_avg"] = zeros_for(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_for(p)
            if group["centered"]:
                state["grad_avg"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        states = [self.state[p] or self._state(p, group) for p in plain.params]
        for state in states:
            next_step(state["step"])
        centered, moving = group["centered"], group["momentum"] > 0
        sweep.rmsprop_(
            plain.raws,
            plain.grads,
            [state["square_avg"]._raw for state in states],
            [state["grad_avg"]._raw for state in states] if centered else None,
            [state["momentum_buffer"]._raw for state in states] if moving else None,
            lr=number(group["lr"]),
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p, group)
        counted(state)
        grad = ascent(p, group)
        alpha, lr = group["alpha"], settled(rate_of(group))
        grad, target, square = as_real(grad, p, state["square_avg"])
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            (mean,) = as_real(state["grad_avg"])
            mean.lerp_(grad, 1 - alpha)
            before = kept(mean, group)
            root = square.addcmul(before, before, value=-1).sqrt_()
        else:
            root = square.sqrt()
        divisor = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
        if group["momentum"] > 0:
            (buffer,) = as_real(state["momentum_buffer"])
            buffer.mul_(group["momentum"]).addcdiv_(grad, divisor)
            target.add_(kept(buffer, group), alpha=-lr)
        else:
            target.addcdiv_(grad, divisor, value=-lr)
