"""Adagrad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update
from ..nn.parameter import is_lazy
from ._ground import Tensor, f, words
from ._plain import gradient_of
from ._rule import (
    RuleOptimizer,
    apply_decay,
    as_operand,
    count_step,
    decay_kind,
    new_count,
    rate_of,
    rows_of,
)
from .optimizer import check_at_least_zero, check_implementation, check_lr, flat, scalar

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["Adagrad"]


def _adagrad(
    p: TensorLike,
    g: TensorLike,
    sum: TensorLike,
    eps: Operand,
    decay: Operand,
    rate: Operand,
    *,
    maximize: bool,
    kind: int,
) -> tuple[TensorLike | None, ...]:
    """Duchi, Hazan and Singer 2011."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    sum = sum + g * g
    return p - g * rate / (words.sqrt(sum) + eps), sum


_RULE: Final = Rule(_adagrad, ("sum",))


class Adagrad(RuleOptimizer):
    """Steps divided by the root of the sum of all squared gradients.

    In step t: s ← s + g², p ← p - lr / (1 + (t - 1)·lr_decay)·g / (√s + eps).
    """

    _rule = _RULE
    _options_since = {"fused": None}

    def __init__(
        self,
        params: Params,
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
                self._start(p, group["initial_accumulator_value"])

    def _start(self, p: Tensor, start: Any) -> None:
        if is_lazy(p):
            p.__torch_function__(f.full_like, ())
        kept = f.full_like(p, complex(start, start) if p.is_complex() else start).detach()
        self.state[p].update(step=new_count(), sum=kept)

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        self._start(p, self.defaults["initial_accumulator_value"])

    def share_memory(self) -> None:
        """Moves the sums to memory that other processes can map."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _choose(self, group: ParamGroup, key: object) -> Update:
        return _RULE(_RULE.states, group["maximize"], decay_kind(group))

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        return group["eps"], group["weight_decay"]

    def _factors(self, group: ParamGroup, key: float) -> tuple[Hyper, ...]:
        lr = flat(group["lr"]) if group["differentiable"] else scalar(group["lr"])
        return (lr / (1 + (key - 1) * group["lr_decay"]),)

    def _refuses_rows(self, group: ParamGroup) -> bool:
        return bool(group["weight_decay"] != 0)

    def _update_rows(self, p: Tensor, group: ParamGroup) -> None:
        """The step with a sparse gradient: its rows move, and their sums."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self._state(p, group)
        count = count_step(state["step"])
        grad = gradient_of(p)
        where, rows = rows_of(-grad if group["maximize"] else grad)
        rate = rate_of(group) / (1 + (count - 1) * group["lr_decay"])
        total = state["sum"]
        total.index_put_(where, rows.pow(2), accumulate=True)
        root = total[where].sqrt_().add_(group["eps"])
        p.index_put_(where, rows.div(root).mul_(-as_operand(rate)), accumulate=True)
