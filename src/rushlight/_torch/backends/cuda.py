"""`torch.backends.cuda`, which isn't here: its switches are remembered.

The switches of attention kernels are read by nobody: there is one kernel, exact in all cases.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from ...nn.attention._switches import (
    cudnn_sdp_enabled,
    enable_cudnn_sdp,
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    math_sdp_enabled,
    mem_efficient_sdp_enabled,
)

_own: Any = sys.modules[__name__]
_reduced = False


def is_built() -> bool:
    """False: there is no CUDA here."""
    return False


class cuBLASModule:
    """Switches of matrix products on CUDA."""

    _SWITCHES = {
        "allow_tf32": False, "allow_fp16_reduced_precision_reduction": True,
        "allow_bf16_reduced_precision_reduction": True, "allow_fp16_accumulation": False,
        "fp32_precision": "none",
    }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name in self._SWITCHES:
            return self._SWITCHES[name]
        raise AttributeError("Unknown attribute " + name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._SWITCHES:
            raise AttributeError("Unknown attribute " + name)
        object.__setattr__(self, name, value)


class cuFFTPlanCacheManager:
    """The cache of plans of Fourier transforms on CUDA; there is none."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError("Torch not compiled with CUDA enabled")

    def __getitem__(self, device: int) -> NoReturn:
        raise RuntimeError(
            f"cufft_plan_cache: expected 0 <= device index < 0, but got device with index {device}"
        )


matmul = cuBLASModule()
cufft_plan_cache = cuFFTPlanCacheManager()


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What `allow_fp16_bf16_reduction_math_sdp` has set."""
    return _reduced


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allows sums in low precision."""
    _own._reduced = bool(enabled)


def is_flash_attention_available() -> bool:
    """False: there is no CUDA here."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """False: there is no CUDA here."""
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """False: there is no CUDA here."""
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """False: there is no CUDA here."""
    return False


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library for linear algebra on CUDA: none."""
    return "default"


def preferred_blas_library(backend: str | None = None) -> str:
    """The library for matrix products on CUDA: none."""
    return "default"


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[Any]:
    """A context in which some kernels of attention are allowed."""
    before = (
        flash_sdp_enabled(),
        math_sdp_enabled(),
        mem_efficient_sdp_enabled(),
        cudnn_sdp_enabled(),
    )
    try:
        _set(enable_flash, enable_math, enable_mem_efficient, enable_cudnn)
        yield {}
    finally:
        _set(*before)


def _set(flash: bool, math: bool, mem_efficient: bool, cudnn: bool) -> None:
    enable_flash_sdp(flash)
    enable_math_sdp(math)
    enable_mem_efficient_sdp(mem_efficient)
    enable_cudnn_sdp(cudnn)
