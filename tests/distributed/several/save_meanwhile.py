"""Trains on while checkpoints are written, several at a time, in two worlds one after another."""

import os
import sys
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist
from rushlight.distributed import checkpoint as dcp

folder = sys.argv[1]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
for world in range(2):
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store{world}", rank=rank, world_size=size,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    w, saving = torch.zeros(1000), []
    for step in range(12):
        row = torch.full((1000,), float(rank + step))
        dist.all_reduce(row)
        w += row
        state = {"w": w, "step": step}
        saving.append(dcp.async_save(state, checkpoint_id=f"{folder}/{world}-{step}"))
    for future in saving:
        future.result()
    whole = 0.0
    for step in range(12):
        whole += sum(other + step for other in range(size))
        read = {"w": torch.zeros(1000), "step": -1}
        dcp.load(read, checkpoint_id=f"{folder}/{world}-{step}")
        assert read["step"] == step and read["w"].eq(whole).all(), (step, read, whole)
    blocked = f"{folder}/blocked{world}"
    if rank == 0:
        with open(blocked, "w") as file:
            file.write("no folder")
    dist.barrier()
    try:
        dcp.async_save({"w": w}, checkpoint_id=blocked).result()
    except dcp.CheckpointException as error:
        os.write(1, f"rank {rank}: {sorted(error.failures)}\n".encode())
    dist.barrier()
    dist.destroy_process_group()
os.write(1, f"rank {rank}: done\n".encode())
