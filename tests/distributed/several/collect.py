"""A program of several processes: says what each rank saw, a line of JSON each."""

import json
import sys
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=30))
rank, size = dist.get_rank(), dist.get_world_size()
seen: dict[str, object] = {"rank": rank, "size": size, "arguments": sys.argv[1:]}

x = torch.arange(4.0) * (rank + 1)
dist.all_reduce(x)
seen["sum"] = x.tolist()

parts = torch.full((100_001,), 0.1, dtype=torch.float32) * (rank + 1)
dist.all_reduce(parts)
again = torch.full((100_001,), 0.1, dtype=torch.float32) * (rank + 1)
dist.all_reduce(again)
in_order = torch.tensor(0.1)
for other in range(1, size):
    in_order = in_order + torch.tensor(0.1) * (other + 1)
seen["in order"] = bool((parts == in_order).all()) and torch.equal(parts, again)

columns = torch.zeros(3, 4)
view = columns.t()[1:3]
view += rank + 1
dist.all_reduce(view)
seen["a view"] = columns[0].tolist()

short = torch.tensor([300 * (rank + 1)], dtype=torch.int16)
dist.all_reduce(short)
seen["int16"] = short.item()

places = [torch.zeros(i + 1) for i in range(size)]
dist.all_gather(places, torch.full((rank + 1,), float(rank)))
seen["uneven"] = [place.tolist() for place in places]

work = dist.all_reduce(torch.ones(5), async_op=True)
assert work is not None
seen["future"] = work.get_future().wait()[0].tolist()

group = dist.split_group(split_ranks=[[0], list(range(1, size))])
seen["split"] = None if group is None else dist.get_process_group_ranks(group)

torch.manual_seed(rank)
parallel = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
parallel(torch.ones(2, 3) * (rank + 1)).sum().backward()
grad = parallel.module.weight.grad
assert grad is not None
seen["mean gradient"] = grad.tolist()[0]

# At once: the launcher mixes what ranks write in several pieces.
sys.stdout.write(json.dumps(seen) + "\n")
sys.stdout.flush()
dist.destroy_process_group()
