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
to the next, and the size and number of blocks. Each product has blocks_m * blocks_n chunks. C is
the sum of `taps` products, whose A and B begin at pairs of `offsets`: elements from the address.

Note [Tiles]
A tile of C is some rows by some vectors, summed over k in registers: each step loads the vectors
of a row of B once, and multiplies them by one element of A for each row of the tile. Where the
rows of B are short they are read as they lie. Where they are long, each on a page of its own, a
panel of columns is copied first, a block of k at a time, and sums go on in C from block to block.
A transposed B is always copied, which turns it.

Note [Where BLAS is better]
For fewer columns than half a vector, whose lanes would be idle; and, on processors whose
vectors OpenBLAS uses to the full, beyond 1000 rows and columns, for it copies A too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from . import engine, target
from .emit import F64, I64, PTR, Function, Module, Type, Value

__all__ = ["FRAME", "emitted", "load", "load_chunks"]

_BLOCK = 256  # steps of k in a copied panel
_LONG = 2048  # bytes of a row of B from which panels are copied,
_TALL = 32  # if they are used for so many rows of A
_NAMES = ("a", "b", "c", "m", "n", "k", "rsa", "csa", "rsb", "csb", "rsc")


#: The words of a frame, 8 bytes each; alpha and beta are doubles.
FRAME = (
    *_NAMES, "alpha", "beta", "bias", "relu", "next_a", "next_b", "next_c", "block_m", "block_n",
    "blocks_m", "blocks_n", "taps", "offsets",
)  # fmt: skip


@cache
def load_chunks(type: Type) -> int:
    """The address of the blocks of products for float32 or float64."""
    return engine.load(emitted(type))["gemm_chunks"]


@cache
def load(type: Type) -> int:
    """The address of the product for float32 or float64."""
    return engine.load(emitted(type))["gemm"]


def emitted(type: Type) -> Module:
    """The module with the product `gemm`."""
    module = Module("gemm")
    lanes = target.lanes(type)
    wide = target.machine().registers >= 32
    heights, widths = ((6, 2, 1), (4, 2, 1)) if wide else ((4, 2, 1), (2, 1))
    panels = {
        (vectors, masked): _panel(module, type, lanes, heights, vectors, masked)
        for vectors, masked in [*((w, False) for w in widths), (1, True)]
    }
    _chunks(module, type, _product(module, type, lanes, widths, panels))
    return module


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


def _product(
    module: Module,
    type: Type,
    lanes: int,
    widths: tuple[int, ...],
    panels: dict[tuple[int, bool], Function],
) -> Function:
    params = [(name, PTR if name in "abc" else I64) for name in _NAMES]
    f = module.function(
        "gemm", [*params, ("alpha", type), ("beta", type), ("bias", PTR), ("relu", I64)]
    )
    a, b, c, m, n, k, rsa, csa, rsb, csb, rsc, alpha, beta, bias, relu = f.params
    least = f.select(relu.ne(0), f.constant(type, 0.0), -float("inf"))
    address = f.emit(I64, f"ptrtoint {bias!r} to i64")
    turned = f.scratch(type, _BLOCK * widths[0] * lanes)
    none = f.constant(PTR, 0)
    lowest = f.constant(type, -float("inf"))

    def here(column: Value) -> tuple[Value, Value]:
        """The places of a panel in C and in the bias, if there is one."""
        return (
            f.at(c, column, type),
            f.select(address.eq(0), none, f.at(bias, column, type)),
        )

    def straight(panel: Function, column: Value, count: Value) -> None:
        there, added = here(column)
        line = f.at(b, column, type)
        sizes = [m, count, k, rsa, csa, rsb, rsc]
        f.call(panel, [a, line, there, *sizes, alpha, beta, added, least])

    def turn(source: Value, count: Value, depth: Value, stride: int) -> None:
        with f.loop(0, count) as line:
            across = f.at(source, line.index * csb, type)
            with f.loop(0, depth) as step:
                value = f.load(f.at(across, step.index * rsb, type), type)
                f.store(f.at(turned, step.index * stride + line.index, type), value)

    def copy(source: Value, count: Value, depth: Value, stride: int) -> None:
        wide = type.vector(lanes)
        mask = f.mask(count, lanes)  # matters to the last panel, of one vector
        with f.loop(0, depth) as step:
            line, to = f.at(source, step.index * rsb, type), step.index * stride
            for place in range(0, stride, lanes):
                there = f.at(line, place, type)
                value = f.load_masked(there, wide, mask) if stride == lanes else f.load(there, wide)
                f.store(f.at(turned, to + place, type), value)

    def copying(
        panel: Function, column: Value, count: Value, stride: int, move: Callable[..., None]
    ) -> None:
        there, added = here(column)
        blocks = f.maximum((k + (_BLOCK - 1)) // _BLOCK, 1)
        pitch = f.constant(I64, stride)
        with f.loop(0, blocks) as loop:
            start = loop.index * _BLOCK
            depth = f.minimum(k - start, _BLOCK)
            source = f.at(f.at(b, start * rsb, type), column * csb, type)
            move(source, count, depth, stride)
            last = (loop.index + 1).eq(blocks)
            sizes = [m, count, depth, rsa, csa, pitch, rsc]
            before = f.select(loop.index.eq(0), beta, f.constant(type, 1.0))
            end = [f.select(last, added, none), f.select(last, least, lowest)]
            from_here = f.at(a, start * csa, type)
            f.call(panel, [from_here, turned, there, *sizes, alpha, before, *end])

    def all_columns(move: Callable[..., None] | None) -> list[Value]:
        start = f.constant(I64, 0)
        for vectors in widths:
            columns = vectors * lanes
            stop = n - (n - start) % columns
            with f.loop(start, stop, columns) as loop:
                count = f.constant(I64, columns)
                if move is None:
                    straight(panels[vectors, False], loop.index, count)
                else:
                    copying(panels[vectors, False], loop.index, count, columns, move)
            start = stop
        with f.when(start < n):
            if move is None:
                straight(panels[1, True], start, n - start)
            else:
                copying(panels[1, True], start, n - start, lanes, move)
        return []

    lies_apart = (rsb > _LONG // type.size) & (m >= _TALL)
    f.choose(
        csb.eq(1),
        lambda: f.choose(lies_apart, lambda: all_columns(copy), lambda: all_columns(None)),
        lambda: all_columns(turn),
    )
    f.ret()
    return f


def _chunks(module: Module, type: Type, product: Function) -> None:
    f = module.function("gemm_chunks", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    w: dict[str, Value] = {}
    for place, name in enumerate(FRAME):
        kind = PTR if name in ("a", "b", "c", "bias", "offsets") else I64
        kind = F64 if name in ("alpha", "beta") else kind
        w[name] = f.load(f.at(frame, place, I64), kind)
    each = w["blocks_m"] * w["blocks_n"]
    number, block = chunk // each, chunk % each
    top, left = block // w["blocks_n"] * w["block_m"], block % w["blocks_n"] * w["block_n"]
    a = f.at(w["a"], number * w["next_a"] + top * w["rsa"], type)
    b = f.at(w["b"], number * w["next_b"] + left * w["csb"], type)
    c = f.at(w["c"], number * w["next_c"] + top * w["rsc"] + left, type)
    m, n = f.minimum(w["m"] - top, w["block_m"]), f.minimum(w["n"] - left, w["block_n"])
    none = f.emit(I64, f"ptrtoint {w['bias']!r} to i64").eq(0)
    bias = f.select(none, w["bias"], f.at(w["bias"], left, type))
    strides = [w[name] for name in ("rsa", "csa", "rsb", "csb", "rsc")]
    alpha, beta = f.cast(w["alpha"], type), f.cast(w["beta"], type)
    last = w["taps"] - 1
    with f.loop(0, w["taps"]) as loop:
        tap = loop.index
        starts = [f.load(f.at(w["offsets"], tap * 2 + i, I64), I64) for i in range(2)]
        places = [f.at(a, starts[0], type), f.at(b, starts[1], type), c]
        sizes = [m, n, w["k"], *strides]
        before = f.select(tap.eq(0), beta, f.constant(type, 1.0))
        added = f.select(tap.eq(last), bias, f.constant(PTR, 0))
        relu = f.select(tap.eq(last), w["relu"], 0)
        f.call(product, [*places, *sizes, alpha, before, added, relu])
    f.ret()
