"""A program whose last rank ends, in a way that is asked for, while the others wait for it."""

import os
import signal
import sys
from datetime import timedelta

import rushlight as torch
import rushlight.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=float(sys.argv[2])))
dist.barrier()
if dist.get_rank() == dist.get_world_size() - 1:
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "raise":
        raise ValueError("out of order")
    if sys.argv[1] == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    sys.exit()
try:
    dist.all_reduce(torch.ones(3))
except RuntimeError as error:
    print(type(error).__name__, error, flush=True)
