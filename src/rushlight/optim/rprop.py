"""Rprop."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor, f
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, as_real, counted, new_count, zeros_for
from .optimizer import check_lr, flat

__all__ = ["Rprop"]


class Rprop(RuleOptimizer):
    """Steps by the gradient's sign alone, longer while it stays, shorter once it changes.

    Source: Riedmiller and Braun 1993, in the variant without weight backtracking.
    """

    _foreach_on_xla = True

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("capturable", False)

    def _state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["prev"] = zeros_for(p)
            start = flat(group["lr"])
            # A complex parameter's two parts each have a step of their own.
            first = complex(start, start) if p.is_complex() else start
            state["step_size"] = f.full_like(p, first).detach()
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        states = [self._state(p, group) for p in plain.params]
        for state in states:
            next_step(state["step"])
        sweep.rprop_(
            plain.raws,
            plain.grads,
            [state["prev"]._raw for state in states],
            [state["step_size"]._raw for state in states],
            etas=group["etas"],
            limits=group["step_sizes"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p, group)
        counted(state)
        shorter, longer = group["etas"]
        smallest, largest = group["step_sizes"]
        grad = -p.grad if group["maximize"] else p.grad
        grad, target, before, size = as_real(grad, p, state["prev"], state["step_size"])
        turn = grad.mul(before.clone() if group["differentiable"] else before).sign()
        ones = f.ones_like(turn)
        factor = f.where(turn.gt(0), ones * longer, f.where(turn.lt(0), ones * shorter, ones))
        size.mul_(factor).clamp_(smallest, largest)
        # Where the sign changed the step is skipped, and the next one counts as unchanged.
        grad = f.where(turn.lt(0), f.zeros_like(grad), grad)
        target.addcmul_(grad.sign(), size, value=-1)
        before.copy_(grad)
