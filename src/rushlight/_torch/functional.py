"""`torch.functional`: functions of `torch` under the module where PyTorch has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._base.lazy import lazy
from .._tensor.public_functions import namespace

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

_NAMES: Final = (
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "block_diag", "cdist", "chain_matmul", "einsum", "istft", "lu", "norm",
    "meshgrid", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique",
    "unique_consecutive", "unravel_index",
)  # fmt: skip
_TABLE: Final = namespace("")


def _find(name: str) -> AnyCallable:
    if name not in _NAMES:
        raise KeyError(name)
    return _TABLE[name]


__getattr__ = lazy(__name__, find=_find)


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})


__all__ = list(_NAMES)
