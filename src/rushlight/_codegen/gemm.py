"""Products of small matrices: tiles kept in registers, with bias and relu as they are stored.

    address = gemm.load(F32)
    # void (a, b, c, m, n, k, rsa, csa, rsb, csb, rsc, alpha, beta, bias, relu)

C (m, n) = alpha A B + beta C + bias, then its positive part if `relu`. Strides are in elements; A and B
may have any, so each may be transposed; rows of C are contiguous. `bias` is n elements or null.
With beta 0 C is not read. Scalars `alpha` and `beta` are of the matrices' type, the others i64.

Note [Tiles]
A tile of C is some rows by some vectors, summed over k in registers: each step loads the vectors
of a row of B once, and multiplies them by one element of A for each row of the tile. B isn't
packed where its rows are contiguous. Otherwise a panel of it is turned, a block of k at a
time, and sums go on in C from block to block.

Note [Where BLAS is better]
Beyond 500 rows and columns or so, where blocking for the caches begins to matter, and for fewer
columns than half a vector, whose lanes would be idle.
"""

from __future__ import annotations

from functools import cache

from . import engine, target
from .emit import I64, PTR, Function, Module, Type, Value

__all__ = ["emitted", "load"]

_BLOCK = 128  # steps of k in a turned panel
_NAMES = ("a", "b", "c", "m", "n", "k", "rsa", "csa", "rsb", "csb", "rsc")


@cache
def load(type: Type) -> int:
    """The address of the product for float32 or float64."""
    return engine.load(emitted(type))["gemm"]


def emitted(type: Type) -> Module:
    """The module with the product `gemm`."""
    module = Module("gemm")
    lanes = target.lanes(type)
    wide = target.machine().registers >= 32
    heights, widths = ((6, 4, 2, 1), (4, 2, 1)) if wide else ((4, 2, 1), (2, 1))
    panels = {
        (vectors, masked): _panel(module, type, lanes, heights, vectors, masked)
        for vectors, masked in [*((w, False) for w in widths), (1, True)]
    }
    _product(module, type, lanes, widths, panels)
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
            place = f.at(target_rows[row], v * lanes, type)
            if mask is None:
                f.store(place, x)
            else:
                f.store_masked(place, x, mask)

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
) -> None:
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

    def turning(panel: Function, column: Value, count: Value, stride: int) -> None:
        there, added = here(column)
        blocks = f.maximum((k + (_BLOCK - 1)) // _BLOCK, 1)
        pitch = f.constant(I64, stride)
        with f.loop(0, blocks) as loop:
            start = loop.index * _BLOCK
            depth = f.minimum(k - start, _BLOCK)
            source = f.at(f.at(b, start * rsb, type), column * csb, type)
            with f.loop(0, count) as line:
                across = f.at(source, line.index * csb, type)
                with f.loop(0, depth) as step:
                    value = f.load(f.at(across, step.index * rsb, type), type)
                    f.store(f.at(turned, step.index * stride + line.index, type), value)
            last = (loop.index + 1).eq(blocks)
            sizes = [m, count, depth, rsa, csa, pitch, rsc]
            before = f.select(loop.index.eq(0), beta, f.constant(type, 1.0))
            end = [f.select(last, added, none), f.select(last, least, lowest)]
            from_here = f.at(a, start * csa, type)
            f.call(panel, [from_here, turned, there, *sizes, alpha, before, *end])

    def all_columns(turn: bool) -> None:
        start = f.constant(I64, 0)
        for vectors in widths:
            columns = vectors * lanes
            stop = n - (n - start) % columns
            with f.loop(start, stop, columns) as loop:
                count = f.constant(I64, columns)
                if turn:
                    turning(panels[vectors, False], loop.index, count, columns)
                else:
                    straight(panels[vectors, False], loop.index, count)
            start = stop
        with f.when(start < n):
            if turn:
                turning(panels[1, True], start, n - start, lanes)
            else:
                straight(panels[1, True], start, n - start)

    f.choose(csb.eq(1), lambda: all_columns(False) or [], lambda: all_columns(True) or [])
    f.ret()
