"""Adam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, words
from ._rule import (
    RuleOptimizer,
    apply_decay,
    decay_kind,
    decay_number,
    move_average,
    new_count,
    rate_of,
    zeros_for,
)
from .optimizer import (
    check_at_least_zero,
    check_betas,
    check_implementation,
    check_lr,
    flat,
    scalar,
)

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["Adam"]


def _adam(
    p: TensorLike,
    g: TensorLike,
    exp_avg: TensorLike,
    exp_avg_sq: TensorLike,
    max_exp_avg_sq: TensorLike | None,
    part: Operand,
    beta2: Operand,
    second: Operand,
    eps: Operand,
    decay: Operand,
    rate: Operand,
    correction: Operand,
    *,
    maximize: bool,
    kind: int,
    near: bool,
    scaled: bool,
) -> tuple[TensorLike | None, ...]:
    """Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2, for decoupled
    decay; Reddi et al. 2018 for the largest square. `scaled` keeps the rate in the divisor."""
    p, g = apply_decay(p, g, decay, kind, maximize)
    average = move_average(exp_avg, g, part, near)
    square = largest = exp_avg_sq * beta2 + g * second * g
    if max_exp_avg_sq is not None:
        largest = words.maximum(max_exp_avg_sq, square)
    if scaled:
        p = p + average / (words.sqrt(largest) / (correction * -rate) + eps / -rate)
    else:
        p = p - average * rate / (words.sqrt(largest) / correction + eps)
    return p, average, square, None if max_exp_avg_sq is None else largest


_RULE: Final = Rule(_adam, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"))


class Adam(RuleOptimizer):
    """Steps by running averages of the gradient and of its square, corrected for their start.

    In step t, with the gradient g of a parameter p and betas (b1, b2): m ← b1·m + (1 - b1)·g,
    v ← b2·v + (1 - b2)·g², p ← p - lr·(m / (1 - b1ᵗ)) / (√(v / (1 - b2ᵗ)) + eps).

    `weight_decay` adds that multiple of p to g (with `decoupled_weight_decay`: shrinks p
    itself); `amsgrad` divides by the largest average of squares so far; `maximize` goes uphill.
    `foreach` and `fused` are accepted: there is one implementation.
    """

    _rule = _RULE
    _options_since = {
        "amsgrad": False,
        "capturable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            if foreach and not capturable:
                raise ValueError(
                    "lr as a Tensor is not supported for capturable=False and foreach=True"
                )
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        check_lr(lr)
        check_at_least_zero("epsilon", eps)
        check_betas(betas)
        check_at_least_zero("weight_decay", weight_decay)
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for place, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(
                    f"betas[{place}] as a Tensor is not supported for capturable=False and "
                    "foreach=True"
                )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        state["step"] = new_count()
        state["exp_avg"] = zeros_for(p)
        state["exp_avg_sq"] = zeros_for(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_for(p)

    def _keys(
        self, states: list[OptimizerState], counts: list[float], group: ParamGroup
    ) -> list[Any]:
        return [state["step"] for state in states] if group["differentiable"] else counts

    def _choose(self, group: ParamGroup, key: object) -> Update:
        names = _RULE.states if group["amsgrad"] else _RULE.states[:2]
        near = float(group["betas"][0]) > 0.5
        scaled = bool(group["differentiable"])
        return _RULE(names, group["maximize"], decay_kind(group), near, scaled)

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        beta1, beta2 = map(flat if group["differentiable"] else scalar, group["betas"])
        part = beta1.double() if isinstance(beta1, Tensor) else float(beta1)
        part = 1 - part if beta1 > 0.5 else part
        return part, beta2, 1 - beta2, group["eps"], decay_number(group)

    def _factors(self, group: ParamGroup, key: Any) -> tuple[Hyper, ...]:
        beta1, beta2 = map(flat if group["differentiable"] else scalar, group["betas"])
        return rate_of(group) / (1 - beta1**key), (1 - beta2**key) ** 0.5

    def _update_rows(self, p: Tensor, group: ParamGroup) -> None:
        raise RuntimeError(
            "Adam does not support sparse gradients, please consider SparseAdam instead"
        )
