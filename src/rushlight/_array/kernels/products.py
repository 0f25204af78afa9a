"""Products of few rows with one matrix again and again, as the steps of a recurrent layer need."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from ..._codegen import gemm
from ..._codegen.emit import F32, F64
from ..types import FLOAT32
from .launch import address, plain, ready

__all__ = ["by_matrix"]

# Rows up to which OpenBLAS leaves much of its speed on the table.
_ROWS: Final = 64
_COLUMNS: Final = 32


@cache
def _code(single: bool) -> Any:
    number = ctypes.c_float if single else ctypes.c_double
    whole, pointer = ctypes.c_int64, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(
        None, *[pointer] * 3, *[whole] * 3, *[whole] * 5, number, number, pointer, whole
    )
    return kind(gemm.load(F32 if single else F64))


def by_matrix(matrix: Any, rows: int) -> Callable[[Any, Any], None] | None:
    """A function (a, out) that writes a @ matrix to `out`, for C-ordered arrays of up to `rows`
    rows; None where BLAS is as good or no kernel applies."""
    if rows > _ROWS or matrix.shape[1] < _COLUMNS or not matrix.size:
        return None
    matrix = np.ascontiguousarray(matrix)
    if not plain(matrix) or not ready():
        return None
    depth, columns = matrix.shape
    code = _code(matrix.dtype is FLOAT32)
    place = address(matrix)
    held = (matrix,)

    def product(a: Any, out: Any) -> None:
        assert held
        code(
            address(a), place, address(out), a.shape[0], columns, depth,
            depth, 1, columns, 1, columns, 1.0, 0.0, None, 0,
        )  # fmt: skip

    return product
