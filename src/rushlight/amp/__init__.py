"""Mixed precision: `autocast`, and `GradScaler` for types whose gradients vanish."""

from __future__ import annotations

from .._base.lazy import list_names as _listed
from . import autocast_mode, grad_scaler
from .autocast_mode import (
    _enter_autocast,
    _exit_autocast,
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
_ = (autocast_mode, grad_scaler, _enter_autocast, _exit_autocast)

__dir__ = _listed(globals())
