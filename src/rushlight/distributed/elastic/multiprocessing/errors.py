"""How a process that torchrun has started tells of its error: by a file that torchrun names."""

from __future__ import annotations

import functools
import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ...._base.atomic_files import write_whole

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "record"]

F = TypeVar("F", bound=Callable[..., Any])


class ErrorHandler:
    """Writes an error to the file that `TORCHELASTIC_ERROR_FILE` names; without it, nothing.

    Example:
        >>> from rushlight.distributed.elastic.multiprocessing import errors
        >>> errors.ErrorHandler().record_exception(ValueError("too large"))
    """

    def initialize(self) -> None:
        """Does nothing: faults are shown by Python itself."""

    def record_exception(self, error: BaseException) -> None:
        """Writes the error's text, its traceback and the time as JSON."""
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if not path:
            return
        report = {
            "message": f"{type(error).__name__}: {error}",
            "extraInfo": {
                "py_callstack": "".join(traceback.format_exception(error)),
                "timestamp": str(int(time.time())),
            },
        }
        text = json.dumps({"message": report}).encode()
        write_whole(path, lambda file: file.write(text))


def record(fn: F, error_handler: ErrorHandler | None = None) -> F:
    """Has the errors of a function written down where torchrun looks for them, then raised again.

    Parameters:
        fn: the function, as a rule a program's `main`; used as `@record`.
        error_handler: what writes them; None means an `ErrorHandler`.
    Returns: a function that does what `fn` does.
    Raises: nothing of its own; what `fn` raises goes on.
    Example:
        >>> from rushlight.distributed.elastic.multiprocessing.errors import record
        >>> @record
        ... def main():
        ...     return "done"
        >>> main()
        'done'
    """
    handler = error_handler or ErrorHandler()

    @functools.wraps(fn)
    def reporting(*args: object, **kwargs: object) -> object:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code == 0:
                raise
            handler.record_exception(error)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return reporting  # type: ignore[return-value]


class ProcessFailure(NamedTuple):
    """Which process has failed, how, and what it has said of its error.

    Parameters:
        local_rank: its number among the processes of its host.
        pid: its number in the system.
        exitcode: its exit status, or the number of the signal that ended it, below zero.
        error_file: the file in which it may have written its error.
        rank: its number among all.
        host: the name of its host.
        timestamp: when it failed, in seconds since 1970.
        message: what it has written of its error.
    Raises: TypeError: for other parameters.
    Example:
        >>> from rushlight.distributed.elastic.multiprocessing import errors
        >>> failure = errors.ProcessFailure(0, 4321, -9, "/dev/null", rank=3, host="node1")
        >>> failure.summary()
        'rank 3 (local_rank: 0, pid: 4321, host: node1) was ended by signal SIGKILL'
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    rank: int = 0
    host: str = ""
    timestamp: int = 0
    message: str = ""

    def summary(self) -> str:
        """One line: which process, and how it ended."""
        return (
            f"rank {self.rank} (local_rank: {self.local_rank}, pid: {self.pid}, host: {self.host}) "
            f"{self.how()}"
        )

    def how(self) -> str:
        """How it ended: by a signal, or with an exit status."""
        if self.exitcode < 0:
            return f"was ended by signal {self.signal_name()}"
        return f"ended with exit code {self.exitcode}"

    def without_message(self) -> str:
        """What is said of a process that has written nothing of its error."""
        if self.exitcode < 0:
            return f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        return "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"

    def signal_name(self) -> str:
        """The signal that ended it, or N/A."""
        if self.exitcode >= 0:
            return "N/A"
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return f"<Unknown signal {-self.exitcode}>"

    def report(self) -> bytes:
        """The failure as bytes for other hosts, with what the process wrote of its error."""
        message = ""
        if os.path.exists(self.error_file):
            with open(self.error_file, encoding="utf-8") as file:
                said = json.load(file).get("message", "")
            if isinstance(said, dict):
                said = said.get("extraInfo", {}).get("py_callstack") or said.get("message", "")
            message = str(said)
        report = self._replace(message=message, timestamp=self.timestamp or int(time.time()))
        return json.dumps(report._asdict()).encode()

    @classmethod
    def read(cls, report: bytes) -> ProcessFailure:
        """The failure that another host, or this one, has told."""
        return cls(**json.loads(report))


class ChildFailedError(Exception):
    """A process that the launcher started has failed."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name = name
        self.failures = failures
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """The rank that failed first, and how."""
        rank = min(self.failures, key=lambda rank: self.failures[rank].timestamp)
        return rank, self.failures[rank]

    def format_msg(self) -> str:
        """The error's text: the first failure, and all others."""
        first, root = self.get_first_failure()
        others = [self._lines(i, failure) for i, failure in self.failures.items() if i != first]
        wide, thin = "=" * 60, "-" * 60
        return "\n".join([
            "", wide, f"{self.name} FAILED", thin, "Failures:",
            *(others or ["  <NO_OTHER_FAILURES>"]), thin,
            "Root Cause (first observed failure):", self._lines(0, root), wide,
        ])  # fmt: skip

    def _lines(self, index: int, failure: ProcessFailure) -> str:
        when = time.strftime("%Y-%m-%d_%H:%M:%S", time.localtime(failure.timestamp))
        said = failure.message or failure.without_message()
        return "\n".join([
            f"[{index}]:", f"  time      : {when}", f"  host      : {failure.host}",
            f"  rank      : {failure.rank} (local_rank: {failure.local_rank})",
            f"  exitcode  : {failure.exitcode} (pid: {failure.pid})",
            f"  error_file: {failure.error_file if failure.message else '<N/A>'}",
            "  traceback : " + said.strip().replace("\n", "\n  "),
        ])  # fmt: skip
