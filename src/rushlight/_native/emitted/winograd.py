"""Convolutions with small kernels from sums and differences, which take fewer products.

    addresses = winograd.load(F32, 3)   # correlate_squares, weigh_squares, …: void (frame, chunk)

Note [Sums and differences]
Two neighbouring outputs along a row, y0 = x0 w0 + x1 w1 + x2 w2 and y1 = x1 w0 + x2 w1 + x3 w2,
are sums of four products instead of six (Winograd, "Arithmetic complexity of computations", 1980):

    d = (x0 - x2, x1 + x2, x2 - x1, x1 - x3)
    u = (w0, (w0 + w1 + w2) / 2, (w0 - w1 + w2) / 2, w2)
    m = d u;   y0 = m0 + m1 + m2;   y1 = m1 - m2 - m3

and with two weights, y0 = x0 w0 + x1 w1 and y1 = x1 w0 + x2 w1, of three instead of four:

    d = (x0 - x1, x1, x2 - x1);   u = (w0, w0 + w1, w1);   y0 = m0 + m1;   y1 = m1 + m2

In two dimensions along both, which makes squares of 2 by 2 outputs from 16 products instead of 36,
or from 9 instead of 16. The three steps are linear in x, w and y, so the gradient of w is their
transpose. An output has terms of its own window only, as it should: m0, m1 and m2 have no x3.
Products are rounded relative to the largest of a window and not to each term, and an infinity may
become a NaN; so whoever calls this looks at `checks`, which are NaN where any output isn't finite.

Each of the products is one of matrices: squares by channels, and channels by rows, which are the
outputs' channels. For that samples are turned around, so that their channels lie side by side; and
so are what the rows make of them. The gradient for w sums over squares in the same loops.

Note [Windows]
With a stride of two a kernel of 4 by 4 is four of 2 by 2, each over every second element: a channel
has four windows, which are summed as four channels are. Its transpose makes four outputs, each with
a kernel of 2 by 2 and a window of its own. A kernel of bodies has a window in each plane it meets.
Where channels lie side by side a window is a table of 9 or 16 places, whatever its stride.

Note [Cache sets]
The sums of a square go to places as far from each other. A vector more than a round number between
them keeps these from being the same few places of the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

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

#: Vectors of a tile; narrower ones follow where columns end.
WIDTHS: Final = (3, 2, 1)
#: Samples, and how they are cut: from `padded` channels side by side, with `windows` of each, in
#: `tall` rows of `broad` squares, which begin `step` elements apart.
_SAMPLES = (
    *INNER, "next_x", "channel_x", "channels", "plane", *GATHER, "padded", "windows", "offsets",
    "step", "tall", "broad",
)  # fmt: skip
#: The words of a frame of `correlate`, 8 bytes each; steps are in elements. A chunk is `block`
#: samples or one of `parts` of a sample. Of these `band` rows of squares are made at a time, up to
#: `squares` in all. `blocks` are the rows' vectors.
CORRELATE = (
    "x", "w", "bias", "y", "checks", "flags", "memory", "slot", "room", "room_turned", "slots",
    "parts", "images", "block", *_SAMPLES, "rows", "blocks", "next_y", "channel_y", "row_y",
    "column_y", "outputs", "output_table", "band", "squares",
)  # fmt: skip
#: The words that describe one output of `correlate`: its first element, its rows and columns.
OUTPUT = ("start", "high", "wide")
#: The words of a frame of `change_weights`: a chunk is one block of rows, of `size` elements each.
CHANGE = ("w", "to", "size")
#: The words of a frame of `end_weights`: from (shares, products, size) to (weights, size), `part`
#: in a chunk.
END = ("totals", "to", "size", "shares", "part")
#: The words of a frame of `find_unlimited`: of `part` elements of `size` in a chunk, a vector of
#: `to` that is zeros where all are finite.
FIND = ("x", "to", "size", "part")
#: The words of a frame of `find_hidden`: a number that isn't 0 where more than one in 4,096 of
#: `size` weights is 0, so that it may be meant. `to` has room for a vector.
HIDDEN = ("w", "to", "size")
#: The words of a frame of `weigh`: a chunk is a share of the samples, and `run` tiles of the rows.
#: Of `block` samples `band` rows of squares are changed at a time, up to `squares` in all, whose
#: slopes are in lines of `line`.
WEIGH = (
    "x", "g", "totals", "flags", "memory", "slot", "room", "room_turned", "room_g", "slots",
    "images", "share", "block", "runs", "run", *_SAMPLES, "next_g", "channel_g", "plane_g",
    "phases_g", "table_g", "step_row_g", "step_column_g", "offsets_g", "rows", "padded_rows",
    "band", "squares", "line",
)  # fmt: skip
Form = Callable[[list[Value]], list[Value]]


def products(taps: int) -> int:
    """How many products a square takes, where a kernel has `taps` weights along a row."""
    return (taps + 1) ** 2


@cache
def load(type: Type, taps: int) -> dict[str, int]:
    """The addresses of all functions for float32 or float64, and 2 or 3 weights along a row."""
    return engine.load_made(emit, type, taps)


def emit(type: Type, taps: int) -> Module:
    """The module with the two products, and what they need before and after."""
    module = Module(f"winograd_{taps}")
    forms = _FORMS[taps]
    parts = _Parts(
        gather_into(module, type),
        emit_transpose(module, type),
        _change_inputs(module, type, forms.inputs, taps + 1),
        {vectors: _add_products(module, type, vectors) for vectors in WIDTHS},
    )
    _change_weights(module, type, forms.weights, taps)
    _correlate(module, type, forms.products, taps, parts)
    _weigh(module, type, forms.slopes, taps, parts)
    _end_weights(module, type, forms.sums, taps)
    _find_unlimited(module, type)
    _find_hidden(module, type)
    return module


def _find_unlimited(module: Module, type: Type) -> None:
    f = module.function("find_unlimited", [("frame", PTR), ("chunk", I64)])
    c = words(f, FIND, ("x", "to"))
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    start = f.params[1] * c["part"]
    end = f.minimum(start + c["part"], c["size"])
    with f.loop(start, end, lanes, carried=[f.constant(wide, 0.0)]) as loop:
        mask = f.mask(f.minimum(end - loop.index, lanes), lanes)
        x = f.load_masked(f.at(c["x"], loop.index, type), wide, mask)
        loop.next(loop.carried[0] + (x - x))
    f.store(f.at(c["to"], f.params[1] * lanes, type), loop.results[0])
    f.ret()


def _find_hidden(module: Module, type: Type) -> None:
    f = module.function("find_hidden", [("frame", PTR), ("chunk", I64)])
    c = words(f, HIDDEN, ("w", "to"))
    lanes, size = target.lanes(type), c["size"]
    wide, zero = type.vector(lanes), f.constant(type, 0.0)
    none = f.constant(wide, 0.0)
    with f.loop(0, size, lanes, carried=[none]) as loop:
        mask = f.mask(f.minimum(size - loop.index, lanes), lanes)
        w = f.load_masked(f.at(c["w"], loop.index, type), wide, mask, 1)
        loop.next(loop.carried[0] + f.select(w.eq(0.0), f.constant(wide, 1.0), none))
    f.store(c["to"], loop.results[0])
    with f.loop(0, lanes, carried=[zero]) as lane:
        lane.next(lane.carried[0] + f.load(f.at(c["to"], lane.index, type), type))
    many = lane.results[0] * 4096.0 > f.cast(size, type)
    f.store(c["to"], none)
    f.store(c["to"], f.select(many, f.constant(type, 1.0), zero))
    f.ret()


# ---- sums and differences ------------------------------------------------------------------------
class _Forms(NamedTuple):
    """What is done along a row before the products and after them."""

    inputs: Form
    slopes: Form
    weights: Form
    products: Form  # what outputs are made of
    sums: Form  # what the weights' gradients are made of


def _weights_of_three(w: list[Value]) -> list[Value]:
    ends, middle = (w[0] + w[2]) * 0.5, w[1] * 0.5
    return [w[0], ends + middle, ends - middle, w[2]]


def _sums_of_three(m: list[Value]) -> list[Value]:
    both = (m[1] + m[2]) * 0.5
    return [m[0] + both, (m[1] - m[2]) * 0.5, m[3] + both]


def _negative(value: Value) -> Value:
    return value.function.constant(value.type, 0.0) - value


_FORMS: Final = {
    2: _Forms(
        inputs=lambda x: [x[0] - x[1], x[1], x[2] - x[1]],
        slopes=lambda y: [y[0], y[0] + y[1], y[1]],
        weights=lambda w: [w[0], w[0] + w[1], w[1]],
        products=lambda m: [m[0] + m[1], m[1] + m[2]],
        sums=lambda m: [m[0] + m[1], m[1] + m[2]],
    ),
    3: _Forms(
        inputs=lambda x: [x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3]],
        slopes=lambda y: [y[0], y[0] + y[1], y[0] - y[1], _negative(y[1])],
        weights=_weights_of_three,
        products=lambda m: [m[0] + m[1] + m[2], m[1] - m[2] - m[3]],
        sums=_sums_of_three,
    ),
}


def _both_ways(form: Form, size: int, values: list[Value]) -> list[Value]:
    """A form along each row of a square of `size` by `size`, then along the columns; by rows."""
    across = [form(values[k : k + size]) for k in range(0, size * size, size)]
    down = [form(list(column)) for column in zip(*across, strict=True)]
    return [value for row in zip(*down, strict=True) for value in row]


def _change_inputs(module: Module, type: Type, form: Form, size: int) -> Function:
    """The sums and differences of some squares, of channels that lie side by side: (products,
    squares, windows, channels).

    A window's elements begin at its `offsets`, in channels; `lines` is from product to product of
    what is written.
    """
    params = [
        ("x", PTR), ("pitch", I64), ("step", I64), ("padded", I64), ("windows", I64),
        ("offsets", PTR), ("to", PTR), ("lines", I64), ("rows", I64), ("columns", I64),
    ]  # fmt: skip
    f = module.function("change_inputs", params)
    f.internal = True
    x, pitch, step, padded, windows, offsets, to, lines, rows, columns = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    with f.loop(0, windows) as window:
        first = f.at(offsets, window.index * size * size, I64)
        moved = [f.load(f.at(first, k, I64), I64) * padded for k in range(size * size)]
        with f.loop(0, rows) as row, f.loop(0, columns) as column:
            here = f.at(x, (row.index * pitch + column.index) * step * padded, type)
            place = (row.index * columns + column.index) * windows + window.index
            there = f.at(to, place * padded, type)
            with f.loop(0, padded, lanes) as channel:
                read = [f.load(f.at(here, channel.index + shift, type), wide) for shift in moved]
                for k, value in enumerate(_both_ways(form, size, read)):
                    f.store(f.at(there, lines * k + channel.index, type), value)
    f.ret()
    return f


class _Parts(NamedTuple):
    """What outputs and weights' gradients have in common."""

    gather: Function
    turn: Function
    changes: Function
    sums: dict[int, Function]

    def read(
        self, f: Function, c: dict[str, Value], type: Type, number: Value, memory: Value, to: Value
    ) -> None:
        """Copies a sample among zeros, and from there with its channels side by side."""
        f.call(self.gather, [
            f.at(c["x"], find_sample(f, c, number, "x"), type), memory, c["channels"],
            c["channel_x"], c["plane"], *[c[n] for n in GATHER],
        ])  # fmt: skip
        f.call(self.turn, [memory, c["plane"], to, c["padded"], c["channels"], c["plane"]])


def _add_products(module: Module, type: Type, vectors: int) -> Function:
    """Adds to HEIGHT rows of some vectors what `count` factors of each row make of as many lines,
    which are `line_x` from each other, and their vectors `next_x`."""
    params = [
        ("x", PTR), ("line_x", I64), ("next_x", I64), ("factors", PTR), ("line", I64),
        ("count", I64), ("totals", PTR), ("line_to", I64),
    ]  # fmt: skip
    f = module.function(f"add_products_{vectors}", params)
    f.internal = True
    x, line_x, next_x, factors, line, count, totals, line_to = f.params
    lanes, high = target.lanes(type), height(type)
    wide = type.vector(lanes)
    rows = [f.at(factors, line * row, type) for row in range(high)]
    start = [f.constant(wide, 0.0)] * (high * vectors)
    with f.loop(0, count, carried=[x, *start], at_least_once=True) as loop:
        across, *sums = loop.carried
        read = [f.load(f.at(across, next_x * k, type), wide) for k in range(vectors)]
        for row in range(high):
            factor = f.splat(f.load(f.at(rows[row], loop.index, type), type), lanes)
            for k in range(vectors):
                place = row * vectors + k
                sums[place] = f.fma(factor, read[k], sums[place])
        loop.next(f.at(across, line_x, type), *sums)
    _, *sums = loop.results
    for row in range(high):
        for k in range(vectors):
            there = f.at(totals, line_to * row + k * lanes, type)
            f.store(there, f.load(there, wide) + sums[row * vectors + k])
    f.ret()
    return f


def _change_weights(module: Module, type: Type, form: Form, taps: int) -> None:
    f = module.function("change_weights", [("frame", PTR), ("chunk", I64)])
    c = words(f, CHANGE, ("w", "to"))
    lanes, size = target.lanes(type), c["size"]
    wide = type.vector(lanes)
    w = f.at(c["w"], f.params[1] * size * taps**2, type)
    to = f.at(c["to"], f.params[1] * size * products(taps), type)
    with f.loop(0, size, lanes) as place:
        read = [f.load(f.at(w, size * k + place.index, type), wide) for k in range(taps**2)]
        for k, value in enumerate(_both_ways(form, taps, read)):
            f.store(f.at(to, size * k + place.index, type), value)
    f.ret()


def _end_weights(module: Module, type: Type, form: Form, taps: int) -> None:
    f = module.function("end_weights", [("frame", PTR), ("chunk", I64)])
    c = words(f, END, ("totals", "to"))
    lanes, size, count = target.lanes(type), c["size"], products(taps)
    wide = type.vector(lanes)
    start = f.params[1] * c["part"]
    with f.loop(start, f.minimum(start + c["part"], size), lanes) as place:

        def sums(share: Value) -> list[Value]:
            first = f.at(c["totals"], share * count * size + place.index, type)
            return [f.load(f.at(first, size * k, type), wide) for k in range(count)]

        with f.loop(1, c["shares"], carried=sums(f.constant(I64, 0))) as share:
            more = sums(share.index)
            share.next(*[a + b for a, b in zip(share.carried, more, strict=True)])
        for k, value in enumerate(_both_ways(form, taps + 1, share.results)):
            f.store(f.at(c["to"], size * k + place.index, type), value)
    f.ret()


# ---- the output ----------------------------------------------------------------------------------
def _join(module: Module, type: Type, form: Form, taps: int) -> Function:
    """Outputs of some squares from their products, turned back: (rows, all places in order)."""
    params = [
        ("m", PTR), ("lines", I64), ("bias", PTR), ("blocks", I64), ("to", PTR), ("line", I64),
        ("tall", I64), ("broad", I64), ("checks", PTR),
    ]  # fmt: skip
    f = module.function("join", params)
    f.internal = True
    m, lines, bias, blocks, to, line, tall, broad, checks = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    with f.loop(0, tall) as row, f.loop(0, broad) as column:
        square = f.at(m, (row.index * broad + column.index) * line, type)
        place = f.at(to, (row.index * broad * 4 + column.index * 2) * line, type)
        with f.loop(0, blocks, carried=[f.load(checks, wide)]) as block:
            (checked,) = block.carried
            across = block.index * lanes
            read = [
                f.load(f.at(square, lines * k + across, type), wide) for k in range(products(taps))
            ]
            added = f.load(f.at(bias, across, type), wide)
            for k, value in enumerate(_both_ways(form, taps + 1, read)):
                made = value + added
                checked = f.fma(made, 0.0, checked)
                shift = (broad * (2 * (k // 2)) + k % 2) * line
                f.store(f.at(place, shift + across, type), made)
            block.next(checked)
        f.store(checks, block.results[0])
    f.ret()
    return f


def _correlate(module: Module, type: Type, form: Form, taps: int, parts: _Parts) -> None:
    joins = _join(module, type, form, taps)
    leave = leave_rows(module, type)
    f = module.function("correlate_squares", [("frame", PTR), ("chunk", I64)])
    pointers = (
        "x", "w", "bias", "y", "checks", "flags", "memory", "phase_table", "offsets",
        "output_table",
    )  # fmt: skip
    c = words(f, CORRELATE, pointers)
    lanes, high, size = target.lanes(type), height(type), products(taps)
    chunk = f.params[1]
    first, part = chunk // c["parts"] * c["block"], chunk % c["parts"]
    images = f.minimum(c["images"] - first, c["block"])
    bands = (c["tall"] + c["band"] - 1) // c["band"]
    each = (bands + c["parts"] - 1) // c["parts"]
    checks = f.at(c["checks"], chunk * lanes, type)
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    turned = f.at(memory, c["room"], type)
    x = f.at(turned, c["block"] * c["room_turned"], type)
    depth, line = c["padded"] * c["windows"], c["blocks"] * lanes
    space_x, space = c["squares"] * depth + lanes, c["squares"] * line + lanes
    made = f.at(x, space_x * size, type)
    outputs = f.at(made, space * size, type)
    with f.loop(0, images) as image:
        to = f.at(turned, image.index * c["room_turned"], type)
        parts.read(f, c, type, first + image.index, memory, to)
    with (
        f.loop(0, c["outputs"]) as output,
        f.loop(part * each, f.minimum((part + 1) * each, bands)) as band,
    ):
        top = band.index * c["band"]
        rows = f.minimum(c["tall"] - top, c["band"])
        some = rows * c["broad"]  # squares of a sample
        offsets = f.at(c["offsets"], output.index * c["windows"] * size, I64)
        with f.loop(0, images) as image:
            here = image.index * c["room_turned"] + top * c["pitch"] * c["step"] * c["padded"]
            f.call(parts.changes, [
                f.at(turned, here, type), c["pitch"], c["step"], c["padded"], c["windows"],
                offsets, f.at(x, image.index * some * depth, type), space_x, rows, c["broad"],
            ])  # fmt: skip
        with f.loop(0, size * space, lanes) as place:
            f.store(f.at(made, place.index, type), f.constant(type.vector(lanes), 0.0))
        with f.loop(0, size) as which:
            start = f.constant(I64, 0)
            for vectors in WIDTHS:
                stop = c["blocks"] - (c["blocks"] - start) % vectors
                with (
                    f.loop(start, stop, vectors) as block,
                    f.loop(0, images * some, high) as square,
                ):
                    number = (output.index * c["blocks"] + block.index) * size + which.index
                    f.call(parts.sums[vectors], [
                        f.at(c["w"], number * depth * lanes, type), f.constant(I64, lanes),
                        depth * (size * lanes),
                        f.at(x, which.index * space_x + square.index * depth, type), depth, depth,
                        f.at(made, which.index * space + square.index * line + block.index * lanes,
                             type), line,
                    ])  # fmt: skip
                start = stop
        y_start, y_high, y_wide = (
            f.load(f.at(c["output_table"], output.index * len(OUTPUT) + k, I64), I64)
            for k in range(len(OUTPUT))
        )
        with f.loop(0, images) as image:
            f.call(joins, [
                f.at(made, image.index * some * line, type), space, c["bias"], c["blocks"],
                outputs, line, rows, c["broad"], checks,
            ])  # fmt: skip
            back = f.at(outputs, some * 4 * line, type)
            f.call(parts.turn, [outputs, line, back, some * 4, some * 4, c["rows"]])
            to = find_sample(f, c, first + image.index, "y") + y_start + top * 2 * c["row_y"]
            f.call(leave, [
                back, some * 4, c["broad"] * 2, f.at(c["y"], to, type), c["channel_y"], c["row_y"],
                c["column_y"], c["rows"], f.minimum(y_high - top * 2, rows * 2), y_wide,
            ])  # fmt: skip
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


# ---- the weights ---------------------------------------------------------------------------------
def _change_slopes(module: Module, type: Type, form: Form) -> Function:
    """What some squares of slopes make, in lines: (products, rows, squares).

    `line` is from row to row and `lines` from product to product of what is written.
    """
    params = [
        ("g", PTR), ("plane", I64), ("rows", I64), ("offsets", PTR), ("to", PTR), ("line", I64),
        ("lines", I64), ("count", I64),
    ]  # fmt: skip
    f = module.function("change_slopes", params)
    f.internal = True
    g, plane, rows, offsets, to, line, lines, count = f.params
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    shifts = [f.load(f.at(offsets, k, I64), I64) for k in range(4)]
    with f.loop(0, rows) as row:
        here, there = f.at(g, row.index * plane, type), f.at(to, row.index * line, type)
        with f.loop(0, count, lanes) as place:
            read = [f.load(f.at(here, place.index + shift, type), wide) for shift in shifts]
            for k, value in enumerate(_both_ways(form, 2, read)):
                f.store(f.at(there, lines * k + place.index, type), value)
    f.ret()
    return f


def _weigh(module: Module, type: Type, form: Form, taps: int, parts: _Parts) -> None:
    slopes = _change_slopes(module, type, form)
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
    depth = c["padded"] * c["windows"]
    lines = c["squares"] * depth + lanes  # see Note [Cache sets]
    g = f.at(x, lines * products(taps), type)
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
                parts.read(f, c, type, number, memory, aside)
                source = find_sample(f, c, number, "g") + top * c["channel_g"]
                f.call(parts.gather, [
                    f.at(c["g"], source, type), planes, real, c["channel_g"], c["plane_g"],
                    c["phases_g"], c["table_g"], c["broad"], c["step_row_g"], c["step_column_g"],
                ])  # fmt: skip
            here = band.index * c["pitch"] * c["step"] * c["padded"]
            f.call(parts.changes, [
                f.at(aside, here, type), c["pitch"], c["step"], c["padded"], c["windows"],
                c["offsets"], f.at(x, at * depth, type), lines, rows, c["broad"],
            ])  # fmt: skip
            f.call(slopes, [
                f.at(planes, band.index * c["broad"], type), c["plane_g"], real, c["offsets_g"],
                f.at(g, at, type), c["line"], whole, size,
            ])  # fmt: skip
        with f.loop(0, products(taps)) as which:
            number = share * products(taps) + which.index
            to = f.at(c["totals"], (number * c["padded_rows"] + top) * depth, type)
            start = f.constant(I64, 0)
            for vectors in WIDTHS:
                stop = depth - (depth - start) % (vectors * lanes)
                with (
                    f.loop(start, stop, vectors * lanes) as column,
                    f.loop(0, bottom - top, high) as row,
                ):
                    f.call(parts.sums[vectors], [
                        f.at(x, which.index * lines + column.index, type), depth,
                        f.constant(I64, lanes),
                        f.at(g, which.index * whole + row.index * c["line"], type), c["line"],
                        count * size, f.at(to, row.index * depth + column.index, type), depth,
                    ])  # fmt: skip
                start = stop
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()
