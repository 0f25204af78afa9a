"""`torch.utils._device`: contexts and decorators in which tensors are made on a device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._base.device import device as Device

__all__ = ["DeviceContext", "device_decorator", "set_device"]

CURRENT_DEVICE: Any = None


class DeviceContext:
    """A context in which tensors are made on a device unless a call says where."""

    def __init__(self, device: Any) -> None:
        self.device = Device(device)

    def __enter__(self) -> DeviceContext:
        self.device.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.device.__exit__(*exc)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run inside the context of a device."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with device if hasattr(device, "__enter__") else device():
            return func(*args, **kwargs)

    return wrapped


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that has a function make its tensors on a device."""
    return lambda func: device_decorator(Device(device), func)
