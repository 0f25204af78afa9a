"""Sparse gradients: what the engine carries as an array becomes a sparse tensor, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.shape import sparse_gradient as raw
from .._core.storage import new_tensor
from ..autograd.grad_mode import no_grad
from . import products  # noqa: F401 -- it says what is done with what is made here
from .coordinates import SparseTensor, sparse

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._tensor.tensor import Tensor


__all__ = ["as_array", "as_tensor", "receive"]


def as_tensor(g: Any) -> SparseTensor:
    """A gradient of the engine as a sparse tensor."""
    return sparse(new_tensor(g.places), new_tensor(g.held), g.shape, g.places.shape[1] < 1)


def as_array(t: Tensor) -> Array:
    """A sparse tensor as the engine carries it; the full array where not only rows are sparse."""
    if isinstance(t, SparseTensor):
        if t.sparse_dim() == 1:
            return raw.sparse_gradient(t.places._raw, t.held._raw, tuple(t._raw.shape))
        return t.to_dense()._raw
    return t._raw


def receive(leaf: Tensor, g: Any, old: Tensor | None) -> None:
    """Gives a leaf a gradient, of which it may have one already: one of the two is sparse.

    The one that it has takes the other up, but a sparse one can't take a dense one up.
    """
    with no_grad():
        if old is None:
            leaf._grad = as_tensor(raw.with_own_rows(g))
        elif not isinstance(old, SparseTensor):
            old += as_tensor(g)
        elif type(g) is raw.SparseGradient:
            mine = as_array(old)
            same = type(mine) is raw.SparseGradient
            total: Any = as_tensor(raw.add_sparse(mine, g)) if same else old + as_tensor(g)
            old.places, old.held, old.coalesced = total.places, total.held, total.coalesced
        else:
            leaf._grad = new_tensor(raw.dense(as_array(old)) + g)
