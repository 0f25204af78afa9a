"""`torch.backends.openmp`: says what PyTorch's builds for the CPU say."""

from __future__ import annotations


def is_available() -> bool:
    """True, as in PyTorch's builds for the CPU."""
    return True
