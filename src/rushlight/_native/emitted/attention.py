"""Attention and its gradients, a block of rows at a time: scores, their softmax, and products.

    addresses = attention.load(F32)   # attend, attend_back, join_parts: void (frame, chunk)

Queries are (outer, inner, shared, rows, size): `shared` heads of queries look at the same keys, of
which there are (outer, inner). Elements of a row lie side by side, all else has strides.

Note [Blocks of scores]
Scores never leave the caches: those of some rows are made, weighed and used before the next ones
are. Keys are turned around once, so that they lie in the lanes of vectors. Of causal attention a
block of rows leaves out the keys that none of them sees; so blocks of these are small.
Backwards the weights come anew from the logarithms of their sums. A block of keys, which fits the
caches beside the scores, meets all rows from the last to the first: the last ones see every key
that is seen at all and begin the sums, to which the others add.

Note [Parts of attention]
Where heads are few, a chunk has a part of the rows, or backwards of the keys; then each part has
gradients of the queries of its own, which are added at last. Sizes alone say how many, so results
don't depend on threads.

Note [The next head]
Backwards a short head is eight arrays in pieces of a row, which have left the caches since they
were made, and no processor foresees the pieces. So the same rows are asked for of the head that
this thread will probably have next, while this one is computed. Nothing is read there: addresses
behind the last head do no harm.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import F64, I1, I32, I64, PTR, VOID, Function, Module, Type, Value
from ..math import functions as mathematics
from .convolution import emit_claim, words
from .gemm import emit_panels
from .lines import Places, copy_line, each_vector, fold_vectors
from .transpose import emit_transpose

MOST = 64  # rows of a block
_FEW = 4  # rows from which it pays to turn keys around
_SHORT = 128  # rows of heads up to which those of the next one are fetched
_FAR = 1024  # bytes from row to row from which they are copied
_LOWEST = -3e38  # what is taken away from masked scores that are all -inf
#: Kinds of masks: bools that say what is seen, or numbers to add.
BOOLS, NUMBERS = 1, 2

_SIZES = ("flags", "memory", "slot", "slots", "inner", "shared", "rows", "keys", "size", "width",
          "scale", "causal", "kind", "parts", "part", "block", "line")  # fmt: skip


def _strides(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{of}" for of in ("outer", "inner", "shared", "row"))


def _names(*arrays: str) -> tuple[str, ...]:
    return (
        *arrays,
        *_SIZES,
        *[word for name in arrays if name != "logs" for word in _strides(name)],
    )


#: The words of the frame of `attend`, 8 bytes each: arrays, sizes, and the elements from one head
#: or row to the next. `scale` are the bits of a double, `line` is the length of a line of scores.
FORWARD = _names("q", "k", "v", "out", "mask", "logs")
#: Those of `attend_back`: `several` keys at a time; `share` elements from the `dq` of a part to the
#: next.
_ALL = ("g", "q", "k", "v", "out", "dq", "dk", "dv", "mask", "logs")
BACKWARD = (*_names(*_ALL), "several", "share")
#: Those of `join_parts`: for each head the sum of the parts' gradients, which lie in order.
JOIN = ("source", "dq", "parts", "share", "inner", "shared", "rows", "size", *_strides("dq"))


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses for float32 or float64."""
    return engine.load_made(emit, type)


def emit(type: Type) -> Module:
    """The module with `attend`, `attend_back` and `join_parts`."""
    module = Module("attention")
    product = _product(module, type)
    turned = emit_transpose(module, type)
    hide = _hide(module, type)
    _attend(module, type, product, turned, hide)
    _attend_back(module, type, product, turned, hide)
    _join(module, type)
    return module


def _product(module: Module, type: Type) -> Function:
    """C = alpha A B + beta C, by panels of columns; rows of B and C lie in order."""
    panels = emit_panels(module, type)
    names = ("m", "n", "k", "rsa", "csa", "rsb", "rsc")
    params = [("a", PTR), ("b", PTR), ("c", PTR), *[(name, I64) for name in names]]
    f = module.function("product", [*params, ("alpha", type), ("beta", type)])
    f.internal = True
    a, b, c, m, n, k, rsa, csa, rsb, rsc, alpha, beta = f.params
    lanes = target.lanes(type)
    start = f.constant(I64, 0)
    for place, (vectors, panel) in enumerate(panels):
        step = vectors * lanes
        stop = n if place == len(panels) - 1 else n - (n - start) % step
        with f.loop(start, stop, step) as loop:
            columns = f.minimum(n - loop.index, step)
            f.call(panel, [
                a, f.at(b, loop.index, type), f.at(c, loop.index, type), m, columns, k, rsa, csa,
                rsb, rsc, alpha, beta, f.constant(PTR, 0), f.constant(type, -float("inf")),
            ])  # fmt: skip
        start = stop
    f.ret()
    return f


def _dots(module: Module, type: Type) -> Function:
    """A line of scores of keys as they lie."""
    params = [("q", PTR), ("k", PTR), ("step", I64), ("count", I64), ("size", I64), ("line", PTR)]
    f = module.function("dots", [*params, ("scale", type)])
    f.internal = True
    q, k, step, count, size, line, scale = f.params
    zero = f.constant(type.vector(target.lanes(type)), 0.0)
    with f.loop(0, count) as key:
        row = f.at(k, key.index * step, type)

        def add(total: Value, at: Places, row: Value = row) -> Value:
            return f.fma(at.load(q), at.load(row), total)

        (total,) = fold_vectors(f, type, size, add, [zero])
        total = f.fold(total, lambda a, b: a + b)
        f.store(f.at(line, key.index, type), total * scale)
    f.ret()
    return f


def _hide(module: Module, type: Type) -> Function:
    """A line of scores with its mask: added, or -inf where bools say no."""
    f = module.function("hide", [("line", PTR), ("mask", PTR), ("kind", I64), ("count", I64)])
    f.internal = True
    line, mask, kind, count = f.params
    lanes = target.lanes(type)

    def hide_bools(at: Places) -> None:
        place = f.at(mask, at.start, I1)
        wide = I1.vector(lanes)
        seen = f.load(place, wide) if at.mask is None else f.load_masked(place, wide, at.mask)
        at.store(line, f.select(seen, at.load(line), -float("inf")))

    def bools() -> list[Value]:
        each_vector(f, type, count, hide_bools)
        return []

    def numbers() -> list[Value]:
        each_vector(f, type, count, lambda at: at.store(line, at.load(line) + at.load(mask)))
        return []

    f.choose(kind.eq(BOOLS), bools, numbers)
    f.ret()
    return f


class _Call:
    """What the functions of a module share while they are emitted: the frame, and one head."""

    def __init__(
        self, f: Function, type: Type, names: tuple[str, ...], arrays: tuple[str, ...]
    ) -> None:
        self.f, self.type = f, type
        self.lanes = target.lanes(type)
        self.wide = type.vector(self.lanes)
        self.names = arrays
        self.c = words(f, names, (*self.names, "flags", "memory"))
        self.one, self.zero = f.constant(type, 1.0), f.constant(type, 0.0)

    def scale(self) -> Value:
        """The factor of the scores."""
        return self.f.cast(self.f.bits(self.c["scale"], F64), self.type)

    def bases(self, group: Value, head: Value) -> dict[str, Value]:
        """Where a head of queries, and its keys, begin in each array."""
        f, c, found = self.f, self.c, {}
        outer, inner = group // c["inner"], group % c["inner"]
        for name in self.names:
            if name == "logs":
                place = (group * c["shared"] + head) * c["rows"]
            else:
                place = outer * c[f"{name}_outer"] + inner * c[f"{name}_inner"]
                place = place + head * c[f"{name}_shared"]
            if name == "mask":  # of bytes, where it has bools
                size = f.select(c["kind"].eq(BOOLS), f.constant(I64, 1), self.type.size)
                found[name] = f.at_bytes(c[name], place * size)
            else:
                found[name] = f.at(c[name], place, self.type)
        return found

    def row(self, base: Value, name: str, row: Value) -> Value:
        """A row of an array."""
        return self.f.at(base, row * self.c[f"{name}_row"], self.type)

    def near(self, base: Value, name: str, first: Value, count: Value, width: Value,
             room: Value, often: Value | bool = True) -> list[Value]:  # fmt: skip
        """Some rows of an array, and the elements from one to the next: in the room, if they are
        far apart, where many would share few places of a cache, and are read `often`."""
        f, step = self.f, self.c[f"{name}_row"]
        pitch = _whole(self.lanes, width)

        def copy() -> list[Value]:
            with f.loop(0, count) as row:
                line = self.row(base, name, first + row.index)
                copy_line(f, self.type, width, f.at(room, row.index * pitch, self.type), line)
            return [room, pitch]

        far = (step >= _FAR // self.type.size) | (step <= -_FAR // self.type.size)
        return f.choose(far & often, copy, lambda: [self.row(base, name, first), step])

    def fetch(self, head: dict[str, Value], row: Value) -> None:
        """Has a row of each array of another head come closer. See Note [The next head]."""
        f, c = self.f, self.c
        f.module.declare("llvm.prefetch.p0", VOID, [PTR, I32, I32, I32])
        count = f.select(c["rows"] <= _SHORT, c["size"], 0)
        for name in self.names:
            if name not in ("mask", "logs"):
                line = self.row(head[name], name, row)
                with f.loop(0, count, 64 // self.type.size) as loop:
                    place = f.at(line, loop.index, self.type)
                    f.do(f"call void @llvm.prefetch.p0({place!r}, i32 0, i32 2, i32 1)")

    def put_mask(self, hide: Function, line: Value, mask: Value, row: Value, column: Value,
               count: Value) -> None:  # fmt: skip
        """Puts the mask, if there is one, on a line of scores that begins at a column."""
        f, kind = self.f, self.c["kind"]
        with f.when(kind.ne(0)):
            size = f.select(kind.eq(BOOLS), f.constant(I64, 1), self.type.size)
            place = f.at_bytes(mask, (row * self.c["mask_row"] + column) * size)
            f.call(hide, [line, place, kind, count])


def _whole(lanes: int, count: Value) -> Value:
    """Elements of whole vectors with so many elements."""
    return (count + (lanes - 1)) & -lanes


def _split(f: Function, lanes: int, count: Value) -> tuple[Value, Value]:
    """Elements before the last vector of so many, and the mask of that. There is always a last one:
    rows that see nearly the same keys take the same branches."""
    whole = f.maximum((count - 1) & -lanes, 0)
    return whole, f.mask(count - whole, lanes)


def _soften(k: _Call, line: Value, count: Value, end: Value, lowest: Value) -> tuple[Value, Value]:
    """exp(x - top) over a line of scores, zeros from `count` to `end`: the top, and the sum."""
    f, type, lanes, wide = k.f, k.type, k.lanes, k.wide
    whole, mask = _split(f, lanes, count)
    lines = f.constant(wide, -float("inf"))

    def last(fill: float) -> Value:
        return f.load_masked(f.at(line, whole, type), wide, mask, fill)

    with f.loop(0, whole, lanes, carried=[lines]) as loop:
        x = f.load(f.at(line, loop.index, type), wide)
        loop.next(f.select(x > loop.carried[0], x, loop.carried[0]))
    rest = last(-float("inf"))
    tops = f.select(rest > loop.results[0], rest, loop.results[0])
    top = f.fold(tops, lambda a, b: f.select(a > b, a, b))
    top = f.select(top < lowest, lowest, top)
    tops = f.splat(top, lanes)
    with f.loop(0, whole, lanes, carried=[f.constant(wide, 0.0)]) as loop:
        place = f.at(line, loop.index, type)
        e = mathematics.exp(f, f.load(place, wide) - tops)
        f.store(place, e)
        loop.next(loop.carried[0] + e)
    zeros = f.constant(wide, 0.0)
    e = f.select(mask, mathematics.exp(f, last(0.0) - tops), zeros)
    f.store(f.at(line, whole, type), e)
    sums = loop.results[0] + e
    with f.loop(whole + lanes, end, lanes) as beyond:
        f.store(f.at(line, beyond.index, type), zeros)
    return top, f.fold(sums, lambda a, b: a + b)


def _attend(
    module: Module, type: Type, product: Function, turned: Function, hide: Function
) -> None:
    dots = _dots(module, type)
    f = module.function("attend", [("frame", PTR), ("chunk", I64)])
    k = _Call(f, type, FORWARD, ("q", "k", "v", "out", "mask", "logs"))
    c = k.c
    slot = emit_claim(f, c["flags"], c["slots"])
    across = f.at(c["memory"], slot * c["slot"], type)
    scores = f.at(across, c["size"] * c["line"], type)
    room = f.at(scores, c["line"] * MOST, type)
    tops, sums = f.scratch(type, MOST), f.scratch(type, MOST)
    number, part = f.params[1] // c["parts"], f.params[1] % c["parts"]
    at = k.bases(number // c["shared"], number % c["shared"])
    first = part * c["part"]
    stop = f.minimum(first + c["part"], c["rows"])
    causal = c["causal"].ne(0)
    seen = f.select(causal, f.minimum(stop, c["keys"]), c["keys"])
    few = stop - first < _FEW
    with f.when(~few):
        f.call(turned, [at["k"], c["k_row"], across, c["line"], seen, c["size"]])
    values, values_row = k.near(
        at["v"], "v", f.constant(I64, 0), seen, c["width"], room, stop - first > 12
    )
    lowest = f.select(c["kind"].ne(0), f.constant(type, _LOWEST), -float("inf"))
    scale, one = k.scale(), f.constant(I64, 1)
    with f.loop(first, stop, c["block"]) as block:
        top = block.index
        count = f.minimum(c["block"], stop - top)
        n = f.select(causal, f.minimum(top + count, c["keys"]), c["keys"])
        with f.when(~few):
            f.call(product, [k.row(at["q"], "q", top), across, scores, count, n, c["size"],
                             c["q_row"], one, c["line"], c["line"], scale, k.zero])  # fmt: skip
        with f.when(few), f.loop(0, count) as row:
            f.call(dots, [k.row(at["q"], "q", top + row.index), at["k"], c["k_row"], n, c["size"],
                          f.at(scores, row.index * c["line"], type), scale])  # fmt: skip
        with f.loop(0, count) as row:
            line = f.at(scores, row.index * c["line"], type)
            own = f.select(causal, f.minimum(top + row.index + 1, n), n)
            k.put_mask(hide, line, at["mask"], top + row.index, f.constant(I64, 0), n)
            high, total = _soften(k, line, own, n, lowest)
            f.store(f.at(tops, row.index, type), high)
            f.store(f.at(sums, row.index, type), total)
        logs = f.at(at["logs"], top, type)

        def ends(place: Places, logs: Value = logs) -> None:
            total = place.load(sums, 1.0)
            alive = total.ne(0.0)
            log = mathematics.log(f, total) + place.load(tops)
            place.store(logs, f.select(alive, log, float("inf")))
            place.store(sums, f.select(alive, 1.0 / total, 0.0))

        each_vector(f, type, count, ends, 1)
        out = k.row(at["out"], "out", top)
        f.call(product, [scores, values, out, count, c["width"], n, c["line"], one, values_row,
                         c["out_row"], k.one, k.zero])  # fmt: skip
        with f.loop(0, count) as row:
            line = k.row(out, "out", row.index)
            factor = f.splat(f.load(f.at(sums, row.index, type), type), k.lanes)

            def divide(place: Places, line: Value = line, factor: Value = factor) -> None:
                place.store(line, place.load(line) * factor)

            each_vector(f, type, c["width"], divide, 1)
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


def _slope(
    k: _Call, weights: Value, slopes: Value, count: Value, end: Value, log: Value, along: Value,
    scale: Value,
) -> None:  # fmt: skip
    """The weights over a line of scores, and the scores' gradient over that of the weights; zeros
    from `count` to `end`."""
    f, type, lanes, wide = k.f, k.type, k.lanes, k.wide
    whole, mask = _split(f, lanes, count)
    logs, alongs, scales = (f.splat(x, lanes) for x in (log, along, scale))
    zeros = f.constant(wide, 0.0)

    def both(x: Value, d: Value) -> tuple[Value, Value]:
        w = mathematics.exp(f, x - logs)
        return w, w * (d - alongs) * scales

    with f.loop(0, whole, lanes) as loop:
        there = [f.at(line, loop.index, type) for line in (weights, slopes)]
        for place, value in zip(there, both(*[f.load(place, wide) for place in there])):
            f.store(place, value)
    there = [f.at(line, whole, type) for line in (weights, slopes)]
    found = both(*[f.load_masked(place, wide, mask) for place in there])
    for place, value in zip(there, found):
        f.store(place, f.select(mask, value, zeros))
    with f.loop(whole + lanes, end, lanes) as rest:
        for line in (weights, slopes):
            f.store(f.at(line, rest.index, type), zeros)


def _clear(k: _Call, base: Value, name: str, first: Value, stop: Value, count: Value) -> None:
    """Zeros in some rows of an array."""
    f = k.f
    zeros = f.constant(k.wide, 0.0)
    with f.loop(first, stop) as row:
        line = k.row(base, name, row.index)
        each_vector(f, k.type, count, lambda p: p.store(line, zeros), 1)


def _attend_back(
    module: Module, type: Type, product: Function, turned: Function, hide: Function
) -> None:
    f = module.function("attend_back", [("frame", PTR), ("chunk", I64)])
    k = _Call(f, type, BACKWARD, _ALL)
    c = k.c
    slot = emit_claim(f, c["flags"], c["slots"])
    memory = f.at(c["memory"], slot * c["slot"], type)
    line, rows, size, width = c["line"], c["rows"], c["size"], c["width"]
    keys = memory
    values = f.at(keys, size * line, type)
    weights = f.at(values, width * line, type)
    slopes = f.at(weights, line * MOST, type)
    rooms = {"k": f.at(slopes, line * MOST, type)}
    rooms["q"] = f.at(rooms["k"], c["several"] * _whole(k.lanes, size), type)
    rooms["g"] = f.at(rooms["q"], _whole(k.lanes, size) * MOST, type)
    along = f.scratch(type, MOST)
    group, part = f.params[1] // c["parts"], f.params[1] % c["parts"]
    causal = c["causal"].ne(0)
    begin = part * c["part"]
    stop = f.minimum(begin + c["part"], c["keys"])
    none, one, scale = f.constant(I64, 0), f.constant(I64, 1), k.scale()
    with f.when(causal):
        at = k.bases(group, none)
        unseen = f.maximum(begin, f.minimum(rows, stop))
        _clear(k, at["dk"], "dk", unseen, stop, size)
        _clear(k, at["dv"], "dv", unseen, stop, width)
        with f.loop(0, c["shared"]) as head:
            at = k.bases(group, head.index)
            before = f.at(at["dq"], part * c["share"], type)
            _clear(k, before, "dq", none, f.minimum(begin, rows), size)
    blocks = (rows + (MOST - 1)) // MOST
    with f.loop(begin, stop, c["several"]) as some:
        first = some.index
        last = f.minimum(first + c["several"], stop)
        many = last - first
        at = k.bases(group, none)
        f.call(turned, [k.row(at["k"], "k", first), c["k_row"], keys, line, many, size])
        f.call(turned, [k.row(at["v"], "v", first), c["v_row"], values, line, many, width])
        before = f.select(first.eq(begin), k.zero, k.one)
        near = dict(zip(("k", "k_row"), k.near(at["k"], "k", first, many, size, rooms["k"])))
        with f.loop(0, c["shared"]) as head, f.loop(0, blocks) as turn:
            top = (blocks - 1 - turn.index) * MOST
            bottom = f.minimum(top + MOST, rows)
            with f.when(~causal | (bottom > first)):
                _back_rows(k, product, hide, rooms, {
                    **near, "head": head.index, "group": group, "part": part, "top": top,
                    "one": one, "bottom": bottom, "first": first, "last": last, "many": many,
                    "scale": scale,
                    "keys": keys, "values": values, "weights": weights, "slopes": slopes,
                    "along": along, "before": before, "causal": causal,
                    "again": f.select((head.index + turn.index).eq(0), k.zero, k.one),
                })  # fmt: skip
    f.atomic_store(f.at(c["flags"], slot * 8, I64), f.constant(I64, 0))
    f.ret()


def _back_rows(
    k: _Call, product: Function, hide: Function, rooms: dict[str, Value], w: dict[str, Value]
) -> None:
    """A block of rows and one of keys: what they add to the gradients."""
    f, c, type = k.f, k.c, k.type
    line, size, width = c["line"], c["size"], c["width"]
    top, bottom, first, one, causal = w["top"], w["bottom"], w["first"], w["one"], w["causal"]
    at = k.bases(w["group"], w["head"])
    following = k.bases(w["group"] + c["slots"], w["head"])
    dq = f.at(at["dq"], w["part"] * c["share"], type)
    q, q_row = k.near(at["q"], "q", top, bottom - top, size, rooms["q"])
    g, g_row = k.near(at["g"], "g", top, bottom - top, width, rooms["g"])
    with f.loop(top, bottom) as row:
        x, y = f.at(g, (row.index - top) * g_row, type), k.row(at["out"], "out", row.index)
        (total,) = fold_vectors(
            f, type, width, lambda s, p: f.fma(p.load(x), p.load(y), s), [f.constant(k.wide, 0.0)]
        )
        total = f.fold(total, lambda a, b: a + b)
        f.store(f.at(w["along"], row.index - top, type), total)

    def line_of(room: str, row: Value) -> Value:
        return f.at(w[room], (row - top) * line, type)

    with f.loop(top, bottom, c["block"]) as block:
        start = block.index
        end = f.minimum(start + c["block"], bottom)
        count = end - start
        n = f.select(causal, f.minimum(end, w["last"]) - first, w["many"])
        with f.when(n > 0):
            s, d = line_of("weights", start), line_of("slopes", start)
            f.call(product, [f.at(q, (start - top) * q_row, type), w["keys"], s, count, n, size,
                             q_row, one, line, line, w["scale"], k.zero])  # fmt: skip
            f.call(product, [f.at(g, (start - top) * g_row, type), w["values"], d, count, n, width,
                             g_row, one, line, line, k.one, k.zero])  # fmt: skip
            with f.loop(start, end) as row:
                r = row.index
                own = f.select(causal, f.maximum(f.minimum(r + 1 - first, n), 0), n)
                s, d = line_of("weights", r), line_of("slopes", r)
                k.put_mask(hide, s, at["mask"], r, first, n)
                log = f.load(f.at(at["logs"], r, type), type)
                along = f.load(f.at(w["along"], r - top, type), type)
                _slope(k, s, d, own, n, log, along, w["scale"])
                k.fetch(following, r)
            f.call(product, [line_of("slopes", start), w["k"], k.row(dq, "dq", start), count,
                             size, n, line, one, w["k_row"],
                             c["dq_row"], k.one, w["before"]])  # fmt: skip

    # See Note [Blocks of scores]: the keys that all rows see at once, then blocks on the diagonal.
    full = f.select(causal, f.maximum(f.minimum(top - first, w["many"]), 0), w["many"])
    reached = f.select(causal, f.minimum(bottom, w["last"]) - first, w["many"])

    def add(column: Value, some: Value, row: Value) -> None:
        """What the rows from one on add to the gradients of some keys and their values."""
        ways = ("weights", "dv", g, g_row, width), ("slopes", "dk", q, q_row, size)
        for room, name, source, step, columns in ways:
            f.call(product, [
                f.at(line_of(room, row), column, type), f.at(source, (row - top) * step, type),
                k.row(at[name], name, first + column), some, columns,
                bottom - row, one, line, step, c[f"{name}_row"], k.one, w["again"],
            ])  # fmt: skip

    with f.when(full > 0):
        add(f.constant(I64, 0), full, top)
    with f.loop(full, reached, c["block"]) as block:
        some = f.minimum(c["block"], reached - block.index)
        add(block.index, some, f.maximum(top, first + block.index))


def _join(module: Module, type: Type) -> None:
    """The gradients of one head's queries, as the parts of the keys have them, added up."""
    f = module.function("join_parts", [("frame", PTR), ("chunk", I64)])
    c = words(f, JOIN, ("source", "dq"))
    number = f.params[1]
    group, head = number // c["shared"], number % c["shared"]
    place = group // c["inner"] * c["dq_outer"] + group % c["inner"] * c["dq_inner"]
    to = f.at(c["dq"], place + head * c["dq_shared"], type)
    source = f.at(c["source"], number * c["rows"] * c["size"], type)
    with f.loop(0, c["rows"]) as row:
        here = f.at(source, row.index * c["size"], type)
        there = f.at(to, row.index * c["dq_row"], type)

        def total(p: Places, here: Value = here, there: Value = there) -> None:
            with f.loop(1, c["parts"], carried=[p.load(here)]) as part:
                more = p.load(f.at(here, part.index * c["share"], type))
                part.next(part.carried[0] + more)
            p.store(there, part.results[0])

        each_vector(f, type, c["size"], total, 1)
    f.ret()
