"""`torch.distributed.rpc`: calls between processes. There is one process: none is made."""

from __future__ import annotations

from typing import NoReturn

from .._base.error_notes import advise

__all__ = ["RRef", "init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"]


def is_available() -> bool:
    """False: there is one process."""
    return False


def _refuse(*args: object, **kwargs: object) -> NoReturn:
    raise advise(
        RuntimeError("torch.distributed.rpc calls functions in other processes"),
        "Rushlight runs in one process: call the function",
    )


class RRef:
    """Raises: a value that another process would hold.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        _refuse()


init_rpc = rpc_async = rpc_sync = remote = shutdown = _refuse
