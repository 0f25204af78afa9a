"""How gradients are sent: hooks for `DistributedDataParallel.register_comm_hook`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from . import debugging_hooks, default_hooks, post_localSGD_hook, powerSGD_hook

if TYPE_CHECKING:
    from ...annotations import Given
    from ...data_parallel import DistributedDataParallel

__all__ = [
    "DDPCommHookType", "debugging_hooks", "default_hooks", "post_localSGD_hook", "powerSGD_hook",
    "register_ddp_comm_hook",
]  # fmt: skip


class DDPCommHookType(Enum):
    """The hooks by name.

    ALLREDUCE sends gradients as they are, FP16_COMPRESS and BF16_COMPRESS in 16 bits, POWER_SGD and
    its like as products of thin matrices, NOOP not at all.

    Example:
        >>> from rushlight.distributed.algorithms import ddp_comm_hooks as hooks
        >>> hooks.DDPCommHookType("fp16_compress").name
        'FP16_COMPRESS'
    """

    ALLREDUCE = "allreduce"
    FP16_COMPRESS = "fp16_compress"
    BF16_COMPRESS = "bf16_compress"
    POWER_SGD = "power_sgd"
    POWER_SGD_RANK2 = "power_sgd_rank2"
    BATCHED_POWER_SGD = "batched_power_sgd"
    BATCHED_POWER_SGD_RANK2 = "batched_power_sgd_rank2"
    NOOP = "noop"


_HOOKS: dict[DDPCommHookType, tuple[Callable[..., Any], int]] = {
    DDPCommHookType.ALLREDUCE: (default_hooks.allreduce_hook, 0),
    DDPCommHookType.FP16_COMPRESS: (default_hooks.fp16_compress_hook, 0),
    DDPCommHookType.BF16_COMPRESS: (default_hooks.bf16_compress_hook, 0),
    DDPCommHookType.POWER_SGD: (powerSGD_hook.powerSGD_hook, 1),
    DDPCommHookType.POWER_SGD_RANK2: (powerSGD_hook.powerSGD_hook, 2),
    DDPCommHookType.BATCHED_POWER_SGD: (powerSGD_hook.batched_powerSGD_hook, 1),
    DDPCommHookType.BATCHED_POWER_SGD_RANK2: (powerSGD_hook.batched_powerSGD_hook, 2),
    DDPCommHookType.NOOP: (debugging_hooks.noop_hook, 0),
}


def register_ddp_comm_hook(
    comm_hook_type: DDPCommHookType, model: DistributedDataParallel, state: Given = None
) -> None:
    """Has a hook send a module's gradients.

    Parameters:
        comm_hook_type: which hook, of `DDPCommHookType`.
        model: a module in DistributedDataParallel.
        state: the group in which the hook sends; None means the default one.
    Raises:
        KeyError: for what is no `DDPCommHookType`.
        AttributeError: for a module that isn't in DistributedDataParallel.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> from rushlight.distributed.algorithms import ddp_comm_hooks as hooks
        >>> hooks.register_ddp_comm_hook(hooks.DDPCommHookType.FP16_COMPRESS, model)
    """
    hook, rank = _HOOKS[comm_hook_type]
    if rank:
        state = powerSGD_hook.PowerSGDState(state, rank)
    model.register_comm_hook(state, hook)
