"""What a rank looks for while it waits: ranks that have gone, others that ask, and the timeout."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from .errors import DistBackendError

if TYPE_CHECKING:
    from .world import World

__all__ = ["LOOK", "Lookout", "watch"]

T = TypeVar("T")

LOOK: Final = 0.05  # seconds between looks
_GRACE: Final = 1.0  # seconds in which what a rank sent before it went may still arrive
_ASK: Final = 1.0  # seconds before a timeout at which a rank asks what the others wait for


class Lookout:
    """The looks of a rank that waits, since `begun`, for something in which `peers` take part."""

    def __init__(
        self, world: World, what: str, peers: Iterable[int], timeout: timedelta, begun: float
    ) -> None:
        self.world = world
        self.what = what
        self.peers = peers
        self.timeout = timeout
        seconds = timeout.total_seconds()
        self._end = begun + seconds
        self._ask_at = self._end - min(_ASK, seconds / 4)
        self._asked_at = 0.0
        self._heard = world.asked
        self._gone_since = 0.0

    def look(self, now: float) -> Exception | None:
        """Why it is in vain to wait on; None where it isn't."""
        gone = self._find_gone()
        if gone and not self._gone_since:
            self._gone_since = now
        elif gone and now - self._gone_since > _GRACE:
            return DistBackendError(f"{self.what}: {'; '.join(gone)}")
        elif now > self._end:
            return self._late()
        elif now > self._ask_at and not self._asked_at:
            self._asked_at = now
            self.world.say_waiting(self.what, True)
        elif self.world.asked != self._heard:
            self._heard = self.world.asked
            self.world.say_waiting(self.what, False)
        return None

    def _find_gone(self) -> list[str]:
        self.world.look_for_the_gone()
        gone = {rank: text for rank, text in self.world.gone.items() if rank in self.peers}
        failed = [text for text in gone.values() if "unexpectedly" in text]
        return failed or list(gone.values())

    def _late(self) -> RuntimeError:
        milliseconds = int(self.timeout.total_seconds() * 1000)
        late = f"Timed out waiting {milliseconds}ms for {self.what} to complete"
        if not self.world.watches():
            return RuntimeError(late)
        reports = []
        for rank in self.peers:
            if rank == self.world.rank:
                continue
            when, what = self.world.waits.get(rank, (-math.inf, ""))
            if when < self._asked_at - 2 * _ASK:
                reports.append(f"rank {rank} doesn't wait: it computes, hangs, or was stopped")
            elif what != self.what:
                reports.append(f"rank {rank} waits for {what}")
        alike = "all its ranks wait for it: TORCH_DISTRIBUTED_DEBUG=DETAIL says how they differ"
        return RuntimeError(f"{late}: {'; '.join(reports) or alike}")


def watch(
    world: World, call: Callable[[], T], what: str, peers: Iterable[int], timeout: timedelta
) -> T:
    """What a call of MPI gives that waits for other ranks, where they come.

    A thread makes the call. Where it is given up MPI is still in it, and can't be used any more.

    Raises:
        DistBackendError: where one of the ranks has gone.
        RuntimeError: where they don't come within the timeout.
    """
    if world.lost is not None:
        raise world.lost
    given: list[T] = []
    failed: list[BaseException] = []
    ended = threading.Event()

    def make_the_call() -> None:
        try:
            with world.lock:
                given.append(call())
        except BaseException as error:
            failed.append(error)
        ended.set()

    lookout = Lookout(world, what, peers, timeout, time.monotonic())
    threading.Thread(target=make_the_call, name=what, daemon=True).start()
    try:
        while not ended.wait(LOOK):
            in_vain = lookout.look(time.monotonic())
            if in_vain is not None:
                raise in_vain
    except BaseException as error:
        lost = error if isinstance(error, Exception) else None
        world.lost = lost or DistBackendError(f"{what}: was interrupted")
        world.give_up(world.lost)
        raise
    if failed:
        raise failed[0]
    return given[0]
