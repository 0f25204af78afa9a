"""Passing calls on to classes with `__torch_function__`, by the names `torch.autograd` has."""

from __future__ import annotations

from ..overrides import handle_torch_function, has_torch_function, is_tensor_like

__all__ = ["handle_torch_function", "has_torch_function", "is_tensor_like"]
