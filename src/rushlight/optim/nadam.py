"""NAdam."""

from typing import Any

from .._array.optimizers import rare_updates as sweep
from ._ground import Tensor, dtypes, f
from ._plain import Plain, next_step
from ._rule import RuleOptimizer, as_real, counted, decay_of, new_count, rate_of, settled, zeros_for
from .optimizer import check_at_least_zero, check_betas, check_lr, number

__all__ = ["NAdam"]


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum, whose weight grows towards beta1 as `momentum_decay` says.

    Source: Dozat 2016.
    """

    _capturable_lists = "params, mu_products and state_steps"
    _capturable_lists_of_foreach = "params, mu_products, and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_at_least_zero("momentum_decay", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
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
            state["mu_product"] = f.ones((), dtype=dtypes.float32)
            state["exp_avg"] = zeros_for(p)
            state["exp_avg_sq"] = zeros_for(p)
        return state

    def _sweep(self, group: dict[str, Any]) -> list[Tensor]:
        plain = Plain(group["params"], self, group)
        if not plain.params:
            return plain.others
        beta1, beta2 = (number(beta) for beta in group["betas"])
        lr, slowing = rate_of(group), group["momentum_decay"]
        states = [self._state(p) for p in plain.params]
        factors = []
        for state in states:
            count = next_step(state["step"])
            now = beta1 * (1.0 - 0.5 * 0.96 ** (count * slowing))
            soon = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * slowing))
            raw = state["mu_product"]._raw
            raw *= now
            product = raw.item()
            factors.append((
                -lr * (1.0 - now) / (1.0 - product),
                (-lr * soon) / (1.0 - product * soon),
                1 - beta2**count,
            ))  # fmt: skip
        decay, kind = decay_of(group, lr)
        sweep.nadam_(
            plain.raws,
            plain.grads,
            [state["exp_avg"]._raw for state in states],
            [state["exp_avg_sq"]._raw for state in states],
            factors,
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
        lr = rate_of(group)
        grad = -p.grad if group["maximize"] else p.grad
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(settled(1 - lr * group["weight_decay"]))
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        grad, target, average, square = as_real(grad, p, state["exp_avg"], state["exp_avg_sq"])
        # How much momentum counts at this step and the next: 0.96 is Dozat's constant.
        now = beta1 * (1.0 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
        soon = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * group["momentum_decay"]))
        state["mu_product"] *= now
        average.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        divisor = square.div(1 - beta2**count).sqrt()
        if group["differentiable"]:
            product = state["mu_product"]
            divisor = divisor.add(group["eps"])
            target.addcdiv_(grad * (-lr * (1.0 - now) / (1.0 - product)), divisor)
            target.addcdiv_(average * (-lr * soon / (1.0 - product * soon)), divisor)
        else:
            product = state["mu_product"].item()
            divisor.add_(group["eps"])
            target.addcdiv_(grad, divisor, value=float(-lr * (1.0 - now) / (1.0 - product)))
            target.addcdiv_(average, divisor, value=float((-lr * soon) / (1.0 - product * soon)))
