"""`torch.distributed.autograd`: backward through calls to other processes, of which none are."""

from __future__ import annotations

from typing import NoReturn

from .._base.error_notes import advise

__all__ = ["DistAutogradContext", "backward", "context", "get_gradients", "is_available"]


def is_available() -> bool:
    """False: there is one process."""
    return False


def _refuse() -> NoReturn:
    raise advise(
        RuntimeError("torch.distributed.autograd sends gradients to other processes"),
        "Rushlight runs in one process: call backward()",
    )


class context:
    """Raises: there is one process.

    Raises:
        RuntimeError: always.
    """

    def __init__(self) -> None:
        _refuse()


class DistAutogradContext(context):
    """Raises: there is one process."""


def backward(*args: object, **kwargs: object) -> NoReturn:
    """Raises RuntimeError: there is one process."""
    _refuse()


def get_gradients(context_id: int) -> NoReturn:
    """Raises RuntimeError: there is one process."""
    _refuse()
