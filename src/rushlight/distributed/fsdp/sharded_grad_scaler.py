"""`ShardedGradScaler`: a scaler whose ranks skip a step together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._tensor.tensor import Tensor
from ...amp.grad_scaler import GradScaler
from ..collectives import all_reduce
from ..process_group import choose

if TYPE_CHECKING:
    from ...optim.optimizer import Optimizer
    from ..annotations import Given
    from ..process_group import ProcessGroup

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """A `GradScaler` of several ranks, each of which has pieces of the gradients.

    What isn't finite on one rank has all of them skip the step and shrink the factor. Gradients in
    16 bits are taken, and scaled losses keep their type.

    Parameters:
        device: the kind of device: "cpu"; with "cuda" it warns and is switched off.
        init_scale: the factor at the start.
        backoff_factor: what it is multiplied by after gradients that aren't finite; below 1.
        growth_factor: what the factor is multiplied by when it grows; above 1.
        growth_interval: how many good steps make it grow.
        enabled: whether it does anything.
        process_group: the ranks; None means all.
    Raises: AssertionError: for a growth of at most 1, or a backoff of at least 1.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> from rushlight.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
        >>> w = torch.ones(1, requires_grad=True)
        >>> sgd, scaler = optim.SGD([w], lr=0.1), ShardedGradScaler("cpu", init_scale=4.0)
        >>> scaler.scale(w.sum()).backward()
        >>> scaler.step(sgd)
        >>> scaler.update()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: ProcessGroup | None = None,
    ) -> None:
        super().__init__(
            device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
        self.process_group = process_group

    def scale(self, outputs: Given) -> Given:
        """A tensor, or an iterable of tensors, times the factor, of the types that they had.

        Raises:
            ValueError: for anything else.
        """
        scaled = super().scale(outputs)
        if isinstance(outputs, Tensor):
            return scaled.type(outputs.dtype)
        return scaled

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[object, object]:
        """Multiplies this rank's gradients; 1 and more where one of any rank wasn't finite."""
        super()._unscale_grads_(optimizer, inv_scale, found_inf, True)
        all_reduce(found_inf, group=choose(self.process_group))
        return {found_inf.device: found_inf}
