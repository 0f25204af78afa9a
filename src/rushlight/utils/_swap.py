"""`torch.utils.swap_tensors`: two tensors exchange all they are, for all who hold them."""

from __future__ import annotations

from typing import Any, Final

from .._core.storage import TensorBase

__all__ = ["swap_tensors"]

_PARTS: Final = ("_raw", "_node", "_nr", "_requires_grad", "_grad", "_cell", "_view", "_plain",
                 "_inference", "_tangent", "_layered", "hooks")  # fmt: skip


def swap_tensors(t1: object, t2: object) -> None:
    """Exchanges elements, class, attributes, gradient and history of two tensors.

    Raises:
        RuntimeError: for something that isn't a tensor.
    """
    if not isinstance(t1, TensorBase) or not isinstance(t2, TensorBase):
        raise RuntimeError("swap_tensors: both arguments must be tensors")
    a: Any = t1
    b: Any = t2
    a.__class__, b.__class__ = type(b), type(a)
    a.__dict__, b.__dict__ = b.__dict__, a.__dict__
    for name in _PARTS:
        first, second = getattr(a, name), getattr(b, name)
        setattr(a, name, second)
        setattr(b, name, first)
