"""Notes on errors that say where in the user's program something was asked for, and what to do.

A note is printed below the error's text, which stays PyTorch's to the letter.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Final, TypeVar

_FOLDER: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SITE: Final = os.path.join(os.path.dirname(os.path.dirname(_FOLDER)), "_rushlight_site.py")

_Error = TypeVar("_Error", bound=BaseException)


def place() -> str | None:
    """File and line of the innermost frame that isn't Rushlight's or the import system's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_FOLDER, "<frozen ")) and file != _SITE:
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def advise(error: _Error, what_to_do: str) -> _Error:
    """The error with a note: the line of the user's program, and what to do there."""
    where = place()
    error.add_note(f"Rushlight: {what_to_do}" + (f" (asked for at {where})" if where else ""))
    return error


def locate(error: _Error) -> _Error:
    """The error with a note that says which line of the user's program asked, where one did."""
    where = place()
    if where:
        error.add_note(f"Rushlight: asked for at {where}")
    return error
