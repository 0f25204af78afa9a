"""AdamW: Adam with weight decay that shrinks the parameters themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._ground import Tensor
from .adam import Adam

if TYPE_CHECKING:
    from .annotations import OptimizerState, Params


__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam whose weight decay multiplies the parameters by 1 - lr·weight_decay before the step.

    p ← p·(1 - lr·weight_decay), then `Adam`'s step of a gradient without decay. In `Adam` the decay
    goes through the averages; here it doesn't.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    """

    _writes_pairs = False  # the decay comes first, and writes the parameter itself

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: OptimizerState) -> None:
        super().__setstate__(state)
        # Files from before AdamW was a kind of Adam don't say it.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
