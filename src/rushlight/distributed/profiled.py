"""What a profile shows of messages: the call that asks for one, and the time it is on its way."""

from __future__ import annotations

import contextlib
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from ..autograd.recording import OPERATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..autograd.recording import Event, Recorder
    from .progress import Steps

__all__ = ["profile"]

#: By what is asked for, the operation as PyTorch's profiler shows it.
_OPERATIONS: Final = {
    "all_reduce": "allreduce_", "broadcast": "broadcast_", "reduce": "reduce_",
    "all_gather": "allgather_", "gather": "gather_", "scatter": "scatter_",
    "reduce_scatter": "reduce_scatter_", "all_to_all": "alltoall_", "recv": "recv_",
}  # fmt: skip


@contextlib.contextmanager
def profile(recorder: Recorder, what: str, steps: Steps) -> Iterator[Steps]:
    """A span for who asks for a message, and steps that measure how long it takes."""
    asking = recorder.begin(f"c10d::{_OPERATIONS.get(what, what)}", OPERATION)
    try:
        yield _measure(recorder.aside(f"gloo:{what}"), steps)
    finally:
        recorder.leave(asking)


def _measure(event: Event, steps: Steps) -> Steps:
    """The steps, from the first one, before which others of the group have arrived."""
    event.start = perf_counter_ns()
    yield from steps
    event.end = perf_counter_ns()
