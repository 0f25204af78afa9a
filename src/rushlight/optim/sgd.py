"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, f, words
from ._plain import gradient_of
from ._rule import RuleOptimizer, apply_decay, decay_kind, plain_rate_of
from .optimizer import check_implementation, check_lr, number

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["SGD"]


def _sgd(
    p: TensorLike,
    g: TensorLike,
    momentum_buffer: TensorLike,
    lr: Operand,
    momentum: Operand,
    undamped: Operand,
    decay: Operand,
    *,
    maximize: bool,
    kind: int,
    damps: bool,
    nesterov: bool,
    fresh: bool,
) -> tuple[TensorLike | None, ...]:
    """Sutskever et al. 2013, where the rate multiplies the velocity instead of being part of it."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    if momentum_buffer is None:
        return p - g * lr, None
    if fresh:
        velocity = words.detach(g)
    else:
        velocity = momentum_buffer * momentum + (g * undamped if damps else g)
    return p - (g + velocity * momentum if nesterov else velocity) * lr, velocity


_RULE: Final = Rule(_sgd, ("momentum_buffer",), tiny=48)


class SGD(RuleOptimizer):
    """p ← p - lr·v with v ← momentum·v + (1 - dampening)·g, or p ← p - lr·g without momentum.

    `weight_decay` adds that multiple of p to g; `nesterov` looks ahead along v; `maximize` goes
    uphill. `foreach` and `fused` are accepted: there is one implementation.
    """

    _rule = _RULE
    _refuses_foreach = False
    _takes_complex = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def __setstate__(self, state: OptimizerState) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("fused", False)

    def _begin(
        self, params: list[Tensor], group: ParamGroup, count: object
    ) -> tuple[list[dict[str, Any]], list[Any]]:
        """The states of parameters, and whether their momentum begins with this step."""
        if group["momentum"] == 0:
            return [{}] * len(params), [False] * len(params)
        states = [self.state[p] for p in params]
        fresh = [state.get("momentum_buffer") is None for state in states]
        if True in fresh:
            for p, state, begins in zip(params, states, fresh, strict=True):
                if begins:
                    state["momentum_buffer"] = f.empty_like(p).detach()
        return states, fresh

    def _choose(self, group: ParamGroup, key: bool) -> Update:
        names = ("momentum_buffer",) if group["momentum"] != 0 else ()
        damps = group["dampening"] != 0
        return _RULE(
            names, group["maximize"], decay_kind(group), damps, bool(group["nesterov"]), key
        )

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        return (
            plain_rate_of(group),
            group["momentum"],
            1 - group["dampening"],
            number(group["weight_decay"]),
        )

    def _refuses_rows(self, group: ParamGroup) -> bool:
        return False

    def _update_rows(self, p: Tensor, group: ParamGroup) -> None:
        """The step with a sparse gradient: only its rows move; without momentum only these."""
        lr, momentum, undamped, decay = self._numbers(group)
        gradient = gradient_of(p)
        grad = -gradient if group["maximize"] else gradient
        if decay != 0:
            grad = grad.add(p, alpha=decay)  # type: ignore[arg-type]
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone().detach()
            else:
                buffer.mul_(momentum).add_(grad, alpha=undamped)
            if group["nesterov"]:
                buffer = grad.add(buffer, alpha=momentum)  # type: ignore[arg-type]
            grad = buffer
        p.add_(grad, alpha=-number(lr))
