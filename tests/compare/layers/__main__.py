"""Prints how the cases differ: `python -m tests.compare.layers [REGEX]`."""

from __future__ import annotations

import re
import sys

import torch

import rushlight

from . import CASES, differences, observed, surprises


def main() -> int:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    torch.set_num_threads(1)
    chosen = [name for name in CASES if re.search(pattern, name)]
    equal = known = 0
    for name in chosen:
        case = CASES[name]
        lines = differences(observed(torch, case), observed(rushlight, case))
        left = surprises(name, lines)
        equal += not lines
        known += bool(lines) and not left
        if left:
            print("\n    ".join([name, *left]), flush=True)
    other = len(chosen) - equal - known
    print(f"{len(chosen)} cases: {equal} equal, {known} known to differ, {other} different")
    return bool(other)


if __name__ == "__main__":
    sys.exit(main())
