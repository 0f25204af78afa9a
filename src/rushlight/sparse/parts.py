"""Sparse tensors as arrays: what messages between processes send of them, and put into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.shape.sparse import sum_of
from .._base import dtypes as D
from .._core.storage import new_tensor
from ..autograd.grad_mode import no_grad
from .coordinates import sparse

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._tensor.tensor import Tensor

__all__ = ["no_rows", "parts_of", "put_parts", "sum_of"]


def no_rows(parameter: Tensor) -> Tensor:
    """A gradient of a parameter that has none of its rows."""
    row = parameter.shape[1:]
    held = parameter.detach().new_empty((0, *row))
    places = held.new_empty((1, 0), dtype=D.int64)
    return sparse(places, held, tuple(parameter.shape), coalesced=True)


def parts_of(tensor: Tensor) -> tuple[Array, Array]:
    """The places [sparse dimensions, n] of a tensor, each once and in order, and its values."""
    with no_grad():
        merged: Any = tensor.coalesce()
    return merged.places._raw, merged.held._raw


def put_parts(tensor: Any, places: Array, held: Array) -> None:
    """Gives a sparse tensor other elements; whoever has its former values keeps them."""
    tensor.places, tensor.held, tensor.coalesced = new_tensor(places), new_tensor(held), True
