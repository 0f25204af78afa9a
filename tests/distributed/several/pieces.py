"""Tensors of which some ranks have nothing: extremes, norms and losses are those of the whole."""

from __future__ import annotations

import json
import math
import sys
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist
from rushlight.distributed.tensor import Shard, distribute_tensor
from rushlight.distributed.tensor.parallel import loss_parallel

dist.init_process_group("gloo", timeout=timedelta(seconds=30))
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
x = distribute_tensor(torch.tensor([-3.0, 2.0]), mesh, [Shard(0)])
found = [
    x.max(), x.min(), x.amax(), x.amin(0, True),
    *[torch.linalg.vector_norm(x, order) for order in (math.inf, -math.inf, 0, 1, 2, 3)],
    torch.linalg.vector_norm(torch.stack([x.norm()]), math.inf),
]  # fmt: skip
values = [one.full_tensor().reshape(()).item() for one in found]  # type: ignore[attr-defined]
logits = torch.arange(8.0).reshape(2, 4).sin().requires_grad_()
spread = distribute_tensor(logits, mesh, [Shard(1)])
target = torch.tensor([3, 0])
with loss_parallel():  # of four classes the last of three ranks has none
    loss = torch.nn.functional.cross_entropy(spread, target)
    loss.backward()
torch.nn.functional.cross_entropy(logits, target).backward()
torch.testing.assert_close(spread.grad.full_tensor(), logits.grad)  # type: ignore[union-attr]
sys.stdout.write(json.dumps(values) + "\n")
sys.stdout.flush()
dist.destroy_process_group()
