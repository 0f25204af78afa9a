"""Locks that an interrupt doesn't leave held."""

import random
import signal
from typing import Any

import pytest

from rushlight._base import fork_locks
from rushlight._compile.ir.run_lock import TURN


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
@pytest.mark.parametrize("make", [fork_locks.lock, fork_locks.long_lock, lambda: TURN.lock])
def test_an_interrupt_at_any_moment_leaves_no_lock_held(make: Any) -> None:
    lock = make()

    def hold() -> None:
        with lock, lock:
            pass

    rng = random.Random(5)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    held = 0
    try:
        for _ in range(600):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + rng.random() * 5e-5)
                while True:
                    hold()
            except KeyboardInterrupt:
                pass
            held += lock._is_owned()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        while lock._is_owned():
            lock.release()
    assert held == 0


def test_an_interrupt_while_a_lock_is_held_gives_back_what_the_block_took_alone() -> None:
    lock = fork_locks.lock()
    with lock:
        with pytest.raises(KeyboardInterrupt), lock:
            raise KeyboardInterrupt
        assert lock._is_owned()
    assert not lock._is_owned()
