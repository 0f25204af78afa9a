"""The other end of a worker: starts it, asks it for runs, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from packages import PACKAGES, ROOT, STORE

HERE = Path(__file__).resolve().parent
SYSTEMS = ("torch", "rushlight")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RUSHLIGHT_NUM_THREADS",
)


class Failed(Exception):
    """A system cannot run a driver; the message says why."""


def environment(threads: int) -> dict[str, str]:
    """The same for both systems: equal thread counts, equal hashing, nothing asked of a network."""
    env = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    env |= {"PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1", "MPLBACKEND": "Agg"}
    env["HOME"] = str(STORE / "home")
    if "PYTHONPATH" not in os.environ:
        env["PYTHONPATH"] = str(ROOT / "src")
    return env


def starter(system: str) -> list[str]:
    """The command that runs a Python program on a system."""
    return [sys.executable] + (["-m", "rushlight"] if system == "rushlight" else [])


def launched(launcher: str, ranks: int) -> tuple[list[str], dict[str, str]]:
    """The command that starts a Python program in several processes, and its environment."""
    if launcher == "accelerate":
        # `--cpu` starts one process whatever their number; told by a variable it starts them all.
        options = ["--multi_gpu", "--num_processes", str(ranks), "--num_machines", "1"]
        options += ["--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port"]
        command = ["-m", "accelerate.commands.launch", *options, str(free_port())]
        return command, {"ACCELERATE_USE_CPU": "true"}
    return ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)], {}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


class Worker:
    """A running worker; `timeout` seconds without an answer end it."""

    def __init__(
        self, system: str, driver: Path, *, threads: int, timeout: float, ranks: int = 0,
        launcher: str = "torchrun",
    ) -> None:  # fmt: skip
        self.timeout = timeout
        log = STORE / "logs" / f"{driver.stem}.{system}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        (STORE / "home").mkdir(exist_ok=True)
        command, env = starter(system), environment(threads)
        if ranks:
            how, more = launched(launcher, ranks)
            command, env = [sys.executable, *how], env | more | {"GLOO_SOCKET_IFNAME": "lo"}
            # What each process finds in its environment, the launcher's children too.
            env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(PACKAGES)])
            if system == "rushlight":
                env["RUSHLIGHT_AS_TORCH"] = "1"
        command = [*command, str(HERE / "worker.py"), str(driver), str(PACKAGES)]
        with log.open("w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [*command, str(threads), system],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=env,
                cwd=STORE / "home",
            )

    def answer(self) -> dict[str, Any]:
        """The next line that the worker writes. Raises: Failed."""
        assert self.process.stdout is not None
        until = time.monotonic() + self.timeout
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise Failed(f"no answer within {self.timeout:.0f} s")
                part = os.read(self.process.stdout.fileno(), 1 << 20)
                if not part:
                    raise Failed(f"the process ended with status {self.process.wait()}")
                line += part
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            raise Failed(message["error"])
        return message

    def again(self) -> float:
        """The seconds of one more run. Raises: Failed."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"the process ended with status {self.process.wait()}") from None
        return float(self.answer()["seconds"])

    def close(self) -> None:
        """Ends the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
