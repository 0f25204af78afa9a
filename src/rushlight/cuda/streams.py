"""`torch.cuda.streams`: streams of work that isn't here."""

from __future__ import annotations

from .. import cuda

_NAMES = (
    "Event ExternalStream Stream "
).split()
globals().update({name: getattr(cuda, name) for name in _NAMES})

__all__ = sorted(_NAMES)  # noqa: PLE0605
