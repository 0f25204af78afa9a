"""Matrix products."""

from __future__ import annotations

from .._array import matmul as raw
from ._row import multilinear

mm = multilinear(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    raw.mm,
    self=lambda xp, g, mat2: xp.matmul(g, xp.matrix_transpose(mat2)),
    mat2=lambda xp, g, self: xp.matmul(xp.matrix_transpose(self), g),
    samples=lambda mk: [(mk(3, 4), mk(4, 2)), (mk(1, 4), mk(4, 1)), (mk(0, 4), mk(4, 2))],
    doc="The product of two matrices.",
)
