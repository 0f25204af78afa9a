"""`torch.backends`: the libraries that PyTorch computes with, and their switches.

Rushlight computes with NumPy, so switches are remembered and change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.lazy import lazy
from ._switches import check_values

_MODULES = frozenset(
    {"cpu", "cuda", "cudnn", "cusparselt", "kleidiai", "mha", "miopen", "mkl", "mkldnn", "mps",
     "nnpack", "openmp", "opt_einsum", "quantized", "xnnpack"}
)  # fmt: skip
fp32_precision = "none"
_frozen = False


def disable_global_flags() -> None:
    """Allows switches to be changed by `flags()` contexts only."""
    global _frozen
    _frozen = True


def flags_frozen() -> bool:
    """Whether `disable_global_flags` was called."""
    return _frozen


if TYPE_CHECKING:
    from . import (
        cpu as cpu,
        cuda as cuda,
        cudnn as cudnn,
        cusparselt as cusparselt,
        kleidiai as kleidiai,
        mha as mha,
        miopen as miopen,
        mkl as mkl,
        mkldnn as mkldnn,
        mps as mps,
        nnpack as nnpack,
        openmp as openmp,
        opt_einsum as opt_einsum,
        quantized as quantized,
        xnnpack as xnnpack,
    )
else:
    __getattr__ = lazy(__name__, {name: f".{name}" for name in _MODULES})


check_values(__name__, {})
