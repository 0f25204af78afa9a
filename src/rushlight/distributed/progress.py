"""What drives messages on their way: works that are under way, and those who wait for them.

A collective is a generator. It posts messages, yields them, and goes on when they have arrived; MPI
moves the bytes, and `Progress` asks MPI how far it is. Who waits does this itself; where nobody
waits a thread does, so that what was started with `async_op` arrives while the program computes.

Whoever asks in vain sleeps, longer each time, and gives the core away: more ranks than cores don't
hold each other up.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from .errors import DistBackendError
from .lookout import LOOK, Lookout
from .work import Work

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .annotations import Pending
    from .world import World

__all__ = ["Progress", "RunningWork", "Steps"]

#: A collective: gives the requests that have to be done before it goes on, or a question that has
#: to be answered with true.
Steps = Generator["Pending", None, None]

_SPIN: Final = 0.0005  # seconds in which who waits only yields
_SPIN_CROWDED: Final = 0.00003  # the same where there are more ranks than cores
_FIRST_PAUSE: Final = 0.00002
_LONGEST_PAUSE: Final = 0.001


class RunningWork(Work):
    """A message that is under way."""

    def __init__(
        self, progress: Progress, steps: Steps, what: str, peers: Iterable[int],
        timeout: timedelta, tensors: Sequence[Tensor] = (),
    ) -> None:  # fmt: skip
        super().__init__(tensors)
        self.progress = progress
        self.steps = steps
        self.what = what
        self.peers = peers
        self.timeout = timeout
        self.requests: Pending = []
        self.line: deque[RunningWork] | None = None
        self.done = False

    def is_completed(self) -> bool:
        """Whether it has arrived, or failed."""
        if not self.done and self.progress.world.lost is None:
            self.progress.advance()
        return self.done

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Waits until it has arrived; raises why it has failed.

        Raises:
            RuntimeError: where it doesn't arrive within the timeout.
            DistBackendError: where a rank that takes part has gone.
        """
        if not self.done:
            self.progress.wait(self, timeout or self.timeout)
        if self.error is not None:
            raise self.error
        return True


class Progress:
    """The works of this process that are under way."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lock = world.lock
        self.active: list[RunningWork] = []
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self.spin = _SPIN if world.size <= cores or not world.one_node else _SPIN_CROWDED
        self._test_all = world.mpi.Request.Testall
        self._given_up: list[object] = []  # what MPI may still write to
        self._threaded = world.mpi.Query_thread() >= world.mpi.THREAD_SERIALIZED
        self._thread: threading.Thread | None = None
        self._busy = threading.Event()
        self._waiters = 0

    def start(self, work: RunningWork, line: deque[RunningWork] | None, waits: bool) -> RunningWork:
        """Posts a work's messages, after those before it in `line`; `waits`: who asked waits.

        Raises:
            Exception: what has made MPI useless.
        """
        if self.world.lost is not None:
            raise self.world.lost
        with self.lock:
            if line is not None:
                work.line = line
                line.append(work)
            finished: list[RunningWork] = []
            if line is None or len(line) == 1:
                self._run(work, finished)
        self._tell(finished)
        if not waits and not work.done and self._threaded:
            self._wake()
        return work

    def _run(self, work: RunningWork, finished: list[RunningWork]) -> None:
        """Runs a work until it has to wait, or has ended; then the next of its line."""
        following: RunningWork | None = work
        while following is not None:
            work, following = following, None
            try:
                while True:
                    work.requests = next(work.steps)
                    if not self._has_arrived(work):
                        if work not in self.active:
                            self.active.append(work)
                        return
            except StopIteration:
                pass
            except BaseException as error:
                work.error = self._name(error)
            following = self._end(work, finished)

    def _has_arrived(self, work: RunningWork) -> bool:
        requests = work.requests
        return bool(self._test_all(requests) if type(requests) is list else requests())

    def _name(self, error: BaseException) -> BaseException:
        if isinstance(error, self.world.mpi.Exception):
            self.world.look_for_the_gone()
            gone = "; ".join(self.world.gone.values())
            return DistBackendError(f"{gone or 'MPI'}: {error}")
        return error

    def _end(self, work: RunningWork, finished: list[RunningWork]) -> RunningWork | None:
        work.done = True
        work.requests = []
        if work in self.active:
            self.active.remove(work)
        finished.append(work)
        if work.line is None:
            return None
        work.line.popleft()
        return work.line[0] if work.line else None

    def _tell(self, finished: list[RunningWork]) -> None:
        for work in finished:
            work._tell_future()

    def advance(self) -> bool:
        """Goes on with every work whose messages have arrived; whether there was one."""
        finished: list[RunningWork] = []
        moved = False
        with self.lock:
            for work in tuple(self.active):
                try:
                    arrived = self._has_arrived(work)
                except BaseException as error:
                    work.error = self._name(error)
                    following = self._end(work, finished)
                    if following is not None:
                        self._run(following, finished)
                    continue
                if arrived:
                    moved = True
                    self._run(work, finished)
        self._tell(finished)
        return moved

    def wait(self, work: RunningWork, timeout: timedelta) -> None:
        """Drives all works until one has ended."""
        now = time.monotonic()
        begun, start, pause, looked = now, now, _FIRST_PAUSE, now
        lookout: Lookout | None = None
        self._waiters += 1
        try:
            while not work.done:
                if self.world.lost is not None:
                    self._fail(work, self.world.lost)
                    return
                if self.advance():
                    start, pause = time.monotonic(), _FIRST_PAUSE
                    continue
                now = time.monotonic()
                if now - start < self.spin:
                    os.sched_yield()
                    continue
                time.sleep(pause)
                pause = min(pause * 1.3, _LONGEST_PAUSE)
                if now - looked > LOOK:
                    looked = now
                    if lookout is None:
                        lookout = Lookout(self.world, work.what, work.peers, timeout, begun)
                    in_vain = lookout.look(now)
                    if in_vain is not None:
                        self.world.give_up(in_vain)
                        self._fail(work, in_vain)
        finally:
            self._waiters -= 1

    def _fail(self, work: RunningWork, error: BaseException) -> None:
        """Gives a work up, and with it those that wait for it in its line."""
        finished: list[RunningWork] = []
        with self.lock if self.world.lost is None else contextlib.nullcontext():
            failed = [work] if work.line is None else list(work.line)
            for one in failed:
                one.error, one.done = error, True
                self._given_up.append((one.steps, one.requests))
                if one in self.active:
                    self.active.remove(one)
            if work.line is not None:
                work.line.clear()
            finished += failed
        self._tell(finished)

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._drive, name="messages", daemon=True)
            self._thread.start()
        self._busy.set()

    def _drive(self) -> None:
        """The thread: goes on with works that nobody waits for."""
        pause = _FIRST_PAUSE
        while True:
            with self.lock:  # without it, none is active between the end of one and the next
                if not self.active:
                    self._busy.clear()
            if not self._busy.is_set():
                self._busy.wait()
                pause = _FIRST_PAUSE
            if self._waiters or not self.advance():
                time.sleep(pause)
                pause = min(pause * 1.3, _LONGEST_PAUSE)
            else:
                pause = _FIRST_PAUSE
