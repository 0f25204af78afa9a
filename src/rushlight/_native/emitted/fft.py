"""Discrete Fourier transforms of lines: complex, of real numbers, and back to real ones.

    found = fft.load(F32, 16)          # "fft", "columns": void (frame, chunk), words: FRAME

A line of n complex numbers, real and imaginary parts in turns, is transformed in passes between two
rooms where real and imaginary parts lie apart. A pass of radix r makes n / r transforms of r
numbers that lie n / r apart and stores the r results side by side, so that nothing has to be
brought into order at the end (Stockham's order). The first pass has as many results as a vector has
lanes: it makes so many transforms at a time, one in each lane, and turns the square of results. All
others find vectors of numbers side by side that are treated alike, and the last one, which has no
factors, writes real and imaginary parts in turns again.

A line of 2 n real numbers is one of n complex ones as it lies in memory: their transform is
completed by sums with its mirror image (`REAL`), or it is taken apart before (`HALF`, the inverse).

The inverse transform is the conjugate of the transform of the conjugate.

`columns` transforms along an axis that isn't the last: as many columns as there are lanes at a
time, whose numbers lie side by side from the start. It has no first pass of its own.

Source: C. Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), 1.7 and 4.3.

Note [What a line must be]
Its complex numbers n: a multiple of the lanes, the quotient at least as many and a product of 2, 3,
5 and 7; of columns, any such product. The last vector of a loop goes back to where it is whole, and
makes some results again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Final

from ..llvm import loader as engine, target
from ..llvm.emit import F64, I64, PTR, Function, Module, Type, Value
from .transpose import exchange

#: The words of a frame. `line` and `line_to` are elements from line to line; `sign` is -1 for the
#: inverse, `radices` has the passes after the first, `twiddles` their factors, `mirror` those of
#: real lines, `room` 4 n elements for each chunk of `grain` lines. Of `columns`, `line` is how many
#: there are side by side, `lines` counts vectors of columns, and `room` is for those.
FRAME: Final = (
    "source", "to", "room", "radices", "twiddles", "mirror", "n", "lines", "grain", "line",
    "line_to", "passes", "kind", "sign", "scale",
)  # fmt: skip
#: Kinds of lines: complex on both sides, real ones transformed, and the way back.
COMPLEX, REAL, HALF = range(3)
#: Radices of passes after the first.
RADICES: Final = (8, 4, 2, 7, 5, 3)

_Pair = tuple[Value, Value]


def choices(type: Type) -> tuple[int, ...]:
    """The lanes that there is code for, most first: fewer are for shorter lines."""
    most = target.lanes(type)
    return tuple(lanes for lanes in (16, 8, 4, 2) if most >= lanes >= min(4, most))


def load(type: Type, lanes: int) -> dict[str, int]:
    """The addresses for float32 or float64 and vectors of some lanes."""
    return engine.load_made(emit, type, lanes)


def emit(type: Type, lanes: int) -> Module:
    """The module with the functions `fft` and `columns`."""
    module = Module("fft")
    passes = {radix: _emit_pass(module, type, lanes, radix) for radix in RADICES}
    _emit_lines(module, type, lanes, passes)
    _emit_columns(module, type, lanes, passes)
    return module


def _read(f: Function) -> dict[str, Value]:
    """The words of the frame."""
    w: dict[str, Value] = {}
    for place, name in enumerate(FRAME):
        kind = PTR if place < 6 else F64 if place > 12 else I64
        w[name] = f.load(f.at(f.params[0], place, I64), kind)
    return w


def _run_passes(
    f: Function, type: Type, w: dict[str, Value], passes: dict[int, Function], n: Value,
    count: Value, begin: list[Value],
) -> list[Value]:  # fmt: skip
    """Some passes from one room to the other, and what the next one would begin with: the room of
    the last results, the other one, factors, stride, and how many numbers are left."""
    with f.loop(0, count, carried=begin) as loop:
        now, then, factors, stride, left = loop.carried
        radix = f.load(f.at(w["radices"], loop.index, I64), I64)
        each_count = left // radix
        for each, function in passes.items():
            with f.when(radix.eq(each)):
                f.call(function, [now, then, factors, n, each_count, stride])
        factors = f.at(factors, each_count * (radix - 1) * 2, type)
        loop.next(then, now, factors, stride * radix, each_count)
    return loop.results


def _emit_lines(module: Module, type: Type, lanes: int, passes: dict[int, Function]) -> None:
    first = _emit_first(module, type, lanes)
    lasts = {radix: _emit_last(module, type, lanes, radix) for radix in RADICES}
    split = _emit_split(module, type, lanes)
    real_end = _emit_real_end(module, type, lanes)
    f = module.function("fft", [("frame", PTR), ("chunk", I64)])
    chunk, w = f.params[1], _read(f)
    n, sign, scale = w["n"], f.cast(w["sign"], type), f.cast(w["scale"], type)
    room = f.at(w["room"], chunk * (n * 4), type)
    other = f.at(room, n * 2, type)
    start = chunk * w["grain"]
    with f.loop(start, f.minimum(start + w["grain"], w["lines"])) as line:
        source = f.at(w["source"], line.index * w["line"], type)
        to = f.at(w["to"], line.index * w["line_to"], type)

        def take_apart() -> list[Value]:
            f.call(split, [source, other, w["mirror"], n])
            return [other]

        (source,) = f.choose(w["kind"].eq(HALF), take_apart, lambda: [source])
        f.call(first, [source, room, w["twiddles"], n, sign])
        begin = [room, other, f.at(w["twiddles"], n * 2, type), f.constant(I64, lanes), n // lanes]
        real = w["kind"].eq(REAL)
        count = f.select(real, w["passes"], w["passes"] - 1)
        found, _, _, stride, radix = _run_passes(f, type, w, passes, n, count, begin)
        with f.when(real):
            f.call(real_end, [found, to, w["mirror"], n, scale])
        for each, function in lasts.items():
            with f.when(~real & radix.eq(each)):
                f.call(function, [found, to, n, stride, scale, scale * sign])
    f.ret()


def _emit_columns(module: Module, type: Type, lanes: int, passes: dict[int, Function]) -> None:
    f = module.function("columns", [("frame", PTR), ("chunk", I64)])
    chunk, w = f.params[1], _read(f)
    n, wide, columns = w["n"], type.vector(lanes), w["line"]
    sign, scale = f.cast(w["sign"], type), f.cast(w["scale"], type)
    part = n * lanes
    room = f.at(w["room"], chunk * (part * 4), type)
    other = f.at(room, part * 2, type)
    blocks = (columns + (lanes - 1)) // lanes
    start = chunk * w["grain"]
    with f.loop(start, f.minimum(start + w["grain"], w["lines"])) as unit:
        left = unit.index % blocks * lanes
        first = (unit.index // blocks * n * columns + left) * 2
        source, to = f.at(w["source"], first, type), f.at(w["to"], first, type)
        count = (columns - left) * 2
        masks = [f.mask(count - v * lanes, lanes) for v in range(2)]
        with f.loop(0, n) as row:
            at = f.at(source, row.index * columns * 2, type)
            a, b = (
                f.load_masked(f.at(at, v * lanes, type), wide, mask) for v, mask in enumerate(masks)
            )
            place = f.at(room, row.index * lanes, type)
            f.store(place, f.shuffle(a, b, range(0, 2 * lanes, 2)))
            f.store(f.at(place, part, type), f.shuffle(a, b, range(1, 2 * lanes, 2)) * sign)
        begin = [room, other, w["twiddles"], f.constant(I64, lanes), n]
        found = _run_passes(f, type, w, passes, part, w["passes"], begin)[0]
        with f.loop(0, n) as row:
            place = f.at(found, row.index * lanes, type)
            x = f.load(place, wide) * scale, f.load(f.at(place, part, type), wide) * (scale * sign)
            at = f.at(to, row.index * columns * 2, type)
            for v, (mask, half) in enumerate(zip(masks, _in_turns(f, lanes, x), strict=True)):
                f.store_masked(f.at(at, v * lanes, type), half, mask)
    f.ret()


# ---- transforms of a few numbers -----------------------------------------------------------------
def _turn(f: Function, x: _Pair, part: int, whole: int) -> _Pair:
    """x exp(-2 pi i part / whole)."""
    re, im = x
    eighth = part % whole * 8 / whole
    if eighth == 0:
        return x
    if eighth == 2:
        return im, -re
    if eighth == 4:
        return -re, -im
    if eighth == 6:
        return -im, re
    angle = 2 * pi * part / whole
    c, s = cos(angle), sin(angle)
    if eighth in (1, 3, 5, 7):
        root = abs(c)
        plus, minus = (re + im) * root, (im - re) * root
        return [(plus, minus), (minus, -plus), (-plus, -minus), (-minus, plus)][int(eighth) // 2]
    return f.fma(re, c, im * s), f.fma(im, c, re * -s)


def _transform(f: Function, x: Sequence[_Pair]) -> list[_Pair]:
    """The transform of a few numbers in registers."""
    n = len(x)
    if n == 1:
        return list(x)
    if n % 2:
        return _transform_odd(f, x)
    even, odd = _transform(f, x[::2]), _transform(f, x[1::2])
    low, high = [], []
    for k, ((a, b), y) in enumerate(zip(even, odd, strict=True)):
        c, d = _turn(f, y, k, n)
        low.append((a + c, b + d))
        high.append((a - c, b - d))
    return low + high


def _transform_odd(f: Function, x: Sequence[_Pair]) -> list[_Pair]:
    n, half = len(x), len(x) // 2
    sums = [(x[j][0] + x[n - j][0], x[j][1] + x[n - j][1]) for j in range(1, half + 1)]
    gaps = [(x[j][0] - x[n - j][0], x[j][1] - x[n - j][1]) for j in range(1, half + 1)]
    re, im = x[0]
    for a, b in sums:
        re, im = re + a, im + b
    found = [(re, im)] * n
    for k in range(1, half + 1):
        a, b = x[0]
        c = d = f.constant(a.type, 0.0)
        for j, ((p, q), (r, s)) in enumerate(zip(sums, gaps, strict=True), 1):
            angle = 2 * pi * (j * k % n) / n
            a, b = f.fma(p, cos(angle), a), f.fma(q, cos(angle), b)
            c, d = f.fma(s, sin(angle), c), f.fma(r, sin(angle), d)
        found[k], found[n - k] = (a + c, b - d), (a - c, b + d)
    return found


def _times(f: Function, x: _Pair, y: _Pair) -> _Pair:
    (a, b), (c, d) = x, y
    return f.fma(a, c, -(b * d)), f.fma(a, d, b * c)


def _load_pairs(f: Function, type: Type, lanes: int, place: Value, turned: bool = False) -> _Pair:
    """Real and imaginary parts that lie in turns, of a vector of numbers; the last one first."""
    wide = type.vector(lanes)
    a, b = f.load(place, wide), f.load(f.at(place, lanes, type), wide)
    order = range(lanes - 1, -1, -1) if turned else range(lanes)
    return f.shuffle(a, b, [2 * j for j in order]), f.shuffle(a, b, [2 * j + 1 for j in order])


def _load_some(
    f: Function, type: Type, lanes: int, place: Value, count: int, apart: Value, parts: Value
) -> list[_Pair]:
    """Vectors of numbers `apart` from each other, whose imaginary parts are `parts` further."""
    wide = type.vector(lanes)
    places = [f.at(place, apart * k, type) for k in range(count)]
    return [(f.load(at, wide), f.load(f.at(at, parts, type), wide)) for at in places]


def _in_turns(f: Function, lanes: int, x: _Pair) -> tuple[Value, Value]:
    turns = [j // 2 + j % 2 * lanes for j in range(2 * lanes)]
    return f.shuffle(*x, turns[:lanes]), f.shuffle(*x, turns[lanes:])


def _store_pairs(f: Function, type: Type, lanes: int, place: Value, x: _Pair) -> None:
    for v, half in enumerate(_in_turns(f, lanes, x)):
        f.store(f.at(place, v * lanes, type), half)


# ---- passes --------------------------------------------------------------------------------------
def _emit_first(module: Module, type: Type, lanes: int) -> Function:
    """The pass that has as many results as lanes."""
    params = [("source", PTR), ("to", PTR), ("twiddles", PTR), ("n", I64), ("sign", type)]
    f = module.function("first", params)
    f.internal = True
    source, to, twiddles, n, sign = f.params
    wide = type.vector(lanes)
    count = n // lanes
    with f.loop(0, count, lanes) as loop:
        p = f.minimum(loop.index, count - lanes)
        x = []
        for k in range(lanes):
            re, im = _load_pairs(f, type, lanes, f.at(source, (p + count * k) * 2, type))
            x.append((re, im * sign))
        y = _transform(f, x)
        for k in range(1, lanes):
            at = f.at(twiddles, count * k + p, type)
            y[k] = _times(f, y[k], (f.load(at, wide), f.load(f.at(at, n, type), wide)))
        for part in range(2):
            begin = f.at(to, p * lanes + n * part, type)
            for k, line in enumerate(exchange(f, [one[part] for one in y])):
                f.store(f.at(begin, k * lanes, type), line)
    f.ret()
    return f


def _emit_pass(module: Module, type: Type, lanes: int, radix: int) -> Function:
    """`count` times transforms of `radix` numbers `count * stride` apart, of which `stride` lie
    side by side."""
    names = ("n", "count", "stride")
    params = [("source", PTR), ("to", PTR), ("twiddles", PTR), *((name, I64) for name in names)]
    f = module.function(f"radix_{radix}", params)
    f.internal = True
    source, to, twiddles, n, count, stride = f.params
    apart = count * stride
    with f.loop(0, count) as p:
        factors = f.at(twiddles, p.index * (2 * (radix - 1)), type)
        w = [
            tuple(f.splat(f.load(f.at(factors, 2 * k + j, type), type), lanes) for j in range(2))
            for k in range(radix - 1)
        ]
        begin = f.at(source, p.index * stride, type)
        end = f.at(to, p.index * stride * radix, type)
        with f.loop(0, stride, lanes, at_least_once=True) as q:
            at = f.at(begin, q.index, type)
            y = _transform(f, _load_some(f, type, lanes, at, radix, apart, n))
            for k in range(radix):
                re, im = y[k] if not k else _times(f, y[k], (w[k - 1][0], w[k - 1][1]))
                at = f.at(end, stride * k + q.index, type)
                f.store(at, re)
                f.store(f.at(at, n, type), im)
    f.ret()
    return f


# ---- ends ----------------------------------------------------------------------------------------
def _emit_last(module: Module, type: Type, lanes: int, radix: int) -> Function:
    """The pass with which a line ends: real and imaginary parts in turns, each times its scale."""
    params = [("source", PTR), ("to", PTR), ("n", I64), ("stride", I64)]
    f = module.function(f"last_{radix}", [*params, ("scale", type), ("scale_im", type)])
    f.internal = True
    source, to, n, stride, scale, scale_im = f.params
    with f.loop(0, stride, lanes) as q:
        at = f.at(source, q.index, type)
        for k, (re, im) in enumerate(
            _transform(f, _load_some(f, type, lanes, at, radix, stride, n))
        ):
            place = f.at(to, (stride * k + q.index) * 2, type)
            _store_pairs(f, type, lanes, place, (re * scale, im * scale_im))
    f.ret()
    return f


def _emit_real_end(module: Module, type: Type, lanes: int) -> Function:
    """The half of the transform of 2 n real numbers, from that of n complex ones."""
    params = [("source", PTR), ("to", PTR), ("mirror", PTR), ("n", I64), ("scale", type)]
    f = module.function("real_end", params)
    f.internal = True
    source, to, mirror, n, scale = f.params
    wide = type.vector(lanes)
    half = scale * 0.5
    zero = f.constant(type, 0.0)
    re, im = f.load(source, type), f.load(f.at(source, n, type), type)
    for place, value in ((f.constant(I64, 0), re + im), (n, re - im)):
        f.store(f.at(to, place * 2, type), value * scale)
        f.store(f.at(to, place * 2 + 1, type), zero)
    back = list(range(lanes - 1, -1, -1))
    with f.loop(1, n, lanes) as loop:
        k = f.minimum(loop.index, n - lanes)
        at, there = f.at(source, k, type), f.at(source, n - k - (lanes - 1), type)
        a, b = f.load(at, wide), f.load(f.at(at, n, type), wide)
        c = f.shuffle(f.load(there, wide), None, back)
        d = f.shuffle(f.load(f.at(there, n, type), wide), None, back)
        at = f.at(mirror, k, type)
        w = f.load(at, wide), f.load(f.at(at, n, type), wide)
        more, less = _times(f, w, (b + d, c - a))
        x = (a + c + more) * half, (b - d + less) * half
        _store_pairs(f, type, lanes, f.at(to, k * 2, type), x)
    f.ret()
    return f


def _emit_split(module: Module, type: Type, lanes: int) -> Function:
    """What has 2 n real numbers as its inverse transform, from the half of theirs."""
    f = module.function("split", [("source", PTR), ("to", PTR), ("mirror", PTR), ("n", I64)])
    f.internal = True
    source, to, mirror, n = f.params
    wide = type.vector(lanes)
    first, last = f.load(source, type), f.load(f.at(source, n * 2, type), type)
    f.store(to, first + last)  # of these two imaginary parts mean nothing
    f.store(f.at(to, 1, type), first - last)
    with f.loop(1, n, lanes) as loop:
        k = f.minimum(loop.index, n - lanes)
        a, b = _load_pairs(f, type, lanes, f.at(source, k * 2, type))
        there = f.at(source, (n - k - (lanes - 1)) * 2, type)
        c, d = _load_pairs(f, type, lanes, there, turned=True)
        at = f.at(mirror, k, type)
        # Times the conjugate of the factor, and i.
        less, more = _times(f, (a - c, b + d), (f.load(at, wide), -f.load(f.at(at, n, type), wide)))
        _store_pairs(f, type, lanes, f.at(to, k * 2, type), (a + c - more, b - d + less))
    f.ret()
    return f
