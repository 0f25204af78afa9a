"""`torch.backends`: the libraries that PyTorch computes with, and their switches.

Rushlight computes with NumPy, so switches are remembered and change nothing.
"""

from __future__ import annotations

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


__getattr__ = lazy(__name__, {name: f".{name}" for name in _MODULES})


check_values(__name__, {})
