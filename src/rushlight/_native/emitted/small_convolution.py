"""Convolutions of small planes: tiles of places by channels, which have no places too many.

    addresses = small_planes.load(F32)   # correlate, weigh, turn: void (frame, chunk)

Note [Places and channels]
Where rows are short, lines (see `convolution.py`) have many elements that are left away. Here a
tile has HEIGHT places, each read by its own address, and up to 3 vectors of output channels:

    c[row, :] = sum over k of x[starts[row] + offsets[k]] * b[k, :]

Rows are places and k goes over channels and taps for `correlate`; for `weigh` it is the other way
round. So weights and gradients are turned around first, and results afterwards; that is little
beside the sums, as long as there are many of those. What has been turned lies in panels, each as
wide as a tile: (panel, k, columns of the tile).
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value
from .convolution import GATHER, INNER, emit_claim, find_sample, gather_into, height, words
from .transpose import emit_transpose

_DEPTH = 1024  # steps of k at a time: their vectors stay in the nearer cache
#: Vectors of a tile; narrower ones follow where the columns end.
WIDTHS = (3, 2, 1)
_SAMPLES = (*INNER, "next_x", "channel_x", "channels", "plane", *GATHER)
#: The words of a frame of `correlate`, 8 bytes each. A chunk is `block` samples; `starts` are the
#: places of all of them.
CORRELATE = (
    "x", "w", "bias", "y", "flags", "memory", "slot", "room", "slots", "images", "block",
    *_SAMPLES, "places", "starts", "depth", "offsets", "columns", "padded", "next_y",
    "channel_y",
)  # fmt: skip
#: The words of a frame of `weigh`.
WEIGH = (
    "x", "g", "totals", "flags", "memory", "slot", "room", "slots", "images", "share", "block",
    "runs", "run", "tiles", *_SAMPLES, "places", "starts", "offsets", "columns", "padded", "next_g",
    "channel_g",
)  # fmt: skip
#: The words of a frame of `turn`: one matrix in a chunk, rows and columns exchanged.
TURN = ("source", "to", "rows", "columns", "line", "line_to", "next", "next_to")


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with `correlate`, `weigh` and `turn`."""
    module = Module("small_planes")
    gather, turned = gather_into(module, type), emit_transpose(module, type)
    tiles = {vectors: _tile(module, type, vectors) for vectors in WIDTHS}
    _correlate(module, type, gather, turned, tiles)
    _weigh(module, type, gather, turned, tiles)
    f = module.function("turn", [("frame", PTR), ("chunk", I64)])
    c = words(f, TURN, ("source", "to"))
    chunk = f.params[1]
    f.call(turned, [
        f.at(c["source"], chunk * c["next"], type), c["line"],
        f.at(c["to"], chunk * c["next_to"], type), c["line_to"], c["rows"], c["columns"],
    ])  # fmt: skip
    f.ret()
    return module


def _tile(module: Module, type: Type, vectors: int) -> Function:
    """See Note [Places and channels]; `again` adds to what is there, else to `bias`."""
    params = [
        ("x", PTR), ("starts", PTR), ("offsets", PTR), ("depth", I64), ("b", PTR), ("line", I64),
        ("c", PTR), ("line_c", I64), ("bias", PTR), ("again", I64),
    ]  # fmt: skip
    f = module.function(f"places_{vectors}", params)
    f.internal = True
    x, starts, offsets, depth, b, line, c, line_c, bias, again = f.params
    lanes, rows = target.lanes(type), height(type)
    wide = type.vector(lanes)
    bases = [f.at(x, f.load(f.at(starts, row, I64), I64), type) for row in range(rows)]
    targets = [
        f.at(c, line_c * row + v * lanes, type) for row in range(rows) for v in range(vectors)
    ]

    def begun() -> list[Value]:
        added = [f.load(f.at(bias, v * lanes, type), wide) for v in range(vectors)]
        return added * rows

    first = f.choose(again.ne(0), lambda: [f.load(place, wide) for place in targets], begun)
    with f.loop(0, depth, carried=[b, *first]) as loop:
        across, *sums = loop.carried
        offset = f.load(f.at(offsets, loop.index, I64), I64)
        read = [f.load(f.at(across, v * lanes, type), wide) for v in range(vectors)]
        for row in range(rows):
            factor = f.splat(f.load(f.at(bases[row], offset, type), type), lanes)
            for v in range(vectors):
                place = row * vectors + v
                sums[place] = f.fma(factor, read[v], sums[place])
        loop.next(f.at(across, line, type), *sums)
    for there, value in zip(targets, loop.results[1:], strict=True):
        f.store(there, value)
    f.ret()
    return f


def _emit_gather(
    f: Function, type: Type, c: dict[str, Value], gather: Function, first: Value, count: Value,
    memory: Value,
) -> None:  # fmt: skip
    """Some samples, one after the other."""
    with f.loop(0, count) as image:
        f.call(gather, [
            f.at(c["x"], find_sample(f, c, first + image.index, "x"), type),
            f.at(memory, image.index * (c["channels"] * c["plane"]), type),
            c["channels"], c["channel_x"], c["plane"], *[c[n] for n in GATHER],
        ])  # fmt: skip


def _columns(f: Function, type: Type, padded: Value) -> list[tuple[int, Value, Value]]:
    """How vectors of columns are shared out: vectors of a tile, first column, end."""
    lanes = target.lanes(type)
    shared = []
    start = f.constant(I64, 0)
    for vectors in WIDTHS:
        stop = padded - (padded - start) % (vectors * lanes)
        shared.append((vectors, start, stop))
        start = stop
    return shared


def _correlate(
    module: Module, type: Type, gather: Function, turned: Function, tiles: dict[int, Function]
) -> None:
    f = module.function("correlate_small", [("frame", PTR), ("chunk", I64)])
    pointers = ("x", "w", "bias", "y", "flags", "memory", "phase_table", "starts", "offsets")
    c = words(f, CORRELATE, pointers)
    lanes, high = target.lanes(type), height(type)
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    made = f.at(memory, c["room"], type)
    first = f.params[1] * c["block"]
    count = f.minimum(c["images"] - first, c["block"])
    _emit_gather(f, type, c, gather, first, count, memory)
    rows, line = count * c["places"], c["padded"]
    for vectors, start, stop in _columns(f, type, line):
        with (
            f.loop(start, stop, vectors * lanes) as column,
            f.loop(0, c["depth"], _DEPTH) as deep,
            f.loop(0, rows, high) as row,
        ):
            f.call(tiles[vectors], [
                memory, f.at(c["starts"], row.index, I64), f.at(c["offsets"], deep.index, I64),
                f.minimum(c["depth"] - deep.index, _DEPTH),
                f.at(c["w"], column.index * c["depth"] + deep.index * (vectors * lanes), type),
                f.constant(I64, vectors * lanes),
                f.at(made, row.index * line + column.index, type), line,
                f.at(c["bias"], column.index, type), deep.index,
            ])  # fmt: skip
    with f.loop(0, count) as image:
        f.call(turned, [
            f.at(made, image.index * c["places"] * line, type), line,
            f.at(c["y"], find_sample(f, c, first + image.index, "y"), type), c["channel_y"],
            c["places"], c["columns"],
        ])  # fmt: skip
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


def _weigh(
    module: Module, type: Type, gather: Function, turned: Function, tiles: dict[int, Function]
) -> None:
    f = module.function("weigh_small", [("frame", PTR), ("chunk", I64)])
    pointers = ("x", "g", "totals", "flags", "memory", "phase_table", "starts", "offsets")
    c = words(f, WEIGH, pointers)
    lanes, high = target.lanes(type), height(type)
    share, run = f.params[1] // c["runs"], f.params[1] % c["runs"]
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    grads = f.at(memory, c["room"], type)
    begin, line = share * c["share"], c["padded"]
    last = f.minimum(begin + c["share"], c["images"])
    top = run * c["run"]
    bottom = f.minimum(top + c["run"], c["tiles"])
    with f.loop(begin, last, c["block"]) as block:
        count = f.minimum(last - block.index, c["block"])
        _emit_gather(f, type, c, gather, block.index, count, memory)
        depth = count * c["places"]
        for vectors, start, stop in _columns(f, type, line):
            wide = f.constant(I64, vectors * lanes)
            with (
                f.loop(start, stop, vectors * lanes) as column,
                f.loop(0, count) as image,
            ):
                source = find_sample(f, c, block.index + image.index, "g")
                source = source + column.index * c["channel_g"]
                place = column.index * depth + image.index * c["places"] * wide
                f.call(turned, [
                    f.at(c["g"], source, type), c["channel_g"], f.at(grads, place, type), wide,
                    f.minimum(c["columns"] - column.index, wide), c["places"],
                ])  # fmt: skip
            with (
                f.loop(start, stop, vectors * lanes) as column,
                f.loop(top, bottom) as tile,
            ):
                row = (share * c["tiles"] + tile.index) * high
                f.call(tiles[vectors], [
                    memory, f.at(c["offsets"], tile.index * high, I64), c["starts"],
                    depth, f.at(grads, column.index * depth, type), wide,
                    f.at(c["totals"], row * line + column.index, type), line, grads,
                    f.constant(I64, 1),
                ])  # fmt: skip
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()
