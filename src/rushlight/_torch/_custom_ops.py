"""`torch._custom_ops`: the older names of `torch.library`'s functions."""

from __future__ import annotations

from .library import custom_op, impl, register_fake

__all__ = ["custom_op", "impl", "impl_abstract"]

impl_abstract = register_fake
