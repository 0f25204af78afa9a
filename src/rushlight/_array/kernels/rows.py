"""Formulas along rows by kernels; None where none applies."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula.ir import Symbol
from .launch import Kernel, chunks_of, floating, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Arguments
    from ..annotations import Array
    from ..reduce.generated_norms import Variant
    from ..reduce.generated_rows import Form

__all__ = ["by_formula", "norm"]

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


@cache
def _of_norm(variant: Variant) -> Kernel:
    kernel = Kernel(variant.of_symbols, *variant.asked)
    kernel.name = variant.norm.name
    return kernel


def norm(
    variant: Variant, normalized: tuple[int, ...], operands: Sequence[Array | None],
    numbers: Sequence[float],
) -> Arguments | None:  # fmt: skip
    """The results of a norm along so many dimensions, of operands in order of one dtype."""
    x = operands[variant.norm.at]
    assert x is not None
    dtype, columns, kept = x.dtype, prod(normalized), x.ndim - len(normalized)
    if not floating(dtype) or not ready():
        return None
    rows = x.size // columns
    shaped = {
        "f": x.shape, "c": (chunks_of(rows, columns), columns),
        "r": x.shape[:kept] + (1,) * len(normalized),
    }  # fmt: skip
    found = [np.empty(shaped[kind], dtype) for kind in variant.kinds]
    given = [a for a in operands if a is not None]
    things = (*given, 1 / columns, *map(float, numbers))
    if not _of_norm(variant).rows(dtype, rows, columns, things, tuple(found)):
        return None
    results = [
        np.add.reduce(r, 0).reshape(normalized) if kind == "c" else r
        for r, kind in zip(found, variant.kinds)
    ]
    return variant.spread(results)
