"""A Markdown table of a run's least figures: `python -m benchmarks.table FILE.json`.

One line per workload: what each system needs, then how many times faster one system (`--of`, the
compiled step unless told otherwise) is than each of the others. With `--cpu` figures are processor
time, which on a busy machine is the steadier one for one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import amount, times


def lines(document: Mapping[str, Any], of: str, *, cpu: bool = False) -> list[str]:
    """The table's lines, the heading first."""
    workloads = document["workloads"]
    systems = list(dict.fromkeys(name for work in workloads for name in work["rows"]))
    others = [name for name in systems if name != of]
    heading = ["workload", *systems, *(f"x {name}" for name in others)]
    table = [heading, ["---", *["---:"] * (len(heading) - 1)]]
    for work in workloads:
        memory = work["measures"] == "bytes"
        least = {name: _least(row, cpu) for name, row in work["rows"].items()}
        own = least.get(of)
        told = ["" if name not in least else _told(least[name], memory) for name in systems]
        peers = [least.get(name) for name in others]
        ratios = [times(peer / own) if own and peer else "" for peer in peers]
        table.append([work["name"], *told, *ratios])
    return ["| " + " | ".join(line) + " |" for line in table]


def _least(row: Mapping[str, Any], cpu: bool) -> float | None:
    found: float | None = min(row["cpu"], default=None) if cpu else row["min"]
    return found


def _told(figure: float | None, memory: bool) -> str:
    return "error" if figure is None else amount(figure, memory=memory)


def main(arguments: Sequence[str]) -> int:
    """Prints the table of each file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--of", default="rushlight-step")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args(arguments)
    for file in options.files:
        document = json.loads(file.read_text(encoding="utf-8"))
        print("\n".join(lines(document, options.of, cpu=options.cpu)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
