"""The launcher's agent on one host: meets the others, starts processes, and starts them anew."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from types import FrameType
from typing import NamedTuple

from ...multiprocessing.spawn import end_with_parent
from ..errors import DistNetworkError
from ..stores import Store
from ..tcp_store import TCPStore
from .logs import WorkerLogs
from .multiprocessing.errors import ChildFailedError, ProcessFailure
from .shared_memory import SharedMemory

__all__ = ["Agent", "Plan"]

#: What launchers of MPI tell the agent, which isn't true of the processes that it starts.
_LAUNCHERS = ("PMI_", "PMIX_", "OMPI_", "HYDI_", "MPI_LOCAL")
_ANSWER = 20.0  # seconds after which a host that doesn't answer is taken for gone
_GRACE = 30.0  # seconds between asking a process to end and ending it


class Plan(NamedTuple):
    """What the launcher was asked for."""

    command: list[str]
    name: str
    processes: int
    nodes: int
    node: int | None
    host: str
    port: int
    run_id: str
    role: str
    max_restarts: int
    pause: float
    log_dir: str | None
    redirects: list[int]
    tees: list[int]
    shown: set[int] | None
    timeout: float
    signals: list[str]


class SignalException(Exception):
    """The launcher was told to end."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


class _Worker(NamedTuple):
    rank: int
    local_rank: int
    process: subprocess.Popen[bytes]
    error_file: str


class Agent:
    """The processes of one host, and what is agreed with the agents of other hosts."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.store: Store | None = None
        self.host, self.port = plan.host, plan.port
        self.node = plan.node
        self.workers: list[_Worker] = []
        self.logs = WorkerLogs(plan)
        self.memory = SharedMemory()

    def run(self) -> None:
        """Starts the processes until they have ended well, or too often not.

        Raises:
            ChildFailedError: where one has failed and all restarts are used up.
        """
        with self._signals():
            self._meet()
            attempt = 0
            while (failed := self._attempt(attempt)) is not None:
                left = self.plan.max_restarts - attempt
                if left == 0:
                    raise ChildFailedError(self.plan.name, {failed.rank: failed})
                print(f"torchrun: {failed.summary()}; {left} restarts are left", file=sys.stderr)
                attempt += 1
            self._wait_for_others()

    def ranks(self) -> list[int]:
        """The ranks of this host's processes."""
        first = sum(self.counts[: self.node])
        return list(range(first, first + self.plan.processes))

    # ---- meeting ------------------------------------------------------------------------------
    def _meet(self) -> None:
        """Finds the store of all agents, and which host this is."""
        limit = timedelta(seconds=self.plan.timeout)
        store = self._serve(limit) or TCPStore(self.host, self.port, None, False, limit)
        self.store, self.port = store, store.port
        if self.node is None:
            self.node = store.add(f"{self.plan.run_id}/nodes", 1) - 1
        store.set(f"{self.plan.run_id}/here/{self.node}", str(self.plan.processes))
        keys = [f"{self.plan.run_id}/here/{i}" for i in range(self.plan.nodes)]
        store.wait(keys, limit)
        self.counts = [int(count) for count in store.multi_get(keys)]
        store.set_timeout(timedelta(seconds=_ANSWER))

    def _serve(self, limit: timedelta) -> TCPStore | None:
        """Serves the store where this is the host for it; None where another one does."""
        if self.node not in (0, None) or (self.node is None and not _is_here(self.host)):
            return None
        try:
            return TCPStore(self.host, self.port, None, True, limit)
        except DistNetworkError:
            if self.node == 0:
                raise
            return None

    def _wait_for_others(self) -> None:
        """Waits until all hosts have ended: one of them serves the store."""
        assert self.store is not None
        with contextlib.suppress(RuntimeError):
            self.store.barrier(f"{self.plan.run_id}/ended", self.plan.nodes, timedelta(seconds=300))

    # ---- processes ----------------------------------------------------------------------------
    def _attempt(self, attempt: int) -> ProcessFailure | None:
        """Runs all processes once; gives the failure of the first that failed on any host."""
        assert self.store is not None
        key = f"{self.plan.run_id}/failed/{attempt}"
        try:
            self._start(attempt)
            while True:
                self.memory.look(worker.process.pid for worker in self.workers)
                failed = self._first_failed()
                if failed is not None:
                    try:
                        reported = self.store.compare_set(key, "", failed.report())
                    except DistNetworkError:  # the host that serves the store is gone, too
                        return failed
                    return ProcessFailure.read(reported)
                if all(worker.process.returncode == 0 for worker in self.workers):
                    if self.plan.nodes == 1:
                        return None
                    done = f"{self.plan.run_id}/done/{attempt}/{self.node}"
                    self.store.set(done, b"1")
                    keys = [f"{self.plan.run_id}/done/{attempt}/{i}"
                            for i in range(self.plan.nodes)]  # fmt: skip
                    if self.store.check(keys):
                        return None
                if self.plan.nodes > 1 and self.store.check([key]):
                    return ProcessFailure.read(self.store.get(key))
                time.sleep(self.plan.pause)
        finally:
            self._stop(signal.SIGTERM)
            self.logs.close()

    def _start(self, attempt: int) -> None:
        size = sum(self.counts)
        self.logs.open(attempt)
        for local_rank, rank in enumerate(self.ranks()):
            environment = self._environment(attempt, rank, local_rank, size)
            environment["TORCHELASTIC_ERROR_FILE"] = error_file = self.logs.error_file(local_rank)
            out, err = self.logs.files(local_rank)
            process = subprocess.Popen(
                [word.replace("${local_rank}", str(local_rank)) for word in self.plan.command],
                env=environment,
                stdout=out,
                stderr=err,
                preexec_fn=functools.partial(end_with_parent, signal.SIGTERM),
            )
            self.logs.follow(local_rank, process)
            self.workers.append(_Worker(rank, local_rank, process, error_file))

    def _environment(self, attempt: int, rank: int, local_rank: int, size: int) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_LAUNCHERS)}
        given = {
            "LOCAL_RANK": local_rank, "RANK": rank, "GROUP_RANK": self.node, "ROLE_RANK": rank,
            "ROLE_NAME": self.plan.role, "LOCAL_WORLD_SIZE": self.plan.processes,
            "WORLD_SIZE": size, "GROUP_WORLD_SIZE": self.plan.nodes, "ROLE_WORLD_SIZE": size,
            "MASTER_ADDR": self.host, "MASTER_PORT": self.port,
            "TORCHELASTIC_RESTART_COUNT": attempt,
            "TORCHELASTIC_MAX_RESTARTS": self.plan.max_restarts,
            "TORCHELASTIC_RUN_ID": self.plan.run_id, "TORCHELASTIC_USE_AGENT_STORE": True,
        }  # fmt: skip
        if self.plan.processes > 1:
            kept.setdefault("OMP_NUM_THREADS", "1")
        return kept | {name: str(value) for name, value in given.items()}

    def _first_failed(self) -> ProcessFailure | None:
        for worker in self.workers:
            code = worker.process.poll()
            if code not in (None, 0):
                return ProcessFailure(
                    local_rank=worker.local_rank, rank=worker.rank, pid=worker.process.pid,
                    exitcode=int(code or 0), error_file=worker.error_file,
                    host=socket.gethostname(),
                )  # fmt: skip
        return None

    def _stop(self, how: signal.Signals) -> None:
        """Ends the processes that still run: asks them, then doesn't."""
        running = [worker.process for worker in self.workers if worker.process.poll() is None]
        for process in running:
            process.send_signal(how)
        end = time.monotonic() + _GRACE
        for process in running:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.workers = []
        self.memory.remove()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Has signals that end the launcher end the processes, too."""

        def end(number: int, frame: FrameType | None) -> None:
            which = signal.Signals(number)
            raise SignalException(f"Process {os.getpid()} got signal: {which.name}", which)

        before = {}
        for name in self.plan.signals:
            which = getattr(signal, name.strip(), None)
            if which is not None:
                with contextlib.suppress(ValueError):  # another thread than the first one
                    before[which] = signal.signal(which, end)
        try:
            yield
        finally:
            for which, handler in before.items():
                signal.signal(which, handler)


def _is_here(host: str) -> bool:
    """Whether an address is this host's."""
    if host in ("localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()):
        return True
    try:
        with socket.create_server((socket.gethostbyname(host), 0)):
            return True
    except OSError:
        return False
