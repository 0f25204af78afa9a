"""Makes torchvision importable on both systems; as a plugin of pytest's, before tests are read."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

#: A library of operators is there as long as it is held.
KEPT: list[Any] = []


def define_vision_operators(torch: ModuleType) -> Any:
    """Makes torchvision importable where its compiled part was built for another PyTorch.

    Its Python part registers rules for operators that only the compiled part would define.
    """
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        return None
    try:
        torch.ops.load_library(str(Path(spec.origin).with_name("_C.so")))
        return None
    except OSError:
        library = torch.library.Library("torchvision", "DEF")
    names = set()
    for path in Path(spec.origin).parent.glob("_*registrations.py"):
        names |= set(re.findall(r"torchvision::(\w+)", path.read_text(encoding="utf-8")))
    for name in sorted(names):
        library.define(f"{name}(Tensor self) -> Tensor")
    return library


def pytest_configure() -> None:
    """Runs before anything is collected."""
    import torch

    KEPT.append(define_vision_operators(torch))
