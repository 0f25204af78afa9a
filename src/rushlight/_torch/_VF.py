"""`torch._VF`: the functions of `torch`, without what Python adds to them in PyTorch."""

from __future__ import annotations

from .._base.lazy import lazy
from .._table import namespace

__getattr__ = lazy(__name__, find=namespace("").__getitem__)

__all__: list[str] = []
