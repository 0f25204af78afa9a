"""Formulas along rows by kernels; None where none applies."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula.ir import ROW_REDUCTIONS, Group, Symbol
from .launch import Kernel, chunks_of, floating, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, Arguments
    from ..annotations import Array, RawType
    from ..reduce.generated_norms import Variant
    from ..reduce.generated_rows import Form

# Rows shorter than this leave most lanes empty.
_SHORT = 8


class RowEnds:
    """A formula of one number for each row, as two kernels: along rows, and of what these end in.

    Logarithms of many rows at once take a fraction of what they take one by one.
    """

    __slots__ = ("count", "ends", "sums")

    def __init__(self, formula: AnyCallable, *kinds: str) -> None:
        group = Kernel(formula, *kinds).group("f32")
        own = _of_rows_alone(group)
        read = [a for place in own for a in group.body[place].args]
        ends = [a for a in dict.fromkeys(read) if a - len(kinds) not in own]
        ends = [a for a in ends if group.kind(a) != "s"]

        def sums(*symbols: Symbol) -> list[Symbol]:
            known = dict(enumerate(symbols))
            return [_compute(group, a, known) for a in ends]

        def last(*symbols: Symbol) -> Symbol:
            return _compute(group, group.outputs[0].value, dict(zip(ends, symbols, strict=True)))

        sums.__name__, last.__name__ = f"{formula.__name__}_sums", f"{formula.__name__}_ends"
        self.count = len(ends)
        self.sums = Kernel(sums, *kinds)
        self.ends = Kernel(last, *["f"] * len(ends))

    def rows(
        self, dtype: RawType, rows: int, columns: int, inputs: Sequence[object], out: Array
    ) -> bool:
        """Writes the number of each row to `out`, and says whether it did."""
        parts = tuple(np.empty((self.count, rows), dtype))
        if not self.sums.rows(dtype, rows, columns, inputs, parts):
            return False
        return self.ends.flat(dtype, parts, (out,), rows)


def _of_rows_alone(group: Group) -> list[int]:
    """The instructions that compute with numbers of rows, and that no row's elements need."""
    first = len(group.operands)
    needed: set[int] = set()
    for place in reversed(range(len(group.body))):
        one = group.body[place]
        if place in needed or one.kind == "f" or one.op in (*ROW_REDUCTIONS, "pick"):
            needed.update(a - first for a in one.args)
    return [
        k for k, one in enumerate(group.body)
        if k not in needed and one.kind == "r" and one.op not in (*ROW_REDUCTIONS, "pick")
    ]  # fmt: skip


def _compute(group: Group, value: int, known: dict[int, Symbol]) -> Symbol:
    """A value of a group, of symbols for some of its values."""
    if value not in known:
        one = group.instruction(value)
        assert one is not None
        args = [_compute(group, a, known) for a in one.args]
        like = args[0] if args else next(iter(known.values()))
        known[value] = like.trace.add(one.op, args, like.dtype, one.payload)
    return known[value]


@cache
def kernel_of(form: Form) -> Kernel:
    """The kernel of a formula along rows."""

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
    kernel = kernel_of(form)
    if not kernel.takes(columns) or not ready():
        return None
    out = np.empty(x.shape if form.result == "f" else rows, dtype)
    return out if kernel.rows(dtype, rows, columns, operands, (out,)) else None


@cache
def kernel_of_norm(variant: Variant) -> Kernel:
    """The kernel of a norm, for the operands and results of a variant."""
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
    if not kernel_of_norm(variant).rows(dtype, rows, columns, things, tuple(found)):
        return None
    results = [
        np.add.reduce(r, 0).reshape(normalized) if kind == "c" else r
        for r, kind in zip(found, variant.kinds)
    ]
    return variant.place(results)
