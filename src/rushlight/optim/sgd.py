"""Stochastic gradient descent, with momentum."""

from typing import Any

from .._array.optimizers import updates as sweep
from ._ground import Tensor, f
from ._plain import Plain
from ._rule import RuleOptimizer
from .optimizer import check_implementation, check_lr, flat, number

__all__ = ["SGD"]


class SGD(RuleOptimizer):
    """p ← p - lr·v with v ← momentum·v + (1 - dampening)·g, or p ← p - lr·g without momentum.

    `weight_decay` adds that multiple of p to g; `nesterov` looks ahead along v; `maximize` goes
    uphill. `foreach` and `fused` are accepted: there is one implementation.

    Source: Sutskever et al. 2013, where the rate multiplies v instead of being part of it.
    """

    _refuses_foreach = False

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("fused", False)

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        """Updates the plain parameters on their arrays; the others are returned."""
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        buffers: list[Any] | None = None
        fresh: list[bool] = []
        momentum = group["momentum"]
        if momentum != 0:
            buffers = []
            for p in plain.params:
                state = self.state[p]
                buffer = state.get("momentum_buffer")
                fresh.append(buffer is None)
                if buffer is None:
                    buffer = state["momentum_buffer"] = f.empty_like(p).detach()
                buffers.append(buffer._raw)
        sweep.sgd_(
            plain.raws,
            plain.grads,
            buffers,
            fresh,
            lr=number(group["lr"]),
            momentum=momentum,
            dampening=group["dampening"],
            weight_decay=number(group["weight_decay"]),
            nesterov=group["nesterov"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _refuses_rows(self, group: dict[str, Any]) -> bool:
        return False

    def _update_rows(self, p: Tensor, group: dict[str, Any]) -> None:
        """The step with a sparse gradient: only its rows move; without momentum only these."""
        self._update(p, group)

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        """The same step in tensor operations: differentiable, for any dtype."""
        momentum, dampening = group["momentum"], group["dampening"]
        lr = flat(group["lr"]) if group["differentiable"] else number(group["lr"])
        grad = -p.grad if group["maximize"] else p.grad
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=number(group["weight_decay"]))
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone().detach()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        if isinstance(lr, Tensor):
            p.addcmul_(grad, lr, value=-1) if lr.requires_grad else p.add_(grad, alpha=-lr.item())
        else:
            p.add_(grad, alpha=-lr)
