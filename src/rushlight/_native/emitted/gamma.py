"""Gamma numbers as machine code: the loop of `_array.random.rejection`, digit for digit.

    gammas(libm, words, limit, state, exponents, d, c, out, start, n) -> where it stopped

`libm` holds the addresses of log, log1p, cos, sin and pow: the C library's, which Python's `math`
calls too. `state` is the kept normal (a double), whether there is one, and the place in `words`.
An element that could need more words than are left is not begun, and the state is as before it.

Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables (2000).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ..llvm import loader as engine
from ..llvm.emit import F64, I1, I64, PTR, Function, Module, Value

#: The functions whose addresses are asked for, in order.
LIBM: Final = ("log", "log1p", "cos", "sin", "pow")
_SQUEEZE: Final = 0.03310000151395798
_TWO_PI: Final = 6.283185307179586
_ATTEMPT: Final = 6  # words that one attempt takes at most
_NORMAL, _KEPT, _PLACE = 0, 1, 2


@cache
def load() -> int:
    """The address of `gammas`."""
    module = Module("gamma_draws")
    names = ["libm", "words", "limit", "state", "exponents", "d", "c", "out", "start", "n"]
    integers = ("limit", "start", "n")
    f = module.function("gammas", [(x, I64 if x in integers else PTR) for x in names], I64)
    f.contract = False
    _Emitted(f).write()
    return engine.load(module)["gammas"]


class _Emitted:
    """The function under construction."""

    def __init__(self, f: Function) -> None:
        self.f = f
        (self.libm, self.words, self.limit, self.state, self.exponents, self.d, self.c, self.out,
         self.start, self.n) = f.params  # fmt: skip

    def word(self, place: int) -> Value:
        return self.f.at(self.state, place, I64)

    def math(self, name: str, *args: Value) -> Value:
        f = self.f
        return f.call(f.load(f.at(self.libm, LIBM.index(name), PTR), PTR), args, F64)

    def stop_unless(self, words: int, index: Value, before: list[Value]) -> None:
        """Gives up an element for which too few words are left."""
        f = self.f
        with f.when(self.limit - f.load(self.word(_PLACE), I64) < words):
            for place, value in enumerate(before):
                f.store(self.word(place), value)
            f.ret(index)

    def uniform(self) -> Value:
        """The next number in [0, 1)."""
        f = self.f
        place = f.load(self.word(_PLACE), I64)
        both = f.load(self.f.at_bytes(self.words, place * 4), I64, 4)
        f.store(self.word(_PLACE), place + 2)
        bits = ((both & 0x1FFFFF) << 32) | f.shift_right(both, 32)
        return f.cast(bits, F64) * 2.0**-53

    def normal(self) -> Value:
        """The next normal; the second one of a pair is kept."""
        f = self.f

        def kept() -> list[Value]:
            f.store(self.word(_KEPT), f.constant(I64, 0))
            return [f.load(self.word(_NORMAL), F64)]

        def fresh() -> list[Value]:
            angle = self.uniform() * _TWO_PI
            radius = f.sqrt(self.math("log1p", -self.uniform()) * -2.0)
            f.store(self.word(_NORMAL), radius * self.math("sin", angle))
            f.store(self.word(_KEPT), f.constant(I64, 1))
            return [radius * self.math("cos", angle)]

        return f.choose(f.load(self.word(_KEPT), I64).ne(0), kept, fresh)[0]

    def write(self) -> None:
        f = self.f
        with f.loop(self.start, self.n) as loop:
            i = loop.index
            before = [f.load(self.word(place), I64) for place in range(3)]
            exponent, d, c = (
                f.load(f.at(x, i, F64), F64) for x in (self.exponents, self.d, self.c)
            )

            def scaled() -> list[Value]:
                self.stop_unless(2, i, before)
                return [self.math("pow", 1.0 - self.uniform(), exponent)]

            def drawn() -> list[Value]:
                (scale,) = f.choose(exponent > 0.0, scaled, lambda: [f.constant(F64, 1.0)])
                return f.repeat(
                    [f.constant(F64, 0.0)], lambda _: self.attempt(i, before, scale, d, c)
                )

            # An exponent below zero stands for the parameter zero, whose number is zero.
            (found,) = f.choose(exponent < 0.0, lambda: [f.constant(F64, 0.0)], drawn)
            f.store(f.at(self.out, i, F64), found)
        f.ret(self.n)

    def attempt(
        self, i: Value, before: list[Value], scale: Value, d: Value, c: Value
    ) -> tuple[Value, list[Value]]:
        """Whether another attempt is needed, and the number if not."""
        f = self.f
        self.stop_unless(_ATTEMPT, i, before)
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

        refused = [f.constant(I1, False), f.constant(F64, 0.0)]
        taken, number = f.choose(y > 0.0, judged, lambda: refused)
        return ~taken, [number]
