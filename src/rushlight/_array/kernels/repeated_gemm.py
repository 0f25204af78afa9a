"""Products of few rows with one matrix again and again, as the steps of a recurrent layer need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.llvm import target
from ..memory.parallel import get_num_threads
from .gemm import NO_TAPS, THREADED, better, code_of
from .launch import address, guarded, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

# Rows up to which OpenBLAS leaves much of its speed on the table, on any machine.
_ROWS: Final = 64
_COLUMNS: Final = 32


@guarded
def by_matrix(matrix: Array, rows: int) -> Callable[[Any, Any], None] | None:
    """A function (a, out) that writes a @ matrix to `out`, for C-ordered arrays of up to `rows`
    rows; None where BLAS is as good or no kernel applies.

    The matrix is cut into panels of columns, each of which lies together: a copy that all the
    products after it are faster for.
    """
    depth, columns = matrix.shape
    if columns < _COLUMNS or not depth or not ready() or (rows > _ROWS and not better()):
        return None
    dtype = matrix.dtype
    lanes = target.machine().width // dtype.itemsize
    width = next((w for w in (4 * lanes, 2 * lanes, lanes) if columns % w == 0), columns)
    panels = columns // width
    packed = np.ascontiguousarray(matrix.reshape(depth, panels, width).swapaxes(0, 1))
    if not plain(packed):
        return None
    chunks, run, pack = code_of(dtype)
    place, none = address(packed), address(NO_TAPS)
    held = (packed,)

    def product(a: Array, out: Array) -> None:
        assert held
        m = a.shape[0]
        frame = pack(
            address(a), place, address(out), m, width, depth, depth, 1, width, 1, columns, 1.0,
            0.0, 0, 0, 0, depth * width, width, m, width, 1, 1, 1, none,
        )  # fmt: skip
        run(chunks, frame, panels, get_num_threads() if m * matrix.size >= THREADED else 1)

    return product
