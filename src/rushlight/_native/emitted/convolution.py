"""Convolutions of planes: tiles of the output kept in registers over all channels and taps.

    addresses = convolution.load(F32)   # correlate, weigh, pack and others: void (frame, chunk)

Note [Lines]
A plane with its padding, read as one line, makes each place of a kernel (a tap) a shift. The zeros
at the end of a row serve as those before the next one. With strides there are several planes, one
for each phase. Outputs are lines too, as long as the inputs': what lies between two rows of the
output is computed and left away. So `offsets` says for each channel and tap where in a sample it
begins, and the products need to know nothing else about the geometry. The gradient for the input of
a strided convolution is several convolutions without strides, one for each phase of the result.

Note [Two kinds of tiles]
`correlate` keeps HEIGHT rows (output channels) by 3 vectors of places: a step loads 3 vectors of
the input and multiplies them by HEIGHT weights, which lie together. `weigh` keeps HEIGHT output
channels by 3 pairs of a channel and a tap; the lanes are places, and are added up when a block of
samples is done. Nothing is turned around, and no windows are copied. Where a group has one output
channel, as in depthwise convolutions, tiles have one row and more vectors.

Note [Slots]
A chunk needs memory for its padded sample. There are as many pieces as threads; a chunk takes a
free one and gives it back. Its zeros are written once, before the first chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value
from .lines import copy_line

#: Vectors of places in a tile of `correlate`, pairs in one of `weigh`.
VECTORS = 3
#: The words that say how samples are copied.
GATHER = ("phases", "phase_table", "pitch", "step_row", "step_column")
#: The words that say where samples begin: `inner` of them lie `next_x` apart, and the first ones of
#: these `outer_x`; the same for the other array.
INNER = ("inner", "outer_x", "outer_y")
#: The words of a frame of `correlate`, 8 bytes each; steps are in elements.
CORRELATE = (
    "x", "w", "bias", "y", "flags", "memory", "slot", "room", "slots", "parts", "direct",
    *INNER, "next_x", "channel_x", "channels", "plane", *GATHER, "groups", "group_plane",
    "group_rows", "padded_rows", "outputs", "output_table", "next_y", "channel_y", "row_y",
    "column_y", "band", "band_line",
)  # fmt: skip
#: The words that describe one output (a phase of the result) of `correlate`.
OUTPUT = ("depth", "offsets", "weights", "rows", "columns", "start")
#: The words of a frame of `weigh`. `tiles` of all groups are shared out in runs of `run`.
WEIGH = (
    "x", "g", "totals", "flags", "memory", "slot", "room", "slots", "images", "share", "block",
    "runs", "run", "tiles", "group_tiles", "high", *INNER, "next_x", "channel_x", "channels",
    "plane", *GATHER, "group_plane", "next_g", "channel_g", "group_rows", "padded_rows", "g_table",
    "g_row", "g_column", "g_line", "groups", "depth_tiles", "offsets",
)  # fmt: skip
#: The words of a frame of `pack`: HEIGHT rows of `depth` elements each, one after the other.
PACK = (
    "w", "to", "rows", "padded_rows", "depth", "step", "places", "blocks", "high", "group_w",
    "group_to",
)  # fmt: skip
#: The words of a frame of `add_shares`: a chunk adds `part` of the `size` elements of each share to
#: those of the first one.
ADD = ("totals", "size", "shares", "part")
#: The words of a frame of `pick`: a chunk writes `part` rows of a matrix, whose elements are read
#: where what is said of the row and of the column sums up to.
PICK = ("source", "to", "rows", "columns", "row_places", "column_places", "part")


def height(type: Type) -> int:
    """Rows of a tile: 8 where there are 32 registers, else 4."""
    del type
    return 8 if target.machine().registers >= 32 else 4


def weigh_words(type: Type, rows: int) -> int:
    """Elements that a tile of `weigh` adds to: its sums, row by row of a pair, filled up."""
    lanes = target.lanes(type)
    return -(-VECTORS * rows // lanes) * lanes


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses of all functions for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with all of them."""
    module = Module("convolution")
    gather = gather_into(module, type)
    high = height(type)
    heights = (8, 4) if high == 8 else (4,)
    tiles = {
        (rows, vectors): _tile(module, type, rows, vectors)
        for rows in heights
        for vectors in (VECTORS, 1)
    }
    tiles |= {(1, vectors): _tile(module, type, 1, vectors) for vectors in (high, 1)}
    _correlate(module, type, gather, leave_rows(module, type), heights, tiles)
    _weigh(module, type, gather, {rows: _pairs(module, type, rows) for rows in (*heights, 1)})
    _pack(module, type)
    _add_shares(module, type)
    _pick(module, type)
    return module


def words(f: Function, names: Sequence[str], pointers: Sequence[str]) -> dict[str, Value]:
    """The words of the frame that is the function's first argument, by name."""
    frame = f.params[0]
    return {
        name: f.load(f.at(frame, place, I64), PTR if name in pointers else I64)
        for place, name in enumerate(names)
    }


def _table(f: Function, base: Value, row: Value, width: int, column: int, type: Type) -> Value:
    return f.load(f.at(base, row * width + column, I64), type)


def find_sample(f: Function, c: dict[str, Value], number: Value, kind: str) -> Value:
    """The element of x or y (`kind`) at which a sample begins; `c` are words of a frame."""
    step = c[f"next_{kind}"]
    outer = c["outer_x" if kind == "x" else "outer_y"]
    return number // c["inner"] * outer + number % c["inner"] * step


# ---- rows from and to arrays --------------------------------------------------------------------
def gather_into(module: Module, type: Type) -> Function:
    """Copies the phases of some channels to where they lie among zeros."""
    names = ("x", "to", "channels", "channel_x", "plane", *GATHER)
    f = module.function(
        "gather", [(n, PTR if n in ("x", "to", "phase_table") else I64) for n in names]
    )
    f.internal = True
    p = dict(zip(names, f.params, strict=True))
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    step = p["step_column"]

    def straight(to: Value, source: Value, columns: Value) -> None:
        copy_line(f, type, columns, to, source)

    def every_second(to: Value, source: Value, columns: Value) -> None:
        with f.loop(0, columns, lanes) as loop:
            left = columns - loop.index
            here = f.at(source, loop.index * 2, type)
            reach = left * 2 - 1  # elements up to the last one that is wanted
            near = f.load_masked(here, wide, f.mask(f.minimum(reach, lanes), lanes))
            far = f.load_masked(
                f.at(here, lanes, type), wide,
                f.mask(f.minimum(f.maximum(reach - lanes, 0), lanes), lanes),
            )  # fmt: skip
            taken = f.shuffle(near, far, range(0, 2 * lanes, 2))
            mask = f.mask(f.minimum(left, lanes), lanes)
            f.store_masked(f.at(to, loop.index, type), taken, mask)

    def apart(to: Value, source: Value, columns: Value) -> None:
        with f.loop(0, columns) as loop:
            value = f.load(f.at(source, loop.index * step, type), type)
            f.store(f.at(to, loop.index, type), value)

    def rows(copy: object) -> list[Value]:
        assert callable(copy)
        with f.loop(0, p["phases"]) as phase:
            to, source, high, columns = (
                _table(f, p["phase_table"], phase.index, 4, k, I64) for k in range(4)
            )
            with f.loop(0, p["channels"]) as channel:
                here = f.at(p["to"], channel.index * p["plane"] + to, type)
                there = f.at(p["x"], channel.index * p["channel_x"] + source, type)
                with f.loop(0, high) as row:
                    copy(
                        f.at(here, row.index * p["pitch"], type),
                        f.at(there, row.index * p["step_row"], type),
                        columns,
                    )
        return []

    f.choose(
        step.eq(1),
        lambda: rows(straight),
        lambda: f.choose(step.eq(2), lambda: rows(every_second), lambda: rows(apart)),
    )
    f.ret()
    return f


def leave_rows(module: Module, type: Type) -> Function:
    """Copies rows of lines to an output, leaving away what lies between them."""
    names = ("source", "line", "pitch", "to", "channel", "row", "column", "high", "rows", "columns")
    f = module.function("leave", [(n, PTR if n in ("source", "to") else I64) for n in names])
    f.internal = True
    p = dict(zip(names, f.params, strict=True))
    columns = p["columns"]

    def straight(to: Value, source: Value) -> None:
        copy_line(f, type, columns, to, source)

    def apart(to: Value, source: Value) -> None:
        with f.loop(0, columns) as loop:
            value = f.load(f.at(source, loop.index, type), type)
            f.store(f.at(to, loop.index * p["column"], type), value)

    def rows(copy: object) -> list[Value]:
        assert callable(copy)
        with f.loop(0, p["high"]) as channel:
            here = f.at(p["to"], channel.index * p["channel"], type)
            there = f.at(p["source"], channel.index * p["line"], type)
            with f.loop(0, p["rows"]) as row:
                copy(
                    f.at(here, row.index * p["row"], type),
                    f.at(there, row.index * p["pitch"], type),
                )
        return []

    f.choose(p["column"].eq(1), lambda: rows(straight), lambda: rows(apart))
    f.ret()
    return f


def emit_claim(f: Function, flags: Value, slots: Value) -> Value:
    """The number of a slot that was free. See Note [Slots]."""

    def attempt(carried: list[Value]) -> tuple[Value, list[Value]]:
        (place,) = carried
        zero, one = f.constant(I64, 0), f.constant(I64, 1)
        _, taken = f.atomic_swap(f.at(flags, place * 8, I64), zero, one)
        after = f.select((place + 1).eq(slots), 0, place + 1)
        return ~taken, [f.select(taken, place, after)]

    return f.repeat([f.constant(I64, 0)], attempt)[0]


# ---- the output ---------------------------------------------------------------------------------
def _tile(module: Module, type: Type, rows: int, vectors: int) -> Function:
    """Some output channels at some vectors of places; one vector is masked."""
    params = [
        ("x", PTR), ("offsets", PTR), ("depth", I64), ("w", PTR), ("bias", PTR), ("y", PTR),
        ("line", I64), ("count", I64),
    ]  # fmt: skip
    f = module.function(f"tile_{rows}_{vectors}", params)
    f.internal = True
    x, offsets, depth, w, bias, y, line, count = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    mask = f.mask(count, lanes) if vectors == 1 else None

    def splat(base: Value, row: int) -> Value:
        return f.splat(f.load(f.at(base, row, type), type), lanes)

    start = [splat(bias, row) for row in range(rows) for _ in range(vectors)]
    with f.loop(0, depth, carried=[w, *start]) as loop:
        weights, *sums = loop.carried
        here = f.at(x, f.load(f.at(offsets, loop.index, I64), I64), type)
        if mask is None:
            across = [f.load(f.at(here, v * lanes, type), wide) for v in range(vectors)]
        else:
            across = [f.load_masked(here, wide, mask)]
        for row in range(rows):
            factor = splat(weights, row)
            for v in range(vectors):
                place = row * vectors + v
                sums[place] = f.fma(factor, across[v], sums[place])
        loop.next(f.at(weights, rows, type), *sums)
    _, *sums = loop.results
    for row in range(rows):
        there = f.at(y, row * line, type)
        for v in range(vectors):
            f.store(f.at(there, v * lanes, type), sums[row * vectors + v])
    f.ret()
    return f


def _correlate(
    module: Module,
    type: Type,
    gather: Function,
    leave: Function,
    heights: tuple[int, ...],
    tiles: dict[tuple[int, int], Function],
) -> None:
    f = module.function("correlate", [("frame", PTR), ("chunk", I64)])
    high = height(type)
    pointers = ("x", "w", "bias", "y", "flags", "memory", "phase_table", "output_table")
    c = words(f, CORRELATE, pointers)
    lanes = target.lanes(type)
    chunk = f.params[1]
    image, part = chunk // c["parts"], chunk % c["parts"]
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    lines = f.at(memory, c["room"], type)
    sample = f.at(c["x"], find_sample(f, c, image, "x"), type)
    with f.when(c["direct"].eq(0)):
        f.call(gather, [sample, memory, *[c[n] for n in ("channels", "channel_x", "plane")],
                        *[c[n] for n in GATHER]])  # fmt: skip
    source = f.select(c["direct"].eq(0), memory, sample)
    with f.loop(0, c["outputs"]) as loop:
        o = {
            name: _table(
                f, c["output_table"], loop.index, len(OUTPUT), k, PTR if name == "offsets" else I64
            )
            for k, name in enumerate(OUTPUT)
        }
        bands = (o["rows"] + c["band"] - 1) // c["band"]
        each = (bands + c["parts"] - 1) // c["parts"]
        first = part * each
        with (
            f.loop(first, f.minimum(first + each, bands)) as band,
            f.loop(0, c["groups"]) as group,
        ):
            top = band.index * c["band"]
            rows = f.minimum(o["rows"] - top, c["band"])
            count = (rows - 1) * c["pitch"] + o["columns"]
            x = f.at(source, group.index * c["group_plane"] + top * c["pitch"], type)
            packed = group.index * c["padded_rows"]
            w = f.at(c["w"], o["weights"] + packed * o["depth"], type)
            bias = f.at(c["bias"], packed, type)

            def one(high: int, vectors: int, row: Value | int, start: Value) -> None:
                """One tile."""
                f.call(tiles[high, vectors], [
                    f.at(x, start, type), o["offsets"], o["depth"],
                    f.at(w, row * o["depth"], type), f.at(bias, row, type),
                    f.at(lines, row * c["band_line"] + start, type), c["band_line"], count - start,
                ])  # fmt: skip

            def all_rows(vectors: int, start: Value) -> None:
                row = f.constant(I64, 0)
                for high in heights:
                    stop = c["padded_rows"] - (c["padded_rows"] - row) % high
                    with f.loop(row, stop, high) as block:
                        one(high, vectors, block.index, start)
                    row = stop

            def along(vectors: int, tile: Callable[[int, Value], None]) -> list[Value]:
                start = f.constant(I64, 0)
                for some in (vectors, 1):
                    wide = some * lanes
                    stop = count - count % wide if some > 1 else count
                    with f.loop(start, stop, wide) as place:
                        tile(some, place.index)
                    start = stop
                return []

            zero = f.constant(I64, 0)
            f.choose(
                c["padded_rows"].eq(1),
                lambda: along(high, lambda some, start: one(1, some, zero, start)),
                lambda: along(VECTORS, all_rows),
            )
            to = find_sample(f, c, image, "y") + group.index * c["group_rows"] * c["channel_y"]
            to = to + o["start"] + top * c["row_y"]
            f.call(leave, [
                lines, c["band_line"], c["pitch"], f.at(c["y"], to, type), c["channel_y"],
                c["row_y"], c["column_y"], c["group_rows"], rows, o["columns"],
            ])  # fmt: skip
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


# ---- the weights --------------------------------------------------------------------------------
def _fold(f: Function, vectors: list[Value]) -> Value:
    """One vector with the sums of as many vectors as it has lanes, in order."""
    lanes = vectors[0].type.lanes
    size = lanes  # elements that are still one sum
    while size > 1:
        half = size // 2
        joined = []
        for a, b in zip(vectors[::2], vectors[1::2], strict=True):
            near = [p for p in range(2 * lanes) if p % size < half]
            far = [p + half for p in near]
            joined.append(f.shuffle(a, b, near) + f.shuffle(a, b, far))
        vectors, size = joined, half
    return vectors[0]


def _pairs(module: Module, type: Type, rows: int) -> Function:
    """Some output channels by three pairs of a channel and a tap, over a block of samples."""
    params = [
        ("x", PTR), ("offsets", PTR), ("next_x", I64), ("g", PTR), ("row_g", I64), ("next_g", I64),
        ("images", I64), ("line", I64), ("totals", PTR),
    ]  # fmt: skip
    f = module.function(f"pairs_{rows}", params)
    f.internal = True
    x, offsets, next_x, g, row_g, next_g, images, line, totals = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    shifts = [f.load(f.at(offsets, k, I64), I64) for k in range(VECTORS)]
    zero = f.constant(wide, 0.0)
    with f.loop(0, images, carried=[zero] * (rows * VECTORS)) as image:
        sample = f.at(x, image.index * next_x, type)
        moved = [f.at(sample, shift, type) for shift in shifts]
        first = f.at(g, image.index * next_g, type)
        grads = [f.at(first, row * row_g, type) for row in range(rows)]
        with f.loop(0, line, lanes, carried=image.carried) as loop:
            sums = list(loop.carried)
            across = [f.load(f.at(place, loop.index, type), wide) for place in moved]
            for row in range(rows):
                factor = f.load(f.at(grads[row], loop.index, type), wide)
                for k in range(VECTORS):
                    place = k * rows + row
                    sums[place] = f.fma(factor, across[k], sums[place])
            loop.next(*sums)
        image.next(*loop.results)
    ended = image.results
    ended += [zero] * (-len(ended) % lanes)
    for place in range(0, len(ended), lanes):
        there = f.at(totals, place, type)
        f.store(there, f.load(there, wide) + _fold(f, ended[place : place + lanes]))
    f.ret()
    return f


def _weigh(module: Module, type: Type, gather: Function, pairs: dict[int, Function]) -> None:
    f = module.function("weigh", [("frame", PTR), ("chunk", I64)])
    pointers = ("x", "g", "totals", "flags", "memory", "phase_table", "g_table", "offsets")
    c = words(f, WEIGH, pointers)
    chunk = f.params[1]
    share, run = chunk // c["runs"], chunk % c["runs"]
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    lines = f.at(memory, c["room"], type)
    first = share * c["share"]
    last = f.minimum(first + c["share"], c["images"])
    sample, grads = c["channels"] * c["plane"], c["groups"] * c["padded_rows"] * c["g_line"]
    end = f.minimum((run + 1) * c["run"], c["tiles"])
    with f.loop(first, last, c["block"]) as block:
        count = f.minimum(last - block.index, c["block"])
        with f.loop(0, count) as image:
            number = block.index + image.index
            f.call(gather, [
                f.at(c["x"], find_sample(f, c, number, "x"), type),
                f.at(memory, image.index * sample, type),
                c["channels"], c["channel_x"], c["plane"], *[c[n] for n in GATHER],
            ])  # fmt: skip
            with f.loop(0, c["groups"]) as group:
                source = group.index * c["group_rows"] * c["channel_g"]
                source = source + find_sample(f, c, number, "g")
                to = image.index * grads + group.index * c["padded_rows"] * c["g_line"]
                f.call(gather, [
                    f.at(c["g"], source, type), f.at(lines, to, type), c["group_rows"],
                    c["channel_g"], c["g_line"], f.constant(I64, 1), c["g_table"], c["pitch"],
                    c["g_row"], c["g_column"],
                ])  # fmt: skip

        def tiles(high: int) -> list[Value]:
            size = weigh_words(type, high)
            with f.loop(run * c["run"], end) as tile:
                group = tile.index // c["group_tiles"]
                row = tile.index % c["group_tiles"] * high + group * c["padded_rows"]
                x = f.at(memory, group * c["group_plane"], type)
                g = f.at(lines, row * c["g_line"], type)
                here = (share * c["tiles"] + tile.index) * c["depth_tiles"]
                with f.loop(0, c["depth_tiles"]) as deep:
                    f.call(pairs[high], [
                        x, f.at(c["offsets"], deep.index * VECTORS, I64), sample, g, c["g_line"],
                        grads, count, c["g_line"],
                        f.at(c["totals"], (here + deep.index) * size, type),
                    ])  # fmt: skip
            return []

        def half_or_whole() -> list[Value]:
            if 8 not in pairs:
                return tiles(4)
            return f.choose(c["high"].eq(4), lambda: tiles(4), lambda: tiles(8))

        f.choose(c["high"].eq(1), lambda: tiles(1), half_or_whole)
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


# ---- weights in the order of the tiles ----------------------------------------------------------
def _pack(module: Module, type: Type) -> None:
    """One block of rows: `to[k][row] = w[row * step + places[k]]`, zero for rows there aren't."""
    f = module.function("pack", [("frame", PTR), ("chunk", I64)])
    c = words(f, PACK, ("w", "to", "places"))
    group, block = f.params[1] // c["blocks"], f.params[1] % c["blocks"]
    top = block * c["high"]
    to = f.at(c["to"], group * c["group_to"] + top * c["depth"], type)
    # The last block of a group is half as high where that is enough.
    high = f.minimum(c["padded_rows"] - top, c["high"])
    real = f.minimum(c["rows"] - top, high)
    first = f.at(c["w"], group * c["group_w"] + top * c["step"], type)
    with f.loop(0, c["depth"]) as loop:
        source = f.at(first, f.load(f.at(c["places"], loop.index, I64), I64), type)
        here = f.at(to, loop.index * high, type)
        with f.loop(0, real) as row:
            value = f.load(f.at(source, row.index * c["step"], type), type)
            f.store(f.at(here, row.index, type), value)
        with f.loop(real, high) as row:
            f.store(f.at(here, row.index, type), f.constant(type, 0.0))
    f.ret()


# ---- sums over shares of the samples ------------------------------------------------------------
def _add_shares(module: Module, type: Type) -> None:
    f = module.function("add_shares", [("frame", PTR), ("chunk", I64)])
    c = words(f, ADD, ("totals",))
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    start = f.params[1] * c["part"]
    with f.loop(start, f.minimum(start + c["part"], c["size"]), lanes) as place:
        first = f.at(c["totals"], place.index, type)
        with f.loop(1, c["shares"], carried=[f.load(first, wide)]) as share:
            more = f.load(f.at(first, share.index * c["size"], type), wide)
            share.next(share.carried[0] + more)
        f.store(first, share.results[0])
    f.ret()


def _pick(module: Module, type: Type) -> None:
    f = module.function("pick", [("frame", PTR), ("chunk", I64)])
    c = words(f, PICK, ("source", "to", "row_places", "column_places"))
    start = f.params[1] * c["part"]
    with f.loop(start, f.minimum(start + c["part"], c["rows"])) as row:
        source = f.at(c["source"], f.load(f.at(c["row_places"], row.index, I64), I64), type)
        to = f.at(c["to"], row.index * c["columns"], type)
        with f.loop(0, c["columns"]) as column:
            there = f.load(f.at(c["column_places"], column.index, I64), I64)
            f.store(f.at(to, column.index, type), f.load(f.at(source, there, type), type))
    f.ret()
