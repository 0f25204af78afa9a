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
    """The module, with the weights of all its 2-d convolutions in `memory_format`.

    Parameters:
        module: the module; it is changed.
        memory_format: the order, such as `channels_last`.
    Returns: Module: the same one.
    Raises: TypeError: for anything but a memory format.
    Example:
        >>> conv = nn.Conv2d(2, 2, 3)
        >>> _ = nn.utils.convert_conv2d_weight_memory_format(conv, torch.channels_last)
        >>> conv.weight.stride()
        (18, 1, 6, 2)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Module, memory_format: memory_format) -> Module:
    """The module, with the weights of all its 3-d convolutions in `memory_format`.

    Parameters:
        module: the module; it is changed.
        memory_format: the order, such as `channels_last_3d`.
    Returns: Module: the same one.
    Raises: TypeError: for anything but a memory format.
    Example:
        >>> conv = nn.Conv3d(2, 2, 1)
        >>> _ = nn.utils.convert_conv3d_weight_memory_format(conv, torch.channels_last_3d)
        >>> conv.weight.is_contiguous(memory_format=torch.channels_last_3d)
        True
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
