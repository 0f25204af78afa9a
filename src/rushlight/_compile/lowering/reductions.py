"""Reductions as loop formulas: sums, means, extremes with their places, norms, variances, casts.

Which way a reduction goes depends on the dimensions it leaves out: the last ones are a row's, the
first ones a column's, those between are columns of as many blocks; all of them are one total.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, Final

from ..._formula import ir as G
from ..ir.iteration_values import DTYPES, FLOATS, in_order, size_of
from ..ir.program import Instruction, Value
from .lowering_rule import Body, LoopFormula, Reduced, Shared

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments
    from ..._formula.ir import Symbol


class Reduction:
    """A reduction: of which value, over which dimensions."""

    def __init__(self, x: Value, dims: Any) -> None:
        self.x = x
        rank = len(x.shape)
        given = range(rank) if dims is None or dims == () or dims == [] else dims
        given = (given,) if isinstance(given, int) else given
        chosen = {d % rank for d in given} if rank else set()
        self.dims = sorted(d for d in range(rank) if d in chosen)
        inner = [d for d in range(rank) if x.shape[d] != 1]
        mine = [k for k, d in enumerate(inner) if d in chosen]
        self.count = size_of(tuple(x.shape[d] for d in self.dims))
        self.whole = len(mine) == len(inner)
        self.none = not mine
        # Consecutive dimensions: where they begin and end among all.
        together = bool(mine) and mine == list(range(mine[0], mine[-1] + 1))
        self.first = inner[mine[0]] if mine else rank
        self.last = inner[mine[-1]] + 1 if mine else rank
        self.trailing = together and mine[-1] == len(inner) - 1
        self.leading = together and mine[0] == 0
        self.middle = together

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The result's shape without the dimensions, and with ones in their places."""
        x = self.x.shape
        without = tuple(n for d, n in enumerate(x) if d not in self.dims)
        return without, tuple(1 if d in self.dims else n for d, n in enumerate(x))


def _over(i: Instruction, dims: object, outs: int = 1) -> Reduction | None:
    x = i.inputs[0]
    if type(x) is not Value or not x.shape or len(i.outputs) != outs:
        return None
    legal = dims is None or isinstance(dims, int) or (
        isinstance(dims, (tuple, list)) and all(isinstance(d, int) for d in dims)
    )  # fmt: skip
    if not legal:
        return None
    over = Reduction(x, dims)
    if over.none or any(o is not None and o.shape not in over.shapes() for o in i.outputs):
        return None
    return over


def _along(i: Instruction, over: Reduction, body: Body) -> LoopFormula | None:
    """A reduction along rows: of the last dimensions, or of all as one row."""
    if over.whole:
        return Reduced(i, over.x.shape, body, split=0)
    return Reduced(i, over.x.shape, body, split=over.first) if over.trailing else None


# ---- sums ----------------------------------------------------------------------------------------


def _lower_sum(i: Instruction, over: Reduction, factor: float) -> LoopFormula | None:
    """A sum times a factor, by rows, by columns, or of everything."""
    x, out = over.x, i.outputs[0]
    assert out is not None
    if over.whole:

        def total(a: Arguments, shared: Shared) -> tuple[Symbol, ...]:
            shared.factors[out.number] = factor
            return (G.total(shared.count(a[0], x.shape)),)

        return LoopFormula(i, x.shape, total, ended=True)
    if over.trailing:
        if factor == 1:
            return _along(i, over, lambda a, _: (G.row_sum(G.everywhere(a[0])),))
        return _along(i, over, lambda a, _: (G.row_sum(G.everywhere(a[0])) * factor,))

    def columns(a: Arguments, _: Shared) -> tuple[Symbol, ...]:
        x = G.everywhere(a[0])
        return (G.column_sum(x if factor == 1 else x * factor),)

    if over.leading:
        return LoopFormula(i, x.shape, columns, split=over.last, ended=True)
    if over.middle:
        found = LoopFormula(i, x.shape, columns, split=over.last, ended=True)
        found.block = over.count
        return found
    return None


def _sum(i: Instruction) -> LoopFormula | None:
    """sum or mean(x, dims, keepdim, dtype)."""
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or (len(i.inputs) > 3 and i.inputs[3] is not None):
        return None
    over = _over(i, i.inputs[1] if len(i.inputs) > 1 else None)
    if over is None:
        return None
    if x.dtype == out.dtype and x.dtype.name in FLOATS:
        return _lower_sum(i, over, 1.0 / over.count if i.rule == "mean" else 1.0)
    if i.rule == "sum" and out.dtype.name == "int64" and x.dtype.name in ("bool", "int64"):
        return _along(i, over, lambda a, _: (G.row_sum(G.cast(G.everywhere(a[0]), "i64")),))
    return None


def _sum_to(i: Instruction) -> LoopFormula | None:
    """sum_to(x, shape): the dimensions that broadcasting has added or grown."""
    x, out = i.inputs[0], i.outputs[0]
    if not _float(x, out) or out is None or x.dtype != out.dtype:
        return None
    dims = list_grown(x.shape, out.shape)
    over = Reduction(x, dims) if dims else None
    return None if over is None or over.none else _lower_sum(i, over, 1.0)


def list_grown(shape: tuple[int, ...], to: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that broadcasting has added or grown; none where it hasn't."""
    rest = len(shape) - len(to)
    padded = (1,) * rest + to
    if rest < 0 or any(m not in (1, n) for n, m in zip(shape, padded)):
        return ()
    return tuple(d for d, (n, m) in enumerate(zip(shape, padded)) if m != n or d < rest)


# ---- along rows ----------------------------------------------------------------------------------


def _float(*values: object) -> bool:
    return all(type(v) is Value and v.dtype.name in FLOATS for v in values)


def along_rows(i: Instruction) -> LoopFormula | None:
    """A formula along rows; None for what is none. See `_array.reduce.generated_rows`."""
    form = getattr(i.function, "rows", None)
    out = i.outputs[0]
    if form is None or out is None or not in_order(out):
        return None
    given = dict(zip(form.names, i.inputs))
    x, values = given[form.main], [given[p] for p in form.arrays]
    if not _float(*values) or any(v.dtype != out.dtype for v in values) or not x.shape:
        return None
    if any(given[p] is not None for p in form.names if p not in (*form.reads, "keepdim")):
        return None
    wide = [v for v, kind in zip(values, form.kinds) if kind == "f"]
    by_row = [v for v, kind in zip(values, form.kinds) if kind == "r"]
    if any(v.shape != x.shape for v in wide) or (form.result == "f" and out.shape != x.shape):
        return None
    over = Reduction(x, given["dim"])

    def body(a: list[Any], _: Shared) -> tuple[Any, ...]:
        return (form.by_symbols(*[a[k] for k in form.places]),)

    if form.result == "r":
        return None if over.none or out.shape not in over.shapes() else _along(i, over, body)
    last = len(x.shape) - 1
    if not by_row:
        return LoopFormula(i, x.shape, body, split=last) if over.dims == [last] else None
    if over.none or not (over.whole or over.trailing):
        return None
    found = LoopFormula(i, x.shape, body, split=0 if over.whole else over.first)
    for v in by_row:
        if size_of(v.shape) > 1:
            if not in_order(v):
                return None
            found.whole.add(v.number)
    return found


def norm_of_rows(i: Instruction) -> LoopFormula | None:
    """A norm or its gradients; None for what is neither. See `_array.reduce.generated_norms`."""
    norm = getattr(i.function, "norm", None)
    outs = [o for o in i.outputs if o is not None]
    if norm is None or not all(map(in_order, outs)):
        return None
    given = dict(zip(norm.names, i.inputs))
    x, places = given["input"], {p: norm.names.index(p) for p in norm.kinds}
    there = tuple(given[p] is not None for p in norm.kinds)
    values = [given[p] for p, known in zip(norm.kinds, there) if known]
    numbers = {p: given[p] for p in norm.numbers}
    if not _float(*values, *outs) or any(v.dtype != x.dtype for v in (*values, *outs)):
        return None
    if any(type(n) not in (int, float) for n in numbers.values()):
        return None
    numbers["part"] = 1.0 / size_of(given["normalized_shape"])
    wanted = [o is not None for o in i.outputs]
    need = tuple(given.get("need", wanted))
    if any(v.shape != x.shape for p, v in given.items() if norm.kinds.get(p) == "f"):
        return None

    def body(a: Arguments, _: Shared) -> tuple[Symbol, ...]:
        known = numbers | {p: a[k] for p, k in places.items() if given[p] is not None}
        found = norm.function(*[known.get(p) for p in norm.reads])
        return tuple(r for r, one in zip(found, wanted) if one)

    kinds = iter(norm.variant(there, need).kinds)
    kinds_of = [next(kinds) if n else "" for n in need]
    ended = tuple(kind == "c" for kind, one in zip(kinds_of, wanted) if one)
    return LoopFormula(i, x.shape, body, split=len(x.shape) - len(given["normalized_shape"]),
                   ended=ended)  # fmt: skip


def compares_two(i: Instruction) -> bool:
    """Whether it is a maximum or minimum of two values, element by element."""
    return i.rule in ("max", "min") and len(i.inputs) > 1 and type(i.inputs[1]) is Value


def _extreme(i: Instruction) -> LoopFormula | None:
    """amax, amin(x, dims, keepdim); max, min(x), or with places (x, dim, keepdim)."""
    x = i.inputs[0]
    reduce = G.row_max if i.rule in ("amax", "max") else G.row_min
    if len(i.outputs) == 2:
        return _with_places(i, reduce)
    over = _over(i, i.inputs[1] if len(i.inputs) > 1 else None)
    if over is None or not _float(x, i.outputs[0]):
        return None
    return _along(i, over, lambda a, _: (reduce(a[0]),))


def _place(x: Symbol, top: Symbol) -> Symbol:
    """The first column that holds the extreme; the first nan where there is one."""
    there = (x == top) | (x != x)
    return G.cast(G.row_min(G.where(there, G.column(x), 2**31 - 1)), "i64")


def _with_places(i: Instruction, reduce: AnyCallable) -> LoopFormula | None:
    x = i.inputs[0]
    if len(i.inputs) < 2 or type(i.inputs[1]) is not int or not _float(x):
        return None
    over = _over(i, i.inputs[1], 2)
    if over is None or over.count >= 1 << 31:
        return None
    values = i.outputs[0] is not None, i.outputs[1] is not None

    def body(a: Arguments, _: Shared) -> tuple[Any, ...]:
        top = reduce(a[0])
        both = (top, _place(a[0], top))
        return tuple(one for one, given in zip(both, values) if given)

    return _along(i, over, body)


def _arg(i: Instruction) -> LoopFormula | None:
    x, dim = i.inputs[:2]
    over = _over(i, dim) if _float(x) and (dim is None or type(dim) is int) else None
    if over is None or over.count >= 1 << 31:
        return None
    reduce = G.row_max if i.rule == "argmax" else G.row_min
    return _along(i, over, lambda a, _: (_place(a[0], reduce(a[0])),))


def _norm(i: Instruction) -> LoopFormula | None:
    """vector_norm(x, ord, dims, keepdim, dtype), and _norm without the dtype."""
    x, order = i.inputs[:2]
    over = _over(i, i.inputs[2] if len(i.inputs) > 2 else None)
    if over is None or not _float(x, i.outputs[0]) or x.dtype != i.outputs[0].dtype:  # type: ignore[union-attr]
        return None
    if len(i.inputs) > 4 and i.inputs[4] is not None:
        return None
    forms: dict[Any, Callable[[Any], Any]] = {
        2: lambda x: G.sqrt(G.row_sum(x * x)), 1: lambda x: G.row_sum(G.absolute(x)),
        inf: lambda x: G.row_max(G.absolute(x)),
    }  # fmt: skip
    form = forms.get(order)
    return None if form is None else _along(i, over, lambda a, _: (form(a[0]),))


def _variance(i: Instruction) -> LoopFormula | None:
    """_var, _std, _var_mean, _std_mean(x, dims, correction, keepdim)."""
    x, dims, correction = i.inputs[:3]
    both = i.rule.endswith("_mean")
    over = _over(i, dims, 1 + both) if _float(x) and None not in i.outputs else None
    free = 1 if correction is None else correction
    if over is None or type(free) not in (int, float) or over.count - free <= 0:
        return None
    part, share = 1.0 / over.count, over.count - free

    def body(a: Arguments, _: Shared) -> tuple[Any, ...]:
        mean = G.row_sum(a[0]) * part
        d = a[0] - mean
        found = G.row_sum(d * d) / float(share)
        found = G.sqrt(found) if i.rule.startswith("std") else found
        return (found, mean) if both else (found,)

    return _along(i, over, body)


#: Operations whose whole numbers are places along a dimension.
PLACES: Final = frozenset(("max", "min", "argmax", "argmin"))


def dimension_of(i: Instruction) -> int:
    """How many places there are along the dimension that an operation of `PLACES` reduces."""
    x = i.inputs[0]
    dim = i.inputs[1] if len(i.inputs) > 1 else None
    return size_of(x.shape) if dim is None else int(x.shape[dim])


# ---- casts ---------------------------------------------------------------------------------------


def _cast(i: Instruction) -> LoopFormula | None:
    """Bools and whole numbers as floats or whole numbers, floats as bools."""
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or not in_order(out) or x.shape != out.shape:
        return None
    source, to = x.dtype.name, DTYPES.get(out.dtype.name)
    if source not in DTYPES or to is None or any(type(y) is Value for y in i.inputs[1:]):
        return None
    if source == out.dtype.name:
        return LoopFormula(i, out.shape, lambda a, _: (a[0],))
    if source in FLOATS and to != "b1":
        return None
    if to == "b1":
        return LoopFormula(i, out.shape, lambda a, _: (a[0] != 0,))
    return LoopFormula(i, out.shape, lambda a, _: (G.cast(a[0], to),))


MAKERS: Final[dict[str, Callable[[Instruction], LoopFormula | None]]] = {
    "sum": _sum, "mean": _sum, "sum_to": _sum_to,
    "amax": _extreme, "amin": _extreme, "max": _extreme, "min": _extreme,
    "argmax": _arg, "argmin": _arg, "vector_norm": _norm,
    "var": _variance, "std": _variance, "var_mean": _variance, "std_mean": _variance,
    "astype": _cast,
}  # fmt: skip
