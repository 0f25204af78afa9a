"""A program that is interrupted: python interrupted.py WHERE FOLDER [METHOD].

Each process leaves its number in the folder when it has come to where it is to be interrupted:
while the world forms, in a collective, or while it computes. With a method for `init_process_group`
the program starts its three processes itself.
"""

import os
import sys
import time
from pathlib import Path

import rushlight as torch
import rushlight.distributed as dist
import rushlight.multiprocessing as mp


def work(rank: int, where: str, folder: str, method: str) -> None:
    def arrive() -> None:
        Path(folder, str(os.getpid())).touch()

    if where == "forming":
        arrive()
        if rank == 1:
            time.sleep(600)
    dist.init_process_group("gloo", init_method=method, rank=rank, world_size=3)
    x = torch.ones(300, 300)
    dist.barrier()
    arrive()
    if where == "collective":
        if rank == 1:
            time.sleep(600)
        dist.all_reduce(x)
    while True:
        x = (x @ x).clamp(-1, 1)


if __name__ == "__main__":
    where, folder, *method = sys.argv[1:]
    if method:
        mp.spawn(work, (where, folder, *method), 3)
    else:
        work(int(os.environ["RANK"]), where, folder, "env://")
