"""A program of several processes: writes a checkpoint, or reads one, in a folder that is given."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import rushlight as torch
import rushlight.distributed as dist
import rushlight.distributed.checkpoint as dcp
from rushlight.distributed.checkpoint import pieces
from rushlight.distributed.tensor import Shard, distribute_tensor

what, folder = sys.argv[1:]
dist.init_process_group("gloo", timeout=timedelta(seconds=30))
rank, size = dist.get_rank(), dist.get_world_size()
mesh = dist.init_device_mesh("cpu", (size,))
whole = torch.arange(35.0).reshape(7, 5)


def state(factor: int) -> dict[str, object]:
    return {"w": distribute_tensor(whole * factor, mesh, [Shard(0)]), "epoch": factor}


if what == "write":
    dcp.save(state(1), checkpoint_id=folder)
elif what == "fail":
    if rank == 1:

        def full(*args: object) -> None:
            raise OSError(28, "No space left on device")

        pieces.save_file = full  # type: ignore[assignment]
    try:
        dcp.save(state(2), checkpoint_id=folder)
    except dcp.CheckpointException as error:
        os.write(1, f"{rank} {sorted(error.failures)} {error.failures[1]}\n".encode())
elif what == "disturb":
    if rank == 0:
        move = Path.replace

        def moved_and_raises(path: Path, target: Path) -> None:
            move(path, target)
            if target.name == pieces.INDEX:
                raise ArithmeticError("too late")

        Path.replace = moved_and_raises  # type: ignore[assignment, method-assign]
    try:
        dcp.save(state(1), checkpoint_id=folder)
    except dcp.CheckpointException as error:
        os.write(1, f"{rank} {sorted(error.failures)} {error.failures[0]}\n".encode())
elif what == "read":
    held = state(0)
    dcp.load(held, checkpoint_id=folder)
    full_w = held["w"].full_tensor()  # type: ignore[attr-defined]
    os.write(1, f"{rank} {held['epoch']} {torch.equal(full_w, whole)}\n".encode())
dist.destroy_process_group()
