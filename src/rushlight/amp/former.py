"""Mixed precision under its former names, `torch.cpu.amp` and `torch.cuda.amp`: they warn of it."""

from __future__ import annotations

import warnings
from typing import ClassVar

from .grad_scaler import GradScaler


def warn_of(device: str, name: str) -> None:
    """Says under which name something stands now; to be called by a constructor."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class FormerGradScaler(GradScaler):
    """`torch.amp.GradScaler` whose device is a matter of its class."""

    _kind: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of(self._kind, "GradScaler")
        super().__init__(
            self._kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
