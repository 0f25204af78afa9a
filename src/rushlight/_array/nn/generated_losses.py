"""Losses that compare arrays element by element, made of formulas: what is by element, reduced.

A row tells a loss by element, and its slope for each argument that has a gradient. What is the same
for all of them is here: `reduction`, which is 0 (none), 1 (mean) or 2 (sum), as in PyTorch's
operators; a `weight`, by which values and slopes are multiplied; `g`, the gradient of the result.
Operands that may be absent are None to a formula.

Arrays of one shape and of float32 or float64 take generated code or a kernel; a long sum ends in
float64. All else is the formula on arrays, 16-bit floats in float32 and rounded once.

Note [Formulas that end in a product]
The sum of products is one call of BLAS. A loss whose formula ends in a product has that for its
sum, and needs no array for the values.

Note [Whose strides]
NumPy lays a result out in C order as soon as one operand is so; PyTorch goes by one operand, which
the row names, or lays gradients out in C order. A copy is made where that isn't the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from ..._base.schema import REQUIRED, Schema
from ..._formula.ir import total
from ..._formula.words import WORLDS
from .. import kernels
from ..elementwise.blocked import BLOCK, sum_blocks as sum_of_pieces
from ..elementwise.generated import (
    LIMITS,
    SHORT,
    SPACE,
    Code,
    block,
    body_of,
    define_here,
    generate,
    trace_function,
)
from ..memory import dense_layout as dense
from ..reduce.row_sums import lift
from ..types import to_raw
from .element_losses import broadcast_shape, reduce_losses, require_dtype

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Positional, TensorLike
    from ..._formula.ir import Symbol
    from ..._table.rows.element_loss import LossFormula
    from ..._tensor.tensor import Tensor
    from ..annotations import Array

Function = Callable[..., Any]

#: Elements of a piece of which there are few arrays: see `SHORT`.
_SHORT_PIECE: Final = 1 << 20


class Form:
    """What is computed by element, and under which names a function takes its operands."""

    __slots__ = ("defaults", "fixed", "formula", "function", "key", "name", "names", "numbers",
                 "reads", "required", "tensors")  # fmt: skip

    def __init__(self, name: str, key: str, formula: LossFormula, schema: Schema) -> None:
        self.function = formula.function
        code = self.function.__code__
        self.name = name
        self.reads = code.co_varnames[: code.co_argcount]
        self.formula = formula
        self.key = key  # the argument whose gradient it is; "" for the loss itself
        needed = {*self.reads, "weight"} if key else {p.name for p in schema.params}
        given = [p for p in schema.params if p.name in needed or p.name == "reduction"]
        #: Operands by element, and whether each may be absent.
        self.tensors = {p.name: p.optional for p in given if p.is_tensor}
        self.required = tuple(p for p, optional in self.tensors.items() if not optional)
        self.defaults = {
            p.name: p.default for p in given if not p.is_tensor and p.default is not REQUIRED
        }
        self.numbers = tuple(p.name for p in given if not p.is_tensor and p.name != "reduction")
        #: Arguments that aren't given, for they have their default values.
        self.fixed = dict(self.defaults) if formula.short else {}
        names = [p.name for p in given if p.name not in self.fixed]
        names += [f"{key}_dtype"] if key and key not in self.reads else []
        self.names = ("g", *names) if key else tuple(names)

    def bind(self, given: tuple[str, ...]) -> Function:
        """The function of the tensors that are given, and of the numbers."""
        return _bind(self.function, self.reads, given + self.numbers)

    def usual(self) -> tuple[tuple[str, Any], ...]:
        """The numbers that have defaults."""
        return tuple((p, self.defaults[p]) for p in self.numbers if p in self.defaults)

    def by_element(self, given: tuple[str, ...]) -> Function:
        """The values, or the slopes, of arrays of one shape."""
        return _by_element(self.bind(given), self.name, given, self.numbers, self.usual())

    def times(self, given: tuple[str, ...], number: bool) -> Function:
        """The slopes times `g`, a number or an array; it comes after the other arrays."""
        return _times(self.bind(given), self.name, given, self.numbers, self.usual(), number)

    def sum_values(self, given: tuple[str, ...]) -> _Summed:
        """The sum of the values of arrays of one shape."""
        return _summed(self.bind(given), self.name, given, self.numbers, self.usual())


# Functions of the same text are made once: a row has two forms where it has a fast one.


@cache
def _bind(function: Function, reads: tuple[str, ...], names: tuple[str, ...]) -> Function:
    def weigh(*values: object) -> Any:
        known = dict(zip(names, values, strict=True))
        found = function(*[known.get(p) for p in reads])
        return found * known["weight"] if "weight" in names else found

    return weigh


@cache
def _by_element(
    each: Function, name: str, given: tuple[str, ...], numbers: tuple[str, ...], usual: Any
) -> Function:
    return generate(name, each, given, dict(usual), names=given + numbers)


@cache
def _times(
    slope: Function, name: str, given: tuple[str, ...], numbers: tuple[str, ...], usual: Any,
    number: bool,
) -> Function:  # fmt: skip
    count = len(given)

    def times(*values: object) -> Symbol:
        return slope(*values[:count], *values[count + 1 :]) * values[count]

    arrays = given if number else (*given, "g")
    return generate(name, times, arrays, dict(usual), names=(*given, "g", *numbers))


class _Summed:
    """The sum of a formula over all elements, as kernels and blocks read it."""

    def __init__(
        self, each: Function, name: str, arrays: tuple[str, ...], numbers: tuple[str, ...],
        usual: Any,
    ) -> None:  # fmt: skip
        self.__name__ = name
        self.arrays, self.numbers, self.usual = arrays, numbers, dict(usual)
        self.piece = BLOCK  # how many elements are summed at a time
        self.formula: Function = lambda *values: total(each(*values))
        self.formula.__name__ = f"{name}_sum"


_summed = cache(_Summed)


# ---- generated functions ------------------------------------------------------------------------


def generate_loss(name: str, key: str, formula: LossFormula, schema: Schema) -> Function:
    """The loss of arrays, of what it is by element; or its gradient, of its slope by element.

    Args:
        name: what the function is called.
        key: the argument that the gradient is for; "" for the loss itself.
        formula: its parameters are among those of the schema.
        schema: the row's, with a `reduction`.
    """
    form = Form(name, key, formula, schema)
    return _make(form, form.required, _gradient_code if key else _loss_code)


_Maker = Callable[[Form, tuple[str, ...]], tuple[list[str], dict[str, Any]]]


def _make(form: Form, given: tuple[str, ...], maker: _Maker) -> Function:
    """The function of a form, with code for the case that these tensors are given.

    It sends all to `other` but arrays of one shape and of float32 or float64.
    """
    listed = ", ".join(form.names)
    first, *others = given
    apart = "".join(
        f" or type({p}) is not ndarray or {p}.dtype is not d or {p}.shape != {first}.shape"
        for p in others
    )
    if form.names[-1] == f"{form.key}_dtype":
        apart += f" or to_raw({form.names[-1]}) is not d"
    lines = [f"if type({first}) is not ndarray:", f"    return other(me, {listed})"]
    absent = [p for p in form.tensors if p not in form.required]
    if absent and given == form.required:
        present = ", ".join(f"{p} is not None" for p in absent)
        lines += [
            f"if {' or '.join(f'{p} is not None' for p in absent)}:",
            f"    return more[{present},]({listed})",
        ]
    lines += [
        f"d = {first}.dtype",
        f"if not (d is F32 or d is F64) or not {first}.ndim{apart}:",
        f"    return other(me, {listed})",
    ]
    code, space = maker(form, given)
    text = "".join(f"    {line}\n" for line in lines + code)
    source = f"def {form.name}({listed}):\n{text}"
    space |= {
        "kernels": kernels, "limits": LIMITS, "divide": np.true_divide, "to_raw": to_raw,
        "array": np.array, "contiguous": np.ascontiguousarray, "laid_out": _lay_out_like,
        "large": _large, "more": _More(form, maker),
        "other": _other_gradient if form.key else _other_loss,
    }  # fmt: skip
    made = define_here(form.name, source, form.name, space)
    space["me"] = made
    made.loss, made.source = form, source
    return made


class _More(dict[tuple[bool, ...], Function]):
    """Code for the cases that other tensors are given, by which of those that may be absent are."""

    def __init__(self, form: Form, maker: _Maker) -> None:
        self.form, self.maker = form, maker

    def __missing__(self, present: tuple[bool, ...]) -> Function:
        form = self.form
        flags = iter(present)
        given = tuple(p for p in form.tensors if p in form.required or next(flags))
        made = self[present] = _make(form, given, self.maker)
        return made


def _write_fixed(form: Form) -> list[str]:
    return [f"{p} = {n!r}" for p, n in form.fixed.items() if p in form.numbers]


def _loss_code(form: Form, given: tuple[str, ...]) -> tuple[list[str], dict[str, Any]]:
    short = "reduction" in form.fixed
    summed_ = form.sum_values(given)
    names = given + form.numbers
    listed = ", ".join(names)
    end = "" if short else " if reduction == 1 else s"
    general = Code(trace_function(form.name, summed_.formula, given, names, {}))
    summed_.piece = BLOCK if general.calls > SHORT else _SHORT_PIECE
    asked = " and ".join(f"{p} == {n!r}" for p, n in summed_.usual.items())
    # Two calls of NumPy take no longer.
    later = "" if general.calls > SHORT else " << 1"
    lines = [f"check_values({', '.join(form.required)})"] if form.formula.check_values else []
    each = _write_unreduced(f"by_element({listed})", form.formula.result)
    lines += _write_fixed(form) if short else each
    lines += [
        f"n = {given[0]}.size",
        f"if n > limits.few or n >= kernels.LEAST{later} and n:",
        f"    s = large(summed, {asked or False}, {listed})",
        f"    return array(s / n{end}, d)",
    ]
    space = SPACE | {
        "summed": summed_, "by_element": form.by_element(given),
        "check_values": form.formula.check_values,
    }  # fmt: skip
    if summed_.usual:
        lines.append(f"if {asked}:")
        code = Code(trace_function(form.name, summed_.formula, given, names, summed_.usual))
        lines += [f"    {line}" for line in _write_mean(body_of(code, space, "a"), end)]
    return lines + _write_mean(body_of(general, space, "b"), end), space


def _write_unreduced(call: str, like: str) -> list[str]:
    return ["if not reduction:", f"    v = {call}", *[f"    {x}" for x in _write_result("v", like)]]


def _write_result(value: str, like: str) -> list[str]:
    """The lines that give a value back: see Note [Whose strides]."""
    if not like:
        return [f"return {value} if {value}.flags.c_contiguous else contiguous({value})"]
    asked = f"{value}.strides == {like}.strides"
    return [f"return {value} if {asked} else laid_out({value}, {like})"]


def _lay_out_like(value: Array, like: Array | None) -> Array:
    """A new array, laid out like another one."""
    if like is None:
        return np.ascontiguousarray(value)
    made = dense.empty_like(like, value.dtype)
    if made.strides == value.strides:
        return value
    made[...] = value
    return made


def _write_mean(lines: list[str], end: str) -> list[str]:
    """The lines that give a sum, as those of a mean."""
    return [*lines[:-1], lines[-1].replace("return", "s ="), f"return divide(s, n){end}"]


def _gradient_code(form: Form, given: tuple[str, ...]) -> tuple[list[str], dict[str, Any]]:
    short = "reduction" in form.fixed
    listed = ", ".join((*given, "g", *form.numbers))
    tensors, numbers = f"({', '.join(given)},)", f"({', '.join(('s', *form.numbers))},)"
    asked = " and ".join(f"{p} == {n!r}" for p, n in form.usual())
    like = form.formula.gradient_like(form.key, given)
    lines = _write_fixed(form) if short else _write_unreduced(f"unreduced({listed})", like)
    lines += [
        f"n = {given[0]}.size",
        "if n >= kernels.LEAST and n:",
        f"    s = float(g){'' if short else ' if reduction != 1 else float(g)'} / n",
        f"    found = kernels.elementwise.by_formula("
        f"scaled, {asked or False}, {tensors}, {numbers})",
        "    if found is not None:",
        "        return found",
        "if n > 1:" if short else "if n > 1 and reduction == 1:",
        "    g = divide(g, n)",
    ]
    if given == (like,):
        lines.append(f"return scaled({listed})")
    else:
        lines += [f"v = scaled({listed})", *_write_result("v", like)]
    unreduced = None if short else form.times(given, False)
    return lines, SPACE | {"scaled": form.times(given, True), "unreduced": unreduced}


def _large(me: _Summed, known: bool, *args: Any) -> float:
    """The sum of a loss over large arrays: by a kernel, else in pieces."""
    count = len(me.arrays)
    arrays, numbers = args[:count], args[count:]
    if arrays[0].size >= kernels.LEAST:
        found = kernels.elementwise.sum_by_formula(me, known, arrays, numbers)
        if found is not None:
            return found
    body, constants = block(me, arrays[0].dtype, known)

    def piece(scratch: Array, *pieces: Array) -> float:
        return body(scratch, *pieces, *numbers, *constants)

    return sum_of_pieces(piece, me.piece, *arrays)


# ---- what takes no generated code ----------------------------------------------------------------


def _sort_arguments(form: Form, args: Positional) -> tuple[dict[str, Any], dict[str, Any]]:
    """All arguments by their names, and the arrays among them, as floats of at least 32 bits."""
    known = {**form.fixed, **dict(zip(form.names, args, strict=True))}
    for p in form.tensors:
        if isinstance(known[p], np.generic):
            known[p] = np.asarray(known[p])
    first = known[next(iter(form.tensors))]
    arrays = {}
    for p in form.tensors:
        x = known[p]
        if x is not None:
            arrays[p] = _compute(x) if x.dtype.kind in "fVc" else x.astype(_compute(first).dtype)
    return known, arrays


def _compute(x: Array) -> Any:
    return x if x.dtype.kind == "c" else lift(x)


def _other_loss(me: Any, *args: Any) -> Any:
    """The loss of arrays of several shapes or of other types."""
    form: Form = me.loss
    formula = form.formula
    named = dict(zip(form.names, args, strict=True))
    if formula.check is not None:
        formula.check(*[named[p] for p in form.tensors])
    known, arrays = _sort_arguments(form, args)
    x = known["self"]
    for y in arrays.values():
        grown = broadcast_shape(x.shape, y.shape)
        if grown != x.shape:
            raise RuntimeError(errors.output_shape(x.shape, grown))
    if formula.check_values is not None:
        formula.check_values(*[arrays[p] for p in form.required])
    dtype = known[formula.result].dtype
    names, operands = tuple(arrays), list(arrays.values())
    numbers = [known[p] for p in form.numbers]
    if formula.in_steps and dtype.itemsize == 2:
        each = form.bind(names)(*[_Rounded(y, dtype) for y in operands], *numbers).value
    elif x.dtype.kind != "c" and all(
        y.dtype == operands[0].dtype and y.shape == x.shape for y in operands
    ):
        each = form.by_element(names)(*operands, *numbers)
    else:
        each = np.asarray(form.bind(names)(*operands, *numbers))
    found = reduce_losses(each, known["reduction"], dtype)
    like = known[formula.result]
    return found if not found.ndim or found.shape != like.shape else _lay_out_like(found, like)


def _other_gradient(me: Any, *args: object) -> TensorLike:
    """The gradient of what are no arrays, or arrays of several shapes or of other types."""
    form: Form = me.loss
    first = args[1]
    if not isinstance(first, np.ndarray | np.generic):
        run = getattr(type(first), "run_formula", None)
        return _record(form, *args) if run is None else run(first, me, args)
    known, arrays = _sort_arguments(form, args)
    x, key, g = known[next(iter(arrays))], form.key, known["g"]
    if form.formula.same_types:
        require_dtype(known["target"], x)
    dtype = known[key].dtype if key in known else to_raw(known[f"{key}_dtype"])
    slope = form.bind(tuple(arrays))(*arrays.values(), *[known[p] for p in form.numbers])
    g = lift(g)
    if known["reduction"] == 1 and x.size > 1:
        g = np.true_divide(g, x.size)
    found = np.asarray(np.multiply(slope, g), dtype)
    like = form.formula.gradient_like(key, tuple(arrays))
    if not found.ndim or (like and known[like].shape != found.shape):
        return found
    return _lay_out_like(found, known[like] if like else None)


def _record(form: Form, g: Any, *args: Any) -> Tensor:
    """The gradient in operations that are recorded."""
    known = {**form.fixed, **dict(zip(form.names[1:], args, strict=True))}
    given = tuple(p for p in form.tensors if known[p] is not None)
    operands = [known[p] for p in given + form.numbers]
    slope = form.bind(given)(*operands)
    return slope * (g / (prod(operands[0].shape) or 1) if known["reduction"] == 1 else g)


class _Rounded:
    """An array whose every step is rounded to 16 bits.

    Where PyTorch computes a loss in several operations, each of them rounds.
    """

    __slots__ = ("value", "dtype")

    def __init__(self, value: Any, dtype: Any) -> None:
        self.value = np.asarray(value).astype(dtype).astype(np.float32)
        self.dtype = dtype

    def __neg__(self) -> _Rounded:
        return _Rounded(-self.value, self.dtype)


def _operator(name: str) -> AnyCallable:
    def method(self: _Rounded, other: object) -> _Rounded:
        function = getattr(self.value, name)
        return _Rounded(function(getattr(other, "value", other)), self.dtype)

    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul"):
    setattr(_Rounded, f"__{_name}__", _operator(f"__{_name}__"))


class _Words(dict[str, Any]):
    def __missing__(self, name: str) -> AnyCallable:
        function = WORLDS[np.ndarray][name]
        return lambda x: _Rounded(function(x.value), x.dtype)


WORLDS[_Rounded] = _Words()
