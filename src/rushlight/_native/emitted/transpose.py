"""Matrices with rows and columns exchanged, in squares of vectors.

    transpose = emit_transpose(module, F32)   # void (source, line, to, line_to, rows, columns)
    address = transpose.load(F32)       # void (frame, chunk): one matrix of a stack, see FRAME

`line` is how many elements lie between rows of the source, `line_to` the same for the result.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value

#: The words of a frame, 8 bytes each. A matrix has `blocks` chunks of `block` rows each.
FRAME = ("source", "to", "rows", "columns", "line", "line_to", "next", "next_to", "block", "blocks")


@cache
def addresses(type: Type) -> dict[str, int]:
    """The addresses of `transpose` and `transpose_chunk` for elements of a type."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with `transpose` and `transpose_chunk`."""
    module = Module("transpose")
    transpose = emit_transpose(module, type)
    transpose.internal = False
    f = module.function("transpose_chunk", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {
        name: f.load(f.at(frame, place, I64), PTR if name in ("source", "to") else I64)
        for place, name in enumerate(FRAME)
    }
    number, top = chunk // c["blocks"], chunk % c["blocks"] * c["block"]
    f.call(transpose, [
        f.at(c["source"], number * c["next"] + top * c["line"], type), c["line"],
        f.at(c["to"], number * c["next_to"] + top, type), c["line_to"],
        f.minimum(c["rows"] - top, c["block"]), c["columns"],
    ])  # fmt: skip
    f.ret()
    return module


def load(type: Type) -> int:
    """The address for a stack of matrices with elements of a type."""
    return addresses(type)["transpose_chunk"]


def emit_transpose(module: Module, type: Type) -> Function:
    """The function that does it, internal to a module. Others call the one of `addresses`."""
    params = [
        ("source", PTR), ("line", I64), ("to", PTR), ("line_to", I64), ("rows", I64),
        ("columns", I64),
    ]  # fmt: skip
    f = module.function("transpose", params)
    f.internal = True
    source, line, to, line_to, rows, columns = f.params
    side = min(8 if type.size == 4 else 4, target.lanes(type))
    wide = type.vector(side)
    whole_rows, whole_columns = rows - rows % side, columns - columns % side

    def square(row: Value, column: Value) -> None:
        start = f.at(source, row * line + column, type)
        lines = [f.load(f.at(start, line * k, type), wide) for k in range(side)]
        lines = exchange(f, lines)
        start = f.at(to, column * line_to + row, type)
        for k in range(side):
            f.store(f.at(start, line_to * k, type), lines[k])

    # Whole cache lines of the source at a time.
    some = 64 // type.size
    with f.loop(0, whole_columns, some) as column, f.loop(0, whole_rows, side) as row:
        end = f.minimum(column.index + some, whole_columns)
        with f.loop(column.index, end, side) as part:
            square(row.index, part.index)

    def one(row: Value, column: Value) -> None:
        value = f.load(f.at(source, row * line + column, type), type)
        f.store(f.at(to, column * line_to + row, type), value)

    with f.loop(0, columns) as column, f.loop(whole_rows, rows) as row:
        one(row.index, column.index)
    with f.loop(whole_columns, columns) as column, f.loop(0, whole_rows) as row:
        one(row.index, column.index)
    f.ret()
    return f


def exchange(f: Function, lines: list[Value]) -> list[Value]:
    """Rows and columns of a square exchanged."""
    side, step = len(lines), 1
    lines = list(lines)
    while step < side:  # squares of squares change places; LLVM compiles these in no time
        low = [j if not j & step else side + j - step for j in range(side)]
        high = [j + step if not j & step else side + j for j in range(side)]
        for k in range(side):
            if not k & step:
                a, b = lines[k], lines[k + step]
                lines[k], lines[k + step] = f.shuffle(a, b, low), f.shuffle(a, b, high)
        step *= 2
    return lines
