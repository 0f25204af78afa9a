"""Averaged stochastic gradient descent."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor, dtypes, f
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, as_real, ascent, counted, new_count, zeros_for
from .optimizer import check_at_least_zero, check_lr, number, scalar

__all__ = ["ASGD"]


class ASGD(RuleOptimizer):
    """SGD with a decaying rate that keeps, from step `t0` on, the average of the parameters.

    Source: Polyak and Juditsky 1992; rates as in Bottou's averaged SGD.
    """

    _capturable_lists = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_at_least_zero("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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

    def _state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["eta"] = f.tensor(float(number(group["lr"])), dtype=dtypes.float32)
            state["mu"] = f.ones((), dtype=dtypes.float32)
            state["ax"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        states = [self._state(p, group) for p in plain.params]
        sweep.asgd_(
            plain.raws,
            plain.grads,
            [state["ax"]._raw for state in states],
            [(state["eta"]._raw.item(), state["mu"]._raw.item()) for state in states],
            lambd=group["lambd"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        plain.written()
        rate = scalar(group["lr"])
        for state in states:
            count = next_step(state["step"])
            slowed = (1 + group["lambd"] * rate * count) ** group["alpha"]
            state["eta"]._raw.fill(rate / slowed)
            state["mu"]._raw.fill(1 / max(1, count - group["t0"]))
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p, group)
        count = counted(state)
        eta = number(state["eta"])
        grad, target, average = as_real(ascent(p, group), p, state["ax"])
        target.mul_(1 - group["lambd"] * eta)
        target.add_(grad, alpha=-eta)
        mu = number(state["mu"])
        if mu == 1:
            average.copy_(target)
        else:
            average.add_(target.sub(average).mul_(mu))
        rate = scalar(group["lr"])
        slowed = (1 + group["lambd"] * rate * count) ** group["alpha"]
        state["eta"] = f.tensor(float(rate / slowed), dtype=dtypes.float32)
        state["mu"] = f.tensor(1 / max(1, count - group["t0"]), dtype=dtypes.float32)
