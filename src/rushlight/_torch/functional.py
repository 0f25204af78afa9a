"""`torch.functional`: functions of `torch` under the module where PyTorch has them."""

from __future__ import annotations

from typing import Any, Final

from .._tensor.public_functions import namespace

_NAMES: Final = (
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "block_diag", "cdist", "chain_matmul", "einsum", "istft", "lu", "norm",
    "meshgrid", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique",
    "unique_consecutive", "unravel_index",
)  # fmt: skip
_TABLE: Final = namespace("").module("the functions of torch")


def __getattr__(name: str) -> Any:
    """Gives the function of this name."""
    if name in _NAMES:
        return getattr(_TABLE, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})


__all__ = list(_NAMES)
