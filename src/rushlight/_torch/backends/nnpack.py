"""`torch.backends.nnpack`: says what PyTorch's builds for the CPU say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


def is_available() -> bool:
    """True, as in PyTorch's builds for the CPU."""
    return True


@contextlib.contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A context in which the library would be used, or not; nothing changes here."""
    yield


def set_flags(_enabled: bool) -> tuple[bool]:
    """Remembers nothing: the library isn't used."""
    return (True,)
