"""Elements read, written or combined at places that indices name along a dimension.

    addresses = places.load()    # pick_4, put_8, add_float32, maximum_int64, …: void (frame, chunk)

The arrays are (outer, count, inner) for indices and elements, (outer, length, inner) for where
these come from or go to, all in order. A chunk is `rows` of the outer and `grain` of the inner
places, so no two chunks meet at a place, and sums have one order for any number of threads. An
index outside sets the frame's `wrong` and ends the chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

from ..llvm import loader as engine
from ..llvm.emit import F32, F64, I1, I32, I64, PTR, Module, Type, Value

#: The words of a frame, 8 bytes each.
FRAME: Final = (
    "to", "source", "index", "wrong", "outer", "count", "inner", "length", "rows", "grain",
)  # fmt: skip
#: Whatever elements mean, by their size in bytes; and what is combined, and how.
BITS: Final = {4: I32, 8: I64}
TYPES: Final = {"float32": F32, "float64": F64, "int64": I64}
COMBINED: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "add": lambda there, here: there + here,
    "multiply": lambda there, here: there * here,
    # Of equal ones what is there stays, and nan wins, as in PyTorch.
    "maximum": lambda there, here: here.function.maximum(here, there),
    "minimum": lambda there, here: here.function.minimum(here, there),
}


@cache
def load() -> dict[str, int]:
    """The addresses of the functions by name."""
    return engine.load_made(emit)


def emit() -> Module:
    """The module with all functions."""
    module = Module("places")
    for size, bits in BITS.items():
        _emit(module, f"pick_{size}", bits, _pick)
        _emit(module, f"put_{size}", bits, _put)
    for word, combined in COMBINED.items():
        for name, type in TYPES.items():
            _emit(module, f"{word}_{name}", type, partial(_combine, combined))
    return module


_CHUNK: Final = 1 << 14  # elements of a chunk, about
_LEAST: Final = 64  # inner places of a chunk at least: whole cache lines


def chunks(outer: int, count: int, inner: int) -> tuple[int, int, int]:
    """The rows and the grain of chunks, and how many there are."""
    rows = max(1, _CHUNK // max(count * inner, 1))
    grain = min(inner, max(_LEAST, _CHUNK // count // _LEAST * _LEAST))
    return rows, grain, -(-outer // rows) * -(-inner // grain)


def _pick(here: Value, there: Value, type: Type) -> None:
    here.function.store(here, here.function.load(there, type))


def _put(here: Value, there: Value, type: Type) -> None:
    here.function.store(there, here.function.load(here, type))


def _combine(
    combined: Callable[[Value, Value], Value], here: Value, there: Value, type: Type
) -> None:
    f = here.function
    f.store(there, combined(f.load(there, type), f.load(here, type)))


def _emit(
    module: Module, name: str, type: Type, each: Callable[[Value, Value, Type], None]
) -> None:
    """A function that goes through the indices of a chunk.

    `each` gets the addresses of the element beside an index, and of the one that it names.
    """
    f = module.function(name, [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {word: f.load(f.at(frame, k, I64), PTR if k < 4 else I64) for k, word in enumerate(FRAME)}
    inner = c["inner"]
    blocks = (inner + (c["grain"] - 1)) // c["grain"]
    top = chunk // blocks * c["rows"]
    first = chunk % blocks * c["grain"]
    last = f.minimum(first + c["grain"], inner)
    beside, named = ("to", "source") if each is _pick else ("source", "to")
    with f.loop(top, f.minimum(top + c["rows"], c["outer"])) as outer:
        index = f.at(c["index"], outer.index * c["count"] * inner, I64)
        near = f.at(c[beside], outer.index * c["count"] * inner, type)
        far = f.at(c[named], outer.index * c["length"] * inner, type)

        def one(n: Value, column: Value | None) -> None:
            place = f.load(f.at(index, n, I64), I64)
            # Seen as unsigned, negative indices are huge.
            with f.when(~f.emit(I1, f"icmp ult {place!r}, {c['length'].name}")):
                f.atomic_store(c["wrong"], f.constant(I64, 1))
                f.ret()
            there = place if column is None else place * inner + column
            each(f.at(near, n, type), f.at(far, there, type), type)

        def line() -> list[Value]:
            with f.loop(0, c["count"]) as k:
                one(k.index, None)
            return []

        def columns() -> list[Value]:
            with f.loop(0, c["count"]) as k, f.loop(first, last) as i:
                one(k.index * inner + i.index, i.index)
            return []

        f.choose(inner.eq(1), line, columns)
    f.ret()
