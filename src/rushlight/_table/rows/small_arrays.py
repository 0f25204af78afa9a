"""Which functions of a row have a short way for small arrays: forwards and gradients by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._array.reduce import reduce
from ..._base.annotations import AnyCallable
from ..._core.op import CALL_G, CALL_G_SAVED, Op
from ..._native import ufunc_loops
from .formulas import parameters_of

if TYPE_CHECKING:
    from ..._base.schema import Schema

#: Types of arguments that are numbers.
_NUMBERS: Final = ("Scalar", "float", "int")
_BOOLS: Final = ("condition", "mask")
_MOST: Final = 8  # arguments
#: Sums and their gradients, which `chains.c` knows: the kinds of arguments, and the step.
OF_SUMS: Final[dict[AnyCallable, tuple[str, str]]] = {
    reduce.sum_all: ("fn", "t"),
    reduce.mean_all: ("fn", "m"),
}


def add_chains(op: Op, schema: Schema, kind: str) -> None:
    """Puts a short way for small arrays in front of an operation's functions on arrays."""
    op.small, op.small_formulas = op.raw, op.formulas
    if ufunc_loops.FUNCTION is None or op.n_out != 1 or op.is_view:
        return
    if kind != "elementwise":
        op.small = _of_sum(op.raw)
        op.small_formulas = tuple([_of_sum(formula) for formula in op.formulas])
        return
    kinds = "".join(_letter(p.name, schema) for p in schema.params)
    op.small = _chained(op.raw, lambda: op.formula, kinds)
    found: list[AnyCallable] = list(op.formulas)
    for k, (formula, form) in enumerate(zip(op.formulas, op.forms, strict=True)):
        names = parameters_of(formula) if formula is not None else ("gs",)
        if form in (CALL_G, CALL_G_SAVED) or names[:1] in (("g",), ("xp",)):
            kinds = "".join(_letter(name, schema) for name in names)
            found[k] = _chained(formula, lambda f=formula: f, kinds)
    op.small_formulas = tuple(found)


def _of_sum(function: AnyCallable) -> AnyCallable:
    kinds, step = OF_SUMS.get(function, ("", ""))
    if not step:
        return function
    from ..._array.elementwise.chains import of_sum

    return ufunc_loops.function(function, lambda: of_sum(kinds, step), kinds)


def _letter(name: str, schema: Schema) -> str:
    """The kind of a parameter, see `ufunc_loops.function`; "?" for one that has none."""
    if name == "xp":
        return "-"
    if name in _BOOLS:
        return "b"
    if name in ("g", "out") or any(name == result.name for result in schema.returns):
        return "f"
    place = schema.positions.get(name)
    if place is None:
        return "?"
    p = schema.params[place]
    if p.is_tensor and not p.is_list:
        return "f"
    return "s" if p.type in _NUMBERS and not p.is_list else "?"


def _chained(raw: AnyCallable, formula: AnyCallable, kinds: str) -> AnyCallable:
    if "?" in kinds or "f" not in kinds or len(kinds) > _MOST:
        return raw
    from ..._array.elementwise.chains import chained

    return chained(raw, formula, kinds)
