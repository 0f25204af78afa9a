"""L-BFGS, with a line search that meets the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array.optimizers.rule import add_scaled_
from .._array.types import FLOAT32
from ._ground import Tensor, bump, enable_grad, f, no_grad
from ._wolfe import (
    cubic_interpolate as _cubic_interpolate,  # noqa: F401
    search as _strong_wolfe,  # noqa: F401
    strong_wolfe,
)
from .optimizer import Optimizer, check_lr, flat

if TYPE_CHECKING:
    from .annotations import OptimizerState, Params


__all__ = ["LBFGS"]


def _add_scaled(target: Tensor, other: Tensor, alpha: Tensor | float) -> None:
    """target ← target + alpha·other, rounded once.

    The products of differences that follow make a last digit the first one within a few steps.
    """
    number = not isinstance(alpha, bool) and not getattr(alpha, "requires_grad", False)
    if target._plain and other._plain and target._raw.dtype is FLOAT32 and number:
        add_scaled_(target._raw, other._raw, float(alpha))
        bump(target)
    else:
        target.add_(other, alpha=alpha)  # type: ignore[arg-type]


class LBFGS(Optimizer):
    """Quasi-Newton steps along a direction made of the last `history_size` changes of gradient.

    One `step` makes up to `max_iter` of them and asks the closure for up to `max_eval` losses (by
    default 1.25 times as many). `line_search_fn="strong_wolfe"` chooses each step's length;
    otherwise it is `lr`. All parameters form one vector, so there is one group.

    Source: Nocedal and Wright 2006, algorithms 7.4 and 7.5; 3.5 and 3.6 for the line search.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    # -- the parameters as one real vector ------------------------------------------------------

    def _gradient(self) -> Tensor:
        parts = []
        for p in self._params:
            flat = p.new_zeros(p.numel()) if p.grad is None else p.grad.to_dense().reshape(-1)
            parts.append(f.view_as_real(flat).reshape(-1) if flat.is_complex() else flat)
        return f.cat(parts, 0)

    def _move(self, length: Tensor | float, direction: Tensor) -> None:
        start = 0
        for p in self._params:
            target = f.view_as_real(p) if p.is_complex() else p
            part = direction[start : start + target.numel()]
            _add_scaled(target, part.view_as(target), length)
            start += target.numel()

    def _keep(self) -> list[Tensor]:
        return [p.clone() for p in self._params]

    def _restore(self, kept: list[Tensor]) -> None:
        for p, old in zip(self._params, kept, strict=True):
            p.copy_(old)

    # -- the step -------------------------------------------------------------------------------

    @no_grad()
    def step(self, closure: Callable[[], Tensor | float]) -> Tensor | float:  # type: ignore[override]
        """Minimizes for some iterations; returns the loss at the start.

        Raises:
            RuntimeError: for a line search other than "strong_wolfe".
            AssertionError: where a group was added.
        """
        if len(self.param_groups) != 1:
            raise AssertionError(
                f"Expected exactly one param_group, but got {len(self.param_groups)}"
            )
        evaluate: Callable[[], Any] = enable_grad()(closure)
        group = self.param_groups[0]
        lr, history = flat(group["lr"]), group["history_size"]
        smallest = group["tolerance_change"]
        # One state for all, where PyTorch keeps it too.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first: Tensor | float = evaluate()
        loss = float(first)
        evaluations = 1
        state["func_evals"] += 1
        gradient = self._gradient()
        converged = bool(gradient.abs().max() <= group["tolerance_grad"])
        if converged:
            return first
        direction, length = state.get("d"), state.get("t")
        previous, before = state.get("prev_flat_grad"), state.get("prev_loss")
        memory = _Memory(state)
        done = 0
        while done < group["max_iter"]:
            done += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = gradient.neg()
                memory.clear()
            else:
                memory.add(gradient.sub(previous), direction.mul(length), history)
                direction = memory.direction(gradient, history)
            if previous is None:
                previous = gradient.clone()
            else:
                previous.copy_(gradient)
            before = loss
            if state["n_iter"] == 1:
                bounded: Any = 1.0 / gradient.abs().sum()
                length = min(1.0, bounded) * lr
            else:
                length = lr
            slope = gradient.dot(direction)
            if slope > -smallest:
                break
            used = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = self._keep()

                def at(length: Any, kept: list[Tensor] = start, along: Tensor = direction) -> Any:
                    self._move(length, along)
                    value = float(evaluate())
                    slope = self._gradient()
                    self._restore(kept)
                    return value, slope

                left = min(25, group["max_eval"] - evaluations)
                loss, gradient, length, used = strong_wolfe(
                    at, length, direction, loss, gradient, slope, most=left
                )
                self._move(length, direction)
                converged = bool(gradient.abs().max() <= group["tolerance_grad"])
            else:
                self._move(length, direction)
                if done != group["max_iter"]:
                    loss = float(evaluate())
                    gradient = self._gradient()
                    converged = bool(gradient.abs().max() <= group["tolerance_grad"])
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if (
                done == group["max_iter"]
                or evaluations >= group["max_eval"]
                or converged
                or direction.mul(length).abs().max() <= smallest
                or abs(loss - before) < smallest
            ):
                break
        state["d"], state["t"] = direction, length
        memory.store(state)
        state["prev_flat_grad"], state["prev_loss"] = previous, before
        return first


class _Memory:
    """The last steps and changes of the gradient, which stand for the inverse Hessian."""

    def __init__(self, state: OptimizerState) -> None:
        self.changes: Any = state.get("old_dirs")
        self.steps: Any = state.get("old_stps")
        self.weights: Any = state.get("ro")
        self.scale: Any = state.get("H_diag")
        self.factors: Any = state.get("al")
        self.state = state

    def clear(self) -> None:
        self.changes, self.steps, self.weights, self.scale = [], [], [], 1

    def store(self, state: OptimizerState) -> None:
        state["old_dirs"], state["old_stps"] = self.changes, self.steps
        state["ro"], state["H_diag"] = self.weights, self.scale

    def add(self, change: Tensor, step: Tensor, most: int) -> None:
        """Remembers a change of gradient along a step, if the loss is convex there."""
        curvature = change.dot(step)
        if not curvature > 1e-10:
            return
        if len(self.changes) == most:
            for kept in (self.changes, self.steps, self.weights):
                kept.pop(0)
        self.changes.append(change)
        self.steps.append(step)
        self.weights.append(1.0 / curvature)
        self.scale = curvature / change.dot(change)

    def direction(self, gradient: Tensor, most: int) -> Tensor:
        """Minus the inverse Hessian times the gradient (Nocedal and Wright, algorithm 7.4)."""
        count = len(self.changes)
        if self.factors is None:
            # Numbers of the two loops, kept where PyTorch keeps them.
            self.factors = self.state["al"] = [None] * most
        factors = self.factors
        q: Tensor = gradient.neg()
        for i in reversed(range(count)):
            factors[i] = self.steps[i].dot(q) * self.weights[i]
            _add_scaled(q, self.changes[i], -factors[i])
        r: Tensor = f.mul(q, self.scale)
        for i in range(count):
            back = self.changes[i].dot(r) * self.weights[i]
            _add_scaled(r, self.steps[i], factors[i] - back)
        return r
