"""Convolutions' weights in another order of memory."""

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _converted(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    if isinstance(module, kinds):
        owner: Any = module
        weight = owner.weight
        weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    for child in module.children():
        _converted(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The module, with the weights of all its 2-d convolutions in `memory_format`."""
    return _converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The module, with the weights of all its 3-d convolutions in `memory_format`."""
    return _converted(module, memory_format, (Conv3d, ConvTranspose3d))
