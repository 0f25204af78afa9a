"""`torch.cuda` where there is none: what programs ask before they stay on the CPU."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "init", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """False: there is no CUDA here."""
    return False


def is_initialized() -> bool:
    """False: there is no CUDA here."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no CUDA here."""
    return False


def device_count() -> int:
    """0: there is no CUDA here."""
    return 0


def manual_seed(seed: int) -> None:
    """Does nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Does nothing: there is no generator to seed."""


def empty_cache() -> None:
    """Does nothing: there is no cache."""


def _refuse() -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


def init() -> None:
    """Raises AssertionError: there is no CUDA here."""
    _refuse()


def current_device() -> int:
    """Raises AssertionError: there is no CUDA here."""
    _refuse()


def synchronize(device: Any = None) -> None:
    """Raises AssertionError: there is no CUDA here."""
    _refuse()


def get_device_name(device: Any = None) -> str:
    """Raises AssertionError: there is no CUDA here."""
    _refuse()
