"""Formulas as chains of ufuncs' inner loops, for small arrays: see `_native.ufunc_loops`.

    small = take_chains(raw, lambda: formula, "ff")

The steps are those of the generated NumPy code (`numpy_steps`), so digits are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from math import inf, log, pi
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from ..._base.lazy import Function
from ..._formula import words as W
from ..._native import ufunc_loops
from .. import kernels
from . import generated

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Group, Symbol
    from ..annotations import RawType
    from .numpy_steps import Step

    #: Gives what a function computes, in the vocabulary.
    Formula = Callable[[], AnyCallable | None]
    #: What `chains.c` reads of the steps of one chain; the kinds of arguments, and the chains.
    Chain = tuple[object, ...]
    Chains = tuple[str, tuple[Chain, ...]]
    #: An operation, the sorts of its operands and their numbers.
    Listed = tuple[np.ufunc | str, str, tuple[int, ...]]

#: Arithmetic on numbers, which is done in Python's way.
_OF_NUMBERS: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "n", "min": "<", "max": ">",
}  # fmt: skip
_CHOICES: Final = {"where": ("w", "bfff"), "keep": ("k", "fbf")}


#: Elements up to which any chain is taken, and up to which any call is looked at.
_LONGEST: Final = 1 << 14
_MOST: Final = 1 << 20
_ARITHMETIC: Final = frozenset((
    np.add, np.subtract, np.multiply, np.divide, np.absolute, np.negative, np.floor, np.ceil,
    np.trunc, np.rint,
))  # fmt: skip


class Unchained(Exception):
    """Says that a formula has no chain."""


def take_chains(
    raw: AnyCallable, formula: Formula, kinds: str, defaults: tuple[object, ...] = ()
) -> AnyCallable:
    """`raw`, with small arrays taken by chains of loops where its formula has one, and any that
    broadcast where it is one operation.

    `formula()` is asked later. For `kinds` see `ufunc_loops.function`; `defaults` are the values of
    arguments for which a function that may refuse numbers is known to take them.
    """
    chains = partial(chains_of, raw, formula, kinds, defaults)
    return ufunc_loops.function(raw, chains, kinds, _MOST)


def _find_pool() -> tuple[int, int, int] | None:
    """What runs chunks of large arrays on several threads; None where one thread does."""
    return None if sys.maxsize == kernels.LEAST else kernels.launch.find_pool()


ufunc_loops.set_pool(_find_pool)


def chains_of(
    raw: AnyCallable, formula: Formula, kinds: str, defaults: tuple[object, ...] = ()
) -> Chains | None:
    """The chains of a function, in the form that `chains.c` reads; None where it has none."""
    found = _find_chains(raw, formula, kinds, defaults) or _of_kernel_alone(raw)
    return found and (found[0], tuple([_with_kernel(raw, chain) for chain in found[1]]))


def _of_kernel_alone(raw: AnyCallable) -> Chains | None:
    """A chain that nothing goes beyond the kernel of, of a function that has no other quick way for
    few elements."""
    from . import in_float64

    if not getattr(W.large_of(raw), "of_any_size", False) or in_float64.has_scipy():
        return None
    kernel = partial(_kernel_for, W.large_of(raw), False)
    step = ("u", np.absolute, "ff", b"\0\1")  # which no array is few enough for
    return "f", (((), (), 0, 0, False, (step,), 1, 0, False, kernel, 1),)


def _with_kernel(raw: AnyCallable, chain: Chain) -> Chain:
    """A chain with the kernel that its function takes for large arrays, and from how many elements.

    The function itself calls it too: here it is called without a frame of Python.
    """
    if len(chain) > 9:
        return chain
    chain = _limit(raw, chain)
    source = W.large_of(raw)
    row = getattr(source, "__dict__", {})
    if "limit" not in row:
        return chain
    types, most, wide = (*chain, False)[6:9]
    if row.get("doubtful"):
        return (*chain[:6], types, ufunc_loops.MOST, wide)
    known = bool(chain[0]) and bool(row["usual"])
    least = kernels.LEAST << generated.shift_of_limit(row["limit"])
    return (*chain[:6], types, most, wide, partial(_kernel_for, source, known), least)


def _kernel_for(source: AnyCallable, known: bool, dtype: RawType) -> tuple[object, int] | None:
    if dtype not in vars(source).get("types", (dtype,)) or not kernels.elementwise.ready():
        return None
    return kernels.elementwise.kernel_of(source, known).builtin(dtype)


def _limit(raw: AnyCallable, chain: Chain) -> Chain:
    """A chain with the elements up to which it is taken: more where its steps are all that the
    function does, one whole array after the other, and NumPy's loops take operands of any stride
    alike.
    """
    if len(chain) > 6:
        return chain
    steps = cast("tuple[tuple[str, object], ...]", chain[5])
    long = isinstance(raw, np.ufunc) or (
        raw in _on_floats() and all(step[0] != "u" or step[1] in _ARITHMETIC for step in steps)
    )
    long = long and all(step[0] not in "wkECsd" for step in steps)
    return (*chain, 3, _LONGEST if long else ufunc_loops.MOST)


def _find_chains(
    raw: AnyCallable, formula: Formula, kinds: str, defaults: tuple[object, ...]
) -> Chains | None:
    from . import rounding

    try:
        plain = getattr(raw, "plain", raw)  # where all else is a matter of layout
        plain = plain.find() if type(plain) is Function else plain
        steps = _in_steps().get(plain) or _by_library(plain)
        if steps is not None:
            return steps.kinds, (_of_steps(steps),)
        kinds = kinds.replace("o", "s")
        if isinstance(raw, np.ufunc):
            return kinds, (_of_ufunc(raw, kinds),)
        if getattr(raw, "source", None) is not None and hasattr(raw, "usual"):
            return kinds, _of_generated(raw)
        known = _on_floats().get(raw)
        if isinstance(known, np.ufunc):
            return kinds, (_of_ufunc(known, kinds),)
        function = known or formula()
        if function is None:
            return None
        if known is not None and known is _on_floats()[rounding.clamp] and kinds == "fss":
            return "f<>", (_chain(trace_single(function, "fss"), "fss", by_hand=True),)
        if "s" in kinds and known is None:  # it may refuse some numbers
            return kinds, (_at_defaults(function, kinds, defaults),)
        group = trace_single(function, kinds)
        return kinds, (_chain(group, kinds, by_hand=True),)
    except (Unchained, ValueError, TypeError, ArithmeticError, AttributeError, KeyError):
        return None


def _at_defaults(function: AnyCallable, kinds: str, defaults: tuple[object, ...]) -> Chain:
    """The chain of a function for the values that its numbers have by default."""
    asked: list[tuple[int, float]] = []
    for k, kind in enumerate(kinds):
        value = defaults[k] if kind == "s" and k < len(defaults) else None
        if type(value) in (int, float):
            asked.append((k, float(value)))  # type: ignore[arg-type]
        elif kind not in "fb":
            raise Unchained
    known = dict(asked)

    def call_at_defaults(*symbols: object) -> Symbol:
        return function(*[known.get(k, symbol) for k, symbol in enumerate(symbols)])

    left = "".join("n" if k in known else kind for k, kind in enumerate(kinds))
    return _chain(trace_single(call_at_defaults, left), left, tuple(asked), by_hand=True)


class Steps(NamedTuple):
    """A function as ufuncs and choices, where the vocabulary of formulas lacks a word.

    Values are numbered: arguments, constants, temporaries, the result. `steps` have an operation,
    the sorts of its operands and their numbers.
    """

    kinds: str
    constants: tuple[float, ...]
    temporaries: int
    steps: tuple[Listed, ...]
    types: int = 3  # 1: for float32, 2: for float64
    most: int = ufunc_loops.MOST  # elements
    numbers: int = 0  # which follow the constants
    wide: bool = False  # float32 is computed with in float64, and rounded once


@cache
def _in_steps() -> dict[AnyCallable, Steps]:
    """What functions that are written by hand do to few floats, in steps."""
    from . import activations, comparison, complexes, division, erf, masks, rounding

    most = float(np.finfo(np.float64).max)  # which stands for that of the type
    return {
        # numpy.remainder loses the sign of a zero, which fmod keeps.
        division.remainder: Steps("ff", (0.0,), 3, (
            (np.fmod, "fff", (0, 1, 3)), (np.remainder, "fff", (0, 1, 4)),
            (np.not_equal, "ffb", (3, 2, 5)), ("w", "bfff", (5, 4, 3, 6)),
        )),
        rounding.heaviside: Steps("ff", (), 2, (
            (np.heaviside, "fff", (0, 1, 2)), (np.equal, "ffb", (0, 0, 3)), ("k", "fbf", (2, 3, 4)),
        )),
        rounding.nan_to_num: Steps("fnnn", (most, -most), 2, (
            (np.equal, "ffb", (0, 0, 6)), ("k", "fbf", (0, 6, 7)),
            (np.minimum, "fff", (7, 4, 7)), (np.maximum, "fff", (7, 5, 8)),
        )),
        complexes.angle: Steps("f", (0.0, pi), 2, (
            (np.less, "ffb", (0, 1, 3)), ("w", "bfff", (3, 2, 1, 4)),
            (np.equal, "ffb", (0, 0, 3)), ("w", "bfff", (3, 4, 0, 5)),
        )),
        activations.logit: Steps("fn", (1.0,), 1, (
            (np.subtract, "fff", (2, 0, 3)), (np.divide, "fff", (0, 3, 3)), (np.log, "ff", (3, 4)),
        )),
        activations.logaddexp2: Steps("ff", (0.0, 1 / log(2)), 2, (
            (np.subtract, "fff", (0, 1, 4)), (np.equal, "ffb", (0, 1, 5)),
            ("w", "bfff", (5, 2, 4, 4)), (np.absolute, "ff", (4, 4)), (np.negative, "ff", (4, 4)),
            (np.exp2, "ff", (4, 4)), (np.log1p, "ff", (4, 4)), (np.multiply, "fff", (4, 3, 4)),
            (np.maximum, "fff", (0, 1, 5)), (np.add, "fff", (5, 4, 6)),
        )),
        # A weight is less than a half where a half without its size is above 0.
        division.lerp: Steps("ffs", (0.5, 1.0, 0.0), 3, (
            ("r", "ff", (2, 6)), ("n", "ff", (6, 7)), (">", "fff", (6, 7, 7)),
            ("-", "fff", (3, 7, 7)), ("-", "fff", (4, 6, 8)), (np.subtract, "fff", (1, 0, 9)),
            (np.multiply, "fff", (9, 6, 10)), (np.multiply, "fff", (9, 8, 9)),
            (np.add, "fff", (0, 10, 10)), (np.subtract, "fff", (1, 9, 9)),
            (np.greater, "ffb", (7, 5, 11)), ("w", "bfff", (11, 10, 9, 12)),
        ), numbers=3),
        masks.masked_fill: Steps("fbs", (), 0, (
            ("r", "ff", (2, 3)), ("w", "bfff", (1, 3, 0, 4)),
        ), numbers=1),
        comparison.isreal: Steps("f", (0.0,), 0, ((np.equal, "ffb", (1, 1, 2)),)),
        erf.erfinv: _inverse(),
        erf.erf: Steps("f", (), 0, (("E", "ff", (0, 1)),), most=erf._FEW),
        erf.erfc: Steps("f", (), 0, (("C", "ff", (0, 1)),), most=erf._FEW),
        erf.gelu: _in_float32("f", 0, lambda x, a, b, c, half, scale, out: [
            (np.multiply, "fff", (x, b, out)),
        ]),
        erf.gelu_backward: _in_float32("-ff", 2, lambda x, a, b, c, half, scale, out: [
            (np.multiply, "fff", (x, x, c)), (np.multiply, "fff", (c, half, c)),
            (np.exp, "ff", (c, c)), (np.multiply, "fff", (c, scale, c)),
            (np.multiply, "fff", (c, x, c)), (np.add, "fff", (b, c, b)),
            (np.multiply, "fff", (b, 1, out)),
        ]),
    }  # fmt: skip


def _in_float32(kinds: str, x: int, rest: AnyCallable) -> Steps:
    """Φ(x) as `erf._cdf32` has it, in the second of three temporaries, and what comes of it."""
    from . import erf

    above, below = [[float(one) for one in part] for part in erf._CDF32]
    others = (erf._SQUARE_LIMIT, 1.0, float(erf._MINUS_HALF32), float(erf._PDF_SCALE32))
    first = len(kinds)
    limit = first + len(above) + len(below)
    one, half, scale, a, b, c, out = range(limit + 1, limit + 8)

    steps = [
        (np.multiply, "fff", (x, x, a)), (np.minimum, "fff", (a, limit, a)),
        *_polynomial(a, first, len(above), b), *_polynomial(a, first + len(above), len(below), c),
        (np.divide, "fff", (b, c, b)), (np.multiply, "fff", (b, x, b)), (np.exp, "ff", (b, b)),
        (np.add, "fff", (b, one, b)), (np.divide, "fff", (one, b, b)),
        *rest(x, a, b, c, half, scale, out),
    ]  # fmt: skip
    return Steps(kinds, (*above, *below, *others), 3, tuple(steps), types=1)


def _inverse() -> Steps:
    """`erf.erfinv` of float32, which computes with float64."""
    from . import erf

    above, below = [[float(one) for one in part] for part in erf._INVERSE32]
    first = 1 + len(above)
    one, minus, above_all, below_all, w, s, r, t, out = range(
        first + len(below), first + len(below) + 9
    )
    steps: list[Listed] = [
        (np.subtract, "fff", (one, 0, w)), (np.add, "fff", (0, one, s)),
        (np.multiply, "fff", (w, s, w)), (np.log, "ff", (w, w)), (np.negative, "ff", (w, w)),
        *_polynomial(w, 1, len(above), s), *_polynomial(w, first, len(below), r),
        (np.divide, "fff", (s, r, s)), (np.multiply, "fff", (s, 0, s)),
        (np.equal, "ffb", (0, one, t)), ("w", "bfff", (t, above_all, s, s)),
        (np.equal, "ffb", (0, minus, t)), ("w", "bfff", (t, below_all, s, out)),
    ]  # fmt: skip
    numbers = (*above, *below, 1.0, -1.0, inf, -inf)
    return Steps("f", numbers, 4, tuple(steps), types=1, wide=True)


def _polynomial(x: int, place: int, count: int, to: int) -> list[Listed]:
    """The polynomial at x, with `count` ascending coefficients from a place on."""
    found: list[Listed] = [
        (np.multiply, "fff", (x, place + count - 1, to)),
        (np.add, "fff", (to, place + count - 2, to)),
    ]
    for k in range(place + count - 3, place - 1, -1):
        found += [(np.multiply, "fff", (to, x, to)), (np.add, "fff", (to, k, to))]
    return found


def _by_library(function: AnyCallable) -> Steps | None:
    """The steps of a function that SciPy's ufuncs have, where they are what it calls."""
    from . import special

    name, *rest = _OF_LIBRARY.get(getattr(function, "__name__", ""), ("",))
    if not name or getattr(special, function.__name__, None) is not function:
        return None
    ufunc = getattr(special.library(), name)
    if not isinstance(ufunc, np.ufunc):
        return None
    constants, temporaries, further = rest or ((), 0, ())
    return Steps("f", constants, temporaries, ((ufunc, "ff", (0, 1 + len(constants))), *further))


#: The functions of `special` that are SciPy's for few floats: its name, and further constants, how
#: many temporaries there are, and steps from the first of them on.
_OF_LIBRARY: Final[dict[str, tuple[Any, ...]]] = {
    **{name: (name,) for name in ("i0", "i0e", "i1", "i1e", "erfcx", "entr", "ndtri", "log_ndtr")},
    **{f"bessel_{name}": (name,) for name in ("j0", "j1", "y0", "y1")},
    **{f"modified_bessel_{name}": (name,) for name in ("i0", "i1", "k0", "k1")},
    "lgamma": ("gammaln", (-inf, inf), 2, (
        (np.equal, "ffb", (0, 1, 4)), ("w", "bfff", (4, 2, 3, 5)),
    )),
    "digamma": ("psi", (0.0, inf), 3, (
        (np.equal, "ffb", (0, 1, 4)), (np.negative, "ff", (0, 5)),
        (np.copysign, "fff", (2, 5, 5)), ("w", "bfff", (4, 5, 3, 6)),
    )),
}  # fmt: skip


def _of_steps(listed: Steps) -> Chain:
    steps = []
    for op, sorts, places in listed.steps:
        known = not isinstance(op, str)
        steps.append(("u" if known else op, op if known else None, sorts, bytes(places)))
    gives_bool = listed.steps[-1][1][-1] == "b"
    return ((), listed.constants, listed.numbers, listed.temporaries, gives_bool, tuple(steps),
            listed.types, listed.most, listed.wide)  # fmt: skip


@cache
def _on_floats() -> dict[AnyCallable, AnyCallable]:
    """What functions that are written by hand compute of few floats: ufuncs, and formulas.

    They refuse no numbers, and round as the formulas do.
    """
    from .. import numpy_namespace
    from . import activations, comparison, division, rounding, trigonometry

    def gap(a: Symbol, b: Symbol) -> Symbol:
        return -W.absolute(W.where(a == b, 0.0, a - b))

    def sinc(x: Symbol) -> Symbol:
        t = x * pi
        return W.where(t == 0, 1.0, W.sin(t) / W.where(t == 0, 1.0, t))

    return {
        rounding.ceil: np.ceil, rounding.floor: np.floor, rounding.trunc: np.trunc,
        rounding.round: np.rint, rounding.signbit: np.signbit, rounding.copysign: np.copysign,
        rounding.maximum: np.maximum, rounding.minimum: np.minimum, rounding.fmax: np.fmax,
        rounding.fmin: np.fmin, division.hypot: np.hypot, division.fmod: np.fmod,
        division.floor_divide: np.floor_divide,
        trigonometry.arctan2: np.arctan2, comparison.nextafter: np.nextafter,
        rounding.frac: lambda x: x - W.trunc(x),
        rounding.clamp: lambda x, low, high: W.minimum(W.maximum(x, low), high),
        rounding.clamp_min: W.maximum, rounding.clamp_max: W.minimum,
        comparison.isposinf: lambda x: x == inf, comparison.isneginf: lambda x: x == -inf,
        comparison.isinf: lambda x: W.absolute(x) == inf,
        trigonometry.radians: lambda x: x * (pi / 180),
        trigonometry.degrees: lambda x: x * (180 / pi),
        activations.sinc: sinc,
        activations.logaddexp: lambda a, b: W.maximum(a, b) + W.log1p(W.exp(gap(a, b))),
        numpy_namespace.add_scaled: lambda a, b, alpha: a + b * alpha,
        numpy_namespace.subtract_scaled: lambda a, b, alpha: a - b * alpha,
        division.add_product: lambda x, a, b, value: x + (a * value) * b,
        division.add_quotient: lambda x, a, b, value: x + (a * value) / b,
    }  # fmt: skip


def of_sum(kinds: str, step: str) -> Chains:
    """The chain of the gradient of a sum or a mean of all elements."""
    return kinds, (((), (), 0, 0, False, ((step, None, "f", b"\0"),)),)


def _of_ufunc(ufunc: np.ufunc, kinds: str) -> Chain:
    if ufunc.nin != len(kinds) or ufunc.nout != 1:
        raise Unchained
    given = {text.partition("->")[2] for text in ufunc.types if text[: ufunc.nin] == kinds}
    gives_bool = given == {"?"}
    sorts = kinds + "fb"[gives_bool]
    return (), (), 0, 0, gives_bool, (("u", ufunc, sorts, bytes(range(len(sorts)))),)


def _of_generated(raw: AnyCallable) -> tuple[Chain, ...]:
    row = vars(raw)
    arrays, numbers, usual = row["arrays"], row["numbers"], row["usual"]
    names = (*arrays, *numbers)
    kinds = "f" * len(arrays) + "s" * len(numbers)
    found = []
    if usual:
        asked = tuple((names.index(p), float(n)) for p, n in usual.items())
        function = W.formula_of(raw, True)
        group = generated.trace_function(raw.__name__, function, arrays, names, {})
        found.append(_chain(group, kinds, asked))
    group = generated.trace_function(raw.__name__, row["formula"], arrays, names, {})
    found.append(_chain(group, kinds))
    return tuple(found)


def trace_single(function: AnyCallable, kinds: str) -> Group:
    from ..._formula.ir import trace

    def call_with_tensors(*symbols: object) -> Symbol:
        rest = iter(symbols)
        others = {"-": _SYMBOLS, "n": None}
        return function(*[others[k] if k in others else next(rest) for k in kinds])

    single, double = [
        trace(
            "small",
            call_with_tensors,
            {
                f"x{k}": ("f", "b1") if kind == "b" else (kind, dtype)
                for k, kind in enumerate(kinds)
                if kind not in "-n"
            },
        )
        for dtype in ("f32", "f64")
    ]
    if str(single).replace("f32", "f64") != str(double):  # it goes by the type
        raise Unchained
    return single


class _Symbols:
    """The array namespace of formulas, for symbols."""

    def __getattr__(self, name: str) -> AnyCallable:
        if name == "keep":
            return lambda g, mask: W.where(mask, g, 0.0)
        if name == "overridden":
            return lambda override, formula, *args: formula(*args)
        if name == "sgn":
            return W.sign
        if name not in W.WORLDS[_symbol()] and name != "where":
            raise AttributeError(name)
        return getattr(W, name)


_SYMBOLS: Final = _Symbols()


def _symbol() -> type:
    from ..._formula.ir import Symbol

    return Symbol


def _chain(
    group: Group, kinds: str, asked: tuple[tuple[int, float], ...] = (), by_hand: bool = False
) -> Chain:
    """The steps of a group, its values numbered by where they lie.

    `by_hand`: one bound is `maximum` or `minimum`, as in code that is written so.
    """
    from .numpy_steps import steps_of

    if len(group.outputs) != 1 or group.outputs[0].alias >= 0:
        raise Unchained
    steps = steps_of(group)
    if by_hand:
        steps = [one for step in steps for one in _split_clip(step)]
    result = group.outputs[0].value
    if not steps or steps[-1].value != result or steps[-1].sort not in ("f", "b"):
        raise Unchained
    numbers = [step for step in steps if step.sort == "s"]
    if numbers and by_hand:  # which code written by hand may round one by one
        raise Unchained
    steps = [*numbers, *[step for step in steps if step.sort != "s"]]
    constants = _constants(steps)
    operands = [k for k, kind in enumerate(kinds) if kind not in "-n"]
    first = len(kinds)
    places: dict[int | float, int] = dict(enumerate(operands))
    sorts: dict[int | float, str] = {
        k: "b" if kinds[at] == "b" else "f" for k, at in enumerate(operands)
    }
    for k, step in enumerate(numbers):
        places[step.value] = first + len(constants) + k
        sorts[step.value] = "f"
    room = _Room(first + len(constants) + len(numbers))
    last = {a: at for at, step in enumerate(steps) for a in step.args if type(a) is int}
    found = []
    for at, step in enumerate(steps):
        words = [first + constants[repr(a)] if type(a) is float else places[a] for a in step.args]
        letters = "".join("f" if type(a) is float else sorts[a] for a in step.args)
        dying = {a for a in step.args if type(a) is int and last[a] == at}
        written_over = {a for a in dying if sorts[a] == step.sort}
        for arg in written_over:
            room.free(places[arg])
        if step.sort == "s":
            place = places[step.value]
        else:
            place = -1 if step.value == result else room.take()
            places[step.value], sorts[step.value] = place, step.sort
        for arg in dying - written_over:
            room.free(places[arg])
        found.append((step, letters + sorts[step.value], [*words, place]))
    end = room.first + room.count
    return (asked, tuple(float(text) for text in constants), len(numbers), room.count,
            steps[-1].sort == "b", tuple(_encode(*one, end) for one in found))  # fmt: skip


def _split_clip(step: Step) -> list[Step]:
    """A step by `clip` as those that give 0 for the larger one of 0 and -0."""
    if step.op != "clip":
        return [step]
    x, low, high = step.args
    if high == inf and type(high) is float:
        return [step._replace(op="max", args=(x, low))]
    if low == -inf and type(low) is float:
        return [step._replace(op="min", args=(x, high))]
    inner = -1 - step.value  # a number that no value has
    return [
        step._replace(value=inner, op="max", args=(x, low)),
        step._replace(op="min", args=(inner, high)),
    ]


def _constants(steps: list[Step]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in steps:
        for arg in step.args:
            if type(arg) is float:
                found.setdefault(repr(arg), len(found))
    return found


class _Room:
    """Where temporaries lie: a place is taken again once nobody reads it."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.count = 0
        self.idle: list[int] = []

    def take(self) -> int:
        if self.idle:
            return self.idle.pop()
        self.count += 1
        return self.first + self.count - 1

    def free(self, place: int) -> None:
        if place >= self.first:
            self.idle.append(place)


def _encode(step: Step, sorts: str, places: list[int], end: int) -> tuple[object, ...]:
    where = bytes(end if place < 0 else place for place in places)
    if step.sort == "s":
        return _OF_NUMBERS[step.op], None, sorts, where
    if step.op in _CHOICES:
        op, wanted = _CHOICES[step.op]
        if sorts != wanted:
            raise Unchained
        return op, None, sorts, where
    return "u", generated._UFUNCS[step.op], sorts, where
