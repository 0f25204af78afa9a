"""How near to the machine's limits workloads come: `python -m benchmarks.limits FILE.json`.

Of each workload it is said here how many floating-point operations its products and convolutions
take, forward and backward, and how many bytes must at least be read and written: operands once,
results and gradients once. The machine's limits are measured when the command runs: its largest
rate of a product of matrices (the better of the systems' that can be imported) and the rate of a
copy that fits no cache, both with every system's default threads. The least time of a workload is
the larger of the two quotients; a system's share of the limit is that time over its own.

Work that is neither (exp and its like, calls) isn't counted, so 100 % can't be had by most. What
stays in a cache from one pass to the next takes less than a copy from memory would.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Work:
    """Floating-point operations, and bytes that are read or written."""

    flops: float = 0.0
    bytes: float = 0.0


def dense(rows: int, *widths: int, first_input: bool = True) -> float:
    """Operations of linear layers, forward and backward, with or without the input's gradient."""
    layers = [2.0 * rows * a * b for a, b in itertools.pairwise(widths)]
    return 3 * sum(layers) - (0 if first_input else layers[0])


def elements(count: float, passes: int) -> Work:
    """So many passes over an array of float32."""
    return Work(bytes=FLOAT * count * passes)


def recurrent(gates: int, batch: int, hidden: int, places: int = 32) -> Work:
    """A layer of as many features as hidden units, with all gradients."""
    return Work(flops=6.0 * gates * batch * places * hidden * 2 * hidden)


def attention(batch: int, heads: int, places: int, size: int) -> Work:
    """Causal: half of the scores; two products forward, five backward."""
    return Work(flops=7 * 2.0 * batch * heads * places * places / 2 * size)


_GPT_ROWS, _C = 12 * 64, 128
#: The larger workloads. A norm, a loss or an activation reads its input and writes its result, then
#: reads both (or the input and the gradient) and writes a gradient.
WORK: dict[str, Work] = {
    "mlp mnist/sgd": Work(flops=dense(128, 784, 512, 512, 10, first_input=False)),
    "mlp mnist/adam": Work(flops=dense(128, 784, 512, 512, 10, first_input=False)),
    "elementwise/1e7": elements(1e7, 2),
    "rows/layer-norm-L": elements(8 * 256 * 384, 5),
    "rows/softmax-L": elements(8 * 6 * 256 * 256, 5),
    "rows/gelu-L": elements(8 * 256 * 4 * 384, 5),
    "rows/attention-S": attention(12, 4, 64, 32),
    "rows/attention-L": attention(8, 6, 256, 64),
    "rows/lstm-L": recurrent(4, 8, 384),
    "rows/adam-L": elements(12 * 384 * 384, 7),
    "layers/group-norm": elements(8 * 64 * 56 * 56, 5),
    "layers/batch-norm": elements(16 * 64 * 28 * 28, 5),
    "layers/depthwise-7": Work(flops=6.0 * 8 * 96 * 28 * 28 * 49),
    "layers/transposed-2d": Work(flops=6.0 * 16 * 128 * 64 * 8 * 8 * 16),
    "layers/convolution-3d": Work(flops=6.0 * 2 * 16 * 32 * 16 * 32 * 32 * 27),
    "layers/gru-512": recurrent(3, 32, 512),
    "layers/lstm-512": recurrent(4, 32, 512),
    "steps/elementwise-1e7": elements(1e7, 3),
    "steps/lstm": recurrent(4, 12, 128),
    "steps/gpt": Work(
        flops=2 * 12 * dense(_GPT_ROWS, _C, _C)
        + 2 * attention(12, 4, 64, 32).flops
        + dense(_GPT_ROWS, _C, 65)
    ),
}


def _rate(work: float, run: Callable[[], object], seconds: float = 1.0) -> float:
    """Work per second of the best of many runs."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return work / best


def _modules() -> Iterator[Any]:
    """The systems whose products and copies are tried, as far as they can be imported."""
    for name in ("torch", "rushlight"):
        with suppress(ImportError):
            yield importlib.import_module(name)


def peak_flops() -> float:
    """Operations per second of the fastest product of matrices at hand."""
    found = []
    for module in _modules():
        for size in (512, 1024):
            a = module.ones(size, size)
            found.append(_rate(2.0 * size**3, lambda a=a, m=module: m.mm(a, a)))  # type: ignore[misc]
    return max(found)


def bandwidth() -> float:
    """Bytes per second, read and written, of the fastest copy at hand."""
    count = 1 << 26
    found = []
    for module in _modules():
        a, b = module.ones(count), module.empty(count)
        found.append(_rate(2.0 * FLOAT * count, lambda a=a, b=b: b.copy_(a)))  # type: ignore[misc]
    a, b = np.ones(count, np.float32), np.empty(count, np.float32)
    found.append(_rate(2.0 * FLOAT * count, lambda: np.copyto(b, a)))
    return max(found)


def least_seconds(work: Work, flops: float, bytes_: float) -> float:
    """What the machine's limits leave of a workload's time."""
    return max(work.flops / flops, work.bytes / bytes_)


def lines(document: Mapping[str, Any], flops: float, bytes_: float) -> list[str]:
    """A Markdown table: the least time, and each system's share of the limit."""
    works = [w for w in document["workloads"] if w["name"] in WORK]
    systems = list(dict.fromkeys(name for work in works for name in work["rows"]))
    table = [
        ["workload", "limit", "by", *systems],
        ["---", "---:", "---", *["---:"] * len(systems)],
    ]
    for work in works:
        known = WORK[work["name"]]
        least = least_seconds(known, flops, bytes_)
        by = "operations" if known.flops / flops >= known.bytes / bytes_ else "memory"
        unit = 1e7 if work["unit"] == "element" else 1.0  # figures are for one element
        shares = []
        for name in systems:
            figure = work["rows"].get(name, {}).get("min")
            shares.append(f"{least / (figure * unit):.0%}" if figure else "")
        table.append([f"`{work['name']}`", f"{1e3 * least:.2f} ms", by, *shares])
    return ["| " + " | ".join(line) + " |" for line in table]


def main(arguments: Sequence[str]) -> int:
    """Prints the machine's limits and the table of each file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    flops, bytes_ = peak_flops(), bandwidth()
    print(f"{flops / 1e9:.0f} GFLOP/s, {bytes_ / 1e9:.1f} GB/s")
    for file in options.files:
        document = json.loads(file.read_text(encoding="utf-8"))
        print("\n".join(lines(document, flops, bytes_)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
