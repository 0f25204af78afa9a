"""Products of small matrices: tiles kept in registers, with bias and relu as they are stored.

    address = gemm.load(F32)
    # void (a, b, c, m, n, k, rsa, csa, rsb, csb, rsc, alpha, beta, bias, relu)

C (m, n) = alpha A B + beta C + bias, then its positive part if `relu`. Strides are in elements; A
and B may have any, so each may be transposed; rows of C are contiguous. `bias` is n elements or
null. With beta 0 C is not read. Scalars `alpha` and `beta` are of the matrices' type, the others
i64.

    # void (frame, chunk): one block of rows and columns of one of a stack of products
    chunks = gemm.load_chunks(F32)

The frame's words are named by `FRAME`: the arguments above, elements from one matrix of the stack
to the next, and the size and number of blocks. Each product has blocks_m * blocks_n chunks. Stacks
are of stacks of `inner` matrices each, whose first ones are so many elements (`far_a` …) apart.

Note [Tiles]
A tile of C is some rows by some vectors, summed over k in registers: each step loads the vectors
of a row of B once, and multiplies them by one element of A for each row of the tile. Where the
rows of B are short they are read as they lie. Where they are long, each on a page of its own, a
panel of columns is copied first, a block of k at a time, and sums go on in C from block to block.
A transposed B is always copied, which turns it. A transposed A whose columns are long is copied
too, a block of k for some rows at a time: else each of its elements lies on a page of its own.

Note [Where BLAS is better]
For fewer columns than half a vector, whose lanes would be idle; and, on processors whose
vectors OpenBLAS uses to the full, beyond 1000 rows and columns, for it copies A too.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import F64, I64, PTR, Function, Module, Type, Value
from . import transpose
from .lines import copy_line

_BLOCK = 256  # steps of k in a copied panel
_LONG = 2048  # bytes of a row of B from which panels are copied,
_TALL = 32  # if they are used for so many rows of A
_FAR = 1024  # bytes from column to column of A from which A is copied,
_HIGH = 384  # bytes of so many rows at a time
_NAMES = ("a", "b", "c", "m", "n", "k", "rsa", "csa", "rsb", "csb", "rsc")


#: The words of a frame, 8 bytes each; alpha and beta are doubles.
FRAME = (
    *_NAMES, "alpha", "beta", "bias", "relu", "inner", "next_a", "next_b", "next_c", "far_a",
    "far_b", "far_c", "block_m", "block_n", "blocks_m", "blocks_n",
)  # fmt: skip


@cache
def load_chunks(type: Type) -> int:
    """The address of the blocks of products for float32 or float64."""
    return engine.load_made(emit, type)["gemm_chunks"]


@cache
def load(type: Type) -> int:
    """The address of the product for float32 or float64."""
    return engine.load_made(emit, type)["gemm"]


def emit(type: Type) -> Module:
    """The module with the product `gemm`."""
    module = Module("gemm")
    lanes = target.lanes(type)
    rows = _rows(module, type, lanes, emit_panels(module, type))
    _chunks(module, type, _product(module, type, lanes, rows))
    return module


def emit_panels(module: Module, type: Type) -> list[tuple[int, Function]]:
    """Products with panels of B, internal to a module, by their vectors of columns: the widest
    first, at last one that is masked."""
    lanes = target.lanes(type)
    wide = target.machine().registers >= 32
    heights, widths = ((6, 4, 2, 1), (4, 2, 1)) if wide else ((4, 2, 1), (2, 1))
    # Where masks are registers, whole vectors are read as quickly through one.
    plain = widths[:-1] if target.machine().width == 64 else widths
    panels = [(w, _panel(module, type, lanes, heights, w, False)) for w in plain]
    return [*panels, (1, _panel(module, type, lanes, heights, 1, True))]


# What a panel gets: the places of A, B and C, the sizes, the strides, and how to end.
def _panel_params(type: Type) -> list[tuple[str, Type]]:
    return [
        ("a", PTR), ("b", PTR), ("c", PTR), ("m", I64), ("n", I64), ("k", I64),
        ("rsa", I64), ("csa", I64), ("rsb", I64), ("rsc", I64),
        ("alpha", type), ("beta", type), ("bias", PTR), ("least", type),
    ]  # fmt: skip


def _panel(
    module: Module, type: Type, lanes: int, heights: tuple[int, ...], vectors: int, masked: bool
) -> Function:
    """All rows of C in some vectors of columns."""
    name = f"panel_{vectors}{'_masked' if masked else ''}"
    f = module.function(name, _panel_params(type))
    f.internal = True
    a, b, c, m, n, k, rsa, csa, rsb, rsc, alpha, beta, bias, least = f.params
    mask = f.mask(n, lanes) if masked else None
    wide = type.vector(lanes)

    def read(place: Value, vector: int) -> Value:
        place = f.at(place, vector * lanes, type)
        return f.load(place, wide) if mask is None else f.load_masked(place, wide, mask)

    def tile(top: Value, height: int) -> None:
        first = f.at(a, top * rsa, type)
        rows = [first]
        for _ in range(height - 1):
            rows.append(f.at(rows[-1], rsa, type))
        zero = f.constant(wide, 0.0)
        sums = [zero] * (height * vectors)
        carried = [f.constant(I64, 0), b, *sums]
        with f.loop(0, k, carried=carried) as loop:
            offset, line, *sums = loop.carried
            across = [read(line, v) for v in range(vectors)]
            for row in range(height):
                factor = f.splat(f.load(f.at(rows[row], offset, type), type), lanes)
                for v in range(vectors):
                    place = row * vectors + v
                    sums[place] = f.fma(factor, across[v], sums[place])
            loop.next(offset + csa, f.at(line, rsb, type), *sums)
        _, _, *sums = loop.results
        target_rows = [f.at(c, top * rsc, type)]
        for _ in range(height - 1):
            target_rows.append(f.at(target_rows[-1], rsc, type))
        places = [(row, v) for row in range(height) for v in range(vectors)]
        scaled = [x * alpha for x in sums]
        ended = f.choose(
            beta.ne(0.0),
            lambda: [
                f.fma(read(target_rows[row], v), beta, x) for (row, v), x in zip(places, scaled)
            ],
            lambda: scaled,
        )

        def biased() -> list[Value]:
            added = [read(bias, v) for v in range(vectors)]
            return [x + added[v] for (_, v), x in zip(places, ended)]

        address = f.emit(I64, f"ptrtoint {bias!r} to i64")
        for (row, v), x in zip(places, f.choose(address.ne(0), biased, lambda: ended)):
            x = f.select(x < least, least, x)  # nan stays
            there = f.at(target_rows[row], v * lanes, type)
            if mask is None:
                f.store(there, x)
            else:
                f.store_masked(there, x, mask)

    start = f.constant(I64, 0)
    for height in heights:
        stop = m - (m - start) % height
        with f.loop(start, stop, height) as loop:
            tile(loop.index, height)
        start = stop
    f.ret()
    return f


def _params(type: Type) -> list[tuple[str, Type]]:
    params = [(name, PTR if name in "abc" else I64) for name in _NAMES]
    return [*params, ("alpha", type), ("beta", type), ("bias", PTR), ("relu", I64)]


def _product(module: Module, type: Type, lanes: int, rows: Function) -> Function:
    """The product, from a copy of A where that is far apart."""
    f = module.function("gemm", _params(type))
    a, b, c, m, n, k, rsa, csa, rsb, csb, rsc, alpha, beta, bias, relu = f.params
    most = _HIGH // type.size
    room = f.scratch(type, _BLOCK * most)
    none = f.constant(PTR, 0)

    def copied() -> list[Value]:
        with f.loop(0, m, most) as down, f.loop(0, (k + (_BLOCK - 1)) // _BLOCK) as loop:
            start = loop.index * _BLOCK
            depth, high = f.minimum(k - start, _BLOCK), f.minimum(m - down.index, most)
            source = f.at(a, start * csa + down.index, type)
            with f.loop(0, depth) as step:
                line, to = f.at(source, step.index * csa, type), f.at(room, step.index * most, type)
                copy_line(f, type, high, to, line)
            last = (start + depth).eq(k)
            before = f.select(start.eq(0), beta, f.constant(type, 1.0))
            places = [room, f.at(b, start * rsb, type), f.at(c, down.index * rsc, type)]
            strides = [f.constant(I64, 1), f.constant(I64, most), rsb, csb, rsc]
            end = [f.select(last, bias, none), f.select(last, relu, 0)]
            f.call(rows, [*places, high, n, depth, *strides, alpha, before, *end])
        return []

    def direct() -> list[Value]:
        f.call(rows, list(f.params))
        return []

    far = rsa.eq(1) & (csa >= _FAR // type.size) & (k > 32)
    f.choose(far, copied, direct)
    f.ret()
    return f


def _rows(module: Module, type: Type, lanes: int, panels: list[tuple[int, Function]]) -> Function:
    """The product, panel by panel of B: the widest as often as it goes, the masked one at last."""
    f = module.function("rows", _params(type))
    f.internal = True
    copied = _emit_copy(module, type, lanes)
    a, b, c, m, n, k, rsa, csa, rsb, csb, rsc, alpha, beta, bias, relu = f.params
    least = f.select(relu.ne(0), f.constant(type, 0.0), -float("inf"))
    address = f.emit(I64, f"ptrtoint {bias!r} to i64")
    turned = f.scratch(type, _BLOCK * panels[0][0] * lanes)
    none = f.constant(PTR, 0)
    lowest = f.constant(type, -float("inf"))
    copying = csb.ne(1) | ((rsb > _LONG // type.size) & (m >= _TALL))
    block = f.select(copying, f.constant(I64, _BLOCK), f.maximum(k, 1))
    blocks = f.maximum((k + (block - 1)) // block, 1)

    def one(panel: Value, column: Value, count: Value, stride: Value) -> None:
        there = f.at(c, column, type)
        added = f.select(address.eq(0), none, f.at(bias, column, type))
        pitch = f.select(copying, stride, rsb)
        with f.loop(0, blocks) as loop:
            start = loop.index * block
            depth = f.minimum(k - start, block)
            source = f.at(f.at(b, start * rsb, type), column * csb, type)
            with f.when(copying):
                f.call(copied, [source, turned, count, depth, rsb, csb, stride])
            last = (loop.index + 1).eq(blocks)
            sizes = [m, count, depth, rsa, csa, pitch, rsc]
            before = f.select(loop.index.eq(0), beta, f.constant(type, 1.0))
            end = [f.select(last, added, none), f.select(last, least, lowest)]
            places = [f.at(a, start * csa, type), f.select(copying, turned, source), there]
            f.call(panel, [*places, *sizes, alpha, before, *end])

    def chosen(place: Value, values: list[Value]) -> Value:
        found = values[-1]
        for number, value in enumerate(values[:-1]):
            found = f.select(place.eq(number), value, found)
        return found

    # One piece of code for all widths: it takes LLVM longer than the panels, copied for each.
    functions = [Value(f, PTR, f"@{panel.name}") for _, panel in panels]
    columns = [f.constant(I64, width * lanes) for width, _ in panels]
    with f.loop(0, len(panels), carried=[f.constant(I64, 0)]) as kind:
        (start,) = kind.carried
        panel, step = chosen(kind.index, functions), chosen(kind.index, columns)
        last = kind.index.eq(len(panels) - 1)
        stop = f.select(last, n, n - (n - start) % step)
        with f.loop(start, stop, step) as loop:
            one(panel, loop.index, f.minimum(n - loop.index, step), step)
        kind.next(stop)
    f.ret()
    return f


def _emit_copy(module: Module, type: Type, lanes: int) -> Function:
    """Some columns of B, a block of k, one row after the other with so many elements each."""
    params = [("source", PTR), ("to", PTR), ("count", I64), ("depth", I64), ("rsb", I64),
              ("csb", I64), ("pitch", I64)]  # fmt: skip
    f = module.function("copied", params)
    f.internal = True
    source, to, count, depth, rsb, csb, pitch = f.params
    wide = type.vector(lanes)

    def along() -> list[Value]:
        with f.loop(0, depth) as step, f.loop(0, pitch, lanes) as place:
            line = f.at(f.at(source, step.index * rsb, type), place.index, type)
            value = f.load_masked(line, wide, f.mask(count - place.index, lanes))
            f.store(f.at(to, step.index * pitch + place.index, type), value)
        return []

    def squares() -> list[Value]:
        name, address = f"transpose_{type.suffix}", transpose.addresses(type)["transpose"]
        f.call_external(name, address, [source, csb, to, pitch, count, depth])
        return []

    def one_by_one() -> list[Value]:
        with f.loop(0, count) as line:
            across = f.at(source, line.index * csb, type)
            with f.loop(0, depth) as step:
                value = f.load(f.at(across, step.index * rsb, type), type)
                f.store(f.at(to, step.index * pitch + line.index, type), value)
        return []

    f.choose(csb.eq(1), along, lambda: f.choose(rsb.eq(1), squares, one_by_one))
    f.ret()
    return f


def _chunks(module: Module, type: Type, product: Function) -> None:
    f = module.function("gemm_chunks", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    w: dict[str, Value] = {}
    for place, name in enumerate(FRAME):
        kind = PTR if name in ("a", "b", "c", "bias") else I64
        kind = F64 if name in ("alpha", "beta") else kind
        w[name] = f.load(f.at(frame, place, I64), kind)
    each = w["blocks_m"] * w["blocks_n"]
    number, block = chunk // each, chunk % each
    stack, number = number // w["inner"], number % w["inner"]
    top, left = block // w["blocks_n"] * w["block_m"], block % w["blocks_n"] * w["block_n"]

    def matrix(name: str, start: Value) -> Value:
        start += stack * w[f"far_{name}"] + number * w[f"next_{name}"]
        return f.at(w[name], start, type)

    a = matrix("a", top * w["rsa"])
    b = matrix("b", left * w["csb"])
    c = matrix("c", top * w["rsc"] + left)
    m, n = f.minimum(w["m"] - top, w["block_m"]), f.minimum(w["n"] - left, w["block_n"])
    none = f.emit(I64, f"ptrtoint {w['bias']!r} to i64").eq(0)
    bias = f.select(none, w["bias"], f.at(w["bias"], left, type))
    strides = [w[name] for name in ("rsa", "csa", "rsb", "csb", "rsc")]
    alpha, beta = f.cast(w["alpha"], type), f.cast(w["beta"], type)
    f.call(product, [a, b, c, m, n, w["k"], *strides, alpha, beta, bias, w["relu"]])
    f.ret()
