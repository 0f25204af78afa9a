"""Rows added to the rows of a table that indices name: what the gradient of a look-up needs.

    void <name>(ptr frame, i64 chunk)

The frame holds the number of indices, the width of a row, the columns of a chunk, and the
addresses of table, indices (i64) and rows. Chunks are runs of columns, and each goes through the
indices in order: so no two of them write to the same place, and sums have one order for any number
of threads.
"""

from __future__ import annotations

from ..llvm.emit import I64, PTR, Module, Type, Value
from .lines import Places, each_vector


def emit_added_rows(type: Type) -> Module:
    """The module with the functions `add_rows_<type>` and `add_rows_<type>_all`."""
    name = f"add_rows_{type.suffix}"
    module = Module(name)
    f = module.function(name, [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    words = [f.load(f.at(frame, k, I64), I64) for k in range(3)]
    count, width, grain = words
    table, indices, rows = (f.load(f.at(frame, k, I64), PTR) for k in range(3, 6))
    first = chunk * grain
    with f.loop(0, count) as turn:
        into = f.at(table, f.load(f.at(indices, turn.index, I64), I64) * width + first, type)
        source = f.at(rows, turn.index * width + first, type)

        def add(at: Places, into: Value = into, source: Value = source) -> None:
            at.store(into, at.load(into) + at.load(source))

        each_vector(f, type, f.minimum(grain, width - first), add, 1)
    f.ret()
    every = module.function(f"{name}_all", [("frame", PTR), ("chunks", I64)])
    frame, chunks = every.params
    with every.loop(0, chunks) as loop:
        every.call(f, [frame, loop.index])
    every.ret()
    return module
