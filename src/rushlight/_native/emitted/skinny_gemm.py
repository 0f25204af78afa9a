"""Products of matrices with fewer columns than half a vector, whose lanes would be idle in `gemm`.

    call = narrow.load(F32, "dots")           # void (frame, chunk), words: FRAME

`dots`: the rows of A and the columns of B lie in order, as in a layer with few outputs: each
element is a sum over vectors of k. `outer 3`: the columns of A and the rows of B lie in order, as
in the gradient of a layer with (here) three inputs: rows of C side by side in the lanes, and one
sum for each column; it takes no bias, and keeps negatives. The frame's `lda` and `ldb` are the
elements from one of these to the next.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value

#: The words of a frame: addresses, sizes, distances, whether negatives become zeros.
FRAME = ("a", "b", "c", "bias", "m", "n", "k", "lda", "ldb", "ldc", "relu")
#: Columns, at most.
MOST = 7


@cache
def load(type: Type, form: str) -> int:
    """The address of the product in a form: "dots", or "outer" and the number of columns."""
    return engine.load_made(emit, type, form)["narrow"]


def emit(type: Type, form: str) -> Module:
    """The module with `narrow`."""
    module = Module("narrow")
    f = module.function("narrow", [("frame", PTR), ("chunk", I64)])
    words = {
        name: f.load(f.at(f.params[0], place, I64), PTR if place < 4 else I64)
        for place, name in enumerate(FRAME)
    }
    if form == "dots":
        _dots(f, words, type)
    else:
        _outer(f, words, type, int(form.removeprefix("outer")))
    f.ret()
    return module


def _emit_end(f: Function, w: dict[str, Value], type: Type, total: Value, column: Value) -> Value:
    """A sum with the bias of its column, and its positive part."""
    none = f.emit(I64, f"ptrtoint {w['bias']!r} to i64").eq(0)
    (total,) = f.choose(
        none, lambda: [total], lambda: [total + f.load(f.at(w["bias"], column, type), type)]
    )
    zero = f.constant(type, 0.0)
    return f.select(w["relu"].ne(0) & (total < zero), zero, total)  # nan stays


def _dots(f: Function, w: dict[str, Value], type: Type) -> None:
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    whole = w["k"] - w["k"] % lanes
    mask = f.mask(w["k"] - whole, lanes)
    zero = f.constant(wide, 0.0)
    with f.loop(0, w["m"]) as row:
        a = f.at(w["a"], row.index * w["lda"], type)
        end = f.load_masked(f.at(a, whole, type), wide, mask)
        c = f.at(w["c"], row.index * w["ldc"], type)
        with f.loop(0, w["n"]) as column:
            b = f.at(w["b"], column.index * w["ldb"], type)
            with f.loop(0, whole, lanes, carried=[zero]) as loop:
                x, y = (f.load(f.at(line, loop.index, type), wide) for line in (a, b))
                loop.next(f.fma(x, y, loop.carried[0]))
            last = f.load_masked(f.at(b, whole, type), wide, mask)
            sums = f.fma(end, last, loop.results[0])
            total = f.fold(sums, lambda x, y: x + y)
            place = f.at(c, column.index, type)
            f.store(place, _emit_end(f, w, type, total, column.index))


def _outer(f: Function, w: dict[str, Value], type: Type, columns: int) -> None:
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    room = f.scratch(type, columns * lanes)
    zero = f.constant(wide, 0.0)
    with f.loop(0, w["m"], lanes) as block:
        high = f.minimum(w["m"] - block.index, lanes)
        mask = f.mask(high, lanes)
        first = f.at(w["a"], block.index, type)
        with f.loop(0, w["k"], carried=[zero] * columns) as loop:
            x = f.load_masked(f.at(first, loop.index * w["lda"], type), wide, mask)
            line = f.at(w["b"], loop.index * w["ldb"], type)
            factors = [f.load(f.at(line, n, type), type) for n in range(columns)]
            loop.next(*(f.fma(x, y, s) for y, s in zip(factors, loop.carried, strict=True)))
        for n, sums in enumerate(loop.results):
            f.store(f.at(room, n * lanes, type), sums)
        with f.loop(0, high) as row:
            c = f.at(w["c"], (block.index + row.index) * w["ldc"], type)
            for n in range(columns):
                f.store(f.at(c, n, type), f.load(f.at(room, row.index + n * lanes, type), type))
