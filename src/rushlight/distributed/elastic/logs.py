"""Where what the launcher's processes print goes: files, the launcher's own output, or both."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from .agent import Plan

__all__ = ["WorkerLogs"]

_OUT, _ERR = 1, 2
_NAMES = {_OUT: "stdout.log", _ERR: "stderr.log"}


class WorkerLogs:
    """The files of one host's processes: DIR/RUN/attempt_N/LOCAL_RANK/stdout.log and stderr.log."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.root = ""
        self.folder = ""
        self._threads: list[threading.Thread] = []
        self._open: list[IO[bytes]] = []

    def open(self, attempt: int) -> None:
        """Makes the folder of an attempt."""
        if not self.root:
            base = self.plan.log_dir or tempfile.mkdtemp(prefix="torchelastic_")
            os.makedirs(base, exist_ok=True)
            self.root = tempfile.mkdtemp(prefix=f"{self.plan.run_id}_", dir=base)
        self.folder = os.path.join(self.root, f"attempt_{attempt}")
        for local_rank in range(self.plan.processes):
            os.makedirs(os.path.join(self.folder, str(local_rank)), exist_ok=True)

    def error_file(self, local_rank: int) -> str:
        """The file to which `record` writes an error."""
        return os.path.join(self.folder, str(local_rank), "error.json")

    def files(self, local_rank: int) -> tuple[IO[bytes] | int | None, IO[bytes] | int | None]:
        """What a process gets for its output and its errors: a file, a pipe, or the launcher's."""
        out, err = (self._file(local_rank, which) for which in (_OUT, _ERR))
        return out, err

    def _file(self, local_rank: int, which: int) -> IO[bytes] | int | None:
        if self.plan.tees[local_rank] & which:
            return subprocess.PIPE
        hidden = self.plan.shown is not None and local_rank not in self.plan.shown
        if self.plan.redirects[local_rank] & which or hidden:
            return self._log(local_rank, which)
        return None

    def _log(self, local_rank: int, which: int) -> IO[bytes]:
        path = os.path.join(self.folder, str(local_rank), _NAMES[which])
        file = open(path, "ab", buffering=0)  # noqa: SIM115 - `close` closes it
        self._open.append(file)
        return file

    def follow(self, local_rank: int, process: subprocess.Popen[bytes]) -> None:
        """Copies what comes through a process's pipes to its files and to the launcher's output."""
        for which, pipe in ((_OUT, process.stdout), (_ERR, process.stderr)):
            if pipe is not None:
                log = self._log(local_rank, which)
                thread = threading.Thread(
                    target=self._copy, args=(pipe, log, local_rank, which), daemon=True
                )
                thread.start()
                self._threads.append(thread)

    def _copy(self, pipe: IO[bytes], log: IO[bytes], local_rank: int, which: int) -> None:
        shown = self.plan.shown is None or local_rank in self.plan.shown
        here = sys.stdout if which == _OUT else sys.stderr
        for line in pipe:
            log.write(line)
            if shown:
                text = line.decode(errors="replace")
                here.write(f"[{self.plan.role}{local_rank}]:{text}")
                here.flush()
        pipe.close()

    def close(self) -> None:
        """Waits until all that was printed is written."""
        for thread in self._threads:
            thread.join(5)
        for file in self._open:
            file.close()
        self._threads, self._open = [], []
