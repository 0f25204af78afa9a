"""Adam."""

from typing import Any

from .._array.optimizers import updates as sweep
from ._ground import Tensor, f
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, new_count, rate_of, settled, zeros_for
from .optimizer import (
    check_at_least_zero,
    check_betas,
    check_implementation,
    check_lr,
    flat,
    scalar,
)

__all__ = ["Adam"]


class Adam(RuleOptimizer):
    """Steps by running averages of the gradient and of its square, corrected for their start.

    `weight_decay` adds that multiple of p to g (with `decoupled_weight_decay`: shrinks p
    itself); `amsgrad` divides by the largest average of squares so far; `maximize` goes uphill.
    `foreach` and `fused` are accepted: there is one implementation.

    Source: Kingma and Ba 2015, algorithm 1; Reddi et al. 2018 for `amsgrad`.
    """

    def __init__(
        self,
        params: Any,
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("capturable", False)
            group.setdefault("decoupled_weight_decay", False)
            group.setdefault("fused", None)

    def _state(self, p: Tensor, amsgrad: bool) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["exp_avg"] = zeros_for(p)
            state["exp_avg_sq"] = zeros_for(p)
            if amsgrad:
                state["max_exp_avg_sq"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        """Updates the plain parameters on their arrays; the others are returned."""
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        amsgrad = group["amsgrad"]
        averages: list[Any] = []
        squares: list[Any] = []
        largest: list[Any] | None = [] if amsgrad else None
        counts: list[Tensor] = []
        for p in plain.params:
            state = self.state[p] or self._state(p, amsgrad)
            averages.append(state["exp_avg"]._raw)
            squares.append(state["exp_avg_sq"]._raw)
            if largest is not None:
                largest.append(state["max_exp_avg_sq"]._raw)
            counts.append(state["step"])
        beta1, beta2 = group["betas"]
        sweep.adam_(
            plain.raws,
            plain.grads,
            averages,
            squares,
            largest,
            [next_step(count) for count in counts],
            lr=rate_of(group),
            beta1=scalar(beta1),
            beta2=scalar(beta2),
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update_rows(self, p: Tensor, group: dict[str, Any]) -> None:
        raise RuntimeError(
            "Adam does not support sparse gradients, please consider SparseAdam instead"
        )

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        """The same step in tensor operations: differentiable, for any dtype."""
        state = self._state(p, group["amsgrad"])
        differentiable = group["differentiable"]
        lr, (beta1, beta2) = rate_of(group), map(flat if differentiable else scalar, group["betas"])
        state["step"] += 1
        count = state["step"] if differentiable else state["step"].item()
        grad = -p.grad if group["maximize"] else p.grad
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(settled(1 - lr * group["weight_decay"]))
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        average, square = state["exp_avg"], state["exp_avg_sq"]
        view: Any = f.view_as_real if p.is_complex() else lambda tensor: tensor
        grad, target = view(grad), view(p)
        average, square = view(average), view(square)
        average.lerp_(
            grad, 1 - (beta1.to(grad.dtype) if isinstance(beta1, Tensor) else float(beta1))
        )
        square.mul_(settled(beta2))
        if isinstance(beta2, Tensor):
            square.add_(grad * grad * (1 - beta2))
        else:
            square.addcmul_(grad, grad, value=float(1 - beta2))
        correction1 = 1 - beta1**count
        correction2 = (1 - beta2**count) ** 0.5
        if group["amsgrad"]:
            largest = view(state["max_exp_avg_sq"])
            # Recorded, the old maximum must not be overwritten: its graph needs it.
            before = largest.clone() if differentiable else largest
            largest.copy_(f.maximum(before, square))
            square = largest
        rate = lr / correction1
        if differentiable:
            divisor = (square.clone().sqrt() / (correction2 * -rate)).add_(group["eps"] / -rate)
            target.addcdiv_(average.clone(), divisor)
        else:
            divisor = (square.sqrt() / float(correction2)).add_(group["eps"])
            target.addcdiv_(average, divisor, value=-float(rate))
