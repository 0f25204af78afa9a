"""`torch.cpu.amp.autocast`, the former name of `torch.autocast("cpu")`."""

from __future__ import annotations

import warnings

from ... import amp
from ... import dtypes as D

__all__ = ["autocast"]


class autocast(amp.autocast):
    """`torch.autocast("cpu", …)`, with a warning that this is its name now."""

    def __init__(
        self, enabled: bool = True, dtype: D.dtype = D.bfloat16, cache_enabled: bool = True
    ) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. "
            "Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
