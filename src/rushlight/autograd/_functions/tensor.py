"""`Resize`: a custom function from before `Tensor.resize`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..function import Function

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


class Resize(Function):
    """The elements of a tensor in another shape of as many elements."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: Any) -> Any:
        """The tensor in its new shape.

        Raises:
            RuntimeError: for another number of elements.
        """
        if prod(sizes) != tensor.numel():
            shape = "x".join(map(str, tensor.size()))
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({prod(sizes)} elements in "
                f"total), but the given tensor has a size of {shape} ({tensor.numel()} elements). "
                "autograd's resize can only change the shape of a given tensor, while preserving "
                "the number of elements. "
            )
        ctx.former = tensor.size()
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """The gradient in the former shape."""
        return grad.contiguous().view(ctx.former), None


__all__ = ["Resize"]
