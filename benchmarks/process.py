"""The other end of a worker: starts it, asks it for rounds, ends it."""

from __future__ import annotations

import contextlib
import json
import selectors
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from benchmarks.registry import Workload
from benchmarks.runner import Failed, Ready, Round
from benchmarks.systems import ROOT, System, environment


@dataclass(frozen=True)
class Setting:
    """How workers are started."""

    # None: each system's own default.
    threads: int | None = None
    # Seconds that one round should take.
    target: float = 0.03
    # Seconds without an answer after which a worker is ended.
    patience: float = 120.0
    installed: bool = False


class Worker:
    """A running worker process."""

    def __init__(self, system: System, workload: Workload | None, setting: Setting) -> None:
        task = {
            "system": system.name,
            "workload": workload and workload.name,
            "threads": setting.threads,
            "target": setting.target,
        }
        self._patience = setting.patience * (5 if system.slow else 1)
        # Not a pipe: nobody reads it while the worker runs, and a full pipe would stop the worker.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the worker)
        self._process = subprocess.Popen(
            [system.python(), "-m", "benchmarks.worker", json.dumps(task)],
            cwd=ROOT,
            env=environment(system, setting.threads, installed=setting.installed),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def ask(self, question: bytes | None, stage: str) -> dict[str, Any]:
        """The answer to a question, or the first answer when there is none.

        Raises: Failed with the reason when the worker reports one, ends or keeps silent.
        """
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            if question is not None:
                process.stdin.write(question)
                process.stdin.flush()
        except BrokenPipeError:
            raise Failed(stage, self._end()) from None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(self._patience):
                process.kill()
                raise Failed(stage, f"no answer within {self._patience:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise Failed(stage, self._end())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["stage"], answer["error"])
        return answer

    def _end(self) -> str:
        """Why a process that says nothing has ended: its status and the last line that it wrote."""
        status = self._process.wait()
        self._errors.seek(0)
        written = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"the process ended, {how}" + (f": {written[-1]}" if written else "")

    def close(self) -> None:
        """Ends the process, by the end of its input if it listens and by force if not."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._errors.close()


class Timed:
    """A workload measured again and again in one process."""

    def __init__(self, system: System, workload: Workload, setting: Setting) -> None:
        self._worker = Worker(system, workload, setting)

    def start(self) -> Ready:
        answer = self._worker.ask(None, "start")
        return Ready(answer["value"], answer["repeat"])

    def round(self) -> Round:
        answer = self._worker.ask(b"\n", "round")
        return Round(answer["seconds"], answer["cpu"], answer["peak"])

    def close(self) -> None:
        self._worker.close()


class Fresh:
    """A workload that needs a new process for every figure."""

    def __init__(self, system: System, workload: Workload, setting: Setting) -> None:
        self._made = (system, workload, setting)
        self._kept: float | None = None

    def _read(self) -> tuple[float, list[float]]:
        worker = Worker(*self._made)
        try:
            answer = worker.ask(None, "start")
        finally:
            worker.close()
        return answer["figure"], answer["value"]

    def start(self) -> Ready:
        # The first figure has come with the check value. That import may have written bytecode, so
        # its time does not count; its memory does.
        figure, value = self._read()
        self._kept = figure if self._made[1].bytes else None
        return Ready(value, 1)

    def round(self) -> Round:
        if self._kept is not None:
            figure, self._kept = self._kept, None
        else:
            figure, _ = self._read()
        return Round(figure, None)

    def close(self) -> None:
        """Nothing is left running between rounds."""


def launch(setting: Setting, system: System, workload: Workload) -> Timed | Fresh:
    """The processes of one system on one workload, not yet answering."""
    return (Fresh if workload.fresh else Timed)(system, workload, setting)


def identify(system: System, setting: Setting) -> dict[str, Any]:
    """Version and place of a system.

    Raises: Failed when it can't be imported or is not the core that was asked for.
    """
    worker = Worker(system, None, setting)
    try:
        return worker.ask(None, "import")
    finally:
        worker.close()
