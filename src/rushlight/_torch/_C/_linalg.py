"""The functions of `torch.linalg`, where PyTorch's compiled part has them."""

from __future__ import annotations

from . import _find_in

__getattr__ = _find_in("linalg")
