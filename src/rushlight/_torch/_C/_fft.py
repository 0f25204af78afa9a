"""The functions of `torch.fft`, where PyTorch's compiled part has them."""

from __future__ import annotations

from ..._base.lazy import lazy
from . import _find_in

__getattr__ = lazy(__name__, find=_find_in("fft"))
