"""Sums over an axis that isn't the last: (outer, count, inner) to (outer, inner).

    address = column_sums.load(F32)    # void (frame, chunk)

A chunk is `rows` of the outer and `grain` of the inner places. Their sums stay in the nearer cache
while one line after the other is added, in the order of lines: NumPy's, for any number of threads.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Module, Type

#: The words of a frame, 8 bytes each.
FRAME: Final = ("source", "to", "outer", "count", "inner", "rows", "grain")


@cache
def load(type: Type) -> int:
    """The address for float32 or float64; `count` is 1 at least."""
    module = Module("column_sums")
    f = module.function("column_sums", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {name: f.load(f.at(frame, k, I64), PTR if k < 2 else I64) for k, name in enumerate(FRAME)}
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    inner = c["inner"]
    pieces = (inner + (c["grain"] - 1)) // c["grain"]
    top, first = chunk // pieces * c["rows"], chunk % pieces * c["grain"]
    count = f.minimum(c["grain"], inner - first)
    with f.loop(top, f.minimum(top + c["rows"], c["outer"])) as outer:
        to = f.at(c["to"], outer.index * inner + first, type)
        lines = f.at(c["source"], outer.index * c["count"] * inner + first, type)
        with f.loop(0, c["count"]) as k:
            line = f.at(lines, k.index * inner, type)
            fresh = k.index.eq(0)
            start = f.constant(I64, 0)
            for vectors in (4, 1):
                stop = count - (count - start) % (vectors * lanes)
                with f.loop(start, stop, vectors * lanes) as at:
                    for v in range(vectors):
                        here = at.index + v * lanes
                        x = f.load(f.at(line, here, type), wide)
                        place = f.at(to, here, type)
                        f.store(place, f.select(fresh, x, f.load(place, wide) + x))
                start = stop
            mask = f.mask(count - start, lanes)
            x = f.load_masked(f.at(line, start, type), wide, mask)
            place = f.at(to, start, type)
            made = f.select(fresh, x, f.load_masked(place, wide, mask) + x)
            f.store_masked(place, made, mask)
    f.ret()
    return engine.load(module)["column_sums"]
