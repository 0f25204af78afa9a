"""Automatic differentiation: running backward, modes, custom functions, access to the graph."""

from __future__ import annotations

from .backward import backward, grad
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
