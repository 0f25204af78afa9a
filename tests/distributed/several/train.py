"""A program of several processes: trains models held in four ways, a line of JSON from each rank.

With an argument, rank 0 writes its name into that file after the third step, and all go on until
they are stopped.
"""

import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn
from rushlight.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
from rushlight.distributed.world import find_launched_world


def made() -> Any:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(40, 300), nn.Tanh(), nn.Linear(300, 300), nn.Tanh(),
                         nn.Linear(300, 3))  # fmt: skip


def step(model: Any, optimizer: Any, number: int) -> float:
    torch.manual_seed(100 * number + dist.get_rank())
    x = torch.randn(16, 40)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :3].sin()).pow(2).mean()
    loss.backward()
    optimizer.step()
    return float(loss.item())


def held(how: str) -> Any:
    if how == "DDP":
        return nn.parallel.DistributedDataParallel(made())
    if how == "FSDP":
        return FullyShardedDataParallel(made(), use_orig_params=True)
    if how == "HYBRID":
        strategy = ShardingStrategy.HYBRID_SHARD
        return FullyShardedDataParallel(made(), sharding_strategy=strategy)
    return fully_shard(made())


dist.init_process_group("gloo", timeout=timedelta(seconds=float(os.environ.get("LIMIT", "60"))))
seen: dict[str, object] = {"rank": dist.get_rank(), "one node": find_launched_world().one_node}
for how in ("DDP", "FSDP", "HYBRID", "fully_shard"):
    model = held(how)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    seen[how] = [step(model, optimizer, i) for i in range(4)]
if len(sys.argv) > 1:
    number = 0
    try:
        while True:
            step(model, optimizer, number)
            number += 1
            if number == 3 and dist.get_rank() == 0:
                Path(sys.argv[1]).write_text("goes on")
    except RuntimeError as error:
        seen["error"] = f"{type(error).__name__}: {error}"
sys.stdout.write(json.dumps(seen) + "\n")
sys.stdout.flush()
if "error" in seen:
    os._exit(3)
dist.destroy_process_group()
