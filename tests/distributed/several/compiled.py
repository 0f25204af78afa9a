"""Two processes train by a compiled step that holds DistributedDataParallel, and by a plain one."""

import os
from typing import Any

import rushlight as torch
import rushlight.distributed as dist


def trained(compiles: bool) -> tuple[list[float], Any]:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 9), torch.nn.Tanh(), torch.nn.Linear(9, 3))
    model = torch.nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (model(x) - x[:, :3]).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    run: Any = torch.compile(step) if compiles else step
    torch.manual_seed(dist.get_rank())
    return [run(torch.randn(4, 8)).item() for _ in range(6)], run


dist.init_process_group("gloo")
losses, step = trained(True)
assert losses == trained(False)[0]
os.write(1, f"{dist.get_rank()}: {step.explain()}\n".encode())
dist.destroy_process_group()
