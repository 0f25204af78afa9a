"""Norms along rows, made of formulas: several results, of vectors that lie along the rows too.

Rows are the input's last dimensions, as many as `normalized_shape` has. Beside arguments a formula
reads `dim`, along which rows lie, and `part`, one over their length. For each combination of
operands that are given and results that are wanted there is code, made when it first comes: for few
elements, for blocks of many, and a kernel. Sums over blocks end in float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import nan, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.schema import Schema
from ..._formula.ir import Symbol, trace
from .. import kernels
from ..elementwise.generated import Code, constants_of, define_here
from .generated_rows import LIMITS, LONG_ROWS, SHORT_ROWS
from .row_sums import lift, ones, row_blocks

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments
    from ..._table.rows.row_formula import NormFormula
    from ..annotations import Array, RawType

_SUMS: Final[dict[str, AnyCallable]] = {
    "column_sum": lambda x, dim: ones(len(x), x.dtype).dot(x),
    "column_product": lambda x, y, dim: y.reshape(-1).dot(x),
    "row_product": lambda x, y, dim: x.dot(y)[:, None],
}
_SMALL: Final = SHORT_ROWS | _SUMS
_BLOCK: Final = LONG_ROWS | _SUMS


def _parameters(function: AnyCallable) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


class Norm:
    """A norm or its gradients, and under which names a function takes what the formula reads."""

    __slots__ = ("at", "formula", "function", "kinds", "name", "names", "numbers", "reads",
                 "results", "variants")  # fmt: skip

    def __init__(self, name: str, formula: NormFormula, schema: Schema) -> None:
        self.name = name
        self.formula = formula
        self.function = formula.function
        self.reads = _parameters(self.function)
        params = {p.name: p for p in schema.params}
        self.names = tuple(params)
        if formula.again is not None:
            asked = (*self.reads, "normalized_shape", *_parameters(formula.again), "need")
            own = {*formula.by_column} - {*self.reads} | {"dim", "part"}
            self.names = tuple(p for p in dict.fromkeys(asked) if p not in own)
        #: The numbers that are read, beside the length of rows.
        self.numbers = [p for p in self.reads if p in params and not params[p].is_tensor]
        self.kinds = {
            p: "r" if p in formula.by_row else "c" if p in formula.by_column else "f"
            for p in self.reads if p not in (*self.numbers, "dim", "part")
        }  # fmt: skip
        self.at = list(self.kinds).index("input")
        self.results = [result.name for result in schema.returns]
        self.variants: dict[Any, Variant] = {}

    def variant(self, given: tuple[bool, ...], need: tuple[bool, ...]) -> Variant:
        """The code for operands that are given and results that are wanted."""
        found = self.variants.get((given, need))
        return found or self.variants.setdefault((given, need), Variant(self, given, need))

    def on_values(self, args: Arguments) -> Arguments:
        """The formula of what has dimensions.

        Results that it reads are computed once more, for gradients to pass through them.
        """
        known = dict(zip(self.names, args, strict=True))
        shape = known["normalized_shape"]
        known |= {"dim": tuple(range(-len(shape), 0)), "part": 1 / max(prod(shape), 1)}
        if self.formula.again is not None:
            plain = known | dict.fromkeys(self.formula.by_column)
            found = self.formula.again(*[plain[p] for p in _parameters(self.formula.again)])
            known.update(zip(self.results, found, strict=True))
        results = self.function(*[known[p] for p in self.reads])
        return pick_needed(results, known.get("need", ()))


def pick_needed(results: Sequence[object], need: Sequence[bool]) -> Arguments:
    """The results that are wanted, and None for the others; all where nothing says which."""
    return [r if n else None for r, n in zip(results, need)] if need else list(results)


class Variant:
    """The code of a norm for operands that are given and results that are wanted."""

    def __init__(self, norm: Norm, given: tuple[bool, ...], need: tuple[bool, ...]) -> None:
        self.norm = norm
        self.need = need
        self.operands = [p for p, there in zip(norm.kinds, given, strict=True) if there]
        names = (*self.operands, "part", *norm.numbers)
        kinds = [norm.kinds.get(p, "s") for p in names]
        formula = self.of_symbols
        self.group = trace(norm.name, formula, {p: (k, "f32") for p, k in zip(names, kinds)})
        #: How each operand and number varies, and each result.
        self.asked = kinds
        self.kinds = [self.group.kind(out.value) for out in self.group.outputs]

    @cached_property
    def small(self) -> AnyCallable:
        """The code for one small matrix: (*operands, part, *numbers, dtype)."""
        norm, code = self.norm, Code(self.group)
        shown = map(str, self.place(code.results))
        listed = ", ".join([*norm.kinds, "part", *norm.numbers])
        return self._make(f"small({listed}, d, dim=1)", code, shown, dict(_SMALL))

    @cached_property
    def _in_blocks(self) -> Code:
        return Code(self.group, "buffer" if "f" in self.kinds else "", scratch=True)

    @cached_property
    def scratch(self) -> int:
        """How many buffers `block` needs."""
        return len(self._in_blocks.scratch or [])

    @cached_property
    def block(self) -> AnyCallable:
        """The code for a block of rows: (dtype, buffer, *operands, part, *numbers, *scratch)."""
        code = self._in_blocks
        listed = ", ".join([*self.operands, "part", *self.norm.numbers, *(code.scratch or [])])
        return self._make(f"block(d, buffer, {listed}, dim=1)", code, code.results,
                          dict(_BLOCK))  # fmt: skip

    def place(self, results: Sequence[object]) -> Arguments:
        """The results that are wanted, in their places, and None in those of the others."""
        left = iter(results)
        return [next(left) if n else None for n in self.need] if self.need else list(results)

    def of_symbols(self, *symbols: Symbol) -> Arguments:
        """The results that are wanted, of the operands that are given, and of the numbers."""
        names = (*self.operands, "part", *self.norm.numbers)
        known = dict(zip(names, symbols, strict=True))
        found = self.norm.function(*[known.get(p) for p in self.norm.reads])
        return [r for r in pick_needed(found, self.need) if r is not None]

    def _make(
        self, head: str, code: Code, results: Iterable[str], space: dict[str, object]
    ) -> AnyCallable:
        lines = [*constants_of(code, space, "a"), *code.lines, f"return {', '.join(results)},"]
        text = f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)
        name = head.partition("(")[0]
        return define_here(name, text, f"{self.norm.name}, {name}", space)


def generate_norm(name: str, formula: NormFormula, schema: Schema) -> AnyCallable:
    """The function of a norm, or of its gradients, on arrays; see `_table.rows.row_formula`."""
    norm = Norm(name, formula, schema)
    listed = ", ".join(norm.names)
    apart = "".join(
        f" and ({p} is None or type({p}) is ndarray and {p}.dtype is d and {p}.flags.c_contiguous)"
        for p in norm.kinds if p != "input"
    )  # fmt: skip
    there = ", ".join(f"{p} is not None" for p in norm.kinds)
    given = "".join(f"{p}, " for p in norm.kinds)
    numbers = "".join(f"{p}, " for p in norm.numbers)
    # Fewer values are taken by `norms.c`.
    least = "kernels.LEAST" if "need" in norm.names else "kernels.LEAST - 1 << 1"
    lines = [
        "if type(input) is not ndarray:",
        f"    return elsewhere(me, {listed})",
        f"prepare({listed})" if formula.prepare is not None else "pass",
        f"key = ({there}), {'tuple(need)' if 'need' in norm.names else '()'}",
        "variant = variants.get(key) or norm.variant(*key)",
        "d = input.dtype",
        f"if (d is F32 or d is F64) and input.size and input.flags.c_contiguous{apart}:",
        f"    if input.size >= {least}:",
        f"        found = kernels.rows.norm(variant, normalized_shape, ({given}), ({numbers}))",
        "        if found is not None:",
        "            return found",
        "    elif input.ndim == 2 and len(normalized_shape) == 1 and input.size <= limits.rows:",
        f"        return variant.small({given} 1 / input.shape[1], {numbers} d)",
        f"return general(variant, normalized_shape, ({given}), ({numbers}))",
    ]
    source = f"def {name}({listed}):\n" + "".join(f"    {line}\n" for line in lines)
    space = LONG_ROWS | {
        "elsewhere": _elsewhere, "general": _general, "limits": LIMITS, "kernels": kernels,
        "prepare": formula.prepare, "variants": norm.variants, "norm": norm,
    }  # fmt: skip
    made = define_here(name, source, name, space)
    space["me"] = made
    made.norm, made.source = norm, source
    return made


def _elsewhere(me: Any, *args: Any) -> Arguments:
    """The formula of what are no arrays."""
    first = args[me.norm.names.index("input")]
    run = getattr(type(first), "run_formula", None)
    return me.norm.on_values(args) if run is None else run(first, me, args)


def _general(variant: Variant, normalized: tuple[int, ...], operands: Arguments,
             numbers: tuple[float, ...]) -> tuple[Array | None, ...]:  # fmt: skip
    """A norm of arrays that aren't one small matrix."""
    norm = variant.norm
    x = operands[norm.at]
    columns = prod(normalized)
    rows = prod(x.shape[: x.ndim - len(normalized)])
    kept = x.shape[: x.ndim - len(normalized)] + (1,) * len(normalized)
    raws = [None if a is None else lift(a) for a in operands]
    dtype = lift(x).dtype
    shaped = {"f": (rows, columns), "r": (rows, 1), "c": (columns,)}
    arrays = [
        None if a is None else np.ascontiguousarray(a, dtype).reshape(shaped[kind])
        for a, kind in zip(raws, norm.kinds.values(), strict=True)
    ]
    found: Arguments | None = None
    if x.size >= kernels.LEAST:
        found = kernels.rows.norm(variant, (columns,), arrays, numbers)
    elif 0 < x.size <= LIMITS.rows:
        found = variant.small(*arrays, 1 / columns, *numbers, dtype)
    if found is None:
        given = [a for a in arrays if a is not None]
        found = variant.place(_by_blocks(variant, dtype, rows, columns, given, numbers))
    ends = {"f": x.shape, "r": kept, "c": normalized}
    types = {"f": x.dtype, "r": dtype, "c": dtype}
    for p, a in zip(norm.kinds, operands, strict=True):
        if a is not None and norm.kinds[p] == "c":
            types["c"] = a.dtype
    return tuple(
        None if r is None else r.reshape(ends[kind]).astype(types[kind], copy=False)
        for r, kind in zip(found, variant.place(variant.kinds), strict=True)
    )


def _by_blocks(variant: Variant, dtype: RawType, rows: int, columns: int, given: list[Array],
               numbers: Sequence[float]) -> list[Array]:  # fmt: skip
    """Goes through the rows in blocks that the cache holds."""
    kinds = [variant.norm.kinds[p] for p in variant.operands]
    shaped = {"f": (rows, columns), "r": (rows, 1)}
    found: list[Array] = [
        np.zeros(columns) if kind == "c" else np.empty(shaped[kind], dtype)
        for kind in variant.kinds
    ]
    starts = row_blocks(rows, columns)
    step = min(starts.step, rows)
    numbers = (1 / columns if columns else nan, *numbers)
    scratch = [np.empty((step, columns), dtype) for _ in range(variant.scratch)]
    for start in starts:
        part = slice(start, min(start + step, rows))
        room = scratch if part.stop - start == step else [s[: part.stop - start] for s in scratch]
        pieces = [a if kind == "c" else a[part] for a, kind in zip(given, kinds)]
        buffer = next((r[part] for r, kind in zip(found, variant.kinds) if kind == "f"), None)
        results = variant.block(dtype, buffer, *pieces, *numbers, *room)
        for whole, one, kind in zip(found, results, variant.kinds):
            if kind == "c":
                whole += one
            elif kind == "r":
                whole[part] = one
    return found
