"""`torch.accelerator`: the device that isn't the CPU, of which there is none."""

from __future__ import annotations

from typing import Any

from . import missing_devices as absent

_space = globals()
absent.refusing(
    _space, RuntimeError, "Cannot access accelerator device when none is available.",
    "Graph current_device_idx current_device_index current_stream empty_cache empty_host_cache "
    "get_device_capability get_memory_info max_memory_allocated max_memory_reserved "
    "memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats "
    "reset_peak_memory_stats set_device_idx set_device_index synchronize set_stream",
)  # fmt: skip


def is_available() -> bool:
    """False: there is no device but the CPU."""
    return False


def device_count() -> int:
    """0: there is no device but the CPU."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None: there is no device but the CPU."""
    return None


class device_index:
    """A context that selects a device by number; None selects nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError("Cannot access accelerator device when none is available.")

    def __exit__(self, *exc: object) -> None:
        return None


__all__ = absent.names(_space)  # noqa: PLE0605
