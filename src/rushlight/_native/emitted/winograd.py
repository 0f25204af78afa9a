"""Convolutions with kernels of 3 by 3 from sums and differences: 16 products for 4 outputs, not 36.

    addresses = winograd.load(F32)   # correlate_squares, weigh_squares, …: void (frame, chunk)

Note [Sums and differences]
Two neighbouring outputs along a row, y0 = x0 w0 + x1 w1 + x2 w2 and y1 = x1 w0 + x2 w1 + x3 w2,
are sums of four products instead of six (Winograd, "Arithmetic complexity of computations", 1980):

    d = (x0 - x2, x1 + x2, x2 - x1, x1 - x3)
    u = (w0, (w0 + w1 + w2) / 2, (w0 - w1 + w2) / 2, w2)
    m = d u;   y0 = m0 + m1 + m2;   y1 = m1 - m2 - m3

and in two dimensions along both, which makes squares of 2 by 2 outputs from 4 by 4 inputs. The
three steps are linear in x, w and y, so the gradient of w is their transpose. An output has terms
of its own window only, as it should: m0, m1 and m2 have no x3. Products are rounded relative to the
largest of a window and not to each term, and an infinity may become a NaN; so whoever calls this
looks at `checks`, which are NaN where any output isn't finite.

Squares are places of lines, as outputs are in Note [Lines]: a kernel of 4 by 4 with strides of two.
Many channels make the 16 products, each of them one of matrices, worth what the sums cost.

Note [Cache sets]
The 16 sums of a square go to 16 places as far from each other. A vector more than a round number
between them keeps these from being the same few places of the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Function, Module, Type, Value
from .convolution import (
    GATHER,
    INNER,
    emit_claim,
    find_sample,
    gather_into,
    height,
    leave_rows,
    words,
)
from .transpose import emit_transpose

#: Products of a square.
PRODUCTS: Final = 16
#: Vectors of squares in a tile; narrower ones follow where the line ends.
WIDTHS: Final = (3, 2, 1)
_SAMPLES = (*INNER, "next_x", "channel_x", "channels", "plane", *GATHER, "offsets")
#: The words of a frame of `correlate`, 8 bytes each; steps are in elements. A chunk is `block`
#: samples side by side in lines of `line` squares, or one of `parts` of a sample.
CORRELATE = (
    "x", "w", "bias", "y", "checks", "flags", "memory", "slot", "room", "slots", "parts",
    "images", "block", "line",
    *_SAMPLES, "rows", "padded", "tall", "broad", "next_y", "channel_y", "row_y", "high", "wide",
    "band", "band_line",
)  # fmt: skip
#: The words of a frame of `change_weights`: a chunk is one block of rows, (9, size) to (16, size).
CHANGE = ("w", "to", "size")
#: The words of a frame of `end_weights`: (shares, 16, size) to (9, size), `part` in a chunk.
END = ("totals", "to", "size", "shares", "part")
#: The words of a frame of `find_zeros` and `find_unlimited`: of `part` elements of `size` in a
#: chunk, a vector of `to` that is zeros where none is 0, or where all are finite.
FIND = ("x", "to", "size", "part")
#: The words of a frame of `weigh`: a chunk is a share of the samples, and `run` tiles of the rows.
#: Of `block` samples `band` rows of squares are changed at a time, up to `squares` in all, whose
#: slopes are in lines of `line`.
WEIGH = (
    "x", "g", "totals", "flags", "memory", "slot", "room", "room_turned", "room_g", "slots",
    "images", "share", "block", "runs", "run", *_SAMPLES, "next_g", "channel_g", "plane_g",
    "phases_g", "table_g", "step_row_g", "step_column_g", "offsets_g", "rows", "padded_rows",
    "padded", "tall", "broad", "band", "squares", "line",
)  # fmt: skip


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses of all functions for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with the two products, and what they need before and after."""
    module = Module("winograd")
    gather = gather_into(module, type)
    _change_weights(module, type)
    _correlate(module, type, gather)
    _weigh(module, type, gather)
    _end_weights(module, type)
    _find(module, type, "find_zeros", lambda f, x: f.select(x.eq(0.0), 1.0, x - x))
    _find(module, type, "find_unlimited", lambda _, x: x - x)
    return module


def _find(module: Module, type: Type, name: str, form: Callable[[Function, Value], Value]) -> None:
    f = module.function(name, [("frame", PTR), ("chunk", I64)])
    c = words(f, FIND, ("x", "to"))
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    start = f.params[1] * c["part"]
    end = f.minimum(start + c["part"], c["size"])
    with f.loop(start, end, lanes, carried=[f.constant(wide, 0.0)]) as loop:
        mask = f.mask(f.minimum(end - loop.index, lanes), lanes)
        x = f.load_masked(f.at(c["x"], loop.index, type), wide, mask, 1)
        loop.next(loop.carried[0] + form(f, x))
    f.store(f.at(c["to"], f.params[1] * lanes, type), loop.results[0])
    f.ret()


# ---- sums and differences ------------------------------------------------------------------------
def _of_inputs(x: list[Value]) -> list[Value]:
    return [x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3]]


def _of_slopes(y: list[Value]) -> list[Value]:
    zero = y[0].function.constant(y[0].type, 0.0)
    return [y[0], y[0] + y[1], y[0] - y[1], zero - y[1]]


def _of_products(m: list[Value]) -> list[Value]:
    return [m[0] + m[1] + m[2], m[1] - m[2] - m[3]]


def _of_weights(w: list[Value]) -> list[Value]:
    ends, middle = (w[0] + w[2]) * 0.5, w[1] * 0.5
    return [w[0], ends + middle, ends - middle, w[2]]


def _of_sums(m: list[Value]) -> list[Value]:
    both = (m[1] + m[2]) * 0.5
    return [m[0] + both, (m[1] - m[2]) * 0.5, m[3] + both]


def _both_ways(form: object, square: list[list[Value]]) -> list[list[Value]]:
    """A form along the columns of each row, then along the rows."""
    assert callable(form)
    across = [form(row) for row in square]
    down = [form(list(column)) for column in zip(*across, strict=True)]
    return [list(row) for row in zip(*down, strict=True)]


def _change_all(module: Module, type: Type, name: str, size: int, form: object) -> Function:
    """The 16 sums and differences of some squares of each channel: (16, channels, squares).

    `line` is from channel to channel and `lines` from product to product of what is written.
    """
    params = [
        ("x", PTR), ("plane", I64), ("channels", I64), ("offsets", PTR), ("to", PTR),
        ("line", I64), ("lines", I64), ("count", I64),
    ]  # fmt: skip
    f = module.function(name, params)
    f.internal = True
    x, plane, channels, offsets, to, line, lines, count = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    shifts = [f.load(f.at(offsets, k, I64), I64) for k in range(size * size)]
    with f.loop(0, channels) as channel:
        here, there = f.at(x, channel.index * plane, type), f.at(to, channel.index * line, type)
        with f.loop(0, count, lanes) as place:
            read = [f.load(f.at(here, place.index + shift, type), wide) for shift in shifts]
            rows = [read[k : k + size] for k in range(0, size * size, size)]
            made = [value for row in _both_ways(form, rows) for value in row]
            for k, value in enumerate(made):
                f.store(f.at(there, lines * k + place.index, type), value)
    f.ret()
    return f


def _product(module: Module, type: Type, vectors: int) -> Function:
    """HEIGHT rows of one product over all channels, at some vectors of squares."""
    params = [("v", PTR), ("line", I64), ("channels", I64), ("w", PTR), ("to", PTR)]
    f = module.function(f"product_{vectors}", params)
    f.internal = True
    v, line, channels, w, to = f.params
    lanes, high = target.lanes(type), height(type)
    wide = type.vector(lanes)
    start = [f.constant(wide, 0.0)] * (high * vectors)
    with f.loop(0, channels, carried=[v, w, *start], at_least_once=True) as loop:
        across, weights, *sums = loop.carried
        read = [f.load(f.at(across, k * lanes, type), wide) for k in range(vectors)]
        for row in range(high):
            factor = f.splat(f.load(f.at(weights, row, type), type), lanes)
            for k in range(vectors):
                place = row * vectors + k
                sums[place] = f.fma(factor, read[k], sums[place])
        loop.next(f.at(across, line, type), f.at(weights, high, type), *sums)
    for place, value in enumerate(loop.results[2:]):
        f.store(f.at(to, place * lanes, type), value)
    f.ret()
    return f


def _join(module: Module, type: Type, vectors: int) -> Function:
    """Outputs of HEIGHT rows from their products, as lines of even and of odd rows."""
    params = [("m", PTR), ("bias", PTR), ("to", PTR), ("line", I64), ("checks", PTR)]
    f = module.function(f"join_{vectors}", params)
    f.internal = True
    m, bias, to, line, checks = f.params
    lanes, high = target.lanes(type), height(type)
    wide = type.vector(lanes)
    near = [p // 2 + p % 2 * lanes for p in range(lanes)]
    far = [p + lanes // 2 for p in near]
    checked = f.load(checks, wide)
    with f.loop(0, high, carried=[checked]) as row:
        (checked,) = row.carried
        added = f.splat(f.load(f.at(bias, row.index, type), type), lanes)
        for k in range(vectors):
            first = f.at(m, (row.index * vectors + k) * lanes, type)
            read = [
                f.load(f.at(first, n * high * vectors * lanes, type), wide) for n in range(PRODUCTS)
            ]
            made = _both_ways(_of_products, [read[n : n + 4] for n in range(0, PRODUCTS, 4)])
            for odd, pair in enumerate(made):
                a, b = (value + added for value in pair)
                checked = f.fma(a, 0.0, f.fma(b, 0.0, checked))
                there = f.at(to, (row.index * 2 + odd) * line + 2 * k * lanes, type)
                f.store(there, f.shuffle(a, b, near))
                f.store(f.at(there, lanes, type), f.shuffle(a, b, far))
        row.next(checked)
    f.store(checks, row.results[0])
    f.ret()
    return f


def _change_weights(module: Module, type: Type) -> None:
    f = module.function("change_weights", [("frame", PTR), ("chunk", I64)])
    c = words(f, CHANGE, ("w", "to"))
    lanes, size = target.lanes(type), c["size"]
    w = f.at(c["w"], f.params[1] * size * 9, type)
    to = f.at(c["to"], f.params[1] * size * PRODUCTS, type)
    with f.loop(0, size, lanes) as place:
        read = [f.load(f.at(w, size * k + place.index, type), type.vector(lanes)) for k in range(9)]
        made = _both_ways(_of_weights, [read[k : k + 3] for k in range(0, 9, 3)])
        for k, value in enumerate(value for row in made for value in row):
            f.store(f.at(to, size * k + place.index, type), value)
    f.ret()


def _end_weights(module: Module, type: Type) -> None:
    f = module.function("end_weights", [("frame", PTR), ("chunk", I64)])
    c = words(f, END, ("totals", "to"))
    lanes, size = target.lanes(type), c["size"]
    wide = type.vector(lanes)
    start = f.params[1] * c["part"]
    with f.loop(start, f.minimum(start + c["part"], size), lanes) as place:

        def sums(share: Value) -> list[Value]:
            first = f.at(c["totals"], share * PRODUCTS * size + place.index, type)
            return [f.load(f.at(first, size * k, type), wide) for k in range(PRODUCTS)]

        with f.loop(1, c["shares"], carried=sums(f.constant(I64, 0))) as share:
            more = sums(share.index)
            share.next(*[a + b for a, b in zip(share.carried, more, strict=True)])
        read = share.results
        made = _both_ways(_of_sums, [read[k : k + 4] for k in range(0, PRODUCTS, 4)])
        for k, value in enumerate(value for row in made for value in row):
            f.store(f.at(c["to"], size * k + place.index, type), value)
    f.ret()


# ---- the output ----------------------------------------------------------------------------------
def _correlate(module: Module, type: Type, gather: Function) -> None:
    changes = _change_all(module, type, "change_inputs", 4, _of_inputs)
    products = {vectors: _product(module, type, vectors) for vectors in WIDTHS}
    joins = {vectors: _join(module, type, vectors) for vectors in WIDTHS}
    leave = leave_rows(module, type)
    f = module.function("correlate_squares", [("frame", PTR), ("chunk", I64)])
    pointers = ("x", "w", "bias", "y", "checks", "flags", "memory", "phase_table", "offsets")
    c = words(f, CORRELATE, pointers)
    lanes, high = target.lanes(type), height(type)
    chunk = f.params[1]
    first, part = chunk // c["parts"] * c["block"], chunk % c["parts"]
    checks = f.at(c["checks"], chunk * lanes, type)
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    changed = f.at(memory, c["room"], type)
    made = f.at(changed, (c["channels"] * c["line"] + lanes) * PRODUCTS, type)
    lines = f.at(made, PRODUCTS * high * WIDTHS[0] * lanes, type)
    line = c["band_line"] * 2

    def read(image: Value) -> None:
        f.call(gather, [f.at(c["x"], find_sample(f, c, image, "x"), type), memory,
                        *[c[n] for n in ("channels", "channel_x", "plane")],
                        *[c[n] for n in GATHER]])  # fmt: skip

    def change(x: Value, to: Value, along: Value, count: Value) -> None:
        f.call(changes, [x, c["plane"], c["channels"], c["offsets"], to, along,
                         c["channels"] * along + lanes, count])  # fmt: skip

    def tiles(count: Value, before: Callable[[Value, Value], tuple[Value, Value]]) -> None:
        """All outputs of so many squares; `before` says where they lie, changed, and how far."""
        count = (count + (lanes - 1)) // lanes * lanes
        start = f.constant(I64, 0)
        for vectors in WIDTHS:
            size = f.constant(I64, vectors * lanes)
            stop = count - (count - start) % size
            with f.loop(start, stop, vectors * lanes) as place:
                here, along = before(place.index, size)
                with f.loop(0, c["padded"], high) as block:
                    with f.loop(0, PRODUCTS) as which:
                        number = block.index * PRODUCTS + which.index * high
                        f.call(products[vectors], [
                            f.at(here, which.index * (c["channels"] * along + lanes), type), along,
                            c["channels"], f.at(c["w"], number * c["channels"], type),
                            f.at(made, which.index * (size * high), type),
                        ])  # fmt: skip
                    to = f.at(lines, block.index * 2 * line + place.index * 2, type)
                    bias = f.at(c["bias"], block.index, type)
                    f.call(joins[vectors], [made, bias, to, line, checks])
            start = stop

    def write(image: Value, source: Value, top: Value, rows: Value) -> None:
        y = f.at(c["y"], find_sample(f, c, image, "y") + top * 2 * c["row_y"], type)
        for odd in (0, 1):
            there = f.minimum((c["high"] + (1 - odd)) // 2 - top, rows)
            f.call(leave, [
                f.at(source, line * odd, type), line * 2, c["pitch"] * 2,
                f.at(y, c["row_y"] * odd, type), c["channel_y"], c["row_y"] * 2,
                f.constant(I64, 1), c["rows"], there, c["wide"],
            ])  # fmt: skip

    def make_bands() -> list[Value]:
        read(first)
        count = (c["tall"] + c["band"] - 1) // c["band"]
        each = (count + c["parts"] - 1) // c["parts"]
        with f.loop(part * each, f.minimum((part + 1) * each, count)) as band:
            top = band.index * c["band"]
            rows = f.minimum(c["tall"] - top, c["band"])

            def before(place: Value, size: Value) -> tuple[Value, Value]:
                change(f.at(memory, top * c["pitch"] + place, type), changed, size, size)
                return changed, size

            tiles((rows - 1) * c["pitch"] + c["broad"], before)
            write(first, lines, top, rows)
        return []

    def join_samples() -> list[Value]:
        count = f.minimum(c["images"] - first, c["block"])
        each = (c["tall"] - 1) * c["pitch"] + c["broad"]
        with f.loop(0, count) as image:
            read(first + image.index)
            # What goes beyond a sample's squares is written again by the next one; beyond the last
            # one's there has to be something, up to a whole vector.
            change(memory, f.at(changed, image.index * each, type), c["line"], each + lanes)
        tiles(count * each, lambda place, _: (f.at(changed, place, type), c["line"]))
        with f.loop(0, count) as image:
            source = f.at(lines, image.index * each * 2, type)
            write(first + image.index, source, f.constant(I64, 0), c["tall"])
        return []

    f.choose(c["block"].eq(1), make_bands, join_samples)
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


# ---- the weights ---------------------------------------------------------------------------------
def _change_turned(module: Module, type: Type) -> Function:
    """What `change_inputs` makes, of channels that lie side by side: (16, squares, channels).

    A square's taps begin `shifts` behind it, in channels; `lines` is from product to product.
    """
    params = [
        ("x", PTR), ("pitch", I64), ("padded", I64), ("shifts", PTR), ("to", PTR), ("lines", I64),
        ("rows", I64), ("columns", I64),
    ]  # fmt: skip
    f = module.function("change_turned", params)
    f.internal = True
    x, pitch, padded, shifts, to, lines, rows, columns = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    moved = [f.load(f.at(shifts, k, I64), I64) * padded for k in range(PRODUCTS)]
    with f.loop(0, rows) as row, f.loop(0, columns) as column:
        here = f.at(x, (row.index * pitch + column.index) * padded, type)
        there = f.at(to, (row.index * columns + column.index) * padded, type)
        with f.loop(0, padded, lanes) as place:
            read = [f.load(f.at(here, place.index + shift, type), wide) for shift in moved]
            square = [read[k : k + 4] for k in range(0, PRODUCTS, 4)]
            made = [value for line in _both_ways(_of_inputs, square) for value in line]
            for k, value in enumerate(made):
                f.store(f.at(there, lines * k + place.index, type), value)
    f.ret()
    return f


def _sum_squares(module: Module, type: Type, vectors: int) -> Function:
    """Adds to HEIGHT rows of sums for some vectors of channels what some squares make."""
    params = [
        ("x", PTR), ("padded", I64), ("g", PTR), ("line", I64), ("count", I64), ("totals", PTR),
    ]  # fmt: skip
    f = module.function(f"sum_squares_{vectors}", params)
    f.internal = True
    x, padded, g, line, count, totals = f.params
    lanes, high = target.lanes(type), height(type)
    wide = type.vector(lanes)
    slopes = [f.at(g, line * row, type) for row in range(high)]
    start = [f.constant(wide, 0.0)] * (high * vectors)
    with f.loop(0, count, carried=[x, *start], at_least_once=True) as loop:
        across, *sums = loop.carried
        read = [f.load(f.at(across, k * lanes, type), wide) for k in range(vectors)]
        for row in range(high):
            factor = f.splat(f.load(f.at(slopes[row], loop.index, type), type), lanes)
            for k in range(vectors):
                place = row * vectors + k
                sums[place] = f.fma(factor, read[k], sums[place])
        loop.next(f.at(across, padded, type), *sums)
    _, *sums = loop.results
    for row in range(high):
        for k in range(vectors):
            there = f.at(totals, padded * row + k * lanes, type)
            f.store(there, f.load(there, wide) + sums[row * vectors + k])
    f.ret()
    return f


def _weigh(module: Module, type: Type, gather: Function) -> None:
    inputs = _change_turned(module, type)
    slopes = _change_all(module, type, "change_slopes", 2, _of_slopes)
    sums = {vectors: _sum_squares(module, type, vectors) for vectors in WIDTHS}
    turned = emit_transpose(module, type)
    lanes, high = target.lanes(type), height(type)
    f = module.function("weigh_squares", [("frame", PTR), ("chunk", I64)])
    pointers = (
        "x", "g", "totals", "flags", "memory", "phase_table", "offsets", "table_g", "offsets_g",
    )  # fmt: skip
    c = words(f, WEIGH, pointers)
    share, run = f.params[1] // c["runs"], f.params[1] % c["runs"]
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    aside = f.at(memory, c["room"], type)
    planes = f.at(aside, c["room_turned"], type)
    x = f.at(planes, c["room_g"], type)
    lines = c["squares"] * c["padded"] + lanes  # see Note [Cache sets]
    g = f.at(x, lines * PRODUCTS, type)
    first = share * c["share"]
    last = f.minimum(first + c["share"], c["images"])
    top = run * c["run"] * high
    bottom = f.minimum(top + c["run"] * high, c["padded_rows"])
    real = f.minimum(bottom, c["rows"]) - top
    whole = c["run"] * high * c["line"] + lanes  # from product to product of the slopes
    with (
        f.loop(first, last, c["block"]) as block,
        f.loop(0, c["tall"], c["band"]) as band,
    ):
        count = f.minimum(last - block.index, c["block"])
        rows = f.minimum(c["tall"] - band.index, c["band"])
        size = rows * c["broad"]
        with f.loop(0, count) as image:
            number, at = block.index + image.index, image.index * size
            with f.when(band.index.eq(0)):  # there are several of images or of bands, not of both
                f.call(gather, [
                    f.at(c["x"], find_sample(f, c, number, "x"), type), memory, c["channels"],
                    c["channel_x"], c["plane"], *[c[n] for n in GATHER],
                ])  # fmt: skip
                f.call(turned, [memory, c["plane"], aside, c["padded"], c["channels"], c["plane"]])
                source = find_sample(f, c, number, "g") + top * c["channel_g"]
                f.call(gather, [
                    f.at(c["g"], source, type), planes, real, c["channel_g"], c["plane_g"],
                    c["phases_g"], c["table_g"], c["broad"], c["step_row_g"], c["step_column_g"],
                ])  # fmt: skip
            f.call(inputs, [
                f.at(aside, band.index * c["pitch"] * c["padded"], type), c["pitch"], c["padded"],
                c["offsets"], f.at(x, at * c["padded"], type), lines, rows, c["broad"],
            ])  # fmt: skip
            f.call(slopes, [
                f.at(planes, band.index * c["broad"], type), c["plane_g"], real, c["offsets_g"],
                f.at(g, at, type), c["line"], whole, size,
            ])  # fmt: skip
        with f.loop(0, PRODUCTS) as which:
            to = f.at(
                c["totals"],
                ((share * PRODUCTS + which.index) * c["padded_rows"] + top) * c["padded"], type,
            )  # fmt: skip
            start = f.constant(I64, 0)
            for vectors in WIDTHS:
                stop = c["padded"] - (c["padded"] - start) % (vectors * lanes)
                with (
                    f.loop(start, stop, vectors * lanes) as column,
                    f.loop(0, bottom - top, high) as row,
                ):
                    f.call(sums[vectors], [
                        f.at(x, which.index * lines + column.index, type), c["padded"],
                        f.at(g, which.index * whole + row.index * c["line"], type), c["line"],
                        count * size, f.at(to, row.index * c["padded"] + column.index, type),
                    ])  # fmt: skip
                start = stop
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()
