"""Functions along rows, made of formulas: softmax and what else reduces each row and goes on.

A row of the table tells such a function for rows that lie along `dim`. Arrays of float32 or
float64 whose rows are their last dimension take generated code (a matrix of few elements at once, a
large one in blocks that the cache holds) or a kernel. Along other dimensions an override is asked,
then the same code reduces them where they are. 16-bit floats are computed in float32 and rounded
once.

Note [Shifts that aren't the row maximum]
The row maximum costs more than the exponential (0.3-0.9 ns an element on rows of 64-256). It only
guards the range: where every row of exponentials sums to more than `LEAST`, and all of them to less
than `MOST`, exp(x) has neither overflown nor lost digits, and leaving the subtraction out even
saves its rounding error. Otherwise, nan and infinities included, the row maximum it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.schema import Schema
from ..._formula.ir import ROW_REDUCTIONS, Group, Symbol, trace
from ..._formula.words import WORLDS
from .. import kernels
from ..elementwise.generated import SPACE, Code, body_of, define_here
from .row_sums import LONG_ROW, lift, ones, row_blocks, row_dot, row_max, row_sum

if TYPE_CHECKING:
    from ..._table.rows.row_formula import RowFormula
    from ..annotations import Array, RawType

Function = Callable[..., Any]

_MANY: Final = 4096  # elements from which rows are worth a copy
_SHORT: Final = 16  # elements behind them up to which they are


class Limits:
    """Elements up to which a matrix goes through at once."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows = 131_072


LIMITS: Final = Limits()

# ---- what reduces the rows of a matrix in C order, or what lies along other dimensions -----------


def _exponentials(x: Array, out: Array | None, dim: int) -> tuple[Array, Array]:
    """exp(x - shift), and its row sums. See Note [Shifts that aren't the row maximum]."""
    e = np.exp(x, out)
    length = x.shape[1]
    total = row_sum(e) if length > 2 * LONG_ROW else e.dot(ones(length, x.dtype))
    if total.dot(ones(x.shape[0], x.dtype)) < MOST and np.minimum.reduce(total) > LEAST:
        return e, total[:, None]
    np.exp(np.subtract(x, _max_of_rows(x, dim), e), e)
    return e, row_sum(e)[:, None]


#: Beyond these the sums of exponentials near overflow, or lose digits to underflow.
MOST: Final = 1e30
LEAST: Final = exp(-16.0)
_FEW: Final = 128  # elements up to which a reduction of NumPy is quicker than `row_max`


def _max_of_rows(x: Array, dim: int) -> Array:
    return _WORDS["row_max"](x, 1) if x.size <= _FEW else row_max(x)[:, None]


def _exponentials_along(x: Array, out: Array | None, dim: int) -> tuple[Array, Array]:
    moved = np.subtract(x, _WORDS["row_max"](x, dim), out)
    e = np.exp(moved, moved)
    return e, _WORDS["row_sum"](e, dim)


_WORDS: Final = WORLDS[np.ndarray]
LONG_ROWS: Final[dict[str, Any]] = SPACE | {
    "row_max": _max_of_rows, "row_top": _max_of_rows,
    "row_min": lambda x, dim: row_max(x, np.ndarray.argmin)[:, None],
    "row_sum": lambda x, dim: row_sum(x).reshape(-1, 1),
    "row_dot": lambda x, y, dim: row_dot(x, y)[:, None],
    "exponentials": _exponentials,
}  # fmt: skip
SHORT_ROWS: Final = LONG_ROWS | {
    "row_sum": lambda x, dim: x.dot(ones(x.shape[1], x.dtype)).reshape(-1, 1),
}  # fmt: skip
_ALONG: Final[dict[str, Any]] = SPACE | {
    **{word: _WORDS[word] for word in ROW_REDUCTIONS},
    "row_dot": lambda x, y, dim: _WORDS["row_sum"](np.multiply(x, y), dim),
    "exponentials": _exponentials_along,
}  # fmt: skip


class Form:
    """What is computed along rows, and under which names a function takes its operands."""

    __slots__ = ("arrays", "at", "bodies", "dim", "formula", "function", "kinds", "main",
                 "main_place", "name", "names", "places", "reads", "reduces", "result")  # fmt: skip

    def __init__(
        self, name: str, formula: RowFormula, names: tuple[str, ...], arrays: set[str]
    ) -> None:
        self.function = formula.function
        code = self.function.__code__
        self.name = name
        self.names = names
        self.reads = code.co_varnames[: code.co_argcount]
        self.arrays = tuple(p for p in self.reads if p in arrays)
        self.dim = names.index("dim")
        self.places = [names.index(p) for p in self.arrays]
        #: Of each array, whether it has a number for each element or for each row.
        self.kinds = ["r" if p in formula.by_row else "f" for p in self.arrays]
        #: The operand that has the type of the result, and decides how it lies in memory.
        self.main = [p for p, kind in zip(self.arrays, self.kinds) if kind == "f"][-1]
        self.at, self.main_place = names.index(self.main), self.arrays.index(self.main)
        self.formula = formula
        group = self.trace()
        self.result = group.kind(group.outputs[0].value)
        self.reduces = self.result == "r" or "r" in self.kinds
        self.bodies: dict[Any, tuple[Function, list[Any], int]] = {}

    def on_values(self, args: Sequence[Any]) -> Any:
        """The formula of what has dimensions, with ones for those of a row that are gone."""
        known = dict(zip(self.names, args, strict=True))
        if "r" in self.kinds:
            axes = axes_of(known[self.main], known["dim"])
            kept = tuple(1 if a in axes else n for a, n in enumerate(known[self.main].shape))
            for p, kind in zip(self.arrays, self.kinds, strict=True):
                known[p] = known[p].reshape(kept) if kind == "r" else known[p]
        return self.function(*[known[p] for p in self.reads])

    def by_symbols(self, *arrays: Symbol) -> Any:
        """The formula of the arrays alone: symbols have rows, and need no dimensions."""
        known = dict(zip(self.arrays, arrays, strict=True))
        return self.function(*[known.get(p) for p in self.reads])

    def trace(self) -> Group:
        """The group of the formula."""
        kinds = {p: (kind, "f32") for p, kind in zip(self.arrays, self.kinds, strict=True)}
        return trace(self.name, self.by_symbols, kinds)

    def body(self, along: bool, dtype: RawType) -> tuple[Function, list[Any], int]:
        """The function (buffer, *arrays, dim, *constants, *scratch) that writes to the buffer.

        What it takes for constants, and how many scratch buffers.
        """
        known = self.bodies.get((along, dtype))
        if known is None:
            code = Code(self.trace(), "buffer", scratch=True)
            scratch = code.scratch or []
            listed = ", ".join(["buffer", *self.arrays, "dim", *code.constants, *scratch])
            text = "".join(f"    {line}\n" for line in code.lines)
            made = define_here("block", f"def block({listed}):\n{text}", f"{self.name}, a block",
                           dict(_ALONG if along else LONG_ROWS))  # fmt: skip
            constants = [np.array(n, dtype) for n in code.constants.values()]
            known = self.bodies[along, dtype] = made, constants, len(scratch)
        return known


def generate_rows(name: str, formula: RowFormula, schema: Schema, gradient: bool) -> Function:
    """The function of a formula along rows, on arrays.

    Args:
        name: what the function is called.
        formula: its parameters are among those of the result.
        schema: the row's; the function takes what it has, a gradient what the formula reads.
        gradient: whether it is a gradient.
    """
    code = formula.function.__code__
    reads = code.co_varnames[: code.co_argcount]
    params = {p.name: p for p in schema.params}
    names = reads if gradient else tuple(params)
    arrays = {p for p in reads if p not in params or params[p].is_tensor}
    form = Form(name, formula, names, arrays)
    main, listed = form.main, ", ".join(names)
    space = dict(SHORT_ROWS)
    lines = [
        f"if type({main}) is not ndarray:",
        f"    return elsewhere(me, {listed})",
        *_small_matrix(form, space),
        f"return general(me, {listed})",
    ]
    given = ", ".join(p if p in reads or gradient else f"{p}={params[p].default}" for p in names)
    source = f"def {name}({given}):\n" + "".join(f"    {line}\n" for line in lines)
    space |= {
        "elsewhere": _elsewhere, "general": _general, "contiguous": np.ascontiguousarray,
        "LAST": (1, -1, (1,), (-1,)), "limits": LIMITS, "kernels": kernels,
    }  # fmt: skip
    made = define_here(name, source, name, space)
    space["me"] = made
    made.rows, made.source = form, source
    return made


def _small_matrix(form: Form, space: dict[str, Any]) -> list[str]:
    """The lines that compute small matrices whose rows are in order, where no kernel is asked."""
    main = form.main
    by_row = [p for p, kind in zip(form.arrays, form.kinds) if kind == "r"]
    others = [p for p in form.arrays if p != main]
    apart = "".join(f" and type({p}) is ndarray and {p}.dtype is d" for p in others)
    apart += f" and {main}.ndim" if by_row else ""
    apart += "".join(
        f" and {p}.size == len({main})" if p in by_row else f" and {p}.shape == {main}.shape"
        for p in others
    )
    extra = "".join(f" and {p} is None" for p in form.names if p not in (*form.reads, "keepdim"))
    lines = [f"{p} = {p}.reshape(-1, 1)" for p in by_row]
    lines += _in_order(form, body_of(Code(form.trace()), space, "a"))
    if form.result == "r":
        lines[-1] += " if keepdim else " + lines[-1].removeprefix("return ") + ".reshape(-1)"
    asked = [
        f"d = {main}.dtype",
        f"if ((d is F32 or d is F64) and 0 < {main}.size <= limits.rows",
        f"        and {main}.size < kernels.LEAST and {main}.flags.c_contiguous{apart}{extra}):",
        f"    if {main}.ndim == 2 and dim in LAST:",
        *[f"        {line}" for line in lines],
    ]
    if form.reduces:
        return asked
    along = Code(form.trace())
    listed = ", ".join([*form.arrays, "dim", "d"])
    text = "".join(f"    {line}\n" for line in _in_order(form, body_of(along, space, "b")))
    names = dict(space, **_ALONG, contiguous=np.ascontiguousarray)
    space["along"] = define_here(
        "along", f"def along({listed}):\n{text}", f"{form.name}, along", names
    )
    return [
        *asked,
        f"    if type(dim) is int and dim != -1 and -{main}.ndim <= dim < {main}.ndim - 1:",
        f"        if {main}.size < {_MANY} or {main}.strides[dim] > {_SHORT} * d.itemsize:",
        f"            return along({listed})",
    ]


def _in_order(form: Form, lines: list[str]) -> list[str]:
    """The lines with a result in C order: NumPy goes by all operands, of which one is so."""
    if len(form.arrays) > 1:
        name = lines[-1].removeprefix("return ")
        lines[-1] += f" if {name}.flags.c_contiguous else contiguous({name})"
    return lines


def _elsewhere(me: Any, *args: Any) -> Any:
    """The formula of what are no arrays."""
    form: Form = me.rows
    first = args[form.at]
    if isinstance(first, np.generic):
        return me(*[np.asarray(x) if isinstance(x, np.generic) else x for x in args])
    run = getattr(type(first), "run_formula", None)
    if run is not None:
        return run(first, me, args)
    return form.on_values(args)


def _general(me: Any, *given: Any) -> Any:
    """The function of arrays that aren't one small matrix."""
    form: Form = me.rows
    formula, dim = form.formula, given[form.dim]
    arrays = [given[k] for k in form.places]
    x = given[form.at] if formula.prepare is None else formula.prepare(*given)
    arrays[form.main_place] = x
    dtype, shape, axes = x.dtype, x.shape, axes_of(x, dim)
    whole = shape
    if form.reduces:
        kept = tuple(1 if a in axes else n for a, n in enumerate(shape))
        if form.result == "r":
            keepdim = given[form.names.index("keepdim")]
            shape = kept if keepdim else tuple(n for a, n in enumerate(shape) if a not in axes)
        for k, kind in enumerate(form.kinds):
            if kind == "r":
                arrays[k] = np.ascontiguousarray(arrays[k]).reshape(kept)
    if not x.size:
        return np.full(shape, formula.empty, dtype)
    by_element = form.result == "f" and form.reduces  # which lies in memory as `x` does
    if dtype.kind == "c" or (by_element and not x.flags.c_contiguous):
        known = dict(zip(form.arrays, arrays, strict=True))
        known["dim"] = axes
        found = form.function(*[known.get(p) for p in form.reads])
        return np.asarray(found, dtype, "K" if by_element else "C").reshape(shape)
    last = not axes or axes[0] == x.ndim - len(axes)
    columns = prod(x.shape[axes[0] :]) if last and axes else 1
    if x.size >= kernels.LEAST:
        found = None
        if last:
            found = kernels.rows.by_formula(form, columns, *arrays)
        elif formula.override is not None:
            found = formula.override(dim, *arrays)
        if found is not None:
            return found.reshape(shape)
    if not last and x.size >= _MANY and prod(whole[axes[-1] + 1 :]) <= _SHORT:
        return _by_gathered_rows(form, me, given, arrays, axes).reshape(shape)
    arrays = [lift(a) for a in arrays]
    wide = arrays[form.main_place].dtype
    out = np.empty(kept if form.result == "r" else shape, wide)
    if last and form.result == "r" and len(arrays) == 1 and columns <= _SHORT:
        _by_columns(form, out, arrays[0], columns)
    elif last:
        _by_blocks(form, out, arrays, columns)
    else:
        _at_once(form, out, arrays, axes)
    return out.reshape(shape).astype(dtype, copy=False)


def _by_gathered_rows(
    form: Form, me: Function, given: Sequence[object], arrays: list[Array], axes: tuple[int, ...]
) -> Array:
    """What rows give that are the last dimensions of a copy: where they lie, what is behind them is
    so short that NumPy begins its loop for a few elements each time."""
    count, args = arrays[0].ndim, list(given)
    order = [d for d in range(count) if d not in axes] + list(axes)
    for k, a in zip(form.places, arrays, strict=True):
        args[k] = np.ascontiguousarray(a.transpose(order))
    args[form.dim] = count - 1 if len(axes) == 1 else tuple(range(count - len(axes), count))
    found: Array = me(*args)
    if form.result == "f":
        found = np.ascontiguousarray(found.transpose(np.argsort(order)))
    return found


def axes_of(x: Array, dim: int | tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions along which rows lie, in order; all where none is named."""
    if isinstance(dim, int):
        return (dim % x.ndim,) if x.ndim else ()
    return tuple(sorted({d % x.ndim for d in dim})) if dim and x.ndim else tuple(range(x.ndim))


def _at_once(form: Form, out: Array, arrays: list[Any], dim: int | tuple[int, ...]) -> None:
    """Reduces rows where they are."""
    body, constants, buffers = form.body(True, out.dtype)
    shape = next(a for a, kind in zip(arrays, form.kinds) if kind == "f").shape
    body(out, *arrays, dim, *constants, *[np.empty(shape, out.dtype) for _ in range(buffers)])


def _by_columns(form: Form, out: Array, x: Array, length: int) -> None:
    """Reduces short rows, blocks of which are turned: NumPy begins its loop for each row else."""
    rows, result = x.reshape(-1, length), out.reshape(1, -1)
    starts = row_blocks(len(rows), length)
    for start in starts:
        part = slice(start, start + starts.step)
        _at_once(form, result[:, part], [np.ascontiguousarray(rows[part].T)], 0)


def _by_blocks(form: Form, out: Array, arrays: list[Any], length: int) -> None:
    """Goes through rows of the last dimensions in blocks that the cache holds."""
    body, constants, buffers = form.body(False, out.dtype)
    count = arrays[0].size if form.kinds[0] == "r" else arrays[0].size // length
    result = out.reshape(count, -1)
    rows = [np.ascontiguousarray(a).reshape(count, -1) for a in arrays]
    # Few elements have the same digits however they lie in memory.
    override = form.formula.of_block if count * length > LIMITS.rows else None
    starts = row_blocks(count, length)
    step = min(starts.step, count)
    scratch = [np.empty((step, length), out.dtype) for _ in range(buffers)]
    for start in starts:
        part = slice(start, start + step)
        piece = result[part]
        room = scratch if len(piece) == step else [s[: len(piece)] for s in scratch]
        if override is not None:
            override(piece, *[r[part] for r in rows])
        else:
            body(piece, *[r[part] for r in rows], 1, *constants, *room)
