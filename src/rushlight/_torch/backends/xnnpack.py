"""`torch.backends.xnnpack`, which isn't here."""

from __future__ import annotations

enabled = False
