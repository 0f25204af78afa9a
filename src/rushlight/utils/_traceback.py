"""Tracebacks: stacks kept for later, short texts of them, source of code that has no file."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import traceback
from itertools import count
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CapturedTraceback", "format_frame", "format_traceback_short",
    "report_compile_source_on_error", "shorten_filename",
]  # fmt: skip

_SOURCE: Final = "__compile_source__"
_numbers: Final = count()


class report_compile_source_on_error:
    """Lets tracebacks show the source of code whose globals hold it as `__compile_source__`."""

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, kind: object, error: BaseException | None, tb: object) -> None:
        if error is not None:
            error.__traceback__ = _with_sources(error.__traceback__)


def _with_sources(tb: TracebackType | None) -> TracebackType | None:
    if tb is None:
        return None
    rest, frame = _with_sources(tb.tb_next), tb.tb_frame
    source = frame.f_globals.get(_SOURCE)
    if isinstance(source, str):
        frame = _frame_in(source, frame)
    return TracebackType(rest, frame, -1 if isinstance(source, str) else tb.tb_lasti, tb.tb_lineno)


def _frame_in(source: str, frame: FrameType) -> FrameType:
    """A frame like another one, of code that lies in a file with this source."""
    name = f"<compiled source {next(_numbers)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    code = compile("frame = current()", name, "exec").replace(co_name=frame.f_code.co_name)
    held: dict[str, Any] = {"current": lambda: sys._getframe(1)}
    exec(code, held)
    found: FrameType = held.pop("frame")
    return found


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """A file's name without the folder that it shares with PyTorch's place, or with `base`."""
    folder = os.path.dirname(os.path.dirname(__file__)) if base is None else base
    try:
        return fn[len(os.path.commonpath([folder, fn])) + 1 :]
    except ValueError:
        return fn


def format_frame(
    frame: traceback.FrameSummary, *, base: str | None = None, line: bool = False
) -> str:
    """A frame in one line: file, line number and function; with `line` the source, too."""
    extra = f"{frame.line}  # " if line else ""
    place = shorten_filename(frame.filename, base=base)
    return f"{extra}{place}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb: TracebackType | None) -> str:
    """The last frame of a traceback, in one line."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """The stack at the place where it was taken, whose text is made when it is asked for."""

    __slots__ = ("skip", "tb")

    def __init__(self, tb: list[tuple[FrameType, int]] | None, skip: int = 0) -> None:
        self.tb = tb
        self.skip = skip

    @staticmethod
    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> CapturedTraceback:
        """The stack of the caller, without its `skip` innermost frames; Python's frames only."""
        if skip and (script or cpp):
            raise AssertionError("skip with script/cpp NYI")
        frame = inspect.currentframe()
        return CapturedTraceback(list(traceback.walk_stack(frame and frame.f_back))[::-1], skip)

    def summary(self) -> traceback.StackSummary:
        """The frames, the outermost first."""
        if self.tb is None:
            return traceback.StackSummary()
        held = self.tb[: len(self.tb) - self.skip]
        return traceback.StackSummary.extract(iter(held), lookup_lines=False)

    def format(self) -> list[str]:
        """The lines of the traceback."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs: Sequence[CapturedTraceback | None]) -> list[list[str] | None]:
        """The lines of several."""
        return [None if tb is None else tb.format() for tb in tbs]

    def cleanup(self) -> None:
        """Lets go of the frames."""
        self.tb = None
