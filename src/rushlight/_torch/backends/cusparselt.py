"""`torch.backends.cusparselt`, which isn't here."""

from __future__ import annotations


def is_available() -> bool:
    """False: it isn't here."""
    return False


def version() -> int | None:
    """None: it isn't here."""
    return None


def get_max_alg_id() -> int | None:
    """None: it isn't here."""
    return None
