"""`torch.backends.miopen`, which isn't here: its switch is remembered."""

from __future__ import annotations

from ._switches import check_values

immediate = False
check_values(__name__, {"immediate": "set_immediate_miopen"})
