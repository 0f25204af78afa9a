"""exp, expm1, sigmoid, tanh, log, log1p and powers as inlined code. See `mathematics`.

Note [Fused steps]
Reductions such as x - n log(2) are exact in their first step because a fused multiply-add
rounds once and the difference is a multiple of the last bit of x that is below 1. So each fused
step is written as one, and `contract` is off: results don't depend on where the code is inlined.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from ..llvm.emit import Function
from ..llvm.target import machine
from ..llvm.types import F32, F64, I8, I16, I32
from ..llvm.values import Value
from . import polynomials as c

_Rest = ParamSpec("_Rest")
_INF = float("inf")
_NAN = float("nan")


def plain(body: Callable[_Rest, Value]) -> Callable[_Rest, Value]:
    # See Note [Fused steps].
    @wraps(body)
    def run(*args: _Rest.args, **named: _Rest.kwargs) -> Value:
        f = args[0]
        assert isinstance(f, Function)
        before, f.contract = f.contract, False
        try:
            return body(*args, **named)
        finally:
            f.contract = before

    return run


def single(x: Value) -> bool:
    if not x.type.is_float:
        raise TypeError(f"a float32 or float64 is needed, not {x.type}")
    return x.type.scalar == "float"


def _bits_of(number: float, single: bool) -> int:
    pattern = struct.pack("<f" if single else "<d", number)
    return int.from_bytes(pattern, "little")


def nearest(f: Function, x: Value, factor: float) -> tuple[Value, Value]:
    """x * factor rounded to an integer: as a float, and as an int whose low bits are right.

    Adding 1.5 * 2**(digits - 1) leaves no place for a fraction; the sum ends with the integer.
    """
    magic = 1.5 * 2.0 ** (23 if single(x) else 52)
    shifted = f.fma(x, factor, magic)
    return shifted - magic, f.bits(shifted, x.type.integer) - _bits_of(magic, single(x))


def _power_of_two(f: Function, n: Value, like: Value) -> Value:
    """2**n for an integer n that gives a normal number."""
    bias, digits = (127, 23) if single(like) else (1023, 52)
    return f.bits((n + bias) << digits, like.type)


def _exp_reduced(f: Function, x: Value, short: bool = False) -> tuple[Value, Value, Value]:
    """x = n log(2) + r: n as an integer and as a float, and exp(r) - 1."""
    high, low = c.LN2_F32 if single(x) else c.LN2_F64
    n, whole = nearest(f, x, c.LOG2E)
    r = f.fma(n, -high, x)
    r = f.fma(n, -low, r)
    q = f.polynomial(r, c.EXP_F32 if single(x) else c.EXP_SHORT if short else c.EXP_F64)
    return whole, n, f.fma(r * r, q, r)


def _clamp(f: Function, x: Value, low: float, high: float) -> Value:
    """x within bounds; nan stays."""
    x = f.select(x < low, low, x)
    return f.select(x > high, high, x)


def _scale(f: Function, x: Value, n: Value, whole: Value) -> Value:
    """x * 2**n, rounded once; `whole` is n as a float. In two steps where there is no instruction
    for it: 2**n itself may be beyond the normal numbers."""
    if x.type.lanes * x.type.size == 64 == machine().width:  # AVX-512
        return _scale_at_once(f, x, whole)
    half = n >> 1
    return x * _power_of_two(f, half, x) * _power_of_two(f, n - half, x)


def _scale_at_once(f: Function, x: Value, whole: Value) -> Value:
    suffix, mask = ("ps", I16) if single(x) else ("pd", I8)
    name = f"llvm.x86.avx512.mask.scalef.{suffix}.512"
    f.module.declare(name, x.type, [x.type, x.type, x.type, mask, I32])
    to_nearest = 4
    return f.emit(
        x.type, f"call {x.type} @{name}({x!r}, {whole!r}, {x!r}, {mask} -1, i32 {to_nearest})"
    )


@plain
def exp(f: Function, x: Value, factor: Value | None = None) -> Value:
    """e to the power of x, times the factor (near 1) if there is one."""
    x = _clamp(f, x, -105.0, 90.0) if single(x) else _clamp(f, x, -746.0, 711.0)
    n, whole, p = _exp_reduced(f, x)
    p = p + 1.0
    return _scale(f, p if factor is None else p * factor, n, whole)


@plain
def expm1(f: Function, x: Value) -> Value:
    """exp(x) - 1, exact near 0."""
    return _expm1(f, x)


def _expm1(f: Function, x: Value) -> Value:
    y = _clamp(f, x, -30.0, 89.0) if single(x) else _clamp(f, x, -50.0, 710.0)
    n, _, p = _exp_reduced(f, y)
    # 2**n p + (2**n - 1), with half of 2**n: it may be the first power that overflows.
    scale = _power_of_two(f, n - 1, x)
    result = f.fma(scale, p, scale - 0.5)
    result = result + result
    return f.select(f.abs(x) < 1e-30, x, result)  # the sign of 0, and denormals


@plain
def sigmoid(f: Function, x: Value) -> Value:
    """1 / (1 + exp(-x)), as exact for large negative x as for positive."""
    falling = exp(f, -f.abs(x))
    return f.select(x < 0.0, falling, 1.0) / (falling + 1.0)


@plain
def tanh(f: Function, x: Value) -> Value:
    """The hyperbolic tangent: t / (t + 2) with t = expm1(2|x|)."""
    a = f.abs(x)
    limit = 10.0 if single(x) else 22.0
    t = _expm1(f, f.select(a > limit, limit, a) * 2.0)
    # A denormal 2|x| halves exactly, and 0 keeps its sign.
    return f.copysign(t / (t + 2.0), x)


def _split(f: Function, x: Value) -> tuple[Value, Value]:
    """x = 2**e (1 + r) for positive x, 1 + r in sqrt(1/2) to sqrt(2): e as a float, and r."""
    narrow = single(x)
    smallest, up = (2.0**-126, 23) if narrow else (2.0**-1022, 52)
    denormal = x < smallest
    x = f.select(denormal, x * 2.0**up, x)
    root = _bits_of(0.5**0.5, narrow)
    moved = f.bits(x, x.type.integer) + (_bits_of(1.0, narrow) - root)
    digits = 23 if narrow else 52
    mantissa = f.bits((moved & ((1 << digits) - 1)) + root, x.type)
    biased = f.shift_right(moved, digits)
    if narrow:
        e = f.cast(biased, F32)
        bias = 127.0
    else:  # the integer as the last bits of 2**52, for machines that convert no 64-bit vectors
        e = f.bits(biased | _bits_of(2.0**52, False), x.type)
        bias = 2.0**52 + 1023.0
    return e - f.select(denormal, f.constant(e.type, bias + up), bias), mantissa - 1.0


def _log_edges(f: Function, x: Value, result: Value) -> Value:
    result = f.select(x < _INF, result, x)  # inf and nan
    result = f.select(x < 0.0, _NAN, result)
    return f.select(x.eq(0.0), -_INF, result)


def _log(f: Function, x: Value, short: bool = False) -> Value:
    e, r = _split(f, x)
    half = r * r * 0.5
    if single(x):
        high, low = c.LN2_F32
        rest = f.fma(r * r * r, f.polynomial(r, c.LOG_F32), f.fma(e, low, -half))
        return f.fma(e, high, r + rest)
    high, low = c.LN2_F64
    s = r / (r + 2.0)
    z = s * s
    tail = z * f.polynomial(z, c.LOG_SHORT if short else c.LOG_F64)
    return f.fma(e, high, r - (half - f.fma(s, half + tail, e * low)))


@plain
def log(f: Function, x: Value) -> Value:
    """The natural logarithm."""
    return _log_edges(f, x, _log(f, x))


@plain
def log1p(f: Function, x: Value) -> Value:
    """log(1 + x), exact near 0."""
    u = x + 1.0
    # What rounding 1 + x lost: the larger of the two is subtracted first.
    lost = f.select(x < 1.0, x - (u - 1.0), 1.0 - (u - x))
    result = _log_edges(f, u, _log(f, u) + lost / u)
    return f.select(f.abs(x) < 1e-30, x, result)


@plain
def sqrt(f: Function, x: Value) -> Value:
    """The square root, correctly rounded."""
    return f.sqrt(x)


@plain
def rsqrt(f: Function, x: Value) -> Value:
    """1 / sqrt(x)."""
    return 1.0 / f.sqrt(x)


@plain
def power(f: Function, x: Value, y: Value) -> Value:
    """x to the power of y, with C's special values."""
    a = f.abs(x)
    if single(x):
        result = _power_f32(f, a, y)
    else:
        result = _power_f64(f, a, y)
    result = f.select(a.eq(1.0), f.constant(x.type, 1.0), result)
    whole = f.round_even(y).eq(y)
    half = y * 0.5
    odd = whole & f.round_even(half).ne(half)
    sign = f.bits(x, x.type.integer) & f.constant(x.type.integer, -(2 ** (8 * x.type.size - 1)))
    flipped = f.bits(f.bits(result, sign.type) ^ sign, x.type)
    result = f.select(odd, flipped, result)
    # A finite negative number has no fractional powers.
    result = f.select((x < 0.0) & (x > -_INF) & ~whole, _NAN, result)
    result = f.select(f.is_nan(x) | f.is_nan(y), x + y, result)
    # 1 to any power, and any number to the power of 0, are 1: nan too.
    unit = (y.eq(0.0)) | (x.eq(1.0)) | (x.eq(-1.0) & f.abs(y).eq(_INF))
    return f.select(unit, 1.0, result)


def _power_f32(f: Function, a: Value, y: Value) -> Value:
    """exp(y log(a)) in float64, which leaves nothing to correct."""

    def part(a: Value, y: Value) -> Value:
        a, y = f.cast(a, F64), f.cast(y, F64)
        p = _clamp(f, y * _log_edges(f, a, _log(f, a, short=True)), -200.0, 200.0)
        n, _, q = _exp_reduced(f, p, short=True)
        return f.cast((q + 1.0) * _power_of_two(f, n, p), F32)

    if a.type.lanes < 2:
        return part(a, y)
    lower, upper = (part(u, v) for u, v in zip(f.halves(a), f.halves(y)))
    if not lower.type.lanes:
        return f.insert(f.insert(f.constant(a.type, 0.0), lower, 0), upper, 1)
    return f.shuffle(lower, upper, range(a.type.lanes))


def _power_f64(f: Function, a: Value, y: Value) -> Value:
    """exp(y log(a)) with the logarithm as a sum of two numbers, exact to 2**-66 or so.

    log(1 + r) = 2s + 2/3 s**3 + ..., s = r / (2 + r); the first two terms need the second number.
    """
    e, r = _split(f, a)
    d = r + 2.0
    d_rest = r - (d - 2.0)
    s = r / d
    s_rest = f.fma(-s, d_rest, f.fma(-s, d, r)) / d
    z = s * s
    z_rest = f.fma(s, s, -z) + 2.0 * s * s_rest
    cube = z * s
    cube_rest = f.fma(z, s, -cube) + f.fma(z, s_rest, z_rest * s)
    third, third_rest = 2.0 / 3.0, 3.700743415417188e-17
    term = cube * third
    term_rest = f.fma(cube, third, -term) + f.fma(cube, third_rest, cube_rest * third)
    tail = cube * z * f.polynomial(z, c.LOG_TAIL)
    high, low = c.LN2_F64
    whole = e * high
    whole_rest = f.fma(e, high, -whole) + e * low
    # whole is 0 or larger than 2s, which is larger than the term: each sum's loss is exact.
    twice = s + s
    first = whole + twice
    lost = f.select(e.eq(0.0), 0.0, twice - (first - whole))
    total = first + term
    lost_too = term - (total - first)
    rest = lost + lost_too + (whole_rest + 2.0 * s_rest + term_rest + tail)
    total, rest = total + rest, rest - ((total + rest) - total)
    product = y * total
    product_rest = f.fma(y, total, -product) + y * rest
    # Beyond the bounds, and for log(0) and log(inf), the second number says nothing.
    edge = _log_edges(f, a, f.constant(a.type, 1.0))
    special = ~((a > 0.0) & (a < _INF))
    product = f.select(special, y * edge, product)
    bounded = f.abs(product) < 800.0
    product_rest = f.select(bounded & ~special, product_rest, 0.0)
    product = _clamp(f, product, -750.0, 711.0)
    n, whole, p = _exp_reduced(f, product)
    return _scale(f, (p + f.fma(p, product_rest, product_rest)) + 1.0, n, whole)
