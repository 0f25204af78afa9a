"""sin and cos of arguments of any size as inlined code. See `mathematics`."""

from __future__ import annotations

from ..llvm.emit import Function
from ..llvm.types import F64, I1, I64, I128
from ..llvm.values import Value
from . import polynomials as c
from .exponential import nearest, plain, single


def _sine_pair(f: Function, r: Value) -> tuple[Value, Value]:
    """sin and cos for |r| <= pi/4 and a little more."""
    z = r * r
    sines, cosines = (c.SIN_F32, c.COS_F32) if single(r) else (c.SIN_F64, c.COS_F64)
    sine = f.fma(z * r, f.polynomial(z, sines), r)
    half = z * 0.5
    top = 1.0 - half
    lost = (1.0 - top) - half
    cosine = top + f.fma(z * z, f.polynomial(z, cosines), lost)
    return sine, cosine


def _sine_in_quadrant(f: Function, r: Value, quadrant: Value) -> Value:
    """sin(r + quadrant pi/2)."""
    sine, cosine = _sine_pair(f, r)
    picked = f.select((quadrant & 1).ne(0), cosine, sine)
    sign = (quadrant & 2) << (8 * r.type.size - 2)
    return f.bits(f.bits(picked, r.type.integer) ^ sign, r.type)


def _trigonometric(f: Function, x: Value, cosine: bool) -> Value:
    limit = 1e5 if single(x) else 2.0**20
    n, quadrant = nearest(f, x, c.TWO_BY_PI)
    r = x
    for part in c.PI_HALF_F32 if single(x) else c.PI_HALF_F64:
        r = f.fma(n, -part, r)
    fast = _sine_in_quadrant(f, r, quadrant + 1 if cosine else quadrant)
    if not cosine:
        fast = f.select(x.eq(0.0), x, fast)
    usual = f.abs(x) < limit
    huge = _huge(f, cosine)

    def one(lane: Value) -> Value:
        wide = f.cast(lane, F64)
        return f.cast(f.call(huge, [wide]), lane.type)

    def slow() -> list[Value]:
        if not x.type.lanes:
            return [one(x)]
        with f.loop(0, x.type.lanes, carried=[fast], at_least_once=True) as loop:
            (result,) = loop.carried
            lane = f.extract(x, loop.index)
            (value,) = f.choose(
                f.abs(lane) < limit,
                lambda: [f.extract(result, loop.index)],
                lambda: [one(lane)],
            )
            loop.next(f.insert(result, value, loop.index))
        return loop.results

    return f.choose(f.any(~usual), slow, lambda: [fast])[0]


def _huge(f: Function, cosine: bool) -> Function:
    """The module's scalar function for arguments of any size from 2**-10 on.

    The product of the 53 bits of x and the bits of 2/pi that matter at its magnitude, modulo 4, in
    192 bits: Payne and Hanek, "Radian reduction for trigonometric functions", 1983.
    """
    name = "huge_cosine" if cosine else "huge_sine"
    for known in f.module.functions:
        if known.name == name:
            return known
    g = f.module.function(name, [("x", F64)], F64)
    g.internal = True
    g.contract = False
    (x,) = g.params
    pattern = g.bits(g.abs(x), I64)
    exponent = g.shift_right(pattern, 52)
    mantissa = (pattern & ((1 << 52) - 1)) | (1 << 52)
    # The 64 zeros in front make room for arguments whose last bit is below 4.
    position = exponent - 1075 + 62
    table = g.address_of(g.module.constants(I64, [_make_signed(word) for word in c.TWO_OVER_PI]))
    first = g.shift_right(position, 6)
    shift = position & 63
    loaded = [g.load(g.at(table, first + i, I64), I64) for i in range(4)]
    back = 63 - shift
    words = [
        (loaded[i] << shift) | g.shift_right(g.shift_right(loaded[i + 1], 1), back)
        for i in range(3)
    ]

    def product(word: Value) -> tuple[Value, Value]:
        """The low and the high half of mantissa * word."""
        a = f"zext i64 {mantissa.name} to i128"
        b = f"zext i64 {word.name} to i128"
        both = g.emit(I128, f"mul {g.emit(I128, a)!r}, {g.emit(I128, b).name}")
        high = g.emit(I128, f"lshr {both!r}, 64")
        return g.emit(I64, f"trunc {both!r} to i64"), g.emit(I64, f"trunc {high!r} to i64")

    low, carry = product(words[2])
    middle, top = product(words[1])
    middle = middle + carry
    overflowed = g.cast(g.emit(I1, f"icmp ult {middle!r}, {carry.name}"), I64)
    top = mantissa * words[0] + top + overflowed
    # The first two bits count quarter turns, the others are a signed fraction of one.
    fraction = (top << 2) | g.shift_right(middle, 62)
    finer = (middle << 2) | g.shift_right(low, 62)
    quadrant = g.shift_right(top, 62) + g.shift_right(fraction, 63)
    part = g.cast(fraction, F64) * 2.0**-64
    part = part + g.cast(g.shift_right(finer, 1), F64) * 2.0**-127
    turned = _sine_in_quadrant(g, part * c.PI_HALF_F64[0], quadrant + 1 if cosine else quadrant)
    if not cosine:
        turned = g.select(x < 0.0, -turned, turned)
    g.ret(g.select(g.abs(x) < float("inf"), turned, x - x))
    return g


def _make_signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


@plain
def sin(f: Function, x: Value) -> Value:
    """The sine, of arguments of any size."""
    return _trigonometric(f, x, cosine=False)


@plain
def cos(f: Function, x: Value) -> Value:
    """The cosine, of arguments of any size."""
    return _trigonometric(f, x, cosine=True)
