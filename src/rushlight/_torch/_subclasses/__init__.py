"""`torch._subclasses`: what programs ask of tensors without memory, of which there are none."""

from __future__ import annotations

from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
