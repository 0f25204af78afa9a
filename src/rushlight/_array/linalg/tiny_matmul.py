"""Products of tiny float32 matrices, summed in the order of PyTorch's CPU build.

Note [Tiny products]
For matrices of a few elements PyTorch's BLAS (MKL) multiplies and adds without fusing the two, from
the first term to the last; where the second matrix is a transposed one, it sums four interleaved
partial sums. NumPy's BLAS rounds differently, and a program that iterates (a small recurrent chain,
a few steps of training) soon prints other digits. NumPy's einsum loop has the first order and costs
the same for such sizes. The orders were found by differential test against PyTorch 2.13 on x86-64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy._core.multiarray import c_einsum

if TYPE_CHECKING:
    from ..annotations import Array

LIMIT = 512  # products up to this many multiplications
WIDTH = 12  # and results of up to this many columns


def product(a: Array, b: Array) -> Any:
    """The product of two float32 matrices of at most `LIMIT` multiplications."""
    k = a.shape[1]
    if k != b.shape[0]:
        raise ValueError("the inner sizes differ")  # einsum would stretch a size of one
    transposed = b.flags.f_contiguous and not b.flags.c_contiguous
    if (
        transposed
        and k % 4 == 0
        and k
        and a.shape[0] > 1
        and b.shape[1] > 2
        and a.flags.c_contiguous
    ):
        return _four_sums(a, b.T, k)
    return c_einsum("ij,jk->ik", a, np.ascontiguousarray(b) if transposed else b)


def _four_sums(a: Array, rows: Array, k: int) -> Array:
    """a rowsᵀ by four interleaved sums, added crosswise at the end."""
    if k == 4:
        sums = c_einsum("is,js->sij", a, rows)
    else:
        sums = c_einsum(
            "iqs,jqs->sij", a.reshape(a.shape[0], k // 4, 4), rows.reshape(rows.shape[0], k // 4, 4)
        )
    pairs = sums[:2] + sums[2:]
    return pairs[0] + pairs[1]
