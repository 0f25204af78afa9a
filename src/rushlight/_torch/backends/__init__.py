"""`torch.backends`: the libraries that PyTorch computes with, and their switches.

Rushlight computes with NumPy, so switches are remembered and change nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._switches import checked

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


def __getattr__(name: str) -> Any:
    """Loads a submodule when it is first asked for."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


checked(__name__, {})
