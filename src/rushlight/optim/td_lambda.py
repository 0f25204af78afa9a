"""TD(λ): temporal differences with eligibility traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._ground import Tensor, f, no_grad
from ._plain import gradient_of, with_gradient
from .optimizer import Optimizer, check_lr, loss_of, number

if TYPE_CHECKING:
    from .annotations import Params


__all__ = ["TDLambda"]

_TRACES = ("accumulating", "replacing", "dutch")


class TDLambda(Optimizer):
    """Steps along decaying traces of gradients, by how much the last prediction was wrong.

    Call `value.backward()` for the prediction of a state, then `step(delta)` with the temporal
    difference: every trace decays by `gamma`·`lambd`, takes in the gradient, and the parameter
    moves by `lr`·`delta`·trace. Call `reset` where an episode begins. `trace` says how a gradient
    is taken in:

    - "accumulating": added;
    - "replacing": put in the trace's place where it isn't zero (for binary features);
    - "dutch": added in part, so that the updates are those of the online λ-return; pass the
      prediction made with the weights of the step before as `v_old`, and the present one as `v`.
      For predictions that are linear in the parameters (true online TD(λ)).

    Source: Sutton and Barto 2018, sections 12.2, 12.5 (equation 12.11 and the box "True online
    TD(λ)") and exercise 12.5 for replacing traces.

    Example:
        >>> w = torch.zeros(1, requires_grad=True)
        >>> step = optim.TDLambda([w], lr=0.5, gamma=1.0, lambd=0.5)
        >>> (3 * w).backward()
        >>> step.step(1.0)
        >>> w.detach()
        tensor([1.5000])

    Raises: ValueError: for numbers out of range, and for another `trace`.

    Example:
        >>> w = torch.zeros(1, requires_grad=True)
        >>> step = optim.TDLambda([w], lr=0.5, gamma=1.0, lambd=0.5)
        >>> (3 * w).backward()
        >>> step.step(1.0)
        >>> w.detach()
        tensor([1.5000])
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        gamma: float = 1.0,
        lambd: float = 0.9,
        trace: str = "accumulating",
    ) -> None:
        check_lr(lr)
        for name, value in (("gamma", gamma), ("lambd", lambd)):
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"Invalid {name} value: {value}")
        if trace not in _TRACES:
            raise ValueError(f"trace should be one of {_TRACES}, but got {trace!r}")
        super().__init__(params, {"lr": lr, "gamma": gamma, "lambd": lambd, "trace": trace})

    def reset(self) -> None:
        """Forgets the traces: an episode begins."""
        for state in self.state.values():
            if "trace" in state:
                state["trace"].zero_()

    @no_grad()
    def step(  # type: ignore[override]
        self,
        delta: float | Tensor,
        closure: Callable[[], Tensor | float] | None = None,
        *,
        v: float | None = None,
        v_old: float | None = None,
    ) -> Tensor | float | None:
        """Takes the gradients into the traces and moves by `delta`; returns what `closure` did.

        Raises:
            ValueError: for dutch traces without `v` and `v_old`.
        """
        loss = loss_of(closure)
        wrong = float(number(delta))
        for group in self.param_groups:
            params = with_gradient(group["params"])
            if not params:
                continue
            lr, decay = number(group["lr"]), group["gamma"] * group["lambd"]
            dutch = group["trace"] == "dutch"
            if dutch and (v is None or v_old is None):
                raise ValueError("dutch traces need the predictions v and v_old")
            traces = [self._trace(p) for p in params]
            if dutch:
                # One scalar over all parameters of the group: they form one vector of features.
                assert v is not None and v_old is not None
                pairs = zip(traces, params, strict=True)
                seen = sum(float((e * gradient_of(p)).sum()) for e, p in pairs)
                share = 1.0 - lr * decay * seen
                off = float(number(v)) - float(number(v_old))
            for p, e in zip(params, traces, strict=True):
                e.mul_(decay)
                grad = gradient_of(p)
                if dutch:
                    e.add_(grad, alpha=share)
                    p.add_(e, alpha=lr * (wrong + off))
                    p.add_(grad, alpha=-lr * off)
                    continue
                if group["trace"] == "replacing":
                    e.copy_(f.where(grad != 0, grad, e))
                else:
                    e.add_(grad)
                p.add_(e, alpha=lr * wrong)
        return loss

    def _trace(self, p: Tensor) -> Tensor:
        state = self.state[p]
        if "trace" not in state:
            state["trace"] = f.zeros_like(p).detach()
        return state["trace"]
