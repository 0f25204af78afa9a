"""`DistributedDataParallel` in a group of one process: the module, with nothing to add up."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..._base.device import device
from ...distributed.process_group import chosen
from ..modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import DeviceLike
    from ...distributed.process_group import ProcessGroup


__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over all processes: over the one that there is.

    Raises:
        ValueError: before `init_process_group`, and for devices of a module on the CPU.
        RuntimeError: for a module without parameters that require gradients.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[int] | None = None,
        output_device: DeviceLike | None = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: object,
    ) -> None:
        super().__init__()
        self.process_group = chosen(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters "
                f"{ {p.device for p in module.parameters()} }."
            )
        self.module = module
        self.dim = dim
        self.device = device("cpu")
        self.device_type = "cpu"
        self.device_ids = None
        self.output_device = None
        self.is_multi_device_module = False
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients aren't averaged: nothing is different in it."""
        before = self.require_backward_grad_sync
        try:
            self.require_backward_grad_sync = False
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Iterator[None]:  # fmt: skip
        """A context in which processes may run out of batches at different times."""
        yield

    def join_hook(self, **kwargs: object) -> object:
        """What to do without batches: nothing."""
        from ...distributed.algorithms.join import JoinHook

        return JoinHook()

    def scatter(self, inputs: object, kwargs: dict[str, object], device_ids: Sequence[int]) -> Any:
        """The inputs: there is one device."""
        return (inputs,), (kwargs,)

    def gather(self, outputs: object, output_device: DeviceLike) -> Any:
        """The outputs: there is one device."""
        return outputs

    def register_comm_hook(self, state: object, hook: Callable[..., object]) -> None:
        """Checks the hook, which would be asked to add gradients up: there are none to add.

        Raises:
            TypeError: for a hook that can't be called.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")

    def _set_static_graph(self) -> None:
        self.static_graph = True
