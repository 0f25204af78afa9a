"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, dtypes, f
from ._rule import RuleOptimizer, apply_decay, decay_kind, new_count, zeros_for
from .optimizer import check_at_least_zero, check_lr, number, scalar

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["ASGD"]


def _asgd(
    p: TensorLike,
    g: TensorLike,
    ax: TensorLike,
    decay: Operand,
    shrink: Operand,
    eta: Operand,
    mu: Operand,
    *,
    maximize: bool,
    kind: int,
    starts: bool,
) -> tuple[TensorLike | None, ...]:
    """Polyak and Juditsky 1992; rates as in Bottou's averaged SGD."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    p = p * shrink - g * eta
    return p, p if starts else ax + (p - ax) * mu


_RULE: Final = Rule(_asgd, ("ax",))


class ASGD(RuleOptimizer):
    """SGD with a decaying rate that keeps, from step `t0` on, the average of the parameters."""

    _rule = _RULE
    _options_since = {"capturable": False}
    _capturable_lists = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Params,
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

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        state["step"] = new_count()
        state["eta"] = f.tensor(float(number(group["lr"])), dtype=dtypes.float32)
        state["mu"] = f.ones((), dtype=dtypes.float32)
        state["ax"] = zeros_for(p)

    def _keys(
        self, states: list[OptimizerState], counts: list[float], group: ParamGroup
    ) -> list[Any]:
        """The rates of the parameters and of the averages; those of the next step take over."""
        keys = []
        rate, lambd = scalar(group["lr"]), group["lambd"]
        for state, count in zip(states, counts, strict=True):
            eta, mu = state["eta"]._raw, state["mu"]._raw
            keys.append((eta.item(), mu.item()))
            eta.fill(rate / (1 + lambd * rate * count) ** group["alpha"])
            mu.fill(1 / max(1, count - group["t0"]))
        return keys

    def _choose(self, group: ParamGroup, key: tuple[float, float]) -> Update:
        return _RULE(_RULE.states, group["maximize"], decay_kind(group), key[1] == 1)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        return (group["weight_decay"],)

    def _factors(self, group: ParamGroup, key: tuple[float, float]) -> tuple[Hyper, ...]:
        return 1 - group["lambd"] * key[0], *key
