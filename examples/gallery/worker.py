"""The process that runs one driver, on PyTorch or, started by `python -m rushlight`, on Rushlight.

Where a launcher starts it, in several processes, rank 0 answers, and tells the others by the
launcher's store when the driver is run again.

`worker.py DRIVER PACKAGES THREADS SYSTEM` answers on standard output, in lines of JSON: the numbers
of the first run, the versions of what was run and its seconds; then the seconds of one more run for
every line that it reads. A failure is `{"error": …}` and the end.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "plugins"))
from vision_operators import define_vision_operators

sys.path.pop(0)

# A tensor with more elements than this is told by its sums.
WHOLE = 24


def load(path: Path) -> ModuleType:
    """The driver in a file, as a module of its own name; it finds what lies beside it, last."""
    spec = importlib.util.spec_from_file_location(f"gallery_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.append(str(path.parent))
    spec.loader.exec_module(module)
    return module


def figures(value: Any) -> list[float]:
    """The plain numbers that a result is compared by.

    A large tensor gives its first elements, its sum, its norm and a sum with weights that differ
    from place to place, so that a permutation does not pass for the same.
    """
    if hasattr(value, "detach"):
        value = value.detach()
        if value.is_complex():
            value = value.flatten().view(value.real.dtype)
        flat = value.double().flatten()
        if flat.numel() > WHOLE:
            few = flat[:8].tolist()
            plain = flat.tolist()
            weighted = math.fsum(x * math.cos(i) for i, x in enumerate(plain))
            norm = math.sqrt(math.fsum(x * x for x in plain))
            return [*few, math.fsum(plain), norm, weighted]
        value = flat.tolist()
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in figures(item)]
    return [float(value)]


def run(module: ModuleType) -> tuple[dict[str, Any], float]:
    """The named results of one run and its seconds."""
    gc.collect()
    start = perf_counter()
    results = module.main()
    return results, perf_counter() - start


def rounds(torch: ModuleType) -> Iterator[None]:
    """Gives one for every line that is read; on every rank, where there are several."""
    rank, ranks = (int(os.environ.get(name, 0)) for name in ("RANK", "WORLD_SIZE"))
    if not ranks:
        yield from (None for _ in sys.stdin)
        return
    place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = torch.distributed.TCPStore(*place, is_master=False, timeout=timedelta(minutes=10))
    for number in count():
        if rank == 0:
            store.set(f"gallery/{number}", sys.stdin.readline() or "end")
        if store.get(f"gallery/{number}") == b"end":
            store.add("gallery/ended", 1)
            while rank == 0 and store.add("gallery/ended", 0) < ranks:
                sleep(0.01)
            return
        yield


def main(driver: str, packages: str, threads: int, system: str) -> int:
    """Runs the driver, answers, and runs it again as often as asked."""
    # What a package prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        if os.environ.get("RANK", "0") != "0" and "error" not in message:
            return
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    # The folder of this file holds names that no package should find.
    sys.path[:] = [x for x in sys.path if x != str(Path(__file__).resolve().parent)]
    # Last: what the environment has already, NumPy first of all, stays what it is.
    sys.path.append(packages)
    warnings.simplefilter("ignore")
    kept = None
    try:
        start = perf_counter()
        import torch

        ours = "+rushlight" in torch.__version__
        if ours != (system == "rushlight"):
            raise RuntimeError(f"torch is {torch.__file__} here: install Rushlight, not its path")
        torch.set_num_threads(threads)
        if not ours:
            kept = define_vision_operators(torch)  # as long as it lives, so do they
        module = load(Path(driver))
        loading = perf_counter() - start
        results, seconds = run(module)
        numbers = {name: figures(value) for name, value in results.items()}
        send(
            {
                "numbers": numbers,
                "seconds": seconds,
                "loading": loading,
                "version": str(torch.__version__),
                "file": str(torch.__file__),
            }
        )
        for _ in rounds(torch):
            send({"seconds": run(module)[1]})
        del kept
    except Exception as error:
        traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        send({"error": f"{type(error).__name__}: {lines[0]}".rstrip(": ")})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
