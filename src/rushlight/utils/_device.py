"""`torch.utils._device`: contexts and decorators in which tensors are made on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._base.device import device as Device
from ._contextlib import context_decorator

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, DeviceLike


__all__ = ["DeviceContext", "device_decorator", "set_device"]

CURRENT_DEVICE: Any = None


class DeviceContext:
    """A context in which tensors are made on a device unless a call says where."""

    def __init__(self, device: DeviceLike) -> None:
        self.device = Device(device)

    def __enter__(self) -> DeviceContext:
        self.device.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.device.__exit__(*exc)


def device_decorator(device: DeviceLike | None, func: AnyCallable) -> Callable[..., object]:
    """The function (or that of a generator), run inside the context of a device.

    Raises:
        RuntimeError: for a class.
    """
    if isinstance(func, type):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all "
            "methods should have the context manager applied; additionally, decorating a class at "
            "definition-site will prevent use of the identifier as a conventional type.  To "
            "specify which methods to decorate, decorate each of them individually."
        )
    return context_decorator(lambda: device, func)


def set_device(device: DeviceLike) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """A decorator that has a function make its tensors on a device."""
    return lambda func: device_decorator(Device(device), func)
