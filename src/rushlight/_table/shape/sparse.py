"""The product of a sparse matrix, given by its places and values, with a dense one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.lazy import later
from ..rows.row import multilinear

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import TensorLike

raw = later("_array.shape.sparse")


def _values_gradient(
    xp: ModuleType, g: TensorLike, dense: TensorLike, rows: TensorLike, columns: TensorLike
) -> TensorLike:
    """d(A·X)/dA at the places of A: the products of rows of `g` and of X that meet there."""
    return xp.sum(xp.index_select(g, 0, rows) * xp.index_select(dense, 0, columns), -1)


_sparse_product = multilinear(
    "_sparse_product(Tensor values, Tensor dense, Tensor rows, Tensor columns, int height)"
    " -> Tensor",
    raw._sparse_product,
    values=_values_gradient,
    dense=lambda xp, g, values, rows, columns, dense_shape: xp._sparse_product(
        values, g, columns, rows, dense_shape[0]
    ),
    rows=None,
    columns=None,
    node="MmBackward0",
    namespace="private",
    refuses_values="any",
    samples=lambda mk: [
        (mk(4), mk(3, 2), mk(4, low=0, high=5, integer=True), mk(4, low=0, high=3, integer=True), 5)
    ],
    doc="A matrix with `values` at (rows, columns), times a dense one.",
)
