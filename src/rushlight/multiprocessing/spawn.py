"""Several processes that run one function, and the error of the first that fails."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import connection
from typing import Any, Final

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "spawn", "start_processes",
]  # fmt: skip


#: Seconds that processes have to end by themselves where who waits for them was interrupted.
_PUT_AWAY: Final = 5.0


class ProcessException(Exception):
    """A process has failed: which one."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = error_pid

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process has ended with an exception, whose traceback the text holds."""


class ProcessExitedException(ProcessException):
    """A process has ended of a signal or with an exit status."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int,
        signal_name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (
            self.msg, self.error_index, self.pid, self.exit_code, self.signal_name
        )  # fmt: skip


def end_with_parent(how: signal.Signals) -> None:
    """Has the kernel send this process a signal when its parent is gone, however that ended."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, how)


def _run(fn: Callable[..., object], index: int, args: tuple[object, ...], error_file: str) -> None:
    # In the background of a shell interrupts are ignored.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    end_with_parent(signal.SIGTERM if ignored else signal.SIGINT)
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():  # it ended before the kernel was asked
        return
    # An interrupt is the parent's to answer.
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that have been started, to be joined.

    Parameters:
        processes: the processes, of the standard library's class.
        error_files: for each the file in which it leaves the traceback of its error.
    Raises: AttributeError: for what is no process.
    Example:
        >>> context = torch.multiprocessing.ProcessContext([], [])
        >>> context.pids(), context.join()
        ([], True)
    """

    def __init__(self, processes: Sequence[Any], error_files: Sequence[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def _join_procs_with_timeout(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits for a process to end; True when all have ended well, else False: call it again.

        Raises:
            ProcessRaisedException: for one that ended with an exception; the others are stopped.
            ProcessExitedException: for one that ended in another way.
        """
        if not self.sentinels:
            return True
        ended = connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ended:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0 and failed is None:
                failed = index
        if failed is None:
            return not self.sentinels
        if grace_period is not None:
            self._join_procs_with_timeout(grace_period)
        self._stop()
        raise self._error(failed)

    def _stop(self) -> None:
        """Ends the processes that still run: asks them, then doesn't."""
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30)
            if process.is_alive():
                process.kill()
                process.join()

    def _error(self, index: int) -> ProcessException:
        process, path = self.processes[index], self.error_files[index]
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, "rb") as file:
                text = pickle.load(file)
            self._forget_files()
            message = f"\n\n-- Process {index} terminated with the following error:\n{text}"
            return ProcessRaisedException(message, index, process.pid)
        self._forget_files()
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            message = f"process {index} terminated with signal {name}"
            return ProcessExitedException(message, index, process.pid, code, name)
        message = f"process {index} terminated with exit code {code}"
        return ProcessExitedException(message, index, process.pid, code)

    def _forget_files(self) -> None:
        for path in self.error_files:
            with contextlib.suppress(OSError):
                os.unlink(path)


class SpawnContext(ProcessContext):
    """The processes of `spawn`, as programs that ask for its class name it.

    Parameters:
        processes: the processes, of the standard library's class.
        error_files: for each the file in which it leaves the traceback of its error.
    Raises: AttributeError: for what is no process.
    Example:
        >>> torch.multiprocessing.SpawnContext([], []).join()
        True
    """


def start_processes(
    fn: Callable[..., object],
    args: tuple[object, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
    numa_options: object = None,
) -> ProcessContext | None:
    """Calls `fn(i, *args)` in `nprocs` processes, with i from 0.

    Parameters:
        fn: the function; "spawn" and "forkserver" import it, so it stands in a file.
        args: what it is given behind its number.
        nprocs: how many processes there are.
        join: whether to wait until all have ended; where one fails the others are stopped.
        daemon: whether they end with this one, and may start none themselves.
        start_method: "spawn", "fork" or "forkserver".
        numa_options: nothing here.
    Returns: None with `join`; else a `ProcessContext`, whose `join` waits.
    Raises:
        ProcessRaisedException: with the traceback of the first process that failed.
        ProcessExitedException: where one ended in another way.
        ValueError: for another `start_method`.
    Example:
        >>> torch.multiprocessing.start_processes(print, nprocs=0)
        >>> torch.multiprocessing.start_processes(print, nprocs=0, join=False).pids()
        []
    """
    context = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    for i in range(nprocs):
        handle, path = tempfile.mkstemp(prefix="rushlight-errorfile-", suffix=".pickle")
        os.close(handle)
        os.unlink(path)
        process = context.Process(target=_run, args=(fn, i, args, path), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
        error_files.append(path)
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    try:
        while not started.join():
            pass
    except ProcessException:
        raise
    except BaseException:
        # Nobody else knows the processes, and Python waits for them when it ends. A terminal has
        # interrupted them, too: they may have something to put away.
        try:
            started._join_procs_with_timeout(_PUT_AWAY)
        finally:
            started._stop()
            started._forget_files()
        raise
    return None


def spawn(
    fn: Callable[..., object],
    args: tuple[object, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Calls `fn(i, *args)` in `nprocs` new processes, with i from 0.

    A program that is run as a file calls it below `if __name__ == "__main__":`, as the new
    processes import that file.

    Parameters:
        fn: the function, which stands in a file.
        args: what it is given behind its number.
        nprocs: how many processes there are.
        join: whether to wait until all have ended; where one fails the others are stopped.
        daemon: whether they end with this one, and may start none themselves.
        start_method: "spawn"; another one is warned of, and not taken.
    Returns: None with `join`; else a `ProcessContext`, whose `join` waits.
    Raises:
        ProcessRaisedException: with the traceback of the first process that failed.
        ProcessExitedException: where one ended in another way.
    Example:
        >>> torch.multiprocessing.spawn(print, nprocs=0)  # print(0), print(1), … in as many
    """
    if start_method != "spawn":
        warnings.warn(
            "This method only supports start_method=spawn (got: "
            f"{start_method}).\nTo use a different start_method use:\n\t\t "
            "torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
