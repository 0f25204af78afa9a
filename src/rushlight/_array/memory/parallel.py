"""Chunks of work, and large sums, on several threads.

NumPy gives up the interpreter lock inside its loops, so two Python threads each running a ufunc
over half of a large array really run side by side. Handing over the work costs 6 µs. Many short
ufunc calls on each thread do not gain: they queue for the interpreter lock.

Note [A call ends when its chunks are done]
An array is cut into chunks; the caller and the workers each claim the next one until none is left.
The caller waits for chunks that were claimed, never for a worker that has not woken up: on a busy
machine it simply does all of them itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from ..._base.fork_locks import in_child, lock as make_lock

if TYPE_CHECKING:
    from queue import SimpleQueue

    from ..annotations import Array

# Sums by BLAS, in rows of so many elements, are four times faster than NumPy's and as exact. A
# chunk is the largest that BLAS does not split over threads of its own.
_SUM_LIMIT = 8192
_SUM_ROW = 512
_SUM_CHUNK = 262_144


def _default_threads() -> int:
    for name in ("RUSHLIGHT_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0:
            return int(text)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


_threads = _default_threads()


class _Job:
    """The chunks of one call. See Note [A call ends when its chunks are done]."""

    __slots__ = ("body", "claim", "chunks", "complete", "context", "error", "finished")

    def __init__(self, chunks: int, body: Callable[[int], None], context: Context) -> None:
        self.chunks = chunks
        self.body = body
        self.context = context
        # `next` on a count is atomic: no lock is needed to claim a chunk or to count finished ones.
        self.claim = count().__next__
        self.finished = count(1).__next__
        self.complete = threading.Lock()
        self.complete.acquire()
        self.error: BaseException | None = None

    def work(self) -> None:
        while True:
            chunk = self.claim()
            if chunk >= self.chunks:
                return
            try:
                if self.error is None:
                    self.body(chunk)
            except BaseException as error:
                self.error = error
            finally:
                if self.finished() == self.chunks:
                    self.complete.release()

    def work_in_context(self) -> None:
        # NumPy's error state is context-local: a worker must warn or raise as the caller would.
        # A context can be entered by one thread at a time, hence the copy.
        self.context.copy().run(self.work)


class _Pool:
    __slots__ = ("queue", "size")

    def __init__(self, size: int) -> None:
        from queue import SimpleQueue

        self.queue: SimpleQueue[_Job | None] = SimpleQueue()
        self.size = size
        for number in range(size):
            threading.Thread(
                target=_serve, args=(self.queue,), name=f"rushlight-{number}", daemon=True
            ).start()

    def close(self) -> None:
        for _ in range(self.size):
            self.queue.put(None)


def _serve(queue: SimpleQueue[_Job | None]) -> None:
    while True:
        job = queue.get()
        if job is None:
            return
        job.work_in_context()
        # An idle worker must not keep the arrays of the last call alive.
        del job


_pool: _Pool | None = None
_pool_lock = make_lock()
_busy = threading.Lock()


def _after_fork() -> None:
    # Threads don't survive a fork, nor do the calls that they were in.
    global _pool, _busy
    _pool = None
    _busy = threading.Lock()


in_child(_after_fork)


def get_num_threads() -> int:
    """The number of threads, the caller's included, that large calls use."""
    return _threads


def set_num_threads(number: int) -> None:
    """Sets the number of threads that large calls use; 1 turns splitting off.

    Raises: RuntimeError for a number below 1.
    """
    global _threads, _pool
    if number < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    with _pool_lock:
        _threads = number
        if _pool is not None and _pool.size != number - 1:
            _pool.close()
            _pool = None


def _workers() -> _Pool | None:
    global _pool
    if _pool is None:
        with _pool_lock:
            if _pool is None:
                try:
                    _pool = _Pool(_threads - 1)
                except (
                    RuntimeError
                ):  # no thread can be started, as while the interpreter shuts down
                    return None
    return _pool


def run_chunks(chunks: int, body: Callable[[int], None]) -> None:
    """Runs body(0) ... body(chunks - 1), each once, on the caller's and the worker threads.

    Raises: what a body raised, after every chunk that was begun has ended.
    """
    # A call within a chunk, or beside another thread's, runs where it is.
    if _threads > 1 and chunks > 1 and _busy.acquire(blocking=False):
        busy = _busy
        try:
            pool = _workers()
            if pool is not None:
                job = _Job(chunks, body, copy_context())
                for _ in range(min(pool.size, chunks - 1)):
                    pool.queue.put(job)
                job.work()
                job.complete.acquire()
                if job.error is not None:
                    raise job.error
                return
        finally:
            busy.release()
    for chunk in range(chunks):
        body(chunk)


def parallel_sum(x: Array) -> Array:
    """The sum of all elements of a float32 or float64 array, as a 0-d array of its dtype.

    The chunks are the same for every number of threads, so is the result. Other dtypes, small
    arrays and ones that are not C-contiguous go to NumPy.
    """
    size = x.size
    if size < _SUM_LIMIT or x.dtype not in (np.float32, np.float64) or not x.flags.c_contiguous:
        return np.asarray(np.add.reduce(x, axis=None))
    flat = x.reshape(-1)
    ones = np.ones(_SUM_ROW, x.dtype)
    chunks = -(-size // _SUM_CHUNK)
    partial = np.empty(chunks, np.float64)

    def body(chunk: int) -> None:
        piece = flat[chunk * _SUM_CHUNK : (chunk + 1) * _SUM_CHUNK]
        even = piece.size - piece.size % _SUM_ROW
        rows = piece[:even].reshape(-1, _SUM_ROW) @ ones
        partial[chunk] = np.add.reduce(rows, dtype=np.float64) + np.add.reduce(piece[even:])

    with np.errstate(all="ignore"):
        if chunks < 3:
            for chunk in range(chunks):
                body(chunk)
        else:
            run_chunks(chunks, body)
        return np.asarray(np.add.reduce(partial)).astype(x.dtype)
