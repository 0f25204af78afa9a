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


def by_formula(form: Form, columns: int, *operands: Array) -> Array | None:
    """What a formula along rows of so many elements gives, which lie in order."""
    x = operands[form.main_place]
    rows, dtype = x.size // columns, x.dtype
    sizes = {"f": x.size, "r": rows}
    if columns < _SHORT or not floating(dtype):
        return None
    if any(o.size != sizes[kind] for o, kind in zip(operands, form.kinds, strict=True)):
        return None
    kernel = _of(form)
    if not kernel.takes(columns) or not ready():
        return None
    out = np.empty(x.shape if form.result == "f" else rows, dtype)
    return out if kernel.rows(dtype, rows, columns, operands, (out,)) else None
