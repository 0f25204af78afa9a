"""Keeps the list of public names: `python -m tests.table.public_names` adds those that are new.

A name that is gone stays in the list until somebody writes behind it in which version it was
removed, and what to use instead: `rushlight.old_name removed 0.3: use new_name`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import rushlight

PATH = Path(rushlight.__file__).parents[2] / "docs" / "reference" / "public-names.txt"
#: The modules whose names are public.
MODULES = (
    "", "amp", "autograd", "autograd.forward_ad", "autograd.functional", "autograd.graph",
    "distributions", "fft", "func", "linalg", "masked", "nn", "nn.functional", "nn.init",
    "nn.modules", "nn.parallel", "nn.utils", "optim", "optim.lr_scheduler", "optim.swa_utils",
    "profiler", "random", "serialization", "signal.windows", "sparse", "special", "utils",
    "utils.checkpoint", "utils.data",
)  # fmt: skip


def public_names() -> set[str]:
    """All names that are public now, with their modules; methods of tensors among them."""
    found = {f"rushlight.Tensor.{name}" for name in dir(rushlight.Tensor) if name[0] != "_"}
    for module in MODULES:
        place = f"rushlight.{module}".rstrip(".")
        listed = importlib.import_module(place).__all__
        found.update(f"{place}.{name}" for name in listed if name[0] != "_")
    return found


def recorded() -> dict[str, str]:
    """What the list says: names, and of those that are gone why."""
    lines = PATH.read_text().splitlines() if PATH.exists() else []
    found = (line.partition(" ") for line in lines)
    return {name: reason for name, _, reason in found}


def main() -> int:
    """Adds the names that are new; 0."""
    known = recorded()
    new = public_names() - known.keys()
    lines = [*(f"{name} {reason}".rstrip() for name, reason in known.items()), *new]
    PATH.write_text("\n".join(sorted(lines)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
