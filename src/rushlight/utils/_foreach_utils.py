"""`torch.utils._foreach_utils`: what optimizers of packages ask before they step over lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .._base.device import device as Device
from .._tensor.tensor import Tensor
from ..nn.parameter import Parameter

__all__: list[str] = []

_foreach_supported_types = [Tensor, Parameter]

TensorListList: TypeAlias = list[list[Any]]
Indices: TypeAlias = list[int]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices on which one call over a list is quicker than a loop."""
    return ["cuda", "xpu", "mtia"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices that have optimizer steps in one piece."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: TensorListList, with_indices: bool = False
) -> dict[tuple[object, object], tuple[TensorListList, Indices]]:
    """Parallel lists, taken apart into parallel lists of one device and type each.

    The first list decides; what other lists lack stays None.
    """
    groups: dict[tuple[Any, Any], tuple[TensorListList, Indices]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        key = (first.device, first.dtype)
        if key not in groups:
            groups[key] = ([[] for _ in tensorlistlist], [])
        lists, indices = groups[key]
        for chosen, given in zip(lists, tensorlistlist):
            if given:
                chosen.append(given[place])
        if with_indices:
            indices.append(place)
    return groups


def _device_has_foreach_support(device: Device) -> bool:
    """Whether lists are quicker there."""
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: Sequence[object], device: Device) -> bool:
    """Whether lists are quicker for these tensors."""
    return _device_has_foreach_support(device) and all(
        tensor is None or type(tensor) in _foreach_supported_types for tensor in tensors
    )
