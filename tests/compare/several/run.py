"""Runs the programs in several processes and writes what each rank saw.

python run.py LIBRARY SIZE METHOD OUTPUT [PROGRAM …]
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib
import json
import sys
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import averaging  # noqa: F401
import checkpoints  # noqa: F401
import compiled_steps  # noqa: F401
import dtensors  # noqa: F401  (these modules put their programs on the list)
import fsdp  # noqa: F401
import made_in_place  # noqa: F401
import sharding  # noqa: F401  (these modules put their programs on the list)
import training  # noqa: F401
from programs import PROGRAMS

LIBRARY = sys.argv[1]


def plain(value):
    """What JSON can hold: a tensor is its dtype, shape and elements."""
    if hasattr(value, "dtype"):
        values = value.detach()
        if values.is_complex():
            elements = [[z.real, z.imag] for z in values.reshape(-1).tolist()]
        else:
            elements = values.reshape(-1).tolist()
        return [str(value.dtype), list(value.shape), elements]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def work(rank, size, method, output, names):
    torch = importlib.import_module(LIBRARY)
    dist = importlib.import_module(f"{LIBRARY}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=method, rank=rank, world_size=size, timeout=timedelta(seconds=300)
    )
    seen = {}
    for name in names:
        seen[name] = plain(PROGRAMS[name](torch, dist, rank, size))
        dist.barrier()
    Path(f"{output}.{rank}").write_text(json.dumps(seen))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    size, method, output, *names = sys.argv[2:]
    processes = importlib.import_module(f"{LIBRARY}.multiprocessing")
    processes.spawn(work, (int(size), method, output, names or list(PROGRAMS)), int(size))
