"""`python -m rushlight.distributed.check`: who is where, how fast sums are, what to change.

Under a launcher (`mpiexec`, `srun`, `rushlight.distributed.run -m`) it joins that world; alone it
starts as many ranks as `--nproc-per-node` says.
"""

from __future__ import annotations

import argparse
import os
import socket
import tempfile
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from ._ground import f
from .collectives import all_reduce, barrier
from .forecast import fit, table
from .object_collectives import all_gather_object
from .process_group import destroy_process_group, get_rank, get_world_size, init_process_group
from .world import find_launched_world, launcher_place, this_node

if TYPE_CHECKING:
    from .annotations import Given

__all__ = ["main"]

_SIZES = (4, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
_SECONDS = 0.3  # for each size


def _about() -> dict[str, Given]:
    """What this rank tells the others of its process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "host": socket.gethostname(), "node": this_node(), "process": os.getpid(), "cores": cores,
        "threads": os.environ.get("OMP_NUM_THREADS", ""),
    }  # fmt: skip


def _time(size: int) -> float:
    """Seconds of one all_reduce of so many bytes of float32."""
    row = f.ones(max(size // 4, 1))
    all_reduce(row)
    count = 1
    while True:
        barrier()
        start = time.perf_counter()
        for _ in range(count):
            all_reduce(row)
        took = f.tensor([time.perf_counter() - start])
        all_reduce(took)
        mean = float(took.item()) / get_world_size()
        if mean > _SECONDS or count >= 512:
            return mean / count
        count *= 4


def _overhead() -> float:
    """Seconds that a rank works for one more message, of those between it and its neighbour."""
    world, count = find_launched_world(), 200
    other = world.rank ^ 1
    if other >= world.size:
        return 0.0
    comm, places = world.comm, [bytearray(4) for _ in range(2 * count)]
    start = time.perf_counter()
    requests = [comm.Irecv(place, other) for place in places[:count]]
    requests += [comm.Isend(place, other) for place in places[count:]]
    world.mpi.Request.Waitall(requests)
    return (time.perf_counter() - start) / (2 * count)


def _advice(world: list[dict[str, Given]], small: float, large: float) -> list[str]:
    """What would make this world faster."""
    out = []
    hosts = {one["node"]: one["host"] for one in world}
    for node, host in sorted(hosts.items()):
        here = [one for one in world if one["node"] == node]
        if len(here) > here[0]["cores"]:
            out.append(
                f"{host} has {len(here)} ranks for {here[0]['cores']} cores: start at most as "
                "many ranks as cores"
            )
        elif len(here) > 1 and any(one["threads"] == "" for one in here):
            each = max(here[0]["cores"] // len(here), 1)
            out.append(f"{host}: set OMP_NUM_THREADS={each}, so that ranks don't share cores")
    if small > 0.001:
        out.append(
            f"a sum of 4 bytes takes {small * 1e3:.1f} ms: "
            + ("let fewer ranks share a core" if len(hosts) == 1 else "see which network MPI takes")
        )
    if len(hosts) > 1 and large < 1e9:
        out.append(
            f"{large / 1e6:.0f} MB/s between hosts: larger buckets (bucket_cap_mb), gradients in "
            "16 bits (fp16_compress_hook), or a faster network"
        )
    return out or ["nothing: this is as it should be"]


def _run(
    rank: int = -1, size: int = -1, method: str | None = None, forecasts: bool = False
) -> None:
    start = time.perf_counter()
    init_process_group(
        "mpi", init_method=method, rank=rank, world_size=size, timeout=timedelta(seconds=60)
    )
    formed = time.perf_counter() - start
    world: list[Given] = [None] * get_world_size()
    all_gather_object(world, _about())
    tries = 3 if forecasts else 1
    times = [(size, min(_time(size) for _ in range(tries))) for size in _SIZES]
    overhead = min(_overhead() for _ in range(5)) if forecasts else 0.0
    if get_rank() == 0:
        lines = [f"{len(world)} ranks, formed in {formed:.2f} s", ""]
        lines += ["rank  host                  process  cores"]
        for number, one in enumerate(world):
            lines.append(f"{number:>4}  {one['host']:<20}  {one['process']:>7}  {one['cores']:>5}")
        lines += ["", "all_reduce    time of one     bytes a second"]
        lines += [
            f"{size:>10}  {took * 1e6:>10.0f} µs  {size / took / 1e6:>10.1f} MB/s"
            for size, took in times
        ]
        advice = _advice(world, times[0][1], times[-1][0] / times[-1][1])
        lines += ["", "to change:", *(f"- {line}" for line in advice)]
        if forecasts:
            lines += ["", *table(fit(times, overhead, len(world)))]
        print("\n".join(lines), flush=True)
    destroy_process_group()


def main(arguments: list[str] | None = None) -> None:
    """Runs the check, in the launcher's world or in one of its own."""
    parser = argparse.ArgumentParser(
        prog="python -m rushlight.distributed.check", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--nproc-per-node", type=int, default=2, help="ranks to start alone")
    parser.add_argument("--forecast", action="store_true", help="model up to 10,000 ranks, too")
    chosen = parser.parse_args(arguments)
    place = launcher_place()
    if "RANK" in os.environ or (place is not None and place[1] > 1):
        _run(forecasts=chosen.forecast)
        return
    from ..multiprocessing import spawn

    with tempfile.TemporaryDirectory() as folder:
        count = chosen.nproc_per_node
        spawn(_run, (count, f"file://{folder}/store", chosen.forecast), count)


if __name__ == "__main__":
    main()
