"""Fitting the shape of a gradient to its input's: for custom functions that broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._tensor.tensor import Tensor


def maybe_view(tensor: Tensor, size: Sequence[int], check_same_size: bool = True) -> Tensor:
    """`tensor` in the shape `size`; itself where it has it (and that is to be checked)."""
    if check_same_size and tensor.size() == size:
        return tensor
    return tensor.contiguous().view(size)


def maybe_unexpand(tensor: Tensor, old_size: Any, check_same_size: bool = True) -> Tensor:
    """`tensor` summed over what `old_size` had been expanded by."""
    if check_same_size and tensor.size() == old_size:
        return tensor
    more = tensor.dim() - len(old_size)
    widened = [d + more for d, n in enumerate(old_size) if n == 1 and tensor.size(d + more) != 1]
    for d in reversed(widened):
        tensor = tensor.sum(d, keepdim=True)
    for _ in range(more):
        tensor = tensor.sum(0)
    return tensor


__all__ = ["maybe_unexpand", "maybe_view"]
