"""The processes of the two implementations, from outside: a crash or a hang costs one program."""

from __future__ import annotations

import os
import pickle
import select
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SECONDS_TO_START = 120.0
PROGRAMS_PER_PROCESS = 20_000


class Ended(Exception):
    """The process crashed or hung; the argument says which."""


class Child:
    """Runs programs on one implementation."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.done = 0
        self.file = ""

    def start(self) -> None:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.compare.fuzz.child", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**os.environ, **threads},
            bufsize=0,
        )
        self.done = 0
        self.file = self.receive(SECONDS_TO_START)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def send(self, programs: list[list[str]]) -> None:
        """Hands programs over; the process has answered all that it was given before."""
        if self.process is not None and self.done >= PROGRAMS_PER_PROCESS:
            self.stop()
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        data = pickle.dumps(programs)
        rest = memoryview(struct.pack("<I", len(data)) + data)
        while rest:
            rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def receive(self, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        head = self.read(4, deadline)
        return pickle.loads(self.read(struct.unpack("<I", head)[0], deadline))

    def read(self, size: int, deadline: float) -> bytes:
        assert self.process is not None and self.process.stdout is not None
        pieces = b""
        while len(pieces) < size:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                self.stop()
                raise Ended("hang")
            piece = os.read(self.process.stdout.fileno(), size - len(pieces))
            if not piece:
                self.stop()
                raise Ended("crash")
            pieces += piece
        return pieces

    def answers(self, programs: list[list[str]]) -> list[Any]:
        """The steps of each program that was sent; "crash" or "hang" for one that ended it."""
        found: list[Any] = []
        while len(found) < len(programs):
            try:
                found.append(self.receive(self.seconds))
                self.done += 1
            except Ended as ended:
                found.append(str(ended))
                if len(found) < len(programs):
                    self.send(programs[len(found) :])
        return found


class Pair:
    """PyTorch and Rushlight side by side."""

    def __init__(self, seconds: float = 20.0) -> None:
        self.children = (Child("torch", seconds), Child("rushlight", seconds))

    def run(self, programs: list[list[str]]) -> list[tuple[Any, Any]]:
        """What both show of each program, in order; they work at the same time."""
        for child in self.children:
            child.send(programs)
        theirs, ours = (child.answers(programs) for child in self.children)
        return list(zip(theirs, ours))

    def stop(self) -> None:
        for child in self.children:
            child.stop()

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
