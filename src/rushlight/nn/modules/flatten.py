"""Joining dimensions into one, and splitting one into several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._ground import Tensor
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins the dimensions from `start_dim` to `end_dim` into one; the batch dimension stays."""

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits dimension `dim` into `unflattened_size`; the reverse of `Flatten`."""

    __constants__ = ["dim", "unflattened_size"]

    def __init__(
        self, dim: int | str, unflattened_size: Sequence[int] | Sequence[tuple[str, int]]
    ) -> None:
        super().__init__()
        _require_int_tuple(unflattened_size)
        self.dim: Any = dim
        self.unflattened_size: Any = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _require_int_tuple(size: object) -> None:
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}"
        )
    for place, extent in enumerate(size):
        if not isinstance(extent, int):
            raise TypeError(
                "unflattened_size must be tuple of ints, "
                f"but found element of type {type(extent).__name__} at pos {place}"
            )
