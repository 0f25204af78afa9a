"""The processes that read a dataset: what runs in each, and how its errors come back."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import random
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...._array.memory import collation as batches
from ...._base.lazy import lazy
from ....random import manual_seed
from .transport import Letter, seal

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


__all__ = ["Caught", "Ended", "Resume", "Setup", "WorkerInfo", "get_worker_info", "run"]

# How often a waiting worker looks whether its loader is still there.
PATIENCE = 1.0
# The four words that a worker's NumPy stream starts from, under the name that packages ask for.
_generate_state = batches.worker_state
# The number of the answer that says that a worker has begun a new epoch.
RESUMED = -1


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: `id`, `num_workers`, `seed`, and its copy of `dataset`.

    PyTorch's fields for workers that are threads are there, and say that these are processes.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What this worker of a loader knows of itself; None in the main process.

    Returns: WorkerInfo or None: with `id`, `num_workers`, `seed` and `dataset`.
    Example:
        >>> torch.utils.data.get_worker_info() is None
        True
    """
    return _info


# `_worker_info`, by which packages reach what `get_worker_info` tells.
__getattr__ = lazy(__name__, find=lambda name: {"_worker_info": _info}[name])


class KeyErrorMessage(str):
    """The text of a KeyError, which would otherwise be shown with its line breaks escaped."""

    def __repr__(self) -> str:
        return str(self)


class Caught:
    """An error in a worker, as text: its class, and the traceback that only the worker has."""

    def __init__(self, where: str) -> None:
        kind, error, trace = sys.exc_info()
        assert kind is not None
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where
        try:
            pickle.dumps(kind)
        except Exception:
            # A class that nobody else can find: its text is all that can be sent.
            self.exc_type = RuntimeError

    def reraise(self) -> None:
        """Raises the error here, with the worker's traceback in its message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(KeyErrorMessage(message))
        if getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:
            # A class that can't be made of a message alone.
            raise RuntimeError(message) from None
        raise error


class Ended(NamedTuple):
    """Says that a worker's iterable has run out."""

    worker: int


class Resume:
    """Says that a new epoch begins."""


class Setup(NamedTuple):
    """What a worker is told at its start."""

    worker: int
    workers: int
    dataset: Any
    share: Callable[..., object] | None  # has a pipe of data take its part
    fetch: Callable[..., Callable[[Any], Any]]
    base_seed: int
    init: Callable[[int], Any] | None
    parent: int
    iterable: bool


def _name_process(name: str, prepare: Callable[[], None] | None) -> str:
    """A process's name; made in the child, where `torch` first comes to mean Rushlight too."""
    if prepare is not None:
        prepare()
    return name


class ProcessName(str):
    """The name of a worker's process.

    A process that doesn't begin as a copy of its parent is told its name before it imports the
    program, so unpickling the name is the moment to say what `torch` means.
    """

    def __reduce__(self) -> tuple[object, ...]:
        as_torch = sys.modules.get("torch") is sys.modules["rushlight"]
        alias = sys.modules.get("rushlight._torch.alias") if as_torch else None
        return _name_process, (str(self), getattr(alias, "install_as_torch", None))


class _Sender:
    """Sends what a worker has made from a thread, so that it reads on meanwhile."""

    def __init__(self, pipe: object) -> None:
        self._pipe = pipe
        self._waiting: queue.SimpleQueue[Letter | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def _send(self) -> None:
        # The loader may have gone.
        with contextlib.suppress(OSError):
            while (letter := self._waiting.get()) is not None:
                letter.send(self._pipe)

    def put(self, number: int, answer: object, where: str) -> None:
        """Pickles now, so that the dataset may change its arrays afterwards."""
        try:
            letter = seal((number, answer))
        except Exception:
            letter = seal((number, Caught(where)))
        self._waiting.put(letter)

    def finish(self) -> None:
        """Waits until all has been sent."""
        self._waiting.put(None)
        self._thread.join()


def run(setup: Setup, orders: Connection, pipe: object, done: Any) -> None:
    """A worker: takes orders (number, keys), sends (number, batch), until told None."""
    global _info
    seed = setup.base_seed + setup.worker
    random.seed(seed)
    manual_seed(seed)
    batches.seed_worker(setup.base_seed, setup.worker)
    _info = WorkerInfo(setup.worker, setup.workers, seed, setup.dataset)
    results = _Sender(pipe)
    failed: Caught | None = None
    fetch: Callable[[Any], Any] | None = None
    where = f"in DataLoader worker process {setup.worker}"
    try:
        if setup.share is not None:
            setup.share(setup.dataset, setup.workers, setup.worker)
        if setup.init is not None:
            setup.init(setup.worker)
        fetch = setup.fetch(setup.dataset)
    except Exception:
        failed = Caught(where)
    ended = False
    try:
        while True:
            if not orders.poll(PATIENCE):
                if done.is_set() or os.getppid() != setup.parent:
                    break
                continue
            order = orders.recv()
            if isinstance(order, Resume):
                results.put(RESUMED, None, where)
                ended = False
                if failed is None:
                    try:
                        fetch = setup.fetch(setup.dataset)
                    except Exception:
                        failed = Caught(where)
                continue
            if order is None or done.is_set():
                break
            if ended:
                continue
            number, keys = order
            answer: Any
            if failed is not None:
                answer, failed = failed, None
            else:
                try:
                    assert fetch is not None
                    answer = fetch(keys)
                except Exception as error:
                    if setup.iterable and isinstance(error, StopIteration):
                        answer = Ended(setup.worker)
                        ended = True
                    else:
                        answer = Caught(where)
            results.put(number, answer, where)
            del answer
    except (KeyboardInterrupt, EOFError, OSError):
        pass
    if not done.is_set():
        results.finish()
