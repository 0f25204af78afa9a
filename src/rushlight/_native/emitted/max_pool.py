"""Maxima of any windows of planes with their places, and elements put back there.

    addresses = max_pool.load(F32)   # largest, place: void (ptr frame, i64 chunk)

A chunk is `grain` planes. `largest` does some windows of a row at once, one tap after the other;
what lies outside of the plane is read as -inf, by masks. A larger element wins, a nan always,
and the first one inside where there is nothing else. `place` adds to the places of each plane in
order, and sets the frame's `wrong` when one lies outside.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value

#: The words of a frame of `largest`, 8 bytes each: `where` may be null.
LARGEST = (
    "x", "y", "where", "planes", "grain", "high", "wide", "rows", "columns", "k0", "k1", "s0",
    "s1", "p0", "p1", "d0", "d1",
)  # fmt: skip
#: The words of a frame of `place`: planes of g have `count` elements, those of x `area`.
PLACE = ("g", "where", "x", "planes", "grain", "count", "area", "wrong")


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses of `largest` and `place` for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with all functions."""
    module = Module("max_pool")
    _largest(module, type)
    _place(module, type)
    return module


def _words(f: Function, names: tuple[str, ...], pointers: tuple[str, ...]) -> dict[str, Value]:
    frame = f.params[0]
    return {
        name: f.load(f.at(frame, place, I64), PTR if name in pointers else I64)
        for place, name in enumerate(names)
    }


def _largest(module: Module, type: Type) -> None:
    f = module.function("largest", [("frame", PTR), ("chunk", I64)])
    c = _words(f, LARGEST, ("x", "y", "where"))
    lanes = target.lanes(type)
    wide, whole = type.vector(lanes), type.integer.vector(lanes)
    kept = f.emit(I64, f"ptrtoint {c['where']!r} to i64").ne(0)
    low = -float("inf")
    number = f.iota(whole)

    def short(value: Value) -> Value:
        return f.splat(f.cast(value, whole.element), lanes)

    def windows(step: int) -> list[Value]:
        """For steps of 1, 2, and any (0) between windows of a row."""
        last = short(c["wide"])
        first = f.params[1] * c["grain"]
        apart = number * short(c["s1"])
        with (
            f.loop(first, f.minimum(first + c["grain"], c["planes"])) as plane,
            f.loop(0, c["rows"]) as row,
            f.loop(0, c["columns"], lanes) as column,
        ):
            count = c["columns"] - column.index
            alive = f.mask(f.minimum(count, lanes), lanes)
            top = row.index * c["s0"] - c["p0"]
            left = column.index * c["s1"] - c["p1"]
            source = f.at(c["x"], plane.index * (c["high"] * c["wide"]), type)
            start = [f.constant(wide, low), f.constant(whole, -1)]
            with f.loop(0, c["k0"], carried=start) as i:
                line = top + i.index * c["d0"]
                inside = ~(line < 0) & (line < c["high"])
                ends = f.select(inside, c["k1"], 0)
                with f.loop(0, ends, carried=i.carried) as j:
                    best, won = j.carried
                    at = left + j.index * c["d1"]
                    places = apart + short(at)
                    valid = alive & ~(places < 0) & (places < last)
                    here = f.at(source, line * c["wide"] + at, type)
                    if step == 1:
                        value = f.load_masked(here, wide, valid, low)
                    elif step == 2:
                        value = _second(f, here, at, c["wide"], count, type, lanes)
                    else:
                        index = f.cast(apart, I64)
                        value = f.gather(f.at(here, index, type), type, valid)
                        value = f.select(valid, value, low)
                    better = (value > best) | f.is_nan(value) | (valid & (won < 0))
                    better = better & valid
                    place = short(line * c["wide"]) + places
                    j.next(f.select(better, value, best), f.select(better, place, won))
                i.next(*j.results)
            best, won = i.results
            to = (plane.index * c["rows"] + row.index) * c["columns"] + column.index
            f.store_masked(f.at(c["y"], to, type), best, alive)
            with f.when(kept):
                there = f.at(c["where"], to, I64)
                half = min(lanes, target.lanes(I64))
                for begin in range(0, lanes, half):
                    part = won
                    if half < lanes:
                        part = f.shuffle(won, None, range(begin, begin + half))
                    mask = f.mask(f.minimum(f.maximum(count - begin, 0), half), half)
                    f.store_masked(f.at(there, begin, I64), f.cast(part, I64), mask)
        return []

    f.choose(
        c["s1"].eq(2),
        lambda: windows(2),
        lambda: f.choose(c["s1"].eq(1), lambda: windows(1), lambda: windows(0)),
    )
    f.ret()


def _second(
    f: Function, here: Value, at: Value, wide: Value, count: Value, type: Type, lanes: int
) -> Value:
    """Every second element from a place on; -inf outside of the row."""
    low = -float("inf")
    whole = type.integer.vector(lanes)
    number = f.iota(whole)
    reach = f.minimum(wide, at + count * 2 - 1)  # columns that may be touched

    def short(value: Value) -> Value:
        return f.splat(f.cast(value, whole.element), lanes)

    halves = []
    for begin in (0, lanes):
        places = number + short(at + begin)
        valid = ~(places < 0) & (places < short(reach))
        halves.append(f.load_masked(f.at(here, begin, type), type.vector(lanes), valid, low))
    return f.shuffle(halves[0], halves[1], range(0, 2 * lanes, 2))


def _place(module: Module, type: Type) -> None:
    f = module.function("place", [("frame", PTR), ("chunk", I64)])
    c = _words(f, PLACE, ("g", "where", "x", "wrong"))
    first = f.params[1] * c["grain"]
    last = f.minimum(first + c["grain"], c["planes"])
    area = c["area"]
    with f.loop(first, last) as plane:
        to = f.at(c["x"], plane.index * area, type)
        f.fill(to, 0, area * type.size)
        with f.loop(0, c["count"]) as loop:
            which = plane.index * c["count"] + loop.index
            place = f.load(f.at(c["where"], which, I64), I64)
            inside = ~(place < 0) & (place < area)
            with f.when(~inside):
                f.atomic_store(c["wrong"], f.constant(I64, 1))
            with f.when(inside):
                there = f.at(to, place, type)
                f.store(there, f.load(there, type) + f.load(f.at(c["g"], which, type), type))
    f.ret()
