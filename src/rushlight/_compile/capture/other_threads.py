"""Whether another thread may come upon what a recording puts into the user's places.

Note [Seen by one thread]
While a step is recorded, a number that stands for another (see Note [Numbers that change]) lies in
the user's own object, dictionary, list, closure or module, where any thread finds it. So it is put
there only while no other thread runs the user's code; else the step stays eager and is recorded at
a later call. It doesn't help that such a thread is waiting: it may be for what the step does next.

Two kinds of threads don't count: those that wait for this one to end, and those in which only code
of Python's and of installed packages runs, as behind notebooks and progress bars. A callback of the
latter may still find such a number; on another thread than the recording's, the number answers as a
plain one and notes nothing.
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
