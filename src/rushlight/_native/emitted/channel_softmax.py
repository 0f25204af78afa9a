"""Softmax and its logarithm along an axis behind which others lie, and their gradients.

    addresses = channel_softmax.load(F32)   # by the names of NAMES: void (frame, chunk)

An array is (outer, channels, inner); lanes are places of the inner axis, and the channels are the
loop inside, several vectors side by side. A chunk is `block` places of one of the outer ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value
from ..math import functions as mathematics

#: The words of a frame, 8 bytes each; `b` is the softmax (or its logarithm) for gradients.
FRAME = ("a", "b", "out", "channels", "inner", "block", "blocks")
NAMES = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
_VECTORS = 4
Step = Callable[[Value, list[Value]], list[Value]]


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with all functions."""
    module = Module("channel_softmax")
    for name, body in zip(NAMES, (_softmax, _log_softmax, _back, _log_back), strict=True):
        _function(module, name, type, body)
    return module


class _Columns:
    """Some vectors of places, over all channels."""

    def __init__(self, f: Function, type: Type, c: dict[str, Value], start: Value, count: int,
                 mask: Value | None) -> None:  # fmt: skip
        self.f, self.type, self.c = f, type, c
        self.start, self.count, self.mask = start, count, mask
        self.lanes = target.lanes(type)
        self.wide = type.vector(self.lanes)

    def _at(self, name: str, channel: Value, vector: int) -> Value:
        place = channel * self.c["inner"] + self.start + vector * self.lanes
        return self.f.at(self.c[name], place, self.type)

    def read(self, name: str, channel: Value) -> list[Value]:
        """Of one channel."""
        places = [self._at(name, channel, v) for v in range(self.count)]
        if self.mask is None:
            return [self.f.load(place, self.wide) for place in places]
        return [self.f.load_masked(place, self.wide, self.mask) for place in places]

    def write(self, channel: Value, values: list[Value]) -> None:
        """To one channel of the result."""
        for v, value in enumerate(values):
            place = self._at("out", channel, v)
            if self.mask is None:
                self.f.store(place, value)
            else:
                self.f.store_masked(place, value, self.mask)

    def fold(self, first: float, step: Step) -> list[Value]:
        """What goes from channel to channel."""
        begun = [self.f.constant(self.wide, first)] * self.count
        with self.f.loop(0, self.c["channels"], carried=begun) as loop:
            loop.next(*step(loop.index, list(loop.carried)))
        return list(loop.results)

    def each(self, step: Callable[[Value], list[Value]]) -> None:
        """Writes what the step gives for each channel."""
        with self.f.loop(0, self.c["channels"]) as loop:
            self.write(loop.index, step(loop.index))


def _tops(k: _Columns) -> list[Value]:
    f = k.f

    def larger(channel: Value, tops: list[Value]) -> list[Value]:
        return [f.select(x > top, x, top) for x, top in zip(k.read("a", channel), tops)]

    return k.fold(-float("inf"), larger)


def _softmax(k: _Columns) -> None:
    f = k.f
    tops = _tops(k)

    def added(channel: Value, sums: list[Value]) -> list[Value]:
        powers = [mathematics.exp(f, x - top) for x, top in zip(k.read("a", channel), tops)]
        k.write(channel, powers)
        return [before + e for before, e in zip(sums, powers)]

    scales = [1.0 / total for total in k.fold(0.0, added)]
    k.each(lambda channel: [e * s for e, s in zip(k.read("out", channel), scales)])


def _log_softmax(k: _Columns) -> None:
    f = k.f
    tops = _tops(k)

    def added(channel: Value, sums: list[Value]) -> list[Value]:
        powers = [mathematics.exp(f, x - top) for x, top in zip(k.read("a", channel), tops)]
        return [before + e for before, e in zip(sums, powers)]

    logs = [mathematics.log(f, total) for total in k.fold(0.0, added)]
    k.each(
        lambda channel: [(x - top) - log for x, top, log in zip(k.read("a", channel), tops, logs)]
    )


def _back(k: _Columns) -> None:
    def added(channel: Value, sums: list[Value]) -> list[Value]:
        g, y = k.read("a", channel), k.read("b", channel)
        return [k.f.fma(a, b, before) for a, b, before in zip(g, y, sums)]

    along = k.fold(0.0, added)
    k.each(
        lambda channel: [
            y * (g - s) for g, y, s in zip(k.read("a", channel), k.read("b", channel), along)
        ]
    )


def _log_back(k: _Columns) -> None:
    def added(channel: Value, sums: list[Value]) -> list[Value]:
        return [before + g for g, before in zip(k.read("a", channel), sums)]

    sums = k.fold(0.0, added)
    k.each(
        lambda channel: [
            g - mathematics.exp(k.f, y) * s
            for g, y, s in zip(k.read("a", channel), k.read("b", channel), sums)
        ]
    )


def _function(module: Module, name: str, type: Type, body: Callable[[_Columns], None]) -> None:
    f = module.function(name, [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {
        word: f.load(f.at(frame, k, I64), PTR if word in ("a", "b", "out") else I64)
        for k, word in enumerate(FRAME)
    }
    lanes = target.lanes(type)
    skipped = chunk // c["blocks"] * (c["channels"] * c["inner"])
    for word in ("a", "b", "out"):
        c[word] = f.at(c[word], skipped, type)
    begin = chunk % c["blocks"] * c["block"]
    end = f.minimum(begin + c["block"], c["inner"])
    start = begin
    for count in (_VECTORS, 1):
        wide = count * lanes
        stop = end - (end - start) % wide
        with f.loop(start, stop, wide) as loop:
            body(_Columns(f, type, c, loop.index, count, None))
        start = stop
    with f.when(start < end):
        body(_Columns(f, type, c, start, 1, f.mask(end - start, lanes)))
    f.ret()
