"""`torch.backends.mkl`: says what PyTorch's builds for the CPU say."""

from __future__ import annotations

from typing import Any

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """True, as in PyTorch's builds for the CPU: programs that ask go on."""
    return True


class verbose:
    """A context in which the library would tell what it does; nothing is told here."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        return None
