"""`torch.nn.attention`: which kernel attention may use. There is one here, exact in all cases."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

from . import _switches

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "activate_flash_attention_impl",
           "current_flash_attention_impl", "list_flash_attention_impls",
           "register_flash_attention_impl", "restore_flash_attention_impl",
           "sdpa_kernel"]  # fmt: skip

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """A kernel of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


_SWITCH = {
    SDPBackend.FLASH_ATTENTION: ("flash_sdp_enabled", "enable_flash_sdp"),
    SDPBackend.EFFICIENT_ATTENTION: ("mem_efficient_sdp_enabled", "enable_mem_efficient_sdp"),
    SDPBackend.MATH: ("math_sdp_enabled", "enable_math_sdp"),
    SDPBackend.CUDNN_ATTENTION: ("cudnn_sdp_enabled", "enable_cudnn_sdp"),
}


def _cur_sdpa_kernel_backends() -> list[SDPBackend]:
    return [kind for kind, (get, _) in _SWITCH.items() if getattr(_switches, get)()]


@contextlib.contextmanager
def sdpa_kernel(
    backends: Iterable[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[object]:
    """A context in which only some kernels are allowed; results are the same.

    Raises:
        AssertionError: for anything but a kernel or a list of them.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    wanted = {backends} if isinstance(backends, SDPBackend) else set(backends)
    before = set(_cur_sdpa_kernel_backends())
    try:
        for kind, (_, enable) in _SWITCH.items():
            getattr(_switches, enable)(kind in wanted)
        yield {}
    finally:
        for kind, (_, enable) in _SWITCH.items():
            getattr(_switches, enable)(kind in before)


_registered: dict[str, Any] = {}


def register_flash_attention_impl(impl: str, *, register_fn: object) -> None:
    """Remembers how an implementation would be registered."""
    _registered[impl] = register_fn


def list_flash_attention_impls() -> list[str]:
    """The names of those that were registered."""
    return sorted(_registered)


def current_flash_attention_impl() -> str | None:
    """None: attention is Rushlight's own."""
    return None


def activate_flash_attention_impl(impl: str) -> None:
    """Raises ValueError: no other implementation can be used."""
    raise ValueError(
        f"Unknown flash attention impl '{impl}'. Available implementations: "
        f"{list_flash_attention_impls()}"
    )


def restore_flash_attention_impl() -> None:
    """Does nothing: attention is Rushlight's own."""
