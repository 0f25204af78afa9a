"""`torch.cuda.amp.autocast`, the former name of `torch.autocast("cuda")`."""

from __future__ import annotations

import warnings
from typing import Any

from .... import amp
from ...._base import dtypes as D
from ....amp.former import warn_of

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """`torch.autocast("cuda", …)`, with a warning that this is its name now."""

    def __init__(
        self, enabled: bool = True, dtype: D.dtype = D.float16, cache_enabled: bool = True
    ) -> None:
        warn_of("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: D.dtype | None = None) -> Any:
    """The former name of `torch.amp.custom_fwd(…, device_type="cuda")`."""
    warnings.warn(
        "`torch.cuda.amp.custom_fwd(args...)` is deprecated. "
        "Please use `torch.amp.custom_fwd(args..., device_type='cuda')` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """The former name of `torch.amp.custom_bwd(…, device_type="cuda")`."""
    warnings.warn(
        "`torch.cuda.amp.custom_bwd(args...)` is deprecated. "
        "Please use `torch.amp.custom_bwd(args..., device_type='cuda')` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return amp.custom_bwd(bwd, device_type="cuda")
