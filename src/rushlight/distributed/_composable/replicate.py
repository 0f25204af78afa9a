"""`replicate`: `DistributedDataParallel` of a module that stays what it is."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NoReturn

from ...nn.modules.container import ParameterList
from ..data_parallel import DistributedDataParallel
from ..tensor._api import DTensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...nn.modules.module import Module
    from ..annotations import Given

__all__ = ["replicate"]

_PLACE = "_replicate_state"


class _State:
    """What is known of a replicated module; its reduction is made with the first forward."""

    def __init__(self, module: Module, ignored: set[Module], options: dict[str, Given]) -> None:
        self.module, self.ignored, self.options = module, ignored, options
        self.hooks: list[tuple[Given, ...]] = []
        self.ddp: DistributedDataParallel | None = None
        self.synchronizes = True

    def reduction(self) -> DistributedDataParallel:
        """What sends the gradients of the module's parameters."""
        if self.ddp is None:
            skipped = {id(p) for module in self.ignored for p in module.parameters()}
            own: dict[int, Given] = {}
            self._collect(self.module, skipped, own)
            self.ddp = DistributedDataParallel(ParameterList(own.values()), **self.options)
        while self.hooks:
            self.ddp.register_comm_hook(*self.hooks.pop(0))
        self.ddp.require_backward_grad_sync = self.synchronizes
        return self.ddp

    def _collect(self, module: Module, skipped: set[int], own: dict[int, Given]) -> None:
        if module in self.ignored:
            return
        for parameter in module._parameters.values():
            sharded = isinstance(parameter, DTensor)
            if parameter is not None and id(parameter) not in skipped and not sharded:
                own[id(parameter)] = parameter
        for child in module.children():
            self._collect(child, skipped, own)


class DDP:
    """A module whose gradients are those of all ranks; its class comes after this one."""

    def __new__(cls, *args: Given, **kwargs: Given) -> Given:
        kind = cls.__mro__[2]  # a container makes parts of itself: they are of its own class
        return kind.__new__(kind, *args, **kwargs)

    def forward(self, *args: Given, **kwargs: Given) -> Given:
        """What the module gives; a backward from it sends the gradients."""
        own: Given = super()
        return _state(self).reduction().run_as(own.forward, args, kwargs)

    def set_requires_gradient_sync(self, requires_gradient_sync: bool) -> None:
        """Whether backward sends gradients: without it they add up on each rank.

        Parameters:
            requires_gradient_sync: whether it does.
        Returns: None.
        """
        _state(self).synchronizes = requires_gradient_sync

    def register_comm_hook(self, *args: Given, **kwargs: Given) -> None:
        """As `DistributedDataParallel.register_comm_hook`, from the next forward on.

        Parameters:
            args: the hook's state and the hook.
        Returns: None.
        """
        _state(self).hooks.append((*args, *kwargs.values()))

    def __deepcopy__(self, memo: Given) -> NoReturn:
        raise AssertionError(
            "DDP does not support deepcopy. Please use state dict for serialization."
        )


def _state(module: Given) -> Given:
    return module.__dict__.get(_PLACE)


def replicate(
    module: Module, ignored_modules: Iterable[Module] | None = None, **kwargs: Given
) -> Module:
    """Has backward give a module's parameters the means of all ranks' gradients.

    The module stays what it is, with the names of its parameters: its class is derived from its
    own. Buffers aren't sent.

    Parameters:
        module: the module, changed in place.
        ignored_modules: submodules whose parameters each rank keeps for itself.
        kwargs: options of `DistributedDataParallel`; `device_id` may name the CPU.
    Shapes: those of the module.
    Returns: the module.
    Raises:
        RuntimeError: for a `device_id` that is no device, and for a module of `fully_shard`.
        AssertionError: for a module that is replicated already.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> from rushlight.distributed._composable.replicate import replicate
        >>> replicate(nn.Linear(2, 1, bias=False))
        DDPLinear(in_features=2, out_features=1, bias=False)
    """
    from ..._base.device import device
    from ..fsdp import FSDPModule

    if "device_id" in kwargs:
        if not isinstance(kwargs["device_id"], int | device):
            raise RuntimeError(
                f"Expected device_id to be int or torch.device, but got {type(kwargs['device_id'])}"
            )
        del kwargs["device_id"]
    if isinstance(module, FSDPModule):
        raise RuntimeError(
            "Cannot apply `replicate()` on a Module already managed by `fully_shard`"
        )
    if _state(module) is not None:
        raise AssertionError(
            "Each distinct composable distributed API can only be applied to a module once. "
            f"replicate has already been applied to the following module:\n{module}"
        )
    module.__dict__[_PLACE] = _State(module, set(ignored_modules or ()), kwargs)
    kind = type(module)
    made: Given = _derive
    module.__class__ = made(kind)
    return module


@functools.cache
def _derive(kind: Given) -> Given:
    made: Given = type(f"DDP{kind.__name__}", (DDP, kind), {})
    return made


replicate.state = _state  # type: ignore[attr-defined]
