"""`torch.cuda.streams`: streams of work that aren't here."""

from __future__ import annotations

from . import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
