"""Convolutions of each plane with a small kernel of its own, and the gradients of such kernels.

    addresses = depthwise.load(F32, (3, 3), (1, 1))   # correlate, weigh: void (frame, chunk)

Note [Planes as they are]
Nothing is padded or copied: a vector of the input is loaded for each tap, masked where it reaches
beyond the plane's sides. Rows of the output are made a few at a time, so that a row of the input
is loaded once for several of them; rows that meet the plane's upper or lower side are made one by
one. With a stride of 2 every second element of two vectors is taken. Kernel and strides are
constants of the code. The gradient for the input, at stride 1, is `correlate` with the kernel
turned around.

Note [Sums of a kernel's gradient]
The lanes of a vector are places. Sums over a plane go to a second sum over the samples, whose lanes
are added up at the end: no sum has more terms than a plane's places or the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ..llvm import loader as engine, target
from ..llvm.emit import I32, I64, PTR, Function, Module, Type, Value

Pair = tuple[int, int]
_PLANE = ("high", "wide", "out_high", "out_wide", "top", "left")
#: The words of a frame of `correlate`, 8 bytes each. A chunk is `grain` planes of all samples.
CORRELATE = ("x", "w", "bias", "y", "planes", "channels", "grain", *_PLANE)
#: The words of a frame of `weigh`. A chunk is a channel.
WEIGH = ("x", "g", "d", "images", "channels", *_PLANE)


@cache
def load(type: Type, kernel: Pair, stride: Pair) -> dict[str, int]:
    """The addresses of both."""
    return engine.load_made(emit, type, kernel, stride)


def emit(type: Type, kernel: Pair, stride: Pair) -> Module:
    """The module with all functions."""
    module = Module("depthwise")
    _correlate(module, type, kernel, stride)
    _weigh(module, type, kernel, stride)
    return module


class _Plane:
    """Loads from a plane of the input, at some columns of the output."""

    def __init__(self, f: Function, type: Type, words: dict[str, Value], kernel: Pair,
                 stride: Pair) -> None:  # fmt: skip
        self.f = f
        self.type = type
        self.words = words
        self.kernel = kernel
        self.stride = stride
        self.lanes = target.lanes(type)
        self.base = words["x"]
        self.masks: list[list[Value]] = []
        self.starts: list[Value] = []

    def at_columns(self, first: Value) -> None:
        """Prepares the masks of all taps for outputs from column `first` on."""
        f, wide = self.f, self.words["wide"]
        lanes = I32.vector(self.lanes)
        end = f.splat(f.cast(wide, I32), self.lanes)
        self.masks, self.starts = [], []
        for j in range(self.kernel[1]):
            start = first * self.stride[1] + j - self.words["left"]
            self.starts.append(start)
            masks = []
            for part in range(self.stride[1]):
                here = f.cast(start + part * self.lanes, I32)
                columns = f.iota(lanes) + f.splat(here, self.lanes)
                masks.append((columns >= 0) & (columns < end))
            self.masks.append(masks)

    def load(self, row: Value, j: int) -> Value:
        """What the tap j of the kernel's columns meets in a row of the plane."""
        f = self.f
        place = f.at(self.base, row * self.words["wide"] + self.starts[j], self.type)
        wide = self.type.vector(self.lanes)
        parts = [
            f.load_masked(f.at(place, k * self.lanes, self.type), wide, mask)
            for k, mask in enumerate(self.masks[j])
        ]
        if len(parts) == 1:
            return parts[0]
        return f.shuffle(parts[0], parts[1], range(0, 2 * self.lanes, 2))

    def rows(self, some: Callable[[Value, int], None], one: Callable[[Value], None],
             together: int) -> None:  # fmt: skip
        """Calls `some` for rows of the output whose taps are all inside, and `one` for others."""
        f, w = self.f, self.words
        step, deep = self.stride[0], self.kernel[0]
        out = w["out_high"]
        zero = f.constant(I64, 0)
        # The first row whose taps begin inside, and the first one whose taps end outside.
        first = f.minimum(f.maximum((w["top"] + (step - 1)) // step, zero), out)
        fits = w["high"] + w["top"] - deep
        inside = f.select(fits < 0, zero, fits // step + 1)
        last = f.maximum(f.minimum(inside, out), first)
        whole = first + ((last - first) - (last - first) % together)
        with f.loop(zero, first) as loop:
            one(loop.index)
        with f.loop(first, whole, together) as loop:
            some(loop.index, together)
        if together > 1:
            with f.loop(whole, last) as loop:
                some(loop.index, 1)
        with f.loop(last, out) as loop:
            one(loop.index)


def _words(f: Function, names: tuple[str, ...], pointers: str) -> dict[str, Value]:
    frame = f.params[0]
    return {
        name: f.load(f.at(frame, place, I64), PTR if name in pointers.split() else I64)
        for place, name in enumerate(names)
    }


def _correlate(module: Module, type: Type, kernel: Pair, stride: Pair) -> None:
    f = module.function("correlate", [("frame", PTR), ("chunk", I64)])
    c = _words(f, CORRELATE, "x w bias y")
    plane = _Plane(f, type, c, kernel, stride)
    begin = f.params[1] * c["grain"]
    end = f.minimum(begin + c["grain"], c["planes"])
    with f.loop(0, c["out_wide"], plane.lanes) as column:
        plane.at_columns(column.index)
        with f.loop(begin, end) as number:
            _emit_correlation(plane, number.index, column.index)
    f.ret()


def _emit_correlation(plane: _Plane, number: Value, left: Value) -> None:
    """Some columns of one plane of the output."""
    f, type, c, (deep, across) = plane.f, plane.type, plane.words, plane.kernel
    step, lanes = plane.stride[0], plane.lanes
    channel = number % c["channels"]
    plane.base = f.at(c["x"], number * (c["high"] * c["wide"]), type)
    y = f.at(c["y"], number * (c["out_high"] * c["out_wide"]) + left, type)
    weights = f.at(c["w"], channel * (deep * across), type)
    mask = f.mask(f.minimum(c["out_wide"] - left, lanes), lanes)

    def tap(k: int) -> Value:
        return f.splat(f.load(f.at(weights, k, type), type), lanes)

    kept = deep * across <= target.machine().registers - 10
    taps = [tap(k) for k in range(deep * across)] if kept else []
    start = f.splat(f.load(f.at(c["bias"], channel, type), type), lanes)

    def factor(k: int) -> Value:
        return taps[k] if kept else tap(k)

    def some(row: Value, count: int) -> None:
        sums = [start] * count
        top = row * step - c["top"]
        for t in range((count - 1) * step + deep):
            for j in range(across):
                met = plane.load(top + t, j)
                for r in range(count):
                    i = t - r * step
                    if 0 <= i < deep:
                        sums[r] = f.fma(factor(i * across + j), met, sums[r])
        for r in range(count):
            f.store_masked(f.at(y, (row + r) * c["out_wide"], type), sums[r], mask)

    def line(i: int, place: Value, found: Value) -> list[Value]:
        for j in range(across):
            found = f.fma(factor(i * across + j), plane.load(place, j), found)
        return [found]

    def one(row: Value) -> None:
        found = start
        for i in range(deep):
            place = row * step + i - c["top"]
            inside = (place >= 0) & (place < c["high"])
            met = partial(line, i, place, found)
            found = f.choose(inside, met, partial(list, [found]))[0]
        f.store_masked(f.at(y, row * c["out_wide"], type), found, mask)

    plane.rows(some, one, 4 if target.machine().registers >= 32 and deep > 1 else 2)


def _weigh(module: Module, type: Type, kernel: Pair, stride: Pair) -> None:
    f = module.function("weigh", [("frame", PTR), ("chunk", I64)])
    c = _words(f, WEIGH, "x g d")
    plane = _Plane(f, type, c, kernel, stride)
    lanes, count = plane.lanes, kernel[0] * kernel[1]
    wide = type.vector(lanes)
    totals = f.scratch(type, count * lanes)
    places = [f.at(totals, k * lanes, type) for k in range(count)]
    none = f.constant(wide, 0.0)
    for place in places:
        f.store(place, none)
    with f.loop(0, c["out_wide"], lanes) as column:
        plane.at_columns(column.index)
        with f.loop(0, c["images"]) as image:
            _emit_weighing(plane, image.index * c["channels"] + f.params[1], column.index, places)
    for k, place in enumerate(places):
        total = f.fold(f.load(place, wide), lambda a, b: a + b)
        f.store(f.at(c["d"], f.params[1] * count + k, type), total)
    f.ret()


def _emit_weighing(plane: _Plane, number: Value, left: Value, totals: list[Value]) -> None:
    """Adds to the totals what some columns of one plane say."""
    f, type, c, (deep, across) = plane.f, plane.type, plane.words, plane.kernel
    lanes = plane.lanes
    wide = type.vector(lanes)
    plane.base = f.at(c["x"], number * (c["high"] * c["wide"]), type)
    g = f.at(c["g"], number * (c["out_high"] * c["out_wide"]) + left, type)
    mask = f.mask(f.minimum(c["out_wide"] - left, lanes), lanes)

    def line(place: Value, slope: Value, mine: list[Value]) -> list[Value]:
        return [f.fma(slope, plane.load(place, j), sum_) for j, sum_ in enumerate(mine)]

    # So many rows of the kernel at a time as sums stay in registers.
    high = max(1, min(deep, (target.machine().registers - 6) // across))
    for top in range(0, deep, high):
        there = totals[top * across : min(top + high, deep) * across]
        with f.loop(0, c["out_high"], carried=[f.constant(wide, 0.0)] * len(there)) as row:
            slope = f.load_masked(f.at(g, row.index * c["out_wide"], type), wide, mask)
            sums: list[Value] = []
            for k in range(0, len(there), across):
                place = row.index * plane.stride[0] + (top + k // across) - c["top"]
                mine = row.carried[k : k + across]
                inside = (place >= 0) & (place < c["high"])
                met = partial(line, place, slope, mine)
                sums += f.choose(inside, met, partial(list, mine))
            row.next(*sums)
        for place, part in zip(there, row.results, strict=True):
            f.store(place, f.load(place, wide) + part)
