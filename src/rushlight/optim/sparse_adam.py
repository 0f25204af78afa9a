"""SparseAdam."""

from collections.abc import Callable
from math import sqrt
from typing import Any

from ._ground import Tensor, no_grad
from ._plain import with_gradient
from ._rule import rows_of, zeros_for
from .optimizer import Optimizer, check_betas, loss_of, scalar

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for gradients that are sparse tensors: rows without a gradient rest.

    Their moments rest too, so these lag behind those of `Adam`; the count of steps, by which they
    are corrected, is the parameter's.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        complex_ones = [
            [place, number]
            for place, group in enumerate(self.param_groups)
            for number, p in enumerate(group["params"])
            if p.is_complex()
        ]
        if complex_ones:
            raise ValueError(
                f"Complex params at indices {complex_ones}: SparseAdam does not support complex "
                "parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the rows that have a gradient; returns what `closure` returned.

        Raises:
            RuntimeError: where a parameter has a gradient that isn't sparse.
        """
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                params = with_gradient(group["params"])
                if not all(p.grad.is_sparse for p in params):
                    raise RuntimeError(
                        "SparseAdam does not support dense gradients, please consider Adam instead"
                    )
                for p in params:
                    self._update(p, group)
        return loss

    def _update(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = zeros_for(p), zeros_for(p)
        state["step"] += 1
        where, rows = rows_of(-p.grad if group["maximize"] else p.grad)
        if not rows.numel():
            return
        first, second = group["betas"]
        means, squares = state["exp_avg"], state["exp_avg_sq"]
        mean, square = means[where], squares[where]
        up = rows.sub(mean).mul_(1 - first)
        more = rows.pow(2).sub_(square).mul_(1 - second)
        means.index_put_(where, up, accumulate=True)
        squares.index_put_(where, more, accumulate=True)
        root = more.add_(square).sqrt_().add_(group["eps"])
        step = state["step"]
        rate = scalar(group["lr"]) * sqrt(1 - second**step) / (1 - first**step)
        p.index_put_(where, up.add_(mean).div_(root).mul_(-rate), accumulate=True)
