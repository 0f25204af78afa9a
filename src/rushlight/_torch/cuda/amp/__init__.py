"""The former place of mixed precision: see `amp`. There is no CUDA here, so nothing is cast."""

from __future__ import annotations

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler",
]  # fmt: skip
