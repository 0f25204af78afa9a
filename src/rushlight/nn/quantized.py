"""`torch.nn.quantized`, the former name of `torch.ao.nn.quantized`."""

from __future__ import annotations

from ..ao.nn import quantized as _now

globals().update({name: getattr(_now, name) for name in _now.__all__})

__all__ = list(_now.__all__)
