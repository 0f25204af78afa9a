"""Whether another thread may come upon what a recording puts into the user's places.

Note [Seen by one thread]
A number that stands for another (see Note [Numbers that change]) lies in the user's own object,
dictionary, list, closure or module while the step is recorded: whoever looks there finds it. So it
is put there only while no other thread runs code of the user's; else the step stays eager, and is
recorded at a later call. It doesn't matter what such a thread does at the moment: what it waits for
may be what the step is about to do. Two kinds don't count: one that waits for this thread to end,
and one in which only Python's and installed packages' code runs, as behind notebooks and progress
bars. A callback that such a thread gets may still find a number of a recording's: on another thread
than its own that answers as a number and notes nothing.
"""

from __future__ import annotations

import sys
from threading import Thread, get_ident
from types import FrameType
from typing import Final

from ..refusal import is_installed, is_rushlight

_STARTING: Final = Thread.run.__code__.co_filename
_WAITING: Final = getattr(getattr(Thread, "_wait_for_tstate_lock", None), "__code__", None)
_JOINING: Final = Thread.join.__code__


def others_run() -> bool:
    """Whether a thread other than this one runs code of the user's."""
    mine = get_ident()
    frames = sys._current_frames()
    return any(k != mine and _may_look(frame, mine) for k, frame in frames.items())


def _may_look(frame: FrameType, mine: int) -> bool:
    inner = frame.f_back if frame.f_code is _WAITING else frame
    if inner is not None and inner.f_code is _JOINING:
        waiting = inner.f_locals
        if waiting["self"].ident == mine and waiting["timeout"] is None:
            return False
    named = {x for x in _files(frame) if x != _STARTING}
    return not named or not all(is_installed(x) or is_rushlight(x) for x in named)


def _files(frame: FrameType | None) -> set[str]:
    found: set[str] = set()
    while frame is not None:
        found.add(frame.f_code.co_filename)
        frame = frame.f_back
    return found
