"""`torch.quantization`, the former name of `torch.ao.quantization`."""

from __future__ import annotations

from ..ao import quantization as _now

globals().update({name: getattr(_now, name) for name in _now.__all__})

__all__ = list(_now.__all__)
