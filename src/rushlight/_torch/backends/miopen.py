"""`torch.backends.miopen`, which isn't here: its switch is remembered."""

from __future__ import annotations

from ._switches import checked

immediate = False
checked(__name__, {"immediate": "set_immediate_miopen"})
