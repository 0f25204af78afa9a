"""`torch.utils._device`: contexts and decorators in which tensors are made on a device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._base.device import device as Device

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike


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


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., object]:
    """The function, run inside the context of a device."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: object) -> object:
        with device if hasattr(device, "__enter__") else device():
            return func(*args, **kwargs)

    return wrapped


def set_device(device: DeviceLike) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """A decorator that has a function make its tensors on a device."""
    return lambda func: device_decorator(Device(device), func)
