"""The native side of a program: one function that works through a table of calls.

A program has no machine code of its own: it is a table of (function, frame, chunks), where the
functions are kernels that many programs share (fusion groups, products of matrices) and a frame
holds the addresses and sizes that a kernel works on. So compiling a program costs no more than the
kernels that no program has had before, and those are kept on disk.

`run` first looks up where the arrays lie that change from call to call, and writes their addresses
into the frames; then come checks, of which any may refuse; then the calls.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..._native.cpython.ndarray import load_elements
from ..._native.llvm import loader as engine, target
from ..._native.llvm.emit import F32, F64, I32, I64, PTR, Function, Module, Type

if TYPE_CHECKING:
    from ..._native.llvm.values import Value

ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112


@cache
def addresses() -> Addresses:
    """The native functions by name."""
    return Addresses()


class Addresses(dict[str, int]):
    """Native functions by name; what few programs need is compiled when it is asked for."""

    def __init__(self) -> None:
        module = Module("program_driver")
        _run(module)
        _check_index(module)
        _check_equal(module)
        _count(module)
        _rates(module)
        _finish(module)
        _chain(module)
        super().__init__(engine.load(module))

    def __missing__(self, name: str) -> int:
        module = Module("program_moves")
        if name.startswith("branch"):
            _branch(module)
        elif name.startswith("gemm"):
            _product(module, name, F32 if name == "gemm_f32" else F64)
        else:
            _moves(module)
        self.update(engine.load(module))
        if name not in self:
            raise KeyError(name)
        return self[name]


def _run(module: Module) -> None:
    f = module.function("run", [("state", PTR)], I64)
    (state,) = f.params

    def word(base: Value, n: int, type: Type = I64) -> Value:
        return f.load(f.at(base, n, I64), type)

    patches = word(state, 1, PTR)
    with f.loop(0, word(state, 0)) as loop:
        at = f.at(patches, loop.index * 3, I64)
        holder = word(word(at, 0, PTR), 0, PTR)
        data = load_elements(f, holder)
        f.store(word(at, 2, PTR), f.at_bytes(data, word(at, 1)))
    checks = word(state, 3, PTR)
    with f.loop(0, word(state, 2)) as loop:
        at = f.at(checks, loop.index * 2, I64)
        found = f.call(word(at, 0, PTR), [word(at, 1, PTR)], I64)
        with f.when(found.ne(0)):
            f.ret(found)
    commands = word(state, 5, PTR)
    with f.loop(0, word(state, 4)) as loop:
        _call(f, f.at(commands, loop.index * 3, I64), state)
    f.ret(0)


def _call(f: Function, at: Value, state: Value) -> None:
    """A call of a table: function, frame, chunks. Words 6 and 7 of `state` are the threads."""
    function, frame = f.load(at, PTR), f.load(f.at(at, 1, I64), PTR)
    chunks = f.load(f.at(at, 2, I64), I64)
    many = chunks > 1
    with f.when(many):
        threads, runner = (f.load(f.at(state, n, I64), PTR) for n in (6, 7))
        f.call(runner, [threads, function, frame, chunks])
    with f.when(~many):
        f.call(function, [frame, f.constant(I64, 0)])


def _branch(module: Module) -> None:
    """Calls that are made where any of some numbers isn't 0, or where all are.

    Words: numbers, table, how many of both, 1 or 0, one that is spare, then the threads.
    """
    for suffix, type in (("f32", F32), ("f64", F64)):
        f = module.function(f"branch_{suffix}", [("frame", PTR), ("chunk", I64)])
        frame = f.params[0]
        numbers, table = (f.load(f.at(frame, n, I64), PTR) for n in (0, 1))
        count, calls, wanted = (f.load(f.at(frame, n, I64), I64) for n in (2, 3, 4))
        one, zero = f.constant(I64, 1), f.constant(I64, 0)
        with f.loop(0, count, carried=[zero]) as loop:
            odd = f.load(f.at(numbers, loop.index, type), type).ne(0.0)
            loop.next(f.select(odd, one, loop.carried[0]))
        with f.when(loop.results[0].eq(wanted)), f.loop(0, calls) as each:
            _call(f, f.at(table, each.index * 3, I64), frame)
        f.ret()


def _product(module: Module, name: str, type: Type) -> None:
    """C = alpha op(A) op(B) + beta C; words: see `product_frame`."""
    f = module.function(name, [("frame", PTR), ("chunks", I64)])
    frame = f.params[0]

    def word(n: int, type: Type = I64) -> Any:
        return f.load(f.at(frame, n, I64), type)

    def scalar(n: int) -> Any:
        return f.cast(word(n, F64), type)

    f.call(
        word(0, PTR),
        [f.constant(I32, ROW_MAJOR), f.cast(word(1), I32), f.cast(word(2), I32), word(3), word(4),
         word(5), scalar(12), word(6, PTR), word(7), word(8, PTR), word(9), scalar(13),
         word(10, PTR), word(11)],
    )  # fmt: skip
    f.ret()


def _check_index(module: Module) -> None:
    """How many integers lie outside of [0, limit); words: address, limit, rows, bytes from row to
    row, columns, bytes from column to column."""
    f = module.function("check_index", [("frame", PTR)], I64)
    frame = f.params[0]
    base = f.load(frame, PTR)
    limit, rows, down, columns, right = (f.load(f.at(frame, n, I64), I64) for n in range(1, 6))
    one, zero = f.constant(I64, 1), f.constant(I64, 0)
    with f.loop(0, rows, carried=[zero]) as outer:
        row = f.at_bytes(base, outer.index * down)
        with f.loop(0, columns, carried=[outer.carried[0]]) as loop:
            x = f.load(f.at_bytes(row, loop.index * right), I64)
            loop.next(loop.carried[0] + f.select((x < 0) | (x >= limit), one, zero))
        outer.next(loop.results[0])
    f.ret(outer.results[0])


def _check_equal(module: Module) -> None:
    """Whether some float32 numbers differ from the first; words: count, then addresses."""
    f = module.function("check_equal", [("frame", PTR)], I64)
    frame = f.params[0]
    first = f.load(f.load(f.at(frame, 1, I64), PTR), F32)
    with f.loop(0, f.load(frame, I64), carried=[f.constant(I64, 0)]) as loop:
        x = f.load(f.load(f.at(frame, loop.index + 1, I64), PTR), F32)
        differs = f.select(x.ne(first), f.constant(I64, 1), f.constant(I64, 0))
        loop.next(loop.carried[0] + differs)
    f.ret(loop.results[0])


def _count(module: Module) -> None:
    """Adds one to some float32 numbers; words: count, then addresses."""
    f: Function = module.function("count", [("frame", PTR), ("chunks", I64)])
    frame = f.params[0]
    with f.loop(0, f.load(frame, I64)) as loop:
        at = f.load(f.at(frame, loop.index + 1, I64), PTR)
        f.store(at, f.load(at, F32) + 1.0)
    f.ret()


def _rates(module: Module) -> None:
    """Adam's step size and the root of its second correction, from the step's number.

    Words: `pow` of C, the number's address, then as float64 the rate and both betas, then addresses
    of the two results as float32 and as float64.
    """
    f = module.function("rates", [("frame", PTR), ("chunk", I64)])
    frame = f.params[0]
    power, number = (f.load(f.at(frame, n, I64), PTR) for n in (0, 1))
    lr, first, second = (f.load(f.at(frame, n, I64), F64) for n in (2, 3, 4))
    n = f.cast(f.load(number, F32), F64)
    size = lr / (1.0 - f.call(power, [first, n], F64))
    root = f.call(power, [1.0 - f.call(power, [second, n], F64), f.constant(F64, 0.5)], F64)
    for k, x in enumerate((size, root)):
        f.store(f.load(f.at(frame, 5 + k, I64), PTR), f.cast(x, F32))
        f.store(f.load(f.at(frame, 7 + k, I64), PTR), x)
    f.ret()


def _finish(module: Module) -> None:
    """What a reduction's chunks have found, added up.

    A total; words: from, to, factor, chunks. Sums of columns; words: from, to, columns, chunks.
    """
    for suffix, type in (("f32", F32), ("f64", F64)):
        f = module.function(f"finish_{suffix}", [("frame", PTR), ("chunks", I64)])
        frame = f.params[0]
        source, to = (f.load(f.at(frame, n, I64), PTR) for n in (0, 1))
        factor = f.load(f.at(frame, 2, I64), F64)
        chunks = f.load(f.at(frame, 3, I64), I64)
        with f.loop(0, chunks, carried=[f.constant(F64, 0.0)]) as loop:
            loop.next(loop.carried[0] + f.load(f.at(source, loop.index, F64), F64))
        f.store(to, f.cast(loop.results[0] * factor, type))
        f.ret()
        f = module.function(f"columns_{suffix}", [("frame", PTR), ("chunks", I64)])
        frame = f.params[0]
        source, to = (f.load(f.at(frame, n, I64), PTR) for n in (0, 1))
        columns, chunks = (f.load(f.at(frame, n, I64), I64) for n in (2, 3))
        lanes = target.lanes(F64)
        wide, sums = type.vector(lanes), F64.vector(lanes)
        with f.loop(0, columns, lanes) as over:
            mask = f.mask(f.minimum(columns - over.index, lanes), lanes)
            with f.loop(0, chunks, carried=[f.constant(sums, 0.0)]) as loop:
                place = f.at(source, loop.index * columns + over.index, type)
                loop.next(loop.carried[0] + f.cast(f.load_masked(place, wide, mask), sums))
            f.store_masked(f.at(to, over.index, type), f.cast(loop.results[0], wide), mask)
        f.ret()


def _words(f: Function, count: int, pointers: int) -> list[Any]:
    """The words of a frame, of which the first so many are addresses."""
    frame = f.params[0]
    return [f.load(f.at(frame, n, I64), PTR if n < pointers else I64) for n in range(count)]


def _moves(module: Module) -> None:
    """Moves of elements: `commands` says what their words are."""
    both = [("frame", PTR), ("chunk", I64)]
    f = module.function("gather", both)
    table, index, out, count, width = _words(f, 5, 3)
    with f.loop(0, count) as loop:
        row = f.load(f.at(index, loop.index, I64), I64)
        f.copy(f.at_bytes(out, loop.index * width), f.at_bytes(table, row * width), width)
    f.ret()
    f = module.function("fill", both)
    out, size = _words(f, 2, 1)
    f.fill(out, 0, size)
    f.ret()
    for suffix, type in (("f32", F32), ("f64", F64)):
        f = module.function(f"copy_{suffix}", both)
        to, source, *w = _words(f, 15, 2)
        counts, run, there, here = w[:4], w[4], w[5:9], w[9:13]

        def inner(f: Function, run: Value, to: Value, source: Value, type: Type = type) -> None:
            with f.when(run.eq(type.size)):
                f.store(to, f.load(source, type))
            with f.when(run.ne(type.size)):
                f.copy(to, source, run)

        with f.loop(0, counts[0]) as a:
            t0, s0 = (f.at_bytes(x, a.index * y) for x, y in ((to, there[0]), (source, here[0])))
            with f.loop(0, counts[1]) as b:
                t1, s1 = (f.at_bytes(x, b.index * y) for x, y in ((t0, there[1]), (s0, here[1])))
                with f.loop(0, counts[2]) as c:
                    t2, s2 = (f.at_bytes(x, c.index * y) for x, y in
                              ((t1, there[2]), (s1, here[2])))  # fmt: skip
                    with f.loop(0, counts[3]) as d:
                        t3, s3 = (f.at_bytes(x, d.index * y) for x, y in
                                  ((t2, there[3]), (s2, here[3])))  # fmt: skip
                        inner(f, run, t3, s3)
        f.ret()
        f = module.function(f"unpool_{suffix}", both)
        g, where, out, planes, count, area, grain = _words(f, 7, 3)
        first = f.params[1] * grain
        last = f.minimum(first + grain, planes)
        with f.loop(first, last) as plane:
            room = f.at(out, plane.index * area, type)
            f.fill(room, 0, area * type.size)
            with f.loop(0, count) as loop:
                n = plane.index * count + loop.index
                spot = f.at(room, f.load(f.at(where, n, I64), I64), type)
                f.store(spot, f.load(spot, type) + f.load(f.at(g, n, type), type))
        f.ret()


def _chain(module: Module) -> None:
    """Several calls for each chunk, one after the other; words: table, calls of a chunk."""
    f = module.function("chain", [("frame", PTR), ("chunk", I64)])
    table, each = _words(f, 2, 1)
    with f.loop(0, each) as loop:
        at = f.at(table, (f.params[1] * each + loop.index) * 2, I64)
        f.call(f.load(at, PTR), [f.load(f.at(at, 1, I64), PTR), f.constant(I64, 0)])
    f.ret()
    f = module.function("nothing", [("frame", PTR), ("chunk", I64)])
    f.ret()
    f = module.function("in_turn", [("frame", PTR), ("chunk", I64)])
    function, frame, chunks = _words(f, 3, 2)
    with f.loop(0, chunks) as loop:
        f.call(function, [frame, loop.index])
    f.ret()
