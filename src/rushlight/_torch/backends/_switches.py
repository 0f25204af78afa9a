"""Switches of libraries that PyTorch computes with: remembered, and without effect here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_PRECISIONS = ("none", "ieee", "tf32", "bf16")


def check_values(module: str, kinds: dict[str, str]) -> None:
    """Has a module refuse to set a switch to anything but a bool.

    Raises:
        RuntimeError: from then on, by `module.switch = 3`, with the words of `kinds`.
    """

    class Switches(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            setter = kinds.get(name)
            if setter is not None and not isinstance(value, bool):
                raise RuntimeError(f"{setter} expects a bool, but got {type(value).__name__}")
            if name == "fp32_precision" and value not in _PRECISIONS:
                raise RuntimeError(f"Unknown precision: {value}")
            super().__setattr__(name, value)

    sys.modules[module].__class__ = Switches


class Precision:
    """The precision of float32 work, by name."""

    def __init__(self, fp32_precision: str) -> None:
        self.fp32_precision = fp32_precision

    def __setattr__(self, name: str, value: str) -> None:
        if name == "fp32_precision" and value not in _PRECISIONS:
            raise RuntimeError(f"Unknown precision: {value}")
        object.__setattr__(self, name, value)


@contextlib.contextmanager
def change(module: ModuleType, values: dict[str, Any]) -> Iterator[None]:
    """A context in which a module has other values."""
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
