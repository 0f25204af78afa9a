"""`torch._dynamo.utils`: what packages ask before they compile."""

from __future__ import annotations

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: str) -> bool:
    """False: loops written for a compiler run better through operations here."""
    return False
