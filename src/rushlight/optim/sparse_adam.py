"""SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING

from ._ground import Tensor, f, no_grad
from ._plain import gradient_of, with_gradient
from ._rule import fits, rows_of, zeros_for
from .optimizer import Optimizer, check_betas, loss_of, scalar

if TYPE_CHECKING:
    from .annotations import ParamGroup, Params


__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for gradients that are sparse tensors: rows without a gradient rest.

    Their moments rest too, so these lag behind those of `Adam`; the count of steps, by which they
    are corrected, is the parameter's.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for kind, refuses, why in (
            ("Sparse", lambda p: p.is_sparse, "SparseAdam requires dense parameter tensors"),
            ("Complex", Tensor.is_complex, "SparseAdam does not support complex parameters"),
        ):
            places = [
                [place, number]
                for place, group in enumerate(self.param_groups)
                for number, p in enumerate(group["params"])
                if refuses(p)
            ]
            if places:
                raise ValueError(f"{kind} params at indices {places}: {why}")

    def step(self, closure: Callable[[], Tensor | float] | None = None) -> Tensor | float | None:
        """Updates the rows that have a gradient; returns what `closure` returned.

        Raises:
            RuntimeError: where a parameter has a gradient that isn't sparse.
        """
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                params = with_gradient(group["params"])
                if not all(gradient_of(p).is_sparse for p in params):
                    raise RuntimeError(
                        "SparseAdam does not support dense gradients, please consider Adam instead"
                    )
                found = [self._rows(p, group) for p in params]  # before anything is changed
                for p, (where, rows) in zip(params, found, strict=True):
                    self._update(p, where, rows, group)
        return loss

    def _rows(self, p: Tensor, group: ParamGroup) -> tuple[tuple[Tensor, ...], Tensor]:
        """Where a parameter's gradient is and what it is; its state is made, or looked at.

        Raises:
            RuntimeError: for a state of another shape or type.
        """
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = zeros_for(p), zeros_for(p)
        grad = gradient_of(p)
        where, rows = rows_of(-grad if group["maximize"] else grad)
        count = state["step"]
        if not isinstance(count, Tensor):
            count += 1
        for value in (state["exp_avg"], state["exp_avg_sq"]):
            if rows.numel() and not fits(value, rows, tuple(p.shape)):
                value.sparse_mask(p.grad)
                value.mul_(1)
                value.index_put_(where, f.zeros_like(rows), accumulate=True)
        return where, rows

    def _update(
        self, p: Tensor, where: tuple[Tensor, ...], rows: Tensor, group: ParamGroup
    ) -> None:
        state = self.state[p]
        state["step"] += 1
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
