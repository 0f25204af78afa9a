"""Faults of one rank of several, at random moments: the others are told, and nothing is lost.

    python -m tests.attack.ranks --count 200 --seed 0

Three ranks train a sharded model and save it every few steps. One of them is killed, stopped, made
to raise where it happens to be, or finds the disk full while it writes; with `--forming`, while the
ranks still meet and MPI's world forms. The promises: each other
rank gets an error that names it, within the timeout; no process and no shared memory is left; the
checkpoint that was last saved whole is there, and loads.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import rushlight as torch
import rushlight.distributed as dist
import rushlight.distributed.checkpoint as dcp

RANKS = 3
TIMEOUT = 4.0
MEETING = 300.0  # seconds in which three processes have started, on a very crowded machine
SLACK = 20.0  # seconds beyond the timeout that a crowded machine may need
KINDS = ("kill", "stop", "raise", "full disk")
MARK = "RUSHLIGHT_ATTACK"


# ---- one rank ------------------------------------------------------------------------------------
def say(**words: object) -> None:
    """Prints a line in one piece."""
    os.write(1, f"{json.dumps(words)}\n".encode())


def raises(*_: object) -> None:
    """Raises wherever the rank happens to be."""
    raise ArithmeticError("out of order")


def fill_the_disk(*_: object) -> None:
    """Lets the next file be written by half."""
    pieces: Any = importlib.import_module("rushlight.distributed.checkpoint.pieces")
    whole = pieces.save_file

    def half(value: Any, path: Any) -> None:
        pieces.save_file = whole
        Path(path).write_bytes(b"PK\x03\x04 half of it")
        raise OSError(28, "No space left on device")

    pieces.save_file = half


def train(folder: str, steps: int, forming: bool) -> None:
    """What each rank does: steps of a sharded model, and a checkpoint of every third."""
    from rushlight.distributed.fsdp import fully_shard
    from rushlight.distributed.tensor import Shard, distribute_tensor

    signal.signal(signal.SIGUSR1, raises)
    signal.signal(signal.SIGUSR2, fill_the_disk)
    say(started=os.getpid())
    dist.init_process_group("gloo", timeout=timedelta(seconds=TIMEOUT if forming else 30))
    assert dist.group.WORLD is not None
    dist.barrier()
    dist.group.WORLD.set_timeout(timedelta(seconds=TIMEOUT))
    mesh = dist.init_device_mesh("cpu", (RANKS,))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(7, 11), torch.nn.Tanh(), torch.nn.Linear(11, 2))
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    say(ready=dist.get_rank())
    for step in range(1, steps + 1):
        model(torch.ones(4, 7) * step).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            same = distribute_tensor(torch.ones(8, 3) * step, mesh, [Shard(0)])
            try:
                dcp.save({"same": same, "step": step, "model": model}, checkpoint_id=folder)
            except dcp.CheckpointException as error:
                if "Errno 28" not in str(error):  # what was raised while it was saved
                    raise
                say(error=type(error).__name__, text=str(error), time=time.monotonic())
            else:
                say(saved=step)
    dist.destroy_process_group()


def rank_of_world(folder: str, steps: int, forming: bool) -> int:
    """Trains, and says which error has ended it."""
    try:
        train(folder, steps, forming)
    except (RuntimeError, dcp.CheckpointException) as error:
        say(error=type(error).__name__, text=str(error), time=time.monotonic())
        return 3
    return 0


# ---- one fault -----------------------------------------------------------------------------------
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextlib.contextmanager
def world(folder: Path, *options: str, mark: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The ranks, each of which writes what it says into a file."""
    port = free_port()
    processes = []
    for rank in range(RANKS):
        with (
            open(folder / f"said.{rank}", "wb") as said,
            open(folder / f"errors.{rank}", "wb") as errors,
        ):
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-W", "ignore", "-m", "tests.attack.ranks", *options,
                     "--rank", str(folder / "saved")],
                    stdout=said, stderr=errors, env={
                        **os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS), MARK: mark,
                        "MASTER_ADDR": "localhost", "MASTER_PORT": str(port),
                    },
                )
            )  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def said(folder: Path, rank: int) -> list[dict[str, Any]]:
    """What a rank has said."""
    lines = (folder / f"said.{rank}").read_text().splitlines(keepends=True)
    try:
        return [json.loads(line) for line in lines if line.endswith("\n")]
    except ValueError:
        raise ValueError(f"rank {rank} has said {lines}") from None


def left_behind(mark: str) -> list[str]:
    """The commands of processes that were started for a world and still live."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def shared_memory() -> set[Path]:
    """MPI's files of shared memory."""
    return set(Path("/dev/shm").glob("mpich*"))


def send(process: subprocess.Popen[bytes], number: signal.Signals, errors: Path) -> None:
    """Sends a signal; again where Python could only report, not raise, what its handler raised."""
    process.send_signal(number)
    end, sent = time.monotonic() + 2, 1
    while number is signal.SIGUSR1 and process.poll() is None and time.monotonic() < end:
        if errors.read_text().count("Exception ignored") == sent:
            process.send_signal(number)
            sent += 1
        time.sleep(0.02)


def strike(kind: str, victim: int, delay: float, folder: Path, forming: bool) -> list[str]:
    """One fault; the promises that it broke."""
    mark, before, broken = secrets.token_hex(8), shared_memory(), []
    ends, awaited = kind != "full disk", "started" if forming else "ready"
    options = ["--steps", str(100_000 if ends else 40), *(["--forming"] if forming else [])]
    with world(folder, *options, mark=mark) as processes:
        start = time.monotonic()
        while not all(any(awaited in one for one in said(folder, i)) for i in range(RANKS)):
            if time.monotonic() - start > MEETING:
                return ["the ranks didn't meet: " + (folder / "errors.0").read_text()[-500:]]
            time.sleep(0.005)
        time.sleep(delay if ends else 0)
        struck = time.monotonic()
        number = {
            "kill": signal.SIGKILL, "stop": signal.SIGSTOP, "raise": signal.SIGUSR1,
            "full disk": signal.SIGUSR2,
        }[kind]  # fmt: skip
        send(processes[victim], number, folder / f"errors.{victim}")
        others = [i for i in range(RANKS) if i != victim]
        for i in others if kind == "stop" else range(RANKS):
            try:
                processes[i].wait(max(0.1, struck + TIMEOUT + SLACK * 2 - time.monotonic()))
            except subprocess.TimeoutExpired:
                broken.append(f"rank {i} hangs")
    for i in others if ends else range(RANKS):
        errors = [one for one in said(folder, i) if "error" in one]
        named = f"rank {victim}" if ends else f"\nrank {victim}: OSError: [Errno 28]"
        if not errors or named not in errors[0]["text"]:
            told = errors or (folder / f"errors.{i}").read_text()[-800:]
            broken.append(f"rank {i} isn't told of rank {victim}: {told}")
        elif ends and errors[0]["time"] - struck > TIMEOUT + SLACK:
            broken.append(f"rank {i} is told after {errors[0]['time'] - struck:.1f} s")
    return broken + leftovers(mark, before) + lost(folder, 39 if not ends else 0)


def leftovers(mark: str, before: set[Path]) -> list[str]:
    """What is still there some seconds after the ranks have ended."""
    end = time.monotonic() + 10
    while (left_behind(mark) or shared_memory() - before) and time.monotonic() < end:
        time.sleep(0.1)
    left = [*left_behind(mark), *map(str, shared_memory() - before)]
    return [f"left behind: {left}"] if left else []


def lost(folder: Path, least: int) -> list[str]:
    """What is wrong with the checkpoint: it is the last one that was saved, or a newer one."""
    steps = [one["saved"] for i in range(RANKS) for one in said(folder, i) if "saved" in one]
    last = max(steps, default=0)
    if last < least:
        return [f"the last checkpoint is of step {last}"]
    if not last:
        return []
    state: dict[str, Any] = {"same": torch.zeros(8, 3), "step": 0}
    try:
        dcp.load(state, checkpoint_id=folder / "saved", no_dist=True)
    except Exception as error:
        return [f"the checkpoint of step {last} is lost: {type(error).__name__}: {error}"]
    if state["step"] < last or not torch.equal(state["same"], torch.ones(8, 3) * state["step"]):
        return [f"the checkpoint of step {last} holds step {state['step']}: {state['same']}"]
    return []


def main() -> int:
    """Strikes until the number, or the time, is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rank", default="")
    parser.add_argument("--forming", action="store_true")
    parser.add_argument("--kinds", default=",".join(KINDS))
    given = parser.parse_args()
    if given.rank:
        return rank_of_world(given.rank, given.steps, given.forming)
    if find_spec("mpi4py") is None:
        print("left out: several processes need the extra `mpi`")
        return 0
    chance = random.Random(given.seed)
    kinds = [k for k in given.kinds.split(",") if k != "full disk" or not given.forming]
    end, failed, done = time.monotonic() + given.seconds, 0, 0
    for number in range(given.count):
        if time.monotonic() > end:
            break
        kind, victim = kinds[number % len(kinds)], chance.randrange(RANKS)
        delay = chance.random() * 0.7 if given.forming else chance.random() ** 2
        with tempfile.TemporaryDirectory() as folder:
            broken = strike(kind, victim, delay, Path(folder), given.forming)
        done, failed = number + 1, failed + bool(broken)
        for text in broken:
            print(f"fault {number} ({kind} of rank {victim} after {delay:.3f} s): {text}",
                  flush=True)  # fmt: skip
    print(f"{done} faults, {failed} broke a promise", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
