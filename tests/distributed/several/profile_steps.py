"""Two processes take a profile of a step of DistributedDataParallel, and say what it shows.

Before the backward of the first layer each waits a moment, in which what has been sent arrives.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn


class Waiting(nn.Module):
    """Gives what it gets; its backward takes a while."""

    def forward(self, x: Any) -> Any:
        y = x * 1.0
        if y.requires_grad:
            y.register_hook(lambda grad: time.sleep(0.5))
        return y


def listed(events: Any) -> list[list[Any]]:
    return [
        [e.name, e.time_range.start, e.time_range.end, e.is_async,
         None if e.cpu_parent is None else e.cpu_parent.name, e.self_cpu_time_total]
        for e in events
    ]  # fmt: skip


dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(40, 40), Waiting(), nn.BatchNorm1d(40), nn.Linear(40, 40), nn.Tanh(),
                  nn.Linear(40, 40)),
    bucket_cap_mb=0.001,
)  # fmt: skip
x = torch.randn(8, 40)
model(x).sum().backward()
seen: dict[str, Any] = {"rank": dist.get_rank()}
with torch.profiler.profile() as taken:
    model(x).sum().backward()
seen["step"] = listed(taken.events())
with tempfile.TemporaryDirectory() as folder:
    taken.export_chrome_trace(f"{folder}/trace.json")
    trace = json.loads(Path(f"{folder}/trace.json").read_text())["traceEvents"]
seen["trace"] = [[e["ph"], e["id"], e["ts"]] for e in trace if e["name"].startswith("gloo:")]
with torch.profiler.profile() as taken:
    waits = dist.all_reduce(torch.ones(3), async_op=True)
    dist.barrier()
    dist.all_gather([torch.zeros(3)] * 2, torch.ones(3))
seen["messages"] = listed(taken.events())
try:
    with torch.profiler.profile() as taken:
        dist.all_reduce(torch.ones(3, dtype=torch.int32), dist.ReduceOp.AVG)
except RuntimeError:
    seen["refused"] = listed(taken.events())
os.write(1, f"{json.dumps(seen)}\n".encode())
dist.destroy_process_group()
