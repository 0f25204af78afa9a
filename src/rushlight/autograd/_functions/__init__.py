"""What programs take from `torch.autograd._functions`."""

from __future__ import annotations

from . import tensor, utils
from .tensor import Resize

__all__ = ["Resize", "tensor", "utils"]
