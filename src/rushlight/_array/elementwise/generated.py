"""NumPy code generated from formulas: straight lines of ufuncs that write over what is done with.

    elu = generate("elu", lambda x, alpha: where(x > 0, x, alpha * expm1(x)), ("x",), {"alpha": 1})
    elu(x, 1)

`generate` gives a plain function of the formula's parameters. On arrays of float32 or float64 it is
one ufunc for each instruction, into buffers that earlier ones have left; large ones go to a native
kernel where there is one, else through in blocks that the cache holds. 16-bit floats are computed
in float32 and rounded once. All else (other types, several shapes, no dimensions) is the formula
itself, on arrays. Where numbers have their default values they are constants of the code.

What is no array goes its own way: a Tensor evaluates the formula, a proxy of a recording notes the
call (its class has `run_formula`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.generated_code import define
from ..._formula.ir import ROW_REDUCTIONS, Group, trace
from ..._formula.words import WORLDS, formula_of, log_sigmoid_in_steps
from ..._native import ufunc_loops
from .. import kernels
from ..axes import other_axes
from ..number import number_like
from ..reduce.row_sums import ones
from ..types import FLOAT32, FLOAT64, is_half
from . import blocked
from .erf import erf
from .masks import choose_into, keep, where
from .numpy_steps import Step, mark_exact_products, steps_of
from .rounding import sign

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._formula.ir import Symbol
    from ..annotations import Array, RawType

Function = Callable[..., Any]

_UFUNCS: Final[dict[str, Any]] = {
    "neg": np.negative, "abs": np.absolute, "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1,
    "log": np.log, "log1p": np.log1p, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "add": np.add,
    "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "pow": np.power,
    "max": np.maximum, "min": np.minimum, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "and": np.logical_and,
    "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not, "clip": blocked.clip,
}  # fmt: skip
#: Arithmetic on numbers alone is Python's.
_OPERATORS: Final = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}",
    "pow": "{} ** {}", "max": "max({}, {})", "min": "min({}, {})", "lt": "{} < {}",
    "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}", "ne": "{} != {}",
    "and": "{} and {}", "or": "{} or {}", "xor": "{} is not {}", "not": "not {}", "abs": "abs({})",
}  # fmt: skip


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _along(reduce: Any) -> Function:
    return lambda x, dim: reduce(x, dim, None, None, True)


def _pick(x: Array, index: Array, dim: int) -> Array:
    return np.take_along_axis(x, np.expand_dims(index, dim), dim)


def _place(x: Array, index: Array, like: Array, dim: int) -> Array:
    out = np.zeros(like.shape, x.dtype)
    np.put_along_axis(out, np.expand_dims(index, dim), x, dim)
    return out


_row_max = _along(np.maximum.reduce)

WORLDS[np.ndarray] = WORLDS[np.generic] = {
    **{k: _UFUNCS[k] for k in (
        "ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "rint", "sin", "sqrt", "tanh",
        "trunc",
    )},
    "absolute": np.absolute, "maximum": np.maximum, "minimum": np.minimum, "power": np.power,
    "where": where, "erf": erf, "sigmoid": _sigmoid, "rsqrt": _rsqrt, "sign": sign,
    "detach": lambda x: x, "relu": lambda x: np.maximum(x, 0),
    "log_sigmoid": log_sigmoid_in_steps,
    "row_sum": _along(np.add.reduce), "row_min": _along(np.minimum.reduce),
    "row_max": _row_max, "row_top": lambda x, dim: _row_max(x.real, dim),
    "shifted_exp": lambda x, dim: np.exp(x - _row_max(x, dim)),
    "pick": _pick, "place": _place,
    "column_sum": lambda x, dim: np.add.reduce(x, other_axes(x.ndim, dim)),
}  # fmt: skip


class Code:
    """The lines of a group, a call for each step.

    Results are new arrays; the caller says where they go. One that is `into` an operand is written
    to its memory, or copied there last. With `out` the one result is written to it. With `scratch`
    buffers come from the caller too, as many as `self.scratch` then names. With `once` a sum of
    something and a product with a number is rounded once, by way of float64 (the numbers are called
    `<name>_wide` there), and arrays may have no dimensions. A sum is the result, wherever else one
    would go. Rows lie along `dim`, which is passed on to what reduces them.
    """

    def __init__(
        self, group: Group, out: str = "", scratch: bool = False, once: bool = False
    ) -> None:
        self.names: dict[int | float, str] = {i: o.name for i, o in enumerate(group.operands)}
        self.lines: list[str] = []
        #: The same as data: an operation, the names of what it takes, and of what it writes.
        self.program: list[tuple[str, list[str], str]] = []
        self.free: dict[str, list[str]] = defaultdict(list)
        if out and group.kind(group.outputs[0].value) != "r":
            self.free["f"].append(out)
        self.sorts: dict[int | float, str] = {}  # of values that lie in buffers of their own
        self.constants: dict[str, float] = {}
        self.scratch: list[str] | None = [] if scratch else None
        self.once = once
        self.reuses = False  # whether a temporary is written over, which is to be an array then
        steps = steps_of(group, once)
        self.calls = sum(step.sort != "s" for step in steps)
        if once:
            steps = mark_exact_products(steps, group)
        self.steps = steps
        self.summed: set[str] = set()  # names that sums of exponentials have already
        places = {step.value: place for place, step in enumerate(steps)}
        self.last = {a: at for at, step in enumerate(steps) for a in step.args if type(a) is int}
        end = len(steps)
        self.target: dict[int | float, str] = {}
        self.claims: dict[str, int] = {}  # until when an operand's memory may hold something else
        self.holds: dict[str, int | float] = {}  # whose memory lies where a result goes
        for one in group.outputs:
            self.last[one.value] = end
            if one.alias >= 0:
                name = self.names[one.alias]
                self.target.setdefault(one.value, name)
                self.claims[name] = places.get(one.value, end)
                self.holds[name] = one.alias
                self.sorts[one.alias] = "f"
        for place, step in enumerate(steps):
            dying = [
                a for a in dict.fromkeys(step.args) if type(a) is int and self.last[a] == place
            ]
            self._add(step, place, [a for a in dying if a in self.sorts])
        for one in group.outputs:
            name = self.names[one.value]
            place_of = self.names[one.alias] if one.alias >= 0 else out
            if steps and steps[-1].op in SUMS:
                continue
            if len(group.outputs) > 1 and one.alias < 0 and group.kind(one.value) != "f":
                continue
            if place_of and name != place_of:
                self.lines.append(f"copyto({place_of}, {name})")
                self.program.append(("copy", [name], place_of))
        self.results = [self.names[one.value] for one in group.outputs]
        self.result = self.results[0]

    def _add(self, step: Step, place: int, dying: list[int | float]) -> None:
        value, op, args, sort = step
        if sort == "s":
            self.names[value] = f"n{value}"
            words = [repr(a) if type(a) is float else self.names[a] for a in args]
            text = _OPERATORS[op].format(*words)
            self.lines.append(f"n{value} = {text}")
            self.program.append((op, words, ""))
            return
        words = [self._constant(a) if type(a) is float else self.names[a] for a in args]
        own = [a for a in dying if self.sorts[a] == sort and self._open(self.names[a], value)]
        name = f"t{value}"
        target = self.target.get(value)
        if target is not None and self.last.get(int(self.holds[target]), -1) > place:
            target = None  # somebody reads what is there
        if op == "row_sum" and name in self.summed:
            pass
        elif op in _REDUCTIONS:
            self.lines.append(f"{name} = {op}({', '.join(words)}, dim)")
        elif op == "shifted_exp":  # the sums come with it, and decide the shift
            room = target or self._free(sort)
            sums = next((s for s in self.steps if s.op == "row_sum" and s.args == (value,)), None)
            total = f"t{sums.value}" if sums is not None else "_"
            self.summed.add(total)
            self.lines.append(
                f"{room or name}, {total} = exponentials({words[0]}, {room or None}, dim)"
            )
            name = room or name
        elif op in ("keep", "erf", *SUMS):
            self.lines.append(f"{name} = {op}({', '.join(words)})")
        elif op == "wide":
            self.lines.append(f"{name} = u_mul({words[0]}, {words[1]}_wide)")
        elif op == "where":
            chosen = [a for a in own if a in args[1:]]
            if target is None and chosen and len(set(args[1:])) > 1:
                target = self.names[chosen[-1]]
            room = target or self._free(sort)
            if room:
                name = room
                self.reuses = self.reuses or room not in self.claims
                self.lines.append(f"choose({name}, {', '.join(words)})")
            else:
                self.lines.append(f"{name} = where({', '.join(words)})")
        else:
            room = target or (self.names[own[0]] if own else self._free(sort))
            call, _, once = op.partition(" ")
            given = ", ".join(words)
            if room:
                name = room
                self.reuses = self.reuses or room not in self.claims
                unsafe = ', casting="unsafe"' if once else ""
                out = "out=" if op in ("max", "min") else ""  # which a third argument isn't, there
                self.lines.append(f"u_{call}({given}, {out}{name}{unsafe})")
            else:
                cast = f".astype({self.names[0]}.dtype)" if once else ""
                self.lines.append(f"{name} = u_{call}({given}){cast}")
        self.program.append((op, words, name))
        self.names[value], self.sorts[value] = name, sort
        if name in self.holds:
            self.holds[name] = value
        for arg in dying:
            if self.names[arg] != name and self.names[arg] not in self.claims:
                self.free[self.sorts[arg]].append(self.names[arg])

    def _open(self, name: str, value: int) -> bool:
        """Whether a value may be written to a buffer whose own value is done with."""
        return self.last[value] <= self.claims[name] if name in self.claims else not self.once

    def _free(self, sort: str) -> str:
        """A buffer that nobody uses, or none."""
        if self.free[sort] and not self.once:
            return self.free[sort].pop()
        if self.scratch is None or sort != "f":
            return ""
        self.scratch.append(f"s{len(self.scratch)}")
        return self.scratch[-1]

    def _constant(self, number: float) -> str:
        """A constant as a 0-d array of the type, which ufuncs take faster than a number."""
        known = {repr(n): name for name, n in self.constants.items()}
        if repr(number) not in known:
            known[repr(number)] = f"k{len(self.constants)}"
            self.constants[known[repr(number)]] = number
        return known[repr(number)]


_REDUCTIONS: Final = (*ROW_REDUCTIONS, "row_dot", "column_sum", "row_product", "column_product")
#: Steps that end a group of one result.
SUMS: Final = ("dot", "total")


def trace_function(name: str, function: Function, arrays: tuple[str, ...], names: tuple[str, ...],
            given: Mapping[str, Any]) -> Group:  # fmt: skip
    """The group of a formula, with numbers for those parameters that `given` has."""
    operands = {p: ("f" if p in arrays else "s", "f32") for p in names if p not in given}

    def call_with_known(*symbols: object) -> Symbol:
        known = dict(zip(operands, symbols, strict=True))
        return function(*[known[p] if p in known else given[p] for p in names])

    return trace(name, call_with_known, operands)


def _dot(a: TensorLike, b: Array) -> Any:
    flat = a.reshape(-1)
    return np.dot(flat, flat if b is a else b.reshape(-1))


def _total(x: Array) -> Any:
    """The sum of few elements by BLAS, whose call is the cheapest."""
    return np.dot(x.reshape(-1), ones(x.size, x.dtype))


def _total_of_block(x: Array) -> float:
    return float(np.add.reduce(x))


SPACE: Final[dict[str, Any]] = {
    "ndarray": np.ndarray, "F32": FLOAT32, "F64": FLOAT64, "copyto": np.copyto, "where": where,
    "keep": keep, "choose": choose_into, "erf": erf, "dot": _dot, "total": _total,
    **{f"u_{op}": ufunc for op, ufunc in _UFUNCS.items()},
}  # fmt: skip


def generate(
    name: str,
    function: Function,
    arrays: tuple[str, ...],
    defaults: Mapping[str, Any],
    override: Function | None = None,
    names: tuple[str, ...] | None = None,
    narrow: bool = False,
) -> Function:
    """The function of a formula on arrays.

    Args:
        name: what the function is called.
        function: the formula, of symbols; its parameters are those of the result.
        arrays: which of its parameters are arrays; the others are numbers, and come after them.
        defaults: for which values of the numbers there is code of its own.
        override: computes the same faster, or gives None; asked where no kernel takes the arrays.
        names: the parameters, where the function's own signature doesn't say them.
        narrow: whether numbers are rounded to 16 bits where arrays have them.
    """
    if names is None:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
    assert names[: len(arrays)] == arrays, f"{name}: arrays come before numbers"
    numbers = names[len(arrays) :]
    space = dict(SPACE)
    first, listed = arrays[0], ", ".join(names)
    apart = "".join(
        f" or type({p}) is not ndarray or {p}.dtype is not d or {p}.shape != {first}.shape"
        for p in arrays[1:]
    )
    known = {p: defaults[p] for p in numbers if p in defaults}
    asked = " and ".join(f"{p} == {n!r}" for p, n in known.items())
    general = Code(trace_function(name, function, arrays, names, {}))
    limit = "large" if general.calls > SHORT else "huge"
    least = f"kernels.LEAST << {shift_of_limit(limit)}"
    lines = [
        f"if type({first}) is not ndarray:",
        f"    return elsewhere(me, {listed})",
        f"d = {first}.dtype",
        f"if not (d is F32 or d is F64) or not {first}.ndim{apart}:",
        f"    return mixed(me, {listed})",
    ]
    if numbers:
        odd = " or ".join(f"type({p}) is complex" for p in numbers)
        lines += [f"if {odd}:  # refused, or a real number", f"    return mixed(me, {listed})"]
    lines += [
        f"if {first}.size >= limits.{limit} or {first}.size >= {least}:",
        f"    found = large(me, {asked or False}, {listed})",
        "    if found is not None:",
        "        return found",
    ]
    if override is not None:
        lines += [f"found = override({listed})", "if found is not None:", "    return found"]
    if known:
        short = Code(trace_function(name, function, arrays, names, known))
        lines.append(f"if {asked}:")
        lines += ["    " + line for line in body_of(short, space, "a")]
    lines += body_of(general, space, "b")
    source = f"def {name}({listed}):\n" + "".join(f"    {line}\n" for line in lines)
    space |= {"elsewhere": _elsewhere, "mixed": _write_mixed, "large": _large, "kernels": kernels,
              "limits": LIMITS, "override": override}  # fmt: skip
    assert space.keys().isdisjoint(names), f"{name}: a parameter is called as a helper is"
    made = define_here(name, source, name, space)
    space["me"] = made
    function.__name__ = name  # kernels are called so
    made.formula, made.arrays, made.numbers, made.source = function, arrays, numbers, source
    made.override, made.usual, made.limit, made.narrow = override, known, limit, narrow
    return made


def define_here(name: str, source: str, title: str, space: dict[str, object]) -> Any:
    """The function of a text, as if it stood in this folder."""
    return define(name, source, f"{__file__} <{title}>", space)


def body_of(code: Code, space: dict[str, object], tag: str) -> list[str]:
    """The lines of a function's body, with its constants for either dtype in `space`."""
    return [*constants_of(code, space, tag), *code.lines, f"return {code.result}"]


def constants_of(code: Code, space: dict[str, object], tag: str) -> list[str]:
    """The lines that name the code's constants, by the dtype `d`."""
    lines: list[str] = []
    if not code.constants:
        return lines
    for sort, dtype in (("S", FLOAT32), ("D", FLOAT64)):
        names = [f"{sort}{tag}{name}" for name in code.constants]
        space |= zip(names, [np.array(n, dtype) for n in code.constants.values()])
        lines += ["if d is F32:" if sort == "S" else "else:",
                  f"    {', '.join(code.constants)} = {', '.join(names)}"]  # fmt: skip
    return lines


def shift_of_limit(limit: str) -> int:
    """How often `kernels.LEAST` is doubled for functions of few calls: where a kernel is called
    through a frame of Python, NumPy's calls are quicker for few elements."""
    return 2 if limit == "huge" and ufunc_loops.FUNCTION is None else 0


#: Calls for which a block isn't worth its own, unless memory is the matter.
SHORT: Final = 2


class Limits:
    """Elements from which arrays go through in blocks: `huge` if no more than `SHORT` calls do."""

    __slots__ = ("few", "huge", "large")

    def __init__(self) -> None:
        self.few = 8192  # elements that are added up in their own type
        self.large = 1 << 19  # below, the temporaries are cheaper than the calls for each block
        self.huge = 2_000_000


LIMITS: Final = Limits()


def _elsewhere(me: Any, *args: object) -> TensorLike:
    """The formula where the first argument is no array."""
    if isinstance(args[0], np.generic):
        return me(*[np.asarray(x) if isinstance(x, np.generic) else x for x in args])
    if isinstance(args[0], (int, float, complex)):  # whose arithmetic would be Python's
        raise TypeError(f"{me.__name__} takes arrays, not {type(args[0]).__name__}")
    run = getattr(type(args[0]), "run_formula", None)
    return me.formula(*args) if run is None else run(args[0], me, args)


def _write_mixed(me: Any, *args: Any) -> Array:
    """The formula where arrays aren't of one shape and of float32 or float64, or numbers odd."""
    dtype = args[0].dtype
    if is_half(dtype):
        if me.narrow:
            args = tuple([float(dtype.type(x)) if type(x) is float else x for x in args])
        wide = [x.astype(FLOAT32) if isinstance(x, np.ndarray) else x for x in args]
        return np.asarray(me(*wide)).astype(dtype)
    if any(type(x) is complex for x in args):
        return me(*[number_like(x, dtype) if type(x) is complex else x for x in args])
    if dtype.kind in "iu":  # numbers take the type of the arrays
        args = tuple(int(x) if type(x) is float else x for x in args)
    return np.asarray(me.formula(*args), dtype)


def _large(me: Any, known: bool, *args: Any) -> Any:
    """The function of large arrays: by a kernel, else in blocks; None where neither takes them.

    `known`: the numbers that have usual values have these.
    """
    count = len(me.arrays)
    arrays, numbers = args[:count], args[count:]
    x = arrays[0]
    if x.size >= kernels.LEAST:
        found = kernels.elementwise.by_formula(me, known, arrays, numbers)
        if found is not None:
            return found
    if me.override is not None or x.size < getattr(LIMITS, me.limit) or not blocked.fits(*arrays):
        return None
    body, constants = block(me, x.dtype, known)
    return blocked.map_blocks(
        lambda out, *pieces: body(out, *pieces, *numbers, *constants), *arrays
    )


@cache
def block(me: Any, dtype: RawType, known: bool) -> tuple[Function, list[Any]]:
    """The function of a block of a formula, of which `me` has name and parameters; its constants.

    One that sums gives sums of parts of the block, which are exact enough to be added in float64.
    """
    names = (*me.arrays, *me.numbers)
    code = Code(trace_function(me.__name__, formula_of(me, known), me.arrays, names, {}), "buffer")
    text = "".join(f"    {line}\n" for line in [*code.lines, f"return {code.result}"])
    space = SPACE | {"dot": blocked.products, "total": _total_of_block}
    listed = ", ".join(["buffer", *names, *code.constants])
    source = f"def block({listed}):\n{text}"
    made = define_here("block", source, f"{me.__name__}, a block", space)
    return made, [np.array(n, dtype) for n in code.constants.values()]
