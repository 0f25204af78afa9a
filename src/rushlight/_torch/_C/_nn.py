"""The functions of `torch.nn.functional`, where PyTorch's compiled part has them."""

from __future__ import annotations

from typing import Any

from ..._tensor.public_functions import namespace
from . import _find_in, _parse_to as _parse_to

_KERNELS = (
    "thnn_conv2d", "slow_conv3d", "slow_conv_dilated2d", "slow_conv_dilated3d",
    "slow_conv_transpose2d", "slow_conv_transpose3d",
)  # fmt: skip

_find = _find_in("nn.functional")


def __getattr__(name: str) -> Any:
    """A function of the table; kernels of convolutions and interpolations are no public ones."""
    if name in _KERNELS or name.startswith(("upsample_", "_upsample_")):
        return getattr(namespace("private").module("torch._C._nn"), name)
    return _find(name)
