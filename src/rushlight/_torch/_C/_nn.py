"""The functions of `torch.nn.functional`, where PyTorch's compiled part has them."""

from __future__ import annotations

from typing import Any

from ..._base.lazy import lazy
from . import _find_in, _parse_to as _parse_to

_KERNELS = (
    "thnn_conv2d", "slow_conv3d", "slow_conv_dilated2d", "slow_conv_dilated3d",
    "slow_conv_transpose2d", "slow_conv_transpose3d", "_test_warn_in_autograd",
)  # fmt: skip

_find = _find_in("nn.functional")
_find_kernel = _find_in("private")


def _find_name(name: str) -> Any:
    """A function of the table; those of private names, kernels of layers most of them, too."""
    if name in _KERNELS or name.startswith(("upsample_", "_upsample_")):
        return _find_kernel(name)
    return _find(name)


__getattr__ = lazy(__name__, find=_find_name)
