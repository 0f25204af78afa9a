"""Why a step runs eagerly, and where in the user's file."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any, Final

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD: Final = sysconfig.get_paths()["stdlib"] + os.sep
_INSTALLED: Final = ("site-packages", "dist-packages")
_GUESTS: Final = ("numpy", "scipy", "ml_dtypes", "llvmlite")
_ARRAYS: Final = tuple(f"{os.sep}{name}{os.sep}" for name in _GUESTS)


class TorchDynamoException(RuntimeError):
    """An error of a capture."""


class InvalidBackend(TorchDynamoException):
    """A backend that nobody knows."""


class Refusal(Exception):
    """A step can't be compiled."""

    def __init__(self, why: str, where: Any = None) -> None:
        super().__init__(why)
        self.why = why
        self.where = where

    def __str__(self) -> str:
        if self.where is None or self.where[0] is None:
            return self.why
        return f"{self.why} ({self.where[0]}:{self.where[1]})"


class Unreached(Refusal):
    """Code ran that the step doesn't name; code that fills a cache runs in the first calls only."""


def is_standard(filename: str) -> bool:
    """Whether a file belongs to Python's own library."""
    if filename.startswith("<frozen"):
        return True
    return filename.startswith(_STANDARD) and not any(name in filename for name in _INSTALLED)


def is_installed(filename: str) -> bool:
    """Whether a file belongs to Python's own library or to an installed package."""
    return is_standard(filename) or any(name in filename for name in _INSTALLED)


def is_rushlight(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return filename.startswith(PACKAGE)


def is_library(filename: str) -> bool:
    """Whether a file belongs to Rushlight, to an array library or to Python."""
    if filename.startswith(PACKAGE) or is_standard(filename):
        return True
    return any(name in filename for name in _INSTALLED) and any(n in filename for n in _ARRAYS)


def user_line() -> tuple[str, int] | None:
    """File and line of the innermost frame of the user's program."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None
