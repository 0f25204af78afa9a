"""`torch._lobpcg`: `lobpcg` under the module where PyTorch has it."""

from __future__ import annotations

from typing import Any

from .._table import namespace

_f: Any = namespace("").module("the functions of torch")
lobpcg = _f.lobpcg

__all__ = ["lobpcg"]
