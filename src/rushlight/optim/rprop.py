"""Rprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._array.optimizers.rule import Rule, Update
from ._ground import Tensor, f, words
from ._rule import RuleOptimizer, new_count, zeros_for
from .optimizer import check_lr, flat

if TYPE_CHECKING:
    from .._base.annotations import TensorLike
    from .annotations import Hyper, Operand, OptimizerState, ParamGroup, Params


__all__ = ["Rprop"]


def _rprop(
    p: TensorLike,
    g: TensorLike,
    prev: TensorLike,
    step_size: TensorLike,
    shorter: Operand,
    longer: Operand,
    least: Operand,
    most: Operand,
    *,
    maximize: bool,
) -> tuple[TensorLike | None, ...]:
    """Riedmiller and Braun 1993, in the variant without weight backtracking."""
    where = words.where
    if maximize:
        g = -g
    turn = g * prev
    size = where(turn > 0, step_size * longer, where(turn < 0, step_size * shorter, step_size))
    size = words.minimum(words.maximum(size, least), most)
    # Where the sign changed the step is skipped, and the next one counts as unchanged.
    kept = where(turn < 0, 0.0, g)
    return p - where(kept > 0, size, where(kept < 0, -size, 0.0)), kept, size


_RULE: Final = Rule(_rprop, ("prev", "step_size"))


class Rprop(RuleOptimizer):
    """Steps by the gradient's sign alone, longer while it stays, shorter once it changes."""

    _rule = _RULE
    _options_since = {"capturable": False}
    _foreach_on_xla = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start_state(self, state: OptimizerState, p: Tensor, group: ParamGroup) -> None:
        state["step"] = new_count()
        state["prev"] = zeros_for(p)
        start = flat(group["lr"])
        # A complex parameter's two parts each have a step of their own.
        first = complex(start, start) if p.is_complex() else start
        state["step_size"] = f.full_like(p, first).detach()  # type: ignore[arg-type]

    def _choose(self, group: ParamGroup, key: object) -> Update:
        return _RULE(_RULE.states, group["maximize"])

    def _numbers(self, group: ParamGroup) -> tuple[Hyper, ...]:
        return *group["etas"], *group["step_sizes"]
