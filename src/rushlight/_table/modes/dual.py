"""The two views that forward mode begins with: into a dual tensor, and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rows.row import linear

if TYPE_CHECKING:
    from ..._array.annotations import Array


def _alias(array: Array) -> Array:
    """A view of all of an array."""
    return array.view()


MAKE = linear(
    "_make_dual(Tensor(a) self) -> Tensor(a)", _alias,
    self=lambda g: g, namespace="private", node="ViewBackward0",
    doc="A view of all of `self`, which will carry a tangent of its own.",
)  # fmt: skip

UNPACK = linear(
    "_unpack_dual(Tensor(a) dual) -> Tensor(a)", _alias,
    dual=lambda g: g, namespace="private", node="Identity",
    doc="A view of all of a dual tensor, without its tangent.",
)  # fmt: skip
