"""Values of planes and volumes at points between their elements, and the gradients.

    addresses = sampling.load(F32, 2, nearest=False, padding=ZEROS, align=False)
    # forward, backward: void (frame, chunk), a chunk is a sample

A vector holds some points. From their numbers (-1 to 1 along each axis, x first) come the
neighbours along each axis and their weights; values are sums over the products of neighbours,
gathered, with the channels as the loop inside. Gradients for the input are added to their places
one by one. What lies outside has weight 0; with `BORDER` points outside are moved to the edge,
with `REFLECTION` they are mirrored at the edges as often as it takes. The numbers of points that
are mirrored must be below 2**16: quotients of places by sizes are whole numbers that count.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from ..llvm import loader as engine, target
from ..llvm.emit import I32, I64, PTR, Function, Module, Type, Value

ZEROS, BORDER, REFLECTION = 0, 1, 2

_SIZES = ("channels", "points", "depth", "height", "width")
#: The words of a frame of `forward`, 8 bytes each.
FORWARD = ("x", "grid", "y", *_SIZES)
#: The words of a frame of `backward`; `dx` is of zeros, `along` is (samples, axes, points), x
#: first. Either may be null.
BACKWARD = ("x", "grid", "g", "dx", "along", *_SIZES)
_POINTERS = ("x", "grid", "y", "g", "dx", "along")


@cache
def load(type: Type, axes: int, nearest: bool, padding: int, align: bool) -> dict[str, int]:
    """The addresses of both for float32 or float64 and two or three axes."""
    return engine.load_made(emit, type, axes, nearest, padding, align)


def emit(type: Type, axes: int, nearest: bool, padding: int, align: bool) -> Module:
    """The module with all functions."""
    module = Module("sampling")
    for name, words in (("forward", FORWARD), ("backward", BACKWARD)):
        f = module.function(name, [("frame", PTR), ("chunk", I64)])
        made = _Sampling(f, type, words, axes, nearest, padding, align)
        (made.forward if name == "forward" else made.backward)()
    return module


class _Sampling:
    """One of the two functions under construction."""

    def __init__(
        self, f: Function, type: Type, words: tuple[str, ...], axes: int, nearest: bool,
        padding: int, align: bool,
    ) -> None:  # fmt: skip
        self.f = f
        self.type = type
        self.axes = axes
        self.nearest, self.padding, self.align = nearest, padding, align
        self.lanes = target.lanes(type)
        self.wide = type.vector(self.lanes)
        self.places = I32.vector(self.lanes)
        frame = f.params[0]
        self.c = {
            name: f.load(f.at(frame, k, I64), PTR if name in _POINTERS else I64)
            for k, name in enumerate(words)
        }
        # Sizes in the order of the input's axes.
        self.sizes = [self.c[n] for n in ("depth", "height", "width")[3 - axes :]]
        area = self.sizes[0]
        for n in self.sizes[1:]:
            area = area * n
        self.area = area

    def _splat(self, x: Value) -> Value:
        return self.f.splat(x, self.lanes)

    def _float(self, n: Value) -> Value:
        return self._splat(self.f.cast(n, self.type))

    def axis(self, given: Value, size: Value) -> tuple[list[tuple[Value, Value, Value]], Value]:
        """Each neighbour's index, weight and whether it exists; and the slope of the place."""
        f = self.f
        n = self._float(size)
        last = n - 1.0
        one = f.constant(self.wide, 1.0)
        if self.align:
            at, slope = (given + 1.0) * 0.5 * last, last * 0.5
        else:
            at, slope = ((given + 1.0) * n - 1.0) * 0.5, n * 0.5
        if self.padding == REFLECTION:
            at, slope = self.mirror(at, slope, n)
        if self.padding != ZEROS:
            moves = (at > 0.0) & (at < last)
            slope = f.select(moves, slope, 0.0)
            at = f.select(at > 0.0, at, 0.0)
            at = f.select(at < last, at, last)
        first = f.round_even(at) if self.nearest else f.floor(at)
        rest = at - first
        found = []
        weights = [one] if self.nearest else [1.0 - rest, rest]
        for k, weight in enumerate(weights):
            place = first + float(k) if k else first
            real = (place >= 0.0) & (place <= last)
            index = f.to_int(f.select(real, place, 0.0), I32)
            found.append((index, weight, real))
        return found, slope

    def mirror(self, at: Value, slope: Value, n: Value) -> tuple[Value, Value]:
        """Places mirrored at the edges until they lie between them, and their slopes."""
        f = self.f
        low, span = (0.0, n - 1.0) if self.align else (0.5, n)
        moved = at + low
        away = f.abs(moved)
        times = f.floor(away / span)
        rest = f.fma(-times, span, away)
        even = (f.floor(times * 0.5) * 2.0).eq(times)
        back = f.select(even, rest, span - rest)
        # Which way an axis of one place goes doesn't matter: it has no other place.
        forth = f.select(even, slope, -slope)
        return back - low, f.select(moved < 0.0, -forth, forth)

    def corners(self, sample: Value, point: Value, mask: Value) -> tuple[list[Value], ...]:
        """For each combination of neighbours: its place, its weight (0 where it doesn't exist),
        and the derivatives of that for the numbers given, axis by axis."""
        f, c, axes = self.f, self.c, self.axes
        start = f.at(c["grid"], (sample * c["points"] + point) * axes, self.type)
        steps = f.iota(self.places) * axes
        found = []
        for k, size in enumerate(self.sizes):
            offsets = steps + (axes - 1 - k)
            given = f.gather(f.at(start, offsets, self.type), self.type, mask)
            found.append(self.axis(given, size))
        places, weights, rates = [], [], []
        for at in product(*[range(len(plan)) for plan, _ in found]):
            chosen = [plan[j] for (plan, _), j in zip(found, at, strict=True)]
            place, weight, real = chosen[0]
            for (index, w, exists), size in zip(chosen[1:], self.sizes[1:], strict=True):
                place = place * self._splat(f.cast(size, I32)) + index
                weight = weight * w
                real = real & exists
            places.append(place)
            weights.append(f.select(real, weight, 0.0))
            for k, (j, (_, slope)) in enumerate(zip(at, found, strict=True)):
                rate = slope if j else -slope
                for other, (_, w, _) in enumerate(chosen):
                    if other != k:
                        rate = rate * w
                rates.append(f.select(real, rate, 0.0))
        return places, weights, rates

    def forward(self) -> None:
        """The values at the points."""
        f, c = self.f, self.c
        sample = f.params[1]
        with f.loop(0, c["points"], self.lanes) as points:
            mask = f.mask(f.minimum(c["points"] - points.index, self.lanes), self.lanes)
            places, weights, _ = self.corners(sample, points.index, mask)
            with f.loop(0, c["channels"]) as channel:
                number = sample * c["channels"] + channel.index
                plane = f.at(c["x"], number * self.area, self.type)
                total: Value | None = None
                for place, weight in zip(places, weights, strict=True):
                    # A place that doesn't exist may be nan where the plane is.
                    real = weight.ne(0.0) & mask
                    met = f.gather(f.at(plane, place, self.type), self.type, real)
                    total = met * weight if total is None else f.fma(met, weight, total)
                assert total is not None
                there = f.at(c["y"], number * c["points"] + points.index, self.type)
                f.store_masked(there, total, mask)
        f.ret()

    def backward(self) -> None:
        """The gradients for the input and for the grid."""
        f, c, lanes = self.f, self.c, self.lanes
        sample = f.params[1]
        wants_input = f.emit(I64, f"ptrtoint {c['dx']!r} to i64").ne(0)
        wants_grid = f.emit(I64, f"ptrtoint {c['along']!r} to i64").ne(0)
        with f.loop(0, c["points"], lanes) as points:
            count = f.minimum(c["points"] - points.index, lanes)
            mask = f.mask(count, lanes)
            places, weights, rates = self.corners(sample, points.index, mask)
            corners = len(places)
            kept = f.scratch(I32, corners * lanes)
            parts = f.scratch(self.type, corners * lanes)
            for k, place in enumerate(places):
                f.store(f.at(kept, k * lanes, I32), place)
            none = f.constant(self.wide, 0.0)
            with f.loop(0, c["channels"], carried=[none] * corners) as channel:
                number = sample * c["channels"] + channel.index
                there = f.at(c["g"], number * c["points"] + points.index, self.type)
                g = f.load_masked(there, self.wide, mask)
                with f.when(wants_input):
                    plane = f.at(c["dx"], number * self.area, self.type)
                    for k, weight in enumerate(weights):
                        f.store(f.at(parts, k * lanes, self.type), g * weight)
                    with f.loop(0, count) as lane:
                        for k in range(corners):
                            at = f.load(f.at(kept, lane.index + k * lanes, I32), I32)
                            to = f.at(plane, f.cast(at, I64), self.type)
                            part = f.load(f.at(parts, lane.index + k * lanes, self.type), self.type)
                            f.store(to, f.load(to, self.type) + part)

                def met(
                    number: Value = number, g: Value = g, before: list[Value] = channel.carried
                ) -> list[Value]:
                    plane = f.at(c["x"], number * self.area, self.type)
                    values = [
                        f.gather(f.at(plane, place, self.type), self.type, mask) for place in places
                    ]
                    return [f.fma(v, g, total) for v, total in zip(values, before, strict=True)]

                before = list(channel.carried)
                channel.next(*f.choose(wants_grid, met, lambda before=before: before))  # type: ignore[misc]
            with f.when(wants_grid):
                for axis in range(self.axes):
                    total: Value | None = None
                    for k, sum_ in enumerate(channel.results):
                        rate = rates[k * self.axes + axis]
                        # An infinite value that doesn't exist gives no nan.
                        part = f.select(rate.eq(0.0), 0.0, sum_ * rate)
                        total = part if total is None else total + part
                    assert total is not None
                    row = sample * self.axes + (self.axes - 1 - axis)
                    to = f.at(c["along"], row * c["points"] + points.index, self.type)
                    f.store_masked(to, total, mask)
        f.ret()
