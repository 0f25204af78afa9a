"""`torch.backends.mkldnn`: its switches are remembered; Rushlight computes without it."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from ._switches import Precision, change, check_values

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
enabled = True
deterministic = False
allow_tf32: bool | None = None
fp32_precision = "none"
conv, matmul, rnn = Precision("none"), Precision("none"), Precision("none")


def is_available() -> bool:
    """True, as in PyTorch's builds for the CPU: programs that ask go on."""
    return True


def is_acl_available() -> bool:
    """False: there is no Arm library."""
    return False


class verbose:
    """A context in which the library would tell what it does; nothing is told here."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        return None


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[Any, ...]:
    """Sets those switches that are given; what all were before."""
    own: Any = sys.modules[__name__]
    before = (enabled, deterministic, allow_tf32, fp32_precision)
    for name, value in (("enabled", _enabled), ("deterministic", _deterministic)):
        if value is not None:
            setattr(own, name, value)
    return before


def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """A context in which the switches have other values."""
    return change(sys.modules[__name__], {"enabled": enabled, "deterministic": deterministic})


check_values(
    __name__, {"enabled": "set_enabled_mkldnn", "deterministic": "set_deterministic_mkldnn"}
)
