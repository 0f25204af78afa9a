"""Muon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._ground import Tensor, dtypes, f, no_grad
from ._plain import gradient_of, with_gradient
from ._rule import fits
from .optimizer import Optimizer, loss_of, scalar

if TYPE_CHECKING:
    from .._base.annotations import Shape
    from .annotations import ParamGroup, Params


__all__ = ["Muon"]

_Coefficients = tuple[float, float, float]


class Muon(Optimizer):
    """Momentum whose matrices are made orthogonal before they are added; for matrices only.

    `adjust_lr_fn`: how the rate depends on the shape: "original" (the default), as for a matrix
    whose rows outnumber its columns, or "match_rms_adamw", for the root mean square of AdamW.

    Source: Jordan 2024; Liu et al. 2025 for "match_rms_adamw".
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: _Coefficients = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {p.size()}"
                    )

    @no_grad()
    def step(self, closure: Callable[[], Tensor | float] | None = None) -> Tensor | float | None:
        """Updates every matrix that has a gradient; returns what `closure` returned.

        Raises:
            ValueError: for other than three coefficients, or 100 iterations and more.
        """
        loss = loss_of(closure)
        for group in self.param_groups:
            lr = scalar(group["lr"])
            params = with_gradient(group["params"])
            if params:
                self._check(params, group)
            for p in params:
                grad = gradient_of(p)
                state = self.state[p]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = f.zeros_like(grad)
                buffer = state["momentum_buffer"]
                buffer.lerp_(grad, 1 - group["momentum"])
                update = grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
                update = _orthogonal(
                    update, group["ns_coefficients"], group["ns_steps"], group["eps"]
                )
                p.mul_(float(1 - lr * group["weight_decay"]))
                p.add_(update, alpha=-float(_adjust(lr, group["adjust_lr_fn"], p.shape)))
        return loss

    def _check(self, params: list[Tensor], group: ParamGroup) -> None:
        """Refuses what the rule can't do, before anything is changed."""
        for p in params:
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            if gradient_of(p).is_sparse:
                raise RuntimeError("Muon does not support sparse gradients")
        for p in params:
            grad = gradient_of(p)
            if grad.ndim != 2:
                raise ValueError("Param gradient must be a 2D matrix")
            state = self.state.get(p, {})
            if "momentum_buffer" in state and not fits(state["momentum_buffer"], grad):
                state["momentum_buffer"].lerp_(f.zeros_like(grad), 0.0)
                if state["momentum_buffer"].ndim != 2:
                    raise ValueError("Input tensor gradient must be a 2D matrix")
            if p.shape != grad.shape:
                p.clone().add_(grad)
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")


def _adjust(lr: float, how: str | None, shape: Shape) -> float:
    rows, columns = shape[:2]
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))


def _orthogonal(matrix: Tensor, coefficients: _Coefficients, steps: int, eps: float) -> Tensor:
    """About the nearest orthogonal matrix, by Newton-Schulz iterations in bfloat16."""
    a, b, c = coefficients
    x: Tensor = matrix.to(dtypes.bfloat16)
    tall = matrix.size(0) > matrix.size(1)
    if tall:
        x = x.T
    # In place, as in PyTorch: a momentum that is of this type already is itself made shorter.
    x.div_(x.norm().clamp(min=eps))
    for _ in range(steps):
        gram = x @ x.T
        x = f.addmm(x, f.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
