"""`torch.backends.mps`, which isn't here."""

from __future__ import annotations


def is_built() -> bool:
    """False: it isn't here."""
    return False


def is_available() -> bool:
    """False: it isn't here."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Raises RuntimeError: it isn't here."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Raises RuntimeError: it isn't here."""
    return is_macos_or_newer(13, minor)
