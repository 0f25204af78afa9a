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
    return Kernel(formula, *["f"] * len(form.arrays))


def by_formula(form: Form, *operands: Array) -> Array | None:
    """What a formula along the last dimension gives for arrays of one shape."""
    x = operands[-1]
    length = x.shape[-1] if x.ndim else 1
    dtype = x.dtype
    if length < _SHORT or not floating(dtype):
        return None
    kernel = _of(form)
    if not kernel.takes(length) or not ready():
        return None
    out = np.empty(x.shape, dtype)
    return out if kernel.rows(dtype, x.size // length, length, operands, (out,)) else None
