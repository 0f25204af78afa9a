"""Messages and data-parallel steps of two processes, beside gloo: `python -m benchmarks.ranks`.

For each workload every system has a world of its own, and the worlds take turns, one round each;
the least time of a round counts, and the peak of memory of rank 0. One thread a process.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.systems import SYSTEMS, environment

RANKS = 2
#: By name: the system whose environment it has, and whether its steps are compiled.
CHOICES = {
    "torch": ("torch", False),
    "rushlight": ("rushlight-compiled", False),
    "rushlight-step": ("rushlight-compiled", True),
}


# ---- what is measured ----------------------------------------------------------------------------
def sums(count: int) -> Callable[[Any, bool], Callable[[], object]]:
    """Adds up so many float32 of all ranks."""

    def made(torch: Any, compiles: bool) -> Callable[[], object]:
        x = torch.ones(count)
        return lambda: torch.distributed.all_reduce(x)

    return made


def mlp(torch: Any) -> tuple[Any, Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())
    model.append(nn.Linear(512, 10))
    return model, torch.randn(64, 784), torch.randint(0, 10, (64,))


def cnn(torch: Any) -> tuple[Any, Any, Any]:
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 10),
    )  # fmt: skip
    return model, torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))


def gpt(torch: Any) -> tuple[Any, Any, Any]:
    nn, f = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(64), nn.LayerNorm(64)
            self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)
            self.wide, self.narrow = nn.Linear(64, 256), nn.Linear(256, 64)

        def forward(self, x: Any) -> Any:
            b, t, c = x.shape
            q, k, v = self.qkv(self.first(x)).view(b, t, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
            y = f.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            return x + self.narrow(f.gelu(self.wide(self.second(x))))

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(128, 64), nn.Parameter(torch.zeros(32, 64))
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 128)

        def forward(self, tokens: Any) -> Any:
            x = self.blocks(self.words(tokens) + self.places)
            return self.head(self.norm(x)).flatten(0, 1)

    tokens = torch.randint(0, 128, (8, 32))
    return Model(), tokens, tokens.flatten()


def steps(of: Callable[[Any], tuple[Any, Any, Any]]) -> Callable[[Any, bool], Callable[[], object]]:
    """Steps of a module by DistributedDataParallel, with SGD."""

    def made(torch: Any, compiles: bool) -> Callable[[], object]:
        torch.manual_seed(0)
        module, x, y = of(torch)
        model = torch.nn.parallel.DistributedDataParallel(module)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

        def step() -> Any:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return torch.compile(step) if compiles else step

    return made


#: By name: what makes the work, and how often a round does it.
WORK: dict[str, tuple[Callable[[Any, bool], Callable[[], object]], int]] = {
    "all_reduce 4 KB": (sums(1 << 10), 200),
    "all_reduce 1 MB": (sums(1 << 18), 20),
    "all_reduce 100 MB": (sums(25 << 20), 1),
    "DDP step: MLP": (steps(mlp), 10),
    "DDP step: CNN": (steps(cnn), 10),
    "DDP step: GPT": (steps(gpt), 10),
}


# ---- one rank ------------------------------------------------------------------------------------
def peak() -> float:
    """The most memory that this process has had, in MiB; NaN where the system doesn't tell."""
    try:
        text = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return float("nan")
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


def work(name: str, system: str) -> None:
    """Does rounds for as long as rank 0 is asked to, and answers with their seconds."""
    known, compiles = CHOICES[system]
    torch = importlib.import_module(SYSTEMS[known].module)
    dist = importlib.import_module(f"{SYSTEMS[known].module}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    make, count = WORK[name]
    run = make(torch, compiles)
    for _ in range(3):
        run()
    more = torch.ones(1)
    while True:
        if dist.get_rank() == 0:
            more.fill_(float(bool(sys.stdin.readline().strip())))
        dist.broadcast(more, 0)
        if not more.item():
            break
        dist.barrier()
        start = time.perf_counter()
        for _ in range(count):
            run()
        dist.barrier()
        seconds = (time.perf_counter() - start) / count
        if dist.get_rank() == 0:
            print(json.dumps({"seconds": seconds, "peak": peak()}), flush=True)
    dist.destroy_process_group()


# ---- all of them ---------------------------------------------------------------------------------
class Ranks:
    """The processes of one system for one workload."""

    def __init__(self, name: str, system: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        known = SYSTEMS[CHOICES[system][0]]
        shared = environment(known, 1, installed=False) | {
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(RANKS),
            "GLOO_SOCKET_IFNAME": "lo",
        }  # fmt: skip
        command = [known.python(), "-W", "ignore", "-m", "benchmarks.ranks", "--rank", name, system]
        self.processes = [
            subprocess.Popen(
                command, env=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)}, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )
            for rank in range(RANKS)
        ]  # fmt: skip

    def round(self) -> dict[str, float]:
        """One round's seconds, and the peak of memory so far.

        Raises: RuntimeError, where rank 0 has ended.
        """
        first = self.processes[0]
        assert first.stdin is not None and first.stdout is not None
        first.stdin.write("go\n")
        first.stdin.flush()
        line = first.stdout.readline()
        if not line:
            raise RuntimeError("rank 0 has ended")
        answer: dict[str, float] = json.loads(line)
        return answer

    def close(self) -> None:
        """Ends the processes."""
        for process in self.processes:
            with contextlib.suppress(OSError):  # it may have ended
                if process.stdin is not None:
                    process.stdin.close()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def measure(name: str, systems: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """The least seconds and the peak of memory of each system; those that fail are left out."""
    worlds = {system: Ranks(name, system) for system in systems}
    found: dict[str, dict[str, float]] = {}
    try:
        for _ in range(rounds):
            for system, world in list(worlds.items()):
                try:
                    one = world.round()
                except (RuntimeError, BrokenPipeError) as error:
                    print(f"{name}: {system}: {error}")
                    worlds.pop(system).close()
                    found.pop(system, None)
                    continue
                least = min(one["seconds"], found.get(system, one)["seconds"])
                found[system] = {"seconds": least, "peak": one["peak"]}
    finally:
        for world in worlds.values():
            world.close()
    return found


def main() -> int:
    """Measures all, prints a table, and gives 0 where everything ran."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranks", description=__doc__)
    parser.add_argument("--rank", nargs=2, metavar=("WORKLOAD", "SYSTEM"), help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    asked = parser.parse_args()
    if asked.rank:
        work(*asked.rank)
        return 0
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{RANKS} ranks, {asked.rounds} rounds, {os.cpu_count()} cores, load average {load:.2f}")
    whole = True
    for name in (name for name in WORK if asked.only in name):
        systems = [s for s in CHOICES if "step" in name or not CHOICES[s][1]]
        found = measure(name, systems, asked.rounds)
        whole &= len(found) == len(systems)
        cells = []
        for system, one in found.items():
            times = found["torch"]["seconds"] / one["seconds"] if "torch" in found else float("nan")
            cells.append(
                f"{system} {one['seconds'] * 1e3:.3f} ms ({times:.2f}x, {one['peak']:.0f} MiB)"
            )
        print(f"{name:<18} " + ", ".join(cells), flush=True)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
