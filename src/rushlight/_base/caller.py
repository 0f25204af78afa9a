"""Warnings: at the line of the program that called into the package, and those given once."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Final

_FOLDER: Final = os.path.abspath(__file__).rpartition("_base")[0]


def warn_the_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns, at the line of the program that called into the package, however far out it is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
        level += 1
    warnings.warn(text, category, stacklevel=level)


_said: Final[set[str]] = set()


class Always:
    """Whether warnings of `say_once` are given every time; `settings` sets it."""

    on = False


def say_once(name: str, text: str) -> None:
    """Warns, unless it was done before under this name."""
    if name not in _said or Always.on:
        _said.add(name)
        warnings.warn(text, UserWarning, stacklevel=4)
