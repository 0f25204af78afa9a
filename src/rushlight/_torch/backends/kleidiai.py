"""`torch.backends.kleidiai`: says what PyTorch's builds for the CPU say."""

from __future__ import annotations


def is_available() -> bool:
    """False, as in PyTorch's builds for the CPU."""
    return False
