"""Formulas along rows by kernels; None where none applies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula.ir import Symbol
from .launch import Kernel, floating, ready

if TYPE_CHECKING:
    from ..annotations import Array
    from ..reduce.generated_rows import Form

__all__ = ["by_formula"]

# Rows shorter than this leave most lanes empty.
_SHORT = 8


@cache
def _of(form: Form) -> Kernel:
    def formula(*symbols: Symbol) -> Any:
        return form.by_symbols(*symbols)

    formula.__name__ = form.name
    return Kernel(formula, *form.kinds)


def by_formula(form: Form, *operands: Array, columns: int = 0) -> Array | None:
    """What a formula along the last dimensions gives for arrays of one shape, or one by row.

    `columns`: how many elements a row has, where it isn't just the last dimension.
    """
    x = operands[form.kinds.index("f")]
    length = columns or (x.shape[-1] if x.ndim else 1)
    dtype = x.dtype
    if length < _SHORT or not floating(dtype):
        return None
    kernel = _of(form)
    if not kernel.takes(length) or not ready():
        return None
    rows = x.size // length
    out = np.empty(x.shape if form.result == "f" else rows, dtype)
    return out if kernel.rows(dtype, rows, length, operands, (out,)) else None
