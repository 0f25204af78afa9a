"""A program of two processes that do different things: each says which error it got."""

import os
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
dist.all_reduce(torch.ones(2))
calls = [
    lambda: dist.all_reduce(torch.ones(2 + rank)),
    lambda: dist.all_reduce(torch.ones(2).to(torch.float64 if rank else torch.float32)),
    lambda: dist.barrier() if rank else dist.broadcast(torch.ones(3), 0),
    lambda: dist.all_gather_into_tensor(torch.ones(4 + 2 * rank), torch.ones(2 + rank)),
    lambda: dist.all_gather([torch.ones(2 + rank)] * 2, torch.ones(2 + rank)),
    lambda: dist.gather(torch.ones(2 + rank), None if rank else [torch.ones(2)] * 2),
    lambda: dist.scatter(torch.ones(2 + rank), None if rank else [torch.ones(2)] * 2),
    lambda: dist.all_to_all_single(
        torch.ones(2).to(torch.float64 if rank else torch.float32),
        torch.ones(2).to(torch.float64 if rank else torch.float32),
    ),
    lambda: dist.all_to_all_single(torch.ones(4), torch.ones(5 - rank), [2, 2], [2, 3 - rank]),
    lambda: dist.all_to_all([torch.ones(2)] * 2, [torch.ones(2), torch.ones(5 - 3 * rank)]),
    lambda: dist.all_to_all(
        [torch.ones(2), torch.ones(2, 1)][:: 1 - 2 * rank], [torch.ones(2)] * 2
    ),
]
for call in calls:
    try:
        call()
    except RuntimeError as error:
        os.write(1, f"{rank}: {'; '.join(str(error).splitlines())}\n".encode())
dist.all_reduce(torch.ones(2))
dist.destroy_process_group()
