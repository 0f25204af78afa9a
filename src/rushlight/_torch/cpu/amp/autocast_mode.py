"""`torch.cpu.amp.autocast`, the former name of `torch.autocast("cpu")`."""

from __future__ import annotations

from .... import amp
from ...._base import dtypes as D
from ....amp.former import warn_of

__all__ = ["autocast"]


class autocast(amp.autocast):
    """`torch.autocast("cpu", …)`, with a warning that this is its name now."""

    def __init__(
        self, enabled: bool = True, dtype: D.dtype = D.bfloat16, cache_enabled: bool = True
    ) -> None:
        warn_of("cpu", "autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
