"""Maxima of windows of planes, and where they are in their plane.

    void max_pool(ptr frame, i64 chunk)

The frame's words: input, maxima, places (i64), planes, the planes' height and width, the height and
width of what is given, and planes of a chunk. Windows and steps are constants of the code. No
window reaches over an edge. A nan is larger than everything, and of several the last one counts.

Where windows are two elements wide and lie side by side, a vector of them is done at a time: the
even and the odd elements of a row are taken apart by shuffles.
"""

from __future__ import annotations

from ..llvm.emit import I32, I64, PTR, Function, Module, Type, Value


def max_pool(type: Type, lanes: int, window: tuple[int, int], step: tuple[int, int]) -> Module:
    """The module with the function `max_pool`."""
    module = Module("max_pool")
    f = module.function("max_pool", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    source, target, places = (f.load(f.at(frame, k, I64), PTR) for k in range(3))
    planes, high, wide, tall, broad, grain = (f.load(f.at(frame, k, I64), I64) for k in range(3, 9))
    first = chunk * grain
    last = f.minimum(first + grain, planes)
    with f.loop(first, last) as plane:
        base = f.at(source, plane.index * high * wide, type)
        with f.loop(0, tall) as row:
            top = row.index * step[0]
            out = (plane.index * tall + row.index) * broad
            if window[1] == 2 and step[1] == 2:
                _vectors(f, type, lanes, window[0], base, top, wide, broad,
                         f.at(target, out, type), f.at(places, out, I64))  # fmt: skip
            else:
                _windows(f, type, window, step[1], base, top, wide, broad,
                         f.at(target, out, type), f.at(places, out, I64))  # fmt: skip
    f.ret()
    return module


def _windows(
    f: Function, type: Type, window: tuple[int, int], step: int, base: Value, top: Value,
    wide: Value, broad: Value, target: Value, places: Value,
) -> None:  # fmt: skip
    with f.loop(0, broad) as column:
        start = top * wide + column.index * step
        best, won = f.load(f.at(base, start, type), type), start
        for r in range(window[0]):
            for c in range(window[1]):
                if r or c:
                    place = start + wide * r + c
                    x = f.load(f.at(base, place, type), type)
                    better = (x > best) | f.is_nan(x)
                    best, won = f.select(better, x, best), f.select(better, place, won)
        f.store(f.at(target, column.index, type), best)
        f.store(f.at(places, column.index, I64), won)


def _vectors(
    f: Function, type: Type, lanes: int, rows: int, base: Value, top: Value, wide: Value,
    broad: Value, target: Value, places: Value,
) -> None:  # fmt: skip
    vector, count = type.vector(lanes), I32.vector(lanes)
    even = list(range(0, 2 * lanes, 2))
    with f.loop(0, broad, lanes) as loop:
        left = broad - loop.index
        mask = f.mask(left, lanes)
        low, high = f.mask(left * 2, lanes), f.mask(left * 2 - lanes, lanes)
        best: Value | None = None
        won: Value | None = None
        numbers = f.iota(count) * 2
        for r in range(rows):
            start = (top + r) * wide + loop.index * 2
            a = f.load_masked(f.at(base, start, type), vector, low)
            b = f.load_masked(f.at(base, start + lanes, type), vector, high)
            here = numbers + f.splat(f.cast(start, I32), lanes)
            for side in (0, 1):
                x = f.shuffle(a, b, [k + side for k in even])
                place = here + side if side else here
                if best is None or won is None:
                    best, won = x, place
                    continue
                better = (x > best) | f.is_nan(x)
                best, won = f.select(better, x, best), f.select(better, place, won)
        assert best is not None and won is not None
        f.store_masked(f.at(target, loop.index, type), best, mask)
        f.store_masked(f.at(places, loop.index, I64), f.cast(won, I64.vector(lanes)), mask)
