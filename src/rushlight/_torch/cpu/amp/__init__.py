"""The former place of mixed precision on the CPU: see `amp`."""

from __future__ import annotations

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "grad_scaler"]
