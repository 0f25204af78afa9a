"""RAdam."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, as_real, counted, decay_of, new_count, rate_of, settled, zeros_for
from .optimizer import check_at_least_zero, check_betas, check_lr, number

__all__ = ["RAdam"]


def _rectification(beta2: float, count: float, correction: float) -> float:
    """What scales the adaptive rate; 0 while the average of squares is too short for one."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * count * (beta2**count) / correction
    if length <= 5.0:
        return 0.0
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return float(ratio**0.5)


class RAdam(RuleOptimizer):
    """Adam that waits with scaling until the average of squares has little enough variance.

    Source: Liu et al. 2020, algorithm 2.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_at_least_zero("epsilon", eps)
        check_betas(betas)
        check_at_least_zero("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("capturable", False)
            group.setdefault("decoupled_weight_decay", False)

    def _state(self, p: Tensor) -> dict[str, Any]:
        """The parameter's state, made now if this is its first step."""
        state: dict[str, Any] = self.state[p]
        if not state:
            state["step"] = new_count()
            state["exp_avg"] = zeros_for(p)
            state["exp_avg_sq"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        beta1, beta2 = (number(beta) for beta in group["betas"])
        lr = rate_of(group)
        states = [self._state(p) for p in plain.params]
        factors = []
        for state in states:
            count = next_step(state["step"])
            correction = 1 - beta2**count
            rectified = _rectification(beta2, count, correction)
            factors.append((1 - beta1**count, correction**0.5, rectified))
        decay, kind = decay_of(group, lr)
        sweep.radam_(
            plain.raws,
            plain.grads,
            [state["exp_avg"]._raw for state in states],
            [state["exp_avg_sq"]._raw for state in states],
            factors,
            lr=lr,
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            decay=decay,
            kind=kind,
            maximize=group["maximize"],
        )
        plain.written()
        return plain.others

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self._state(p)
        count = counted(state)
        beta1, beta2 = (number(beta) for beta in group["betas"])
        lr = settled(rate_of(group))
        grad = -p.grad if group["maximize"] else p.grad
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(settled(1 - rate_of(group) * group["weight_decay"]))
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        grad, target, average, square = as_real(grad, p, state["exp_avg"], state["exp_avg_sq"])
        average.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction1 = 1 - beta1**count
        correction2 = 1 - beta2**count
        corrected = average / correction1
        rectified = _rectification(beta2, count, correction2)
        if rectified:
            root = square.sqrt()
            root = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
            target.add_(corrected * lr * ((correction2**0.5) / root) * rectified, alpha=-1.0)
        else:
            target.add_(corrected * lr, alpha=-1.0)
