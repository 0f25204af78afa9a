"""Sums over an axis that isn't the last: (outer, count, inner) to (outer, inner).

    address = column_sums.load(F32)    # void (frame, chunk)

A chunk is `rows` of the outer and `grain` of the inner places. Their sums stay in the nearer cache
while one line after the other is added, in the order of lines: NumPy's, for any number of threads.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ..llvm import loader as engine
from ..llvm.emit import I64, PTR, Module, Type, Value
from .lines import Places, each_vector, share

#: The words of a frame, 8 bytes each.
FRAME: Final = ("source", "to", "outer", "count", "inner", "rows", "grain")


@cache
def load(type: Type) -> int:
    """The address for float32 or float64; `count` is 1 at least."""
    return engine.load_made(emit, type)["column_sums"]


def emit(type: Type) -> Module:
    """The module with `column_sums`."""
    module = Module("column_sums")
    f = module.function("column_sums", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {name: f.load(f.at(frame, k, I64), PTR if k < 2 else I64) for k, name in enumerate(FRAME)}
    inner = c["inner"]
    top, end, first, length = share(f, chunk, c)
    with f.loop(top, end) as outer:
        to = f.at(c["to"], outer.index * inner + first, type)
        lines = f.at(c["source"], outer.index * c["count"] * inner + first, type)
        with f.loop(0, c["count"]) as k:
            line = f.at(lines, k.index * inner, type)
            fresh = k.index.eq(0)

            def add(at: Places, line: Value = line, to: Value = to, fresh: Value = fresh) -> None:
                x = at.load(line)
                at.store(to, f.select(fresh, x, at.load(to) + x))

            each_vector(f, type, length, add)
    f.ret()
    return module
