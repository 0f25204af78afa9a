"""The thread that goes on with messages nobody waits for."""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from rushlight.distributed.progress import Progress, RunningWork


class Slow(Progress):
    """Is interrupted between the end of a work and the next one of its line."""

    def _end(self, work: RunningWork, finished: list[RunningWork]) -> RunningWork | None:
        following = super()._end(work, finished)
        time.sleep(0.05)
        return following


def world() -> Any:
    mpi = SimpleNamespace(
        Request=SimpleNamespace(Testall=None),
        Query_thread=lambda: 2,
        THREAD_SERIALIZED=2,
        Exception=OSError,
    )
    return SimpleNamespace(lock=threading.RLock(), size=2, one_node=True, mpi=mpi, lost=None)


def test_the_next_of_a_line_is_driven_whoever_has_ended_the_one_before() -> None:
    for _ in range(5):
        progress = Slow(world())
        arrived = [False, False]

        def message(k: int, arrived: list[bool] = arrived) -> Any:
            yield lambda: arrived[k]

        line: deque[RunningWork] = deque()
        works = [
            RunningWork(progress, message(k), "all_reduce", [], timedelta(minutes=1))
            for k in range(2)
        ]
        for work in works:
            progress.start(work, line, waits=False)
        arrived[0] = True
        progress.advance()  # as whoever asks whether a work is completed does
        arrived[1] = True
        end = time.monotonic() + 10
        while not works[1].done and time.monotonic() < end:
            time.sleep(0.001)
        assert works[1].done
