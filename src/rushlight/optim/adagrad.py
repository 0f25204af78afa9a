"""Adagrad."""

from typing import Any

from .._array.optimizers import updates as sweep
from ._ground import Tensor, f
from ._plain import Plain, next_step
from ._rule import (
    RuleOptimizer,
    as_real,
    ascent,
    counted,
    new_count,
    rate_of,
    rows_of,
    settled,
)
from .optimizer import check_at_least_zero, check_implementation, check_lr, scalar

__all__ = ["Adagrad"]


class Adagrad(RuleOptimizer):
    """Steps divided by the root of the sum of all squared gradients.

    Source: Duchi, Hazan and Singer 2011.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_at_least_zero("lr_decay", lr_decay)
        check_at_least_zero("weight_decay", weight_decay)
        if not 0.0 <= initial_accumulator_value:
            raise ValueError(
                f"Invalid initial_accumulator_value value: {initial_accumulator_value}"
            )
        check_at_least_zero("epsilon", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, group["initial_accumulator_value"])

    def _begin(self, p: Tensor, start: Any) -> None:
        kept = f.full_like(p, complex(start, start) if p.is_complex() else start).detach()
        self.state[p].update(step=new_count(), sum=kept)

    def _state(self, p: Tensor) -> dict[str, Any]:
        """A parameter's state; one that came later starts from the optimizer's own value."""
        state: dict[str, Any] = self.state[p]
        if not state:
            self._begin(p, self.defaults["initial_accumulator_value"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("fused", None)

    def share_memory(self) -> None:
        """Moves the sums to memory that other processes can map."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        lr, decay = scalar(group["lr"]), group["lr_decay"]
        states = [self._state(p) for p in plain.params]
        rates = [lr / (1 + (next_step(state["step"]) - 1) * decay) for state in states]
        sweep.adagrad_(
            plain.raws,
            plain.grads,
            [state["sum"]._raw for state in states],
            rates,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _refuses_rows(self, group: dict[str, Any]) -> bool:
        return bool(group["weight_decay"] != 0)

    def _update_rows(self, p: Tensor, group: dict[str, Any]) -> None:
        """The step with a sparse gradient: its rows move, and their sums."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self._state(p)
        count = counted(state)
        where, rows = rows_of(-p.grad if group["maximize"] else p.grad)
        rate = rate_of(group) / (1 + (count - 1) * group["lr_decay"])
        total = state["sum"]
        total.index_put_(where, rows.pow(2), accumulate=True)
        root = total[where].sqrt_().add_(group["eps"])
        p.index_put_(where, rows.div(root).mul_(-settled(rate)), accumulate=True)

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p)
        count = counted(state)
        grad = ascent(p, group)
        rate = rate_of(group) / (1 + (count - 1) * group["lr_decay"])
        grad, target, total = as_real(grad, p, state["sum"])
        total.addcmul_(grad, grad, value=1)
        root = total.sqrt() + group["eps"]
        target.addcdiv_(grad, root, value=-settled(rate))
