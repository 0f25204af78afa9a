"""Draws by rejection as machine code: the loops of `_array.random.rejection`, digit for digit.

    draw(libm, words, limit, state, columns, out, start, n) -> where it stopped

`libm` holds the addresses of the functions of `LIBM`: the C library's, which Python's `math` calls,
too. `state` is the kept normal (a double), whether there is one, and the place in `words`.
`columns` holds what is known of each element before it is drawn, `n` doubles a column. An element
that needs more words than are left is given back: the state is then as before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar, Final, TypeAlias

from ..llvm import loader as engine
from ..llvm.emit import F64, I1, I64, PTR, Function, Module, Operand, Value
from ..math.polynomials import STIRLING

#: The functions whose addresses are asked for, in order.
LIBM: Final = ("log", "log1p", "cos", "sin", "pow", "exp", "lgamma")
_SQUEEZE: Final = 0.03310000151395798
_TWO_PI: Final = 6.283185307179586
_NORMAL, _KEPT, _PLACE = 0, 1, 2
_Test: TypeAlias = Callable[[], Value]
_Judge: TypeAlias = Callable[[Value, Value, Value], Value]


@cache
def load(kind: str) -> int:
    """The address of the `draw` of one of the distributions in `KINDS`."""
    return engine.load_made(emit, kind)["draw"]


def emit(kind: str) -> Module:
    """The module with `draw`."""
    module = Module(f"{kind}_draws")
    names = ["libm", "words", "limit", "state", "columns", "out", "start", "n"]
    integers = ("limit", "start", "n")
    f = module.function("draw", [(x, I64 if x in integers else PTR) for x in names], I64)
    f.contract = False
    KINDS[kind](f).write()
    return module


class _Draws:
    """The function under construction, of so many columns."""

    columns: ClassVar[int]

    def __init__(self, f: Function) -> None:
        self.f = f
        (self.libm, self.words, self.limit, self.state, self.table, self.out, self.start,
         self.n) = f.params  # fmt: skip
        self.index = self.start
        self.before: list[Value] = []

    def write(self) -> None:
        f = self.f
        with f.loop(self.start, self.n) as loop:
            self.index = loop.index
            self.before = [f.load(self.keep(place), I64) for place in range(3)]
            columns = [
                f.load(f.at(self.table, self.n * k + loop.index, F64), F64)
                for k in range(self.columns)
            ]
            f.store(f.at(self.out, loop.index, F64), self.one(*columns))
        f.ret(self.n)

    def one(self, *columns: Value) -> Value:
        """The number of an element."""
        raise NotImplementedError

    def number(self, value: float) -> Value:
        return self.f.constant(F64, value)

    def keep(self, place: int) -> Value:
        return self.f.at(self.state, place, I64)

    def math(self, name: str, *args: Value) -> Value:
        f = self.f
        return f.call(f.load(f.at(self.libm, LIBM.index(name), PTR), PTR), args, F64)

    def uniform(self) -> Value:
        """The next number in [0, 1)."""
        f = self.f
        place = f.load(self.keep(_PLACE), I64)
        with f.when(self.limit - place < 2):
            for where, value in enumerate(self.before):
                f.store(self.keep(where), value)
            f.ret(self.index)
        both = f.load(f.at_bytes(self.words, place * 4), I64, 4)
        f.store(self.keep(_PLACE), place + 2)
        bits = ((both & 0x1FFFFF) << 32) | f.shift_right(both, 32)
        return f.cast(bits, F64) * 2.0**-53

    def normal(self) -> Value:
        """The next normal; the second one of a pair is kept."""
        f = self.f

        def kept() -> list[Value]:
            f.store(self.keep(_KEPT), f.constant(I64, 0))
            return [f.load(self.keep(_NORMAL), F64)]

        def fresh() -> list[Value]:
            angle = self.uniform() * _TWO_PI
            radius = f.sqrt(self.math("log1p", -self.uniform()) * -2.0)
            f.store(self.keep(_NORMAL), radius * self.math("sin", angle))
            f.store(self.keep(_KEPT), f.constant(I64, 1))
            return [radius * self.math("cos", angle)]

        return f.choose(f.load(self.keep(_KEPT), I64).ne(0), kept, fresh)[0]


class _Gamma(_Draws):
    """Columns: the exponent for a parameter below one (negative: the number is zero), d, c.

    Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables (2000).
    """

    columns = 3

    def one(self, *columns: Value) -> Value:
        f = self.f
        exponent, d, c = columns

        def drawn() -> list[Value]:
            (scale,) = f.choose(
                exponent > 0.0,
                lambda: [self.math("pow", 1.0 - self.uniform(), exponent)],
                lambda: [self.number(1.0)],
            )
            return f.repeat([self.number(0.0)], lambda _: self.attempt(scale, d, c))

        return f.choose(exponent < 0.0, lambda: [self.number(0.0)], drawn)[0]

    def attempt(self, scale: Value, d: Value, c: Value) -> tuple[Value, list[Value]]:
        """Whether another attempt is needed, and the number if not."""
        f = self.f
        x = self.normal()
        y = c * x + 1.0

        def judged() -> list[Value]:
            v = y * y * y
            u = 1.0 - self.uniform()
            xx = x * x

            def slowly() -> list[Value]:
                bound = xx * 0.5 + d * ((1.0 - v) + self.math("log", v))
                return [self.math("log", u) < bound]

            quickly = u < 1.0 - xx * _SQUEEZE * xx
            (taken,) = f.choose(quickly, lambda: [f.constant(I1, True)], slowly)
            return [taken, scale * d * v]

        refused = [f.constant(I1, False), self.number(0.0)]
        taken, number = f.choose(y > 0.0, judged, lambda: refused)
        return ~taken, [number]


class _Transformed(_Draws):
    """What the transformed rejections share: two uniforms make a candidate, which is judged."""

    def attempt(
        self, a: Value, b: Value, shifts: Sequence[Operand], accept: Value, judge: _Judge
    ) -> tuple[Value, list[Value]]:
        """Whether another attempt is needed, and the number if not."""
        f = self.f
        u = self.uniform() - 0.5
        v = self.uniform()
        us = 0.5 - f.abs(u)
        k = (a * 2.0 / us + b) * u
        for shift in shifts:
            k = k + shift
        k = f.floor(k)
        (taken,) = f.choose(
            (us >= 0.07) & (v <= accept),
            lambda: [f.constant(I1, True)],
            lambda: [judge(us, v, k)],
        )
        return ~taken, [k]

    def judge(self, hopeless: Value, slowly: _Test) -> Value:
        """Whether a candidate is taken that isn't hopeless."""
        f = self.f
        return f.choose(hopeless, lambda: [f.constant(I1, False)], lambda: [slowly()])[0]


class _Poisson(_Transformed):
    """Column: the rate.

    Source: W. Hörmann, The transformed rejection method for Poisson variables (1993).
    """

    columns = 1

    def one(self, *columns: Value) -> Value:
        f = self.f
        (rate,) = columns
        return f.choose(
            rate >= 10.0,
            lambda: [self.large(rate)],
            lambda: f.choose(rate.eq(0.0), lambda: [rate], lambda: [self.small(rate)]),
        )[0]

    def small(self, rate: Value) -> Value:
        bound = self.math("exp", -rate)

        def turn(carried: list[Value]) -> tuple[Value, list[Value]]:
            product = carried[0] * self.uniform()
            return product > bound, [product, carried[1] + 1.0]

        return self.f.repeat([self.number(1.0), self.number(-1.0)], turn)[1]

    def large(self, rate: Value) -> Value:
        f = self.f
        root, log_rate = f.sqrt(rate), self.math("log", rate)
        b = root * 2.53 + 0.931
        a = b * 0.02483 + -0.059
        log_inverse = self.math("log", 1.1328 / (b - 3.4) + 1.1239)
        accept = 0.9277 - 3.6224 / (b - 2.0)

        def judge(us: Value, v: Value, k: Value) -> Value:
            def slowly() -> Value:
                left = self.math("log", v) + log_inverse - self.math("log", a / (us * us) + b)
                return left <= k * log_rate - rate - self.math("lgamma", k + 1.0)

            return self.judge((k < 0.0) | ((us < 0.013) & (v > us)), slowly)

        return f.repeat([rate], lambda _: self.attempt(a, b, (rate, 0.43), accept, judge))[0]


class _Binomial(_Transformed):
    """Columns: count, probability, standard deviation (0: few are expected), centre, odds,
    mode, log1p(-p).

    Source: W. Hörmann, The generation of binomial random variates (1993), algorithm BTRS.
    """

    columns = 7

    def one(self, *columns: Value) -> Value:
        count, log_rest, deviation = columns[0], columns[6], columns[2]
        return self.f.choose(
            deviation > 0.0,
            lambda: [self.large(*columns[:6])],
            lambda: [self.small(count, log_rest)],
        )[0]

    def small(self, count: Value, log_rest: Value) -> Value:
        """The number of geometric draws that fit into the count."""

        def turn(carried: list[Value]) -> tuple[Value, list[Value]]:
            total = carried[0] - self.f.floor(-(self.math("log", self.uniform()) / log_rest))
            return total <= count, [total, carried[1] + 1.0]

        return self.f.repeat([self.number(0.0), self.number(-1.0)], turn)[1]

    def large(
        self, n: Value, p: Value, deviation: Value, centre: Value, odds: Value, mode: Value
    ) -> Value:
        f = self.f
        b = deviation * 2.53 + 1.15
        a = b * 0.0248 + -0.0873 + p * 0.01
        accept = 0.92 - 4.2 / b
        alpha = (5.1 / b + 2.83) * deviation

        def judge(us: Value, v: Value, k: Value) -> Value:
            def slowly() -> Value:
                bound = (
                    (mode + 0.5) * self.math("log", (mode + 1.0) / (odds * (n - mode + 1.0)))
                    + (n + 1.0) * self.math("log", (n - mode + 1.0) / (n - k + 1.0))
                    + (k + 0.5) * self.math("log", odds * (n - k + 1.0) / (k + 1.0))
                    + self.tail(mode) + self.tail(n - mode) - self.tail(k) - self.tail(n - k)
                )  # fmt: skip
                return self.math("log", v * alpha / (a / (us * us) + b)) <= bound

            return self.judge((k < 0.0) | (k > n), slowly)

        return f.repeat([n], lambda _: self.attempt(a, b, (centre,), accept, judge))[0]

    def tail(self, k: Value) -> Value:
        f = self.f

        def near() -> list[Value]:
            table = f.address_of(f.module.constants(F64, STIRLING))
            return [f.load(f.at(table, f.to_int(k, I64), F64), F64)]

        def far() -> list[Value]:
            square = (k + 1.0) * (k + 1.0)
            inner = 1.0 / 360 - self.number(1.0 / 1260) / square
            return [(1.0 / 12 - inner / square) / (k + 1.0)]

        return f.choose(k <= 9.0, near, far)[0]


#: The distributions, by name.
KINDS: Final[dict[str, type[_Draws]]] = {
    "binomial": _Binomial,
    "gamma": _Gamma,
    "poisson": _Poisson,
}
