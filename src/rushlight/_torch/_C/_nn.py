"""The functions of `torch.nn.functional`, where PyTorch's compiled part has them."""

from __future__ import annotations

from . import _find_in, _parse_to as _parse_to

__getattr__ = _find_in("nn.functional")
