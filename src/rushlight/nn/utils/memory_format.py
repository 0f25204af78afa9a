"""Convolutions' weights in another order of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

if TYPE_CHECKING:
    from ..._base.memory_format import memory_format
    from ..modules.module import Module


__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Module, memory_format: memory_format, kinds: tuple[type, ...]) -> Module:
    if isinstance(module, kinds):
        owner: Any = module
        weight = owner.weight
        weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Module, memory_format: memory_format) -> Module:
    """The module, with the weights of all its 2-d convolutions in `memory_format`."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Module, memory_format: memory_format) -> Module:
    """The module, with the weights of all its 3-d convolutions in `memory_format`."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
