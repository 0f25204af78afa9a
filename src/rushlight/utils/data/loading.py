"""One run through a loader: in this process, or by workers whose batches are put in order."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import wait
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from ...random import Generator
from ._utils import worker as W
from ._utils.fetch import fetch_of
from ._utils.transport import SHARES, receive
from .datapipes.datapipe import IterDataPipe
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph_settings import apply_random_seed, apply_sharding
from .sampler import draw_seed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from .graph import DataPipe


__all__ = ["Loading", "SingleProcess", "Workers"]


# What PyTorch calls them.
_NAMES = {
    "Loading": "_BaseDataLoaderIter",
    "SingleProcess": "_SingleProcessDataLoaderIter",
    "Workers": "_MultiProcessingDataLoaderIter",
}
# How long a worker may take to end before it is made to.
PATIENCE = 5.0


def _send(orders: Connection, order: object) -> None:
    """Sends an order; that a worker has gone is noticed where its batch is awaited."""
    with contextlib.suppress(OSError):
        orders.send(order)


def _end_of(process: BaseProcess) -> RuntimeError | None:
    """How a worker has ended that its loader didn't end: None where it doesn't say."""
    process.join(1.0)
    who, code = f"DataLoader worker (pid {process.pid})", process.exitcode
    if not code:
        return None
    if code > 0:
        return RuntimeError(
            f"{who} exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )
    text = f"{who} is killed by signal: {signal.strsignal(-code)}. "
    if -code == getattr(signal, "SIGBUS", None):
        text += (
            "It is possible that dataloader's workers are out of shared memory. Please try to "
            "raise your shared memory limit."
        )
    return RuntimeError(text)


def _share(pipe: DataPipe, workers: int, worker: int) -> None:
    apply_sharding(pipe, workers, worker, SHARDING_PRIORITIES.MULTIPROCESSING)


def _as_it_is(loader: Any) -> Any:
    """The loader as it is now, which doesn't keep its workers: they end when it goes."""
    own = object.__new__(type(loader))
    own.__dict__.update(loader.__dict__, _iterator=None)
    return own


class Loading(Iterator[Any]):
    """The batches of one run."""

    def __init__(self, loader: Any) -> None:
        self.loader = _as_it_is(loader)
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                UserWarning,
                stacklevel=3,
            )
        self._seed_steps()
        self._base_seed = draw_seed(loader.generator)
        self._begin()

    def _seed_steps(self) -> None:
        """Gives the steps of a data pipe that draw seeds for this run, one for all workers."""
        if isinstance(self.loader.dataset, IterDataPipe):
            seed = draw_seed(self.loader.generator)
            apply_random_seed(self.loader.dataset, Generator().manual_seed(seed))

    def _begin(self) -> None:
        self._sampler_iter = iter(self.loader._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called: int | None = self.loader._IterableDataset_len_called

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def __getstate__(self) -> object:
        raise NotImplementedError(
            "{} cannot be pickled", _NAMES.get(type(self).__name__, type(self).__name__)
        )

    def _next(self) -> object:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next()
        self._num_yielded += 1
        if (
            self.loader._dataset_kind == 1
            and self._IterableDataset_len_called is not None
            and self._num_yielded > self._IterableDataset_len_called
        ):
            self._warn_of_length()
        return batch

    def _warn_of_length(self) -> None:
        text = (
            f"Length of IterableDataset {self.loader.dataset} was reported to be "
            f"{self._IterableDataset_len_called}(when accessing len(dataloader)), but "
            f"{self._num_yielded} samples have been fetched. "
        )
        if self.loader.num_workers:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly "
                "configuring the IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for "
                "examples."
            )
        warnings.warn(text, stacklevel=3)


class SingleProcess(Loading):
    """Batches read where they are used."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetch = fetch_of(loader)(loader.dataset)

    def _next(self) -> object:
        return self._fetch(next(self._sampler_iter))


class Workers(Loading):
    """Batches read by processes.

    Orders are numbered and go round the workers; batches that come too early wait in `_early`.
    """

    def __init__(self, loader: Any) -> None:
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._down = False
        self._parent = os.getpid()
        self._workers: list[Any] = []
        super().__init__(loader)
        if loader.prefetch_factor <= 0:  # no batch would ever be ordered
            raise AssertionError(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter"
            )
        # A pipe for each worker: one that dies in the middle of a batch ends its own pipe only.
        self._pipes: list[Any] = []
        self._workers_done_event = context.Event()
        self._index_queues: list[Any] = []
        count = loader.num_workers
        for number in range(count):
            taken, orders = context.Pipe(duplex=False)
            setup = W.Setup(
                number,
                count,
                loader.dataset,
                _share if isinstance(loader.dataset, IterDataPipe) else None,
                fetch_of(loader),
                self._base_seed,
                loader.worker_init_fn,
                os.getpid(),
                loader._dataset_kind == 1,
            )
            # Both ways, although one is used: files can be sent only through such a pipe.
            pipe, theirs = context.Pipe(duplex=SHARES)
            process = context.Process(
                target=W.run,
                args=(setup, taken, theirs, self._workers_done_event),
                name=W.ProcessName(f"DataLoader-worker-{number}"),
                daemon=True,
            )
            try:
                process.start()
            except (TypeError, AttributeError, PicklingError):
                warnings.warn(
                    "Got pickle error when attempting to start a worker Process. This might be "
                    "because the worker Process arguments are not picklable. Python 3.14+ changed "
                    "the multiprocessing start method in non-Mac POSIX platforms to 'forkserver', "
                    "which requires the worker Process arguments to be picklable. You can also "
                    "try multiprocessing.set_start_method('fork').",
                    stacklevel=2,
                )
                raise
            # Only the worker can write now, so that its end is the pipe's end.
            theirs.close()
            taken.close()
            self._pipes.append(pipe)
            self._index_queues.append(orders)
            self._workers.append(process)
        self._fill()

    def restart(self, loader: Any) -> None:
        """Begins a new epoch with the same processes."""
        self.loader = _as_it_is(loader)
        super()._begin()
        self._reads = [True] * len(self._index_queues)
        for orders in self._index_queues:
            _send(orders, W.Resume())
        waiting = len(self._index_queues)
        while waiting:
            number, _ = self._take()
            # What is left of an epoch that wasn't finished is dropped on the way.
            waiting -= number == W.RESUMED
        self._fill()

    def _fill(self) -> None:
        self._send_idx = 0
        self._rcvd_idx = 0
        self._early: dict[int, Any] = {}
        self._who: dict[int, int] = {}
        self._workers_status = [True] * len(self._index_queues)
        self._reads = [True] * len(self._index_queues)
        self._turn = 0
        for _ in range(self.loader.prefetch_factor * len(self._index_queues)):
            self._order()

    def _order(self) -> None:
        """Sends the next order to the next worker that has something left."""
        keys = next(self._sampler_iter, self)
        if keys is self:
            return
        count = len(self._index_queues)
        for step in range(count):
            number = (self._turn + step) % count
            if not self._workers_status[number]:
                continue
            if not self.loader.in_order and self._load(number) >= self.loader.prefetch_factor:
                continue
            self._turn = number + 1
            break
        else:
            return
        _send(self._index_queues[number], (self._send_idx, keys))
        self._who[self._send_idx] = number
        self._send_idx += 1

    def _load(self, number: int) -> int:
        return sum(who == number for who in self._who.values())

    def _take(self) -> tuple[int, object]:
        """The number and the batch that some worker has sent.

        Raises:
            RuntimeError: where a worker has died, or the time is over.
        """
        timeout = self.loader.timeout
        ready: Any = wait(self._open(), timeout if timeout > 0 else None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        try:
            found: tuple[int, Any] = receive(ready[0])
        except (EOFError, OSError):
            dead = self._workers[self._pipes.index(ready[0])]
            raise RuntimeError(
                f"DataLoader worker (pid(s) {dead.pid}) exited unexpectedly"
            ) from _end_of(dead)
        return found

    def _open(self) -> list[Connection]:
        return [pipe for pipe, reads in zip(self._pipes, self._reads, strict=True) if reads]

    def _next(self) -> object:
        while True:
            if self.loader.in_order:
                # Orders of workers that had nothing left are never answered.
                while self._rcvd_idx < self._send_idx and not (
                    self._rcvd_idx in self._early
                    or (
                        self._workers_status[self._who.get(self._rcvd_idx, 0)]
                        and self._rcvd_idx in self._who
                    )
                ):
                    self._who.pop(self._rcvd_idx, None)
                    self._rcvd_idx += 1
                over = self._rcvd_idx >= self._send_idx
            else:
                over = not any(self._workers_status[number] for number in self._who.values())
            if over:
                if not self.loader.persistent_workers:
                    self.shut_down()
                raise StopIteration
            if self._rcvd_idx in self._early:
                return self._gave(self._rcvd_idx, self._early.pop(self._rcvd_idx))
            number, answer = self._take()
            if isinstance(answer, W.Ended):
                self._workers_status[answer.worker] = False
                if not self.loader.persistent_workers:
                    self._reads[answer.worker] = False
                    _send(self._index_queues[answer.worker], None)
                self._who.pop(number, None)
                if not self.loader.in_order:
                    lost = [n for n, who in self._who.items() if who == answer.worker]
                    for n in lost:
                        del self._who[n]
                self._order()
            elif self.loader.in_order and number != self._rcvd_idx:
                self._early[number] = answer
            else:
                return self._gave(number, answer)

    def _gave(self, number: int, answer: object) -> object:
        del self._who[number]
        if self.loader.in_order:
            self._rcvd_idx += 1
        self._order()
        if isinstance(answer, W.Caught):
            answer.reraise()
        return answer

    @property
    def _tasks_outstanding(self) -> int:
        """How many batches have been ordered, and not been given yet."""
        return len(self._who)

    def _shutdown_workers(self) -> None:
        self.shut_down()

    def shut_down(self) -> None:
        """Ends the processes, whatever they are doing."""
        if self._down:
            return
        self._down = True
        if os.getpid() != self._parent:
            return  # a copy of the loader in a process that was forked meanwhile
        if not self._workers:
            return
        try:
            self._workers_done_event.set()
            for orders in self._index_queues:
                _send(orders, None)
            deadline = time.monotonic() + PATIENCE
            for process in self._workers:
                process.join(max(deadline - time.monotonic(), 0))
                if process.is_alive():
                    process.terminate()
                    process.join(1.0)
        finally:
            for orders in self._index_queues:
                orders.close()
            for pipe in self._pipes:
                pipe.close()

    def __del__(self) -> None:
        # At the interpreter's end the modules that this needs may be gone.
        if multiprocessing is not None and not getattr(self, "_down", True):
            self.shut_down()
