"""One run through a loader: in this process, or by workers whose batches are put in order."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import time
import warnings
from collections.abc import Iterator
from typing import Any

from ._utils import worker as W
from .sampler import drawn_seed

__all__ = ["Loading", "SingleProcess", "Workers"]

# How often a waiting loader looks whether its workers still live.
PATIENCE = 1.0


class Loading(Iterator[Any]):
    """The batches of one run."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self._base_seed = drawn_seed(loader.generator)
        self._begin()

    def _begin(self) -> None:
        self._orders = iter(self.loader._index_sampler)
        self._given = 0
        self._announced: int | None = self.loader._IterableDataset_len_called

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def _next(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next()
        self._given += 1
        if (
            self.loader._dataset_kind == 1
            and self._announced is not None
            and self._given > self._announced
        ):
            self._warn_of_length()
        return batch

    def _warn_of_length(self) -> None:
        text = (
            f"Length of IterableDataset {self.loader.dataset} was reported to be "
            f"{self._announced} (when accessing len(dataloader)), but {self._given} samples have "
            "been fetched. "
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
        self._fetch = loader._fetch()(loader.dataset)

    def _next(self) -> Any:
        return self._fetch(next(self._orders))


class Workers(Loading):
    """Batches read by processes.

    Orders are numbered and go round the workers; batches that come too early wait in `_early`.
    """

    def __init__(self, loader: Any) -> None:
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._down = False
        self._parent = os.getpid()
        self._processes: list[Any] = []
        super().__init__(loader)
        self._results = context.Queue()
        self._done = context.Event()
        self._queues: list[Any] = []
        count = loader.num_workers
        for number in range(count):
            orders = context.Queue()
            # Orders that a dead worker didn't take must not keep this process from ending.
            orders.cancel_join_thread()
            setup = W.Setup(
                number,
                count,
                loader.dataset,
                loader._fetch(),
                self._base_seed,
                loader.worker_init_fn,
                os.getpid(),
                loader._dataset_kind == 1,
            )
            process = context.Process(
                target=W.run,
                args=(setup, orders, self._results, self._done),
                name=W.ProcessName(f"DataLoader-worker-{number}"),
                daemon=True,
            )
            process.start()
            self._queues.append(orders)
            self._processes.append(process)
        self._fill()

    def restart(self) -> None:
        """Begins a new epoch with the same processes."""
        super()._begin()
        for orders in self._queues:
            orders.put(W.Resume(None))
        waiting = len(self._queues)
        while waiting:
            number, _ = self._take()
            # What is left of an epoch that wasn't finished is dropped on the way.
            waiting -= isinstance(number, W.Resume)
        self._fill()

    def _fill(self) -> None:
        self._sent = 0
        self._wanted = 0
        self._early: dict[int, Any] = {}
        self._who: dict[int, int] = {}
        self._active = [True] * len(self._queues)
        self._turn = 0
        for _ in range(self.loader.prefetch_factor * len(self._queues)):
            self._order()

    def _order(self) -> None:
        """Sends the next order to the next worker that has something left."""
        keys = next(self._orders, self)
        if keys is self:
            return
        count = len(self._queues)
        for step in range(count):
            number = (self._turn + step) % count
            if not self._active[number]:
                continue
            if not self.loader.in_order and self._load(number) >= self.loader.prefetch_factor:
                continue
            self._turn = number + 1
            break
        else:
            return
        self._queues[number].put((self._sent, keys))
        self._who[self._sent] = number
        self._sent += 1

    def _load(self, number: int) -> int:
        return sum(who == number for who in self._who.values())

    def _take(self) -> tuple[Any, Any]:
        """What some worker has put; errors where none can any more, or the time is over."""
        timeout = self.loader.timeout
        end = time.monotonic() + timeout if timeout > 0 else None
        while True:
            patience = PATIENCE if end is None else min(PATIENCE, max(end - time.monotonic(), 0))
            try:
                found: tuple[Any, Any] = self._results.get(timeout=patience)
                return found
            except queue.Empty:
                dead = [
                    process
                    for number, process in enumerate(self._processes)
                    if self._active[number] and not process.is_alive()
                ]
                if dead:
                    names = ", ".join(str(process.pid) for process in dead)
                    raise RuntimeError(
                        f"DataLoader worker (pid(s) {names}) exited unexpectedly"
                    ) from None
                if end is not None and time.monotonic() >= end:
                    raise RuntimeError(f"DataLoader timed out after {timeout} seconds") from None

    def _next(self) -> Any:
        while True:
            if self.loader.in_order:
                # Orders of workers that had nothing left are never answered.
                while self._wanted < self._sent and not (
                    self._wanted in self._early
                    or (self._active[self._who.get(self._wanted, 0)] and self._wanted in self._who)
                ):
                    self._who.pop(self._wanted, None)
                    self._wanted += 1
                over = self._wanted >= self._sent
            else:
                over = not any(self._active[number] for number in self._who.values())
            if over:
                if not self.loader.persistent_workers:
                    self.shut_down()
                raise StopIteration
            if self._wanted in self._early:
                return self._gave(self._wanted, self._early.pop(self._wanted))
            number, packed = self._take()
            answer = pickle.loads(packed)
            if isinstance(answer, W.Ended):
                self._active[answer.worker] = False
                if not self.loader.persistent_workers:
                    self._queues[answer.worker].put(None)
                self._who.pop(number, None)
                if not self.loader.in_order:
                    lost = [n for n, who in self._who.items() if who == answer.worker]
                    for n in lost:
                        del self._who[n]
                self._order()
            elif self.loader.in_order and number != self._wanted:
                self._early[number] = answer
            else:
                return self._gave(number, answer)

    def _gave(self, number: int, answer: Any) -> Any:
        del self._who[number]
        if self.loader.in_order:
            self._wanted += 1
        self._order()
        if isinstance(answer, W.Caught):
            answer.reraise()
        return answer

    def shut_down(self) -> None:
        """Ends the processes, whatever they are doing."""
        if self._down:
            return
        self._down = True
        if os.getpid() != self._parent:
            return  # a copy of the loader in a process that was forked meanwhile
        if not self._processes:
            return
        try:
            self._done.set()
            for orders in self._queues:
                orders.put(None)
            # A worker that waits for room in the pipe gets it.
            deadline = time.monotonic() + W.PATIENCE
            for process in self._processes:
                while process.is_alive() and time.monotonic() < deadline:
                    self._drain()
                    process.join(0.01)
                if process.is_alive():
                    process.terminate()
                    process.join(1.0)
        finally:
            for waiting in (*self._queues, self._results):
                waiting.cancel_join_thread()
                waiting.close()

    def _drain(self) -> None:
        try:
            while True:
                self._results.get_nowait()
        except (queue.Empty, OSError, EOFError, ValueError):
            return

    def __del__(self) -> None:
        # At the interpreter's end the modules that this needs may be gone.
        if multiprocessing is not None and not getattr(self, "_down", True):
            self.shut_down()
