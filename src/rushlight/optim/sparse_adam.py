"""SparseAdam."""

from collections.abc import Callable
from typing import Any

from ._ground import Tensor
from ._plain import with_gradient
from .optimizer import Optimizer, loss_of

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for gradients that are sparse tensors.

    All of Rushlight's tensors are dense, so a step with a gradient raises what PyTorch raises for
    a dense one.
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
        for place, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {place}: {beta}")
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
        """Updates nothing.

        Raises:
            RuntimeError: where a parameter has a gradient, which is a dense one.
        """
        loss = loss_of(closure)
        if any(with_gradient(group["params"]) for group in self.param_groups):
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        return loss
