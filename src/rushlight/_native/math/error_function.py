"""erf and erfc as inlined code. See `mathematics`."""

from __future__ import annotations

from ..llvm.emit import Function
from ..llvm.values import Value
from . import polynomials as c
from .exponential import exp, plain, single


def _complement(f: Function, a: Value) -> Value:
    """erfc(a) for a >= 0: exp(-a**2) times a smooth function."""
    limit = 10.1 if single(a) else 27.3
    a = f.select(a > limit, limit, a)
    t = (a - 4.0) / (a + 4.0)
    smooth = f.polynomial(t, c.ERFCX_F32 if single(a) else c.ERFCX_F64)
    square = a * a
    lost = f.fma(a, a, -square)
    # The exponential is taken last: a denormal result is rounded once.
    factor = f.fma(-lost, smooth, smooth) / f.fma(a, 2.0, 1.0)
    return exp(f, -square, factor)


@plain
def erfc(f: Function, x: Value) -> Value:
    """1 - erf(x), exact where that is small."""
    tail = _complement(f, f.abs(x))
    near = 1.0 - _inner(f, x)
    result = f.select(x < 0.0, 2.0 - tail, tail)
    return f.select(f.abs(x) < 0.4, near, result)


def _inner(f: Function, x: Value) -> Value:
    """erf near 0."""
    return f.fma(x, f.polynomial(x * x, c.ERF_F32 if single(x) else c.ERF_F64), x)


@plain
def erf(f: Function, x: Value) -> Value:
    """The error function."""
    a = f.abs(x)
    if single(x):
        limit, switch = 3.95, 0.9
        bounded = f.select(a > limit, limit, a)
        tail = exp(f, -f.polynomial(bounded, c.ERF_TAIL_F32))
    else:
        switch = 1.0
        tail = _complement(f, a)
    outer = f.copysign(1.0 - tail, x)
    inner = f.select(x.eq(0.0), x, _inner(f, x))
    return f.select(a < switch, inner, outer)
