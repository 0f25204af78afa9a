"""Warnings at the line of the program that called into the package."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Final

_FOLDER: Final = os.path.abspath(__file__).rpartition("_base")[0]


def warn_the_caller(text: str) -> None:
    """Warns, at the line of the program that called into the package, however far out it is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
        level += 1
    warnings.warn(text, UserWarning, stacklevel=level)
