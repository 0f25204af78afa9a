"""`torch.backends.cudnn`, which isn't here: its switches are remembered."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from ..._base import dtypes as D
from ._switches import Precision, change, check_values

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"
depthwise_kernel = "auto"
conv = Precision("tf32")
rnn = Precision("tf32")
CUDNN_TENSOR_DTYPES = {D.float16, D.float32, D.float64}


def is_available() -> bool:
    """False: it isn't here."""
    return False


def version() -> int | None:
    """None: it isn't here."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False: no tensor is on a device that it computes on."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Sets those switches that are given; what all were before."""
    own: Any = sys.modules[__name__]
    before = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision,
              depthwise_kernel)  # fmt: skip
    for name, value in (
        ("enabled", _enabled), ("benchmark", _benchmark), ("deterministic", _deterministic),
        ("allow_tf32", _allow_tf32), ("depthwise_kernel", _depthwise_kernel),
    ):  # fmt: skip
        if value is not None:
            setattr(own, name, value)
    return before


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> AbstractContextManager[None]:
    """A context in which the switches have other values."""
    values = {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic,
              "allow_tf32": allow_tf32}  # fmt: skip
    return change(sys.modules[__name__], values)


check_values(
    __name__,
    {"enabled": "set_enabled_cudnn", "benchmark": "set_benchmark_cudnn",
     "deterministic": "set_deterministic_cudnn", "allow_tf32": "set_allow_tf32_cublas"},
)  # fmt: skip
