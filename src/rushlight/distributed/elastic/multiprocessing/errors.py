"""How a process that torchrun has started tells of its error: by a file that torchrun names."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from ...._base.atomic_files import write_whole

__all__ = ["ErrorHandler", "record"]

F = TypeVar("F", bound=Callable[..., Any])


class ErrorHandler:
    """Writes an error to the file that `TORCHELASTIC_ERROR_FILE` names; without it, nothing."""

    def initialize(self) -> None:
        """Does nothing: faults are shown by Python itself."""

    def record_exception(self, error: BaseException) -> None:
        """Writes the error's text, its traceback and the time as JSON."""
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if not path:
            return
        told = {
            "message": f"{type(error).__name__}: {error}",
            "extraInfo": {
                "py_callstack": "".join(traceback.format_exception(error)),
                "timestamp": str(int(time.time())),
            },
        }
        text = json.dumps({"message": told}).encode()
        write_whole(path, lambda file: file.write(text))


def record(fn: F, error_handler: ErrorHandler | None = None) -> F:
    """`fn`, whose errors are written down where torchrun looks for them, then raised again."""
    handler = error_handler or ErrorHandler()

    @functools.wraps(fn)
    def told(*args: object, **kwargs: object) -> object:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code == 0:
                raise
            handler.record_exception(error)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return told  # type: ignore[return-value]
