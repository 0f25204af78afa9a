"""Adadelta."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor, f
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, as_real, ascent, counted, new_count, rate_of, settled, zeros_for
from .optimizer import check_at_least_zero, check_lr, number

__all__ = ["Adadelta"]


class Adadelta(RuleOptimizer):
    """Steps scaled by the ratio of the running size of past steps to that of the gradients.

    Source: Zeiler 2012, algorithm 1, with a learning rate on top.
    """

    _capturable_on_xla = False

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("capturable", False)

    def _state(self, p: Tensor) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["square_avg"] = zeros_for(p)
            state["acc_delta"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        states = [self._state(p) for p in plain.params]
        for state in states:
            next_step(state["step"])
        sweep.adadelta_(
            plain.raws,
            plain.grads,
            [state["square_avg"]._raw for state in states],
            [state["acc_delta"]._raw for state in states],
            lr=number(group["lr"]),
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p)
        counted(state)
        rho, eps = group["rho"], group["eps"]
        grad, target, square, steps = as_real(
            ascent(p, group), p, state["square_avg"], state["acc_delta"]
        )
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = square.add(eps).sqrt_()
        step = steps.add(eps).sqrt_()
        if group["differentiable"]:
            step = step.clone()
        step.div_(root).mul_(grad)
        steps.mul_(rho).addcmul_(step, step, value=1 - rho)
        if p.is_complex():
            step, target = f.view_as_complex(step), p
        target.add_(step, alpha=-settled(rate_of(group)))
