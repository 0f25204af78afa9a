"""Extremes and norms of tensors of which some ranks have nothing: each rank has the whole's."""

from __future__ import annotations

import json
import math
import sys
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist
from rushlight.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo", timeout=timedelta(seconds=30))
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
x = distribute_tensor(torch.tensor([-3.0, 2.0]), mesh, [Shard(0)])
found = [
    x.max(), x.min(), x.amax(), x.amin(0, True),
    *[torch.linalg.vector_norm(x, order) for order in (math.inf, -math.inf, 0, 1, 2, 3)],
    torch.linalg.vector_norm(torch.stack([x.norm()]), math.inf),
]  # fmt: skip
values = [one.full_tensor().reshape(()).item() for one in found]  # type: ignore[attr-defined]
sys.stdout.write(json.dumps(values) + "\n")
sys.stdout.flush()
dist.destroy_process_group()
