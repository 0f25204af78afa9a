"""The error function and its relatives, and the activation made of it, which NumPy lacks.

Every function takes an array of any shape (0-d, empty, non-contiguous) and gives a new C-ordered
ndarray of the same shape and dtype. Float64 is computed in float64; float32 in float32 where that
keeps two units in the last place, else in float64; float16 and bfloat16 in float32.

Note [Blocks that stay in the cache]
An approximation is some twenty ufunc calls. Run over a whole large array each would stream it
through memory; run over pieces whose scratch rows fit the second-level cache, a call costs 0.06 ns
per float32 element and its fixed 0.2 µs vanishes. Coefficients are 0-d arrays because a Python
number costs 0.3 µs a call.

Source: the rational approximations were fitted for this file (weighted minimax fits in 50-digit
arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf as scalar_erf, erfc as scalar_erfc, inf, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula import ir, words
from .. import kernels
from ..types import FLOAT32
from .by_kernel import by_kernel

if TYPE_CHECKING:
    from ..._formula.ir import Symbol
    from ..annotations import Array

# See Note [Blocks that stay in the cache]: elements per block by item size.
_BLOCK = {4: 32768, 8: 32768}

# Elements up to which the C library's functions, one by one, are quicker than the passes.
_FEW = 64

_Coefficients = tuple[Any, ...]
_Rational = tuple[_Coefficients, _Coefficients]
_Body = Callable[..., None]


def _constants(dtype: type, *values: float) -> _Coefficients:
    return tuple(np.array(value, dtype) for value in values)


# erf(x) = tanh(x + x S(x²)): the condition number of tanh only falls with its argument, so float32
# is enough. All coefficients are positive: nothing cancels, and S is right (it need only grow)
# beyond the fitted interval.
_ERF32: _Rational = (
    _constants(
        np.float32,
        0.12837915122509003,
        0.12291422486305237,
        0.018956605345010757,
        0.0018533567199483514,
    ),
    _constants(np.float32, 1.0, 0.1568925976753235, 0.023689880967140198, 0.00032492412719875574),
)
# The same fit as the exponent of the logistic function: Φ(x) = 1 / (1 + exp(-x R(x²))).
_CDF32: _Rational = (
    _constants(
        np.float32,
        -1.5957691269086933,
        -0.19785328762559676,
        -0.015077827658690353,
        -0.00038506908901188124,
    ),
    _constants(np.float32, 1.0, 0.07844627737118873, 0.005922477677230465, 4.0615490188173936e-05),
)
# erf(x) = x + x S(x²) for |x| < 0.9.
_ERF_SMALL = _constants(
    np.float64,
    0.12837916709551256, -0.37612638903183526, 0.11283791670944393, -0.02686617064313614,
    0.005223977606280699, -0.0008548325935841014, 0.00012055293745728877, -1.4924715167596017e-05,
    1.6447163309807164e-06, -1.62065346428863e-07, 1.3711857187131103e-08, -7.780982523568629e-10,
)  # fmt: skip
# erfc(x) = exp(-x²) R(x), close enough for 1 - erfc(x) in 0.8 < x < 6.2.
_ERF_LARGE: _Rational = (
    _constants(
        np.float64,
        0.9999999698880336, 1.3621759207134778, 0.9145845301342483, 0.35291984345170924,
        0.07783037507436412, 0.007967800552570155,
    ),
    _constants(
        np.float64,
        1.0, 2.490554730789567, 2.7248766050876023, 1.6893047910841013, 0.6326747263229612,
        0.13794525090760626, 0.014122741601157618,
    ),
)  # fmt: skip
# erfc(x) = exp(-x²) R(x) for 0 <= x < 27.3, to 7e-3 units of float32 ...
_ERFC32: _Rational = (
    _constants(
        np.float64,
        0.9999999996008412, 1.5023726689721184, 1.0885408668941723, 0.456133596207295,
        0.11038898421827492, 0.012698062276473679,
    ),
    _constants(
        np.float64,
        1.0, 2.630751786598487, 3.0570273556982834, 2.027113018079521, 0.8197350745139654,
        0.1956591948662126, 0.02250673173820663,
    ),
)  # fmt: skip
# ... and for float64 exp(-x²) P(z) / (1 + 2 x), z = (x - 3.5) / (x + 3.5): the constant of P
# carries nearly all of its value, so that the rounding errors of the other terms hardly count.
_ERFC64 = _constants(
    np.float64,
    1.2423492448711544, -0.1400091801376193, -0.010555596332215696, 0.09751909515324117,
    -0.11508959816034861, 0.0879831538254828, -0.04882332582412866, 0.019099330932525943,
    -0.004215019955391253, -0.0003022677915354897, 0.0005643847744874251, -0.00012151286620632857,
    -4.278392204392344e-05, 2.4262369185460058e-05, 2.333504305745231e-06, -3.817311118269515e-06,
    -5.455277211653042e-08, 6.038144439511929e-07, 4.834844111254816e-09, -9.558204261446693e-08,
    -8.377990769046141e-09, 1.1169656470986764e-08, 2.716113182731429e-09,
)  # fmt: skip
# erfinv(x) = x R(w) with w = -log(1 - x²): one piece for float32 (w < 17), three for float64.
_INVERSE32: _Rational = (
    _constants(
        np.float64,
        0.8862269445395845, 0.3082387554535797, 0.06004178950593968, 0.007829253627723904,
        0.0006485828511122232, 2.3559308288987094e-05,
    ),
    _constants(
        np.float64,
        1.0, 0.08601139234816789, 0.03219760362280558, 0.0019230770719669212,
        0.00017675374791241094, 1.233916304240165e-06,
    ),
)  # fmt: skip
_INVERSE_NEAR: _Rational = (  # w < 6
    _constants(
        np.float64,
        0.886226925452758, 0.3151120859714844, 0.08157966621807446, 0.015022616662142902,
        0.0020519284888455853, 0.00021322626986094225, 1.6347556644537208e-05,
        8.487705478082571e-07, 2.4399824188741655e-08, 1.7036210087257545e-10,
    ),
    _constants(
        np.float64,
        1.0, 0.09376652531108327, 0.05447273994694889, 0.004103188929850906, 0.000922795182092149,
        5.002123121735561e-05, 4.795523557408187e-06, 1.3848623058351168e-07,
        3.1557437146798867e-09,
    ),
)  # fmt: skip
_INVERSE_MIDDLE: _Rational = (  # in w - 6, for 6 <= w < 16
    _constants(
        np.float64,
        2.2864244149050355, 0.9216237774503885, 0.17902586700935708, 0.02134254047150466,
        0.0016943551815171063, 9.076119621297712e-05, 3.054948800219222e-06, 5.0862265580323876e-08,
        1.908365922031281e-10,
    ),
    _constants(
        np.float64,
        1.0, 0.3157307311583512, 0.05362609717943125, 0.005456027557455158, 0.0003788446978012586,
        1.6805959254844708e-05, 4.4001170278121067e-07, 4.029787780462582e-09,
        3.904553335045595e-12,
    ),
)  # fmt: skip
_INVERSE_FAR: _Rational = (  # in sqrt(w) - 3.9375, for 16 <= w < 37
    _constants(
        np.float64,
        3.7766956075315377, 8.005759072329388, 8.867134160568272, 6.253833005294789,
        2.9339767661366207, 0.8343329198485198, 0.1232301623067681, 0.006926091316364019,
    ),
    _constants(
        np.float64,
        1.0, 1.852527853262875, 1.8523866131560156, 1.1603996549978068, 0.46641625811358883,
        0.09615464102455651, 0.006921329006113839, 8.578065112271109e-08,
    ),
)  # fmt: skip

_ZERO, _HALF, _ONE, _TWO = _constants(np.float64, 0.0, 0.5, 1.0, 2.0)
_ONE32 = np.array(1.0, np.float32)
_SPLIT = np.array(134217729.0)  # 2^27 + 1
_SMALL_ERF, _LAST_ERF, _LAST_ERFC, _CENTRE = _constants(np.float64, 0.9, 6.2, 27.3, 3.5)
_MINUS_SQRT_HALF = np.array(-sqrt(0.5))
_MINUS_HALF, _PDF_SCALE = _constants(np.float64, -0.5, 1 / sqrt(2 * pi))
_MINUS_HALF32, _PDF_SCALE32 = _constants(np.float32, -0.5, 1 / sqrt(2 * pi))
# gelu(x) ≈ x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))); the doubled first constant serves the
# derivative.
_TANH_GELU = {
    np.dtype(dtype): _constants(
        dtype, sqrt(2 / pi), sqrt(2 / pi) * 0.044715, 2 * sqrt(2 / pi), 0.5, 1.0, 3.0
    )
    for dtype in (np.float32, np.float64)
}
# Largest square whose cube a float32 holds with room; beyond it every function here has reached its
# limit.
_SQUARE_LIMIT = 1e12
_SQUARE_LIMIT32 = np.array(1e12, np.float32)


def _polynomial(t: Array, coefficients: _Coefficients, out: Array) -> None:
    """Writes the polynomial with ascending `coefficients` at `t` to `out` (not `t`)."""
    np.multiply(t, coefficients[-1], out)
    np.add(out, coefficients[-2], out)
    for coefficient in coefficients[-3::-1]:
        np.multiply(out, t, out)
        np.add(out, coefficient, out)


def _rational(t: Array, fractions: _Rational, out: Array, scratch: Array) -> None:
    _polynomial(t, fractions[0], out)
    _polynomial(t, fractions[1], scratch)
    np.divide(out, scratch, out)


def _blockwise(single: _Body, double: _Body, wide: bool, rows: int, *operands: Array) -> Array:
    """A new array like the last operand, filled block by block.

    `single` and `double` (for float32 and float64) are called with the blocks of the operands, that
    of the result, and `rows` scratch rows of the same length: of float64 if `wide`, else of the
    operands' dtype.
    """
    last = np.asarray(operands[-1])
    dtype = last.dtype
    if dtype == np.float32:
        body, scratch_dtype = single, np.dtype(np.float64 if wide else np.float32)
    elif dtype == np.float64:
        body, scratch_dtype = double, dtype
    elif dtype.itemsize == 2 and dtype.kind in "fV":
        lifted = [np.asarray(operand).astype(np.float32) for operand in operands]
        return _blockwise(single, double, wide, rows, *lifted).astype(dtype)
    else:
        raise TypeError(f"expected an array of floating point numbers, got dtype {dtype}")
    shape = last.shape
    out = np.empty(shape, dtype)
    size = out.size
    flat = [
        np.ascontiguousarray(operand, dtype).reshape(-1)
        if np.shape(operand) == shape
        else np.ascontiguousarray(np.broadcast_to(operand, shape), dtype).reshape(-1)
        for operand in operands
    ]
    flat.append(out.reshape(-1))
    block = _BLOCK[scratch_dtype.itemsize]
    scratch = np.empty((rows, min(block, size)), scratch_dtype)
    # Infinities and values that underflow are met on purpose: the bodies say where.
    with np.errstate(all="ignore"):
        if size <= block:
            if size:
                body(*flat, *scratch)
            return out
        for start in range(0, size, block):
            pieces = [array[start : start + block] for array in flat]
            body(*pieces, *scratch[:, : len(pieces[0])])
    return out


def _each(function: Callable[[float], float], x: Array) -> Array:
    """`function` of each of a few elements, computed in float64."""
    return np.array([function(value) for value in x.ravel().tolist()], x.dtype).reshape(x.shape)


# --- erf, erfc ------------------------------------------------------------------------------------


def _bounded_square(x: Array, t: Array) -> None:
    """Writes x² to `t`, cut off where the cube would overflow; NaN stays."""
    np.multiply(x, x, t)
    # One reduction is cheaper than a minimum against a number (0.03 against 0.3 ns an element).
    if not np.maximum.reduce(t) < _SQUARE_LIMIT:
        np.minimum(t, _SQUARE_LIMIT32, out=t)


def _erf32(x: Array, out: Array, t: Array, s: Array, r: Array) -> None:
    _bounded_square(x, t)
    _rational(t, _ERF32, s, r)
    np.multiply(s, x, s)
    np.add(s, x, s)
    np.tanh(s, out)


def _erf64(x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, e: Array) -> None:
    np.abs(x, a)
    if not np.maximum.reduce(a) < 6.2:
        np.minimum(a, _LAST_ERF, out=a)
    np.multiply(a, a, t)
    _rational(a, _ERF_LARGE, s, r)
    np.negative(t, e)
    np.exp(e, e)
    np.multiply(e, s, e)
    np.subtract(_ONE, e, e)
    _polynomial(t, _ERF_SMALL, s)
    np.multiply(s, a, s)
    np.add(s, a, s)
    np.copysign(np.where(np.less(a, _SMALL_ERF), s, e), x, out)


@by_kernel(words.erf, few=_FEW)
def erf(x: Array) -> Array:
    """The error function 2/√π ∫₀ˣ exp(-u²) du of each element.

    Special: erf(inf) -> 1; erf(-inf) -> -1; erf(-0.0) -> -0.0; erf(nan) -> nan.
    """
    if x.size <= _FEW and (x.dtype == np.float32 or x.dtype == np.float64):
        return _each(scalar_erf, x)
    return _blockwise(
        _erf32, _erf64, np.dtype(x.dtype) == np.float64, _ERF_ROWS[x.dtype.itemsize], x
    )


_ERF_ROWS = {2: 3, 4: 3, 8: 5}


def _complement(x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, exact: bool) -> None:
    """Writes erfc(x) in float64 to `out`; `exact` corrects for the rounding of x²."""
    np.abs(x, a)
    if not np.maximum.reduce(a) < 27.3:
        np.minimum(a, _LAST_ERFC, out=a)
    np.multiply(a, a, t)
    if exact:
        # exp(-x²) magnifies the rounding error of x² by x². Dekker's product gives that error d
        # exactly, and
        # exp(-t - d) = exp(-t) (1 - d). `s` is the upper half of `a`, `r` the lower half.
        np.multiply(a, _SPLIT, s)
        np.subtract(s, a, r)
        np.subtract(s, r, s)
        np.subtract(a, s, r)
        np.multiply(s, s, out)
        np.subtract(t, out, out)
        np.multiply(s, r, s)
        np.add(s, s, s)
        np.subtract(out, s, out)
        np.multiply(r, r, r)
        np.subtract(out, r, out)
    np.negative(t, t)
    np.exp(t, t)
    if exact:
        np.multiply(out, t, out)  # t - x² is -d
        np.add(t, out, t)
    if exact:
        np.add(a, _CENTRE, r)
        np.subtract(a, _CENTRE, s)
        np.divide(s, r, r)
        _polynomial(r, _ERFC64, s)
        np.multiply(s, t, s)
        np.add(a, a, r)
        np.add(r, _ONE, r)
        np.divide(s, r, s)
    else:
        _rational(a, _ERFC32, s, r)
        np.multiply(s, t, s)
    if np.minimum.reduce(x) >= 0:
        np.copyto(out, s)
    else:
        # 2 - s where x is negative, |0 - s| elsewhere: `where` takes 3 ns an element.
        np.multiply(np.less(x, _ZERO), _TWO, r)
        np.subtract(r, s, r)
        np.abs(r, out)


def _erfc32(
    x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, wide: Array, result: Array
) -> None:
    np.copyto(wide, x)
    _complement(wide, result, a, t, s, r, False)
    np.copyto(out, result, casting="same_kind")


def _erfc64(
    x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, _wide: Array, _result: Array
) -> None:
    _complement(x, out, a, t, s, r, True)


def _complement_formula(x: Symbol) -> Symbol:
    wide = ir.cast(x, "f64")
    size = words.minimum(words.absolute(wide), float(_LAST_ERFC))
    above, below = [_in_steps(size, part) for part in _ERFC32]
    tail = words.exp(-(size * size)) * (above / below)
    return ir.cast(words.where(wide < 0, 2 - tail, tail), x.dtype)


def _in_steps(t: Symbol, coefficients: _Coefficients) -> Symbol:
    found = t * float(coefficients[-1]) + float(coefficients[-2])
    for coefficient in coefficients[-3::-1]:
        found = found * t + float(coefficient)
    return found


@by_kernel(_complement_formula, "f", (FLOAT32,), few=_FEW)
def erfc(x: Array) -> Array:
    """The complement 1 - erf(x) of each element, accurate where it is tiny.

    Special: erfc(inf) -> 0; erfc(-inf) -> 2; erfc(nan) -> nan.
    """
    if x.size <= _FEW and (x.dtype == np.float32 or x.dtype == np.float64):
        return _each(scalar_erfc, x)
    return _blockwise(_erfc32, _erfc64, True, 6, x)


# --- erfinv ---------------------------------------------------------------------------------------


def _minus_log(x: Array, w: Array, s: Array) -> None:
    """Writes -log((1 - x)(1 + x)) to `w`: inf at ±1, NaN outside."""
    np.subtract(_ONE, x, w)
    np.add(x, _ONE, s)
    np.multiply(w, s, w)
    np.log(w, w)
    np.negative(w, w)


def _erfinv32(x: Array, out: Array, w: Array, s: Array, r: Array, wide: Array) -> None:
    np.copyto(wide, x)
    _minus_log(wide, w, s)
    _rational(w, _INVERSE32, s, r)
    np.multiply(s, wide, s)
    np.copyto(out, s, casting="same_kind")
    _infinite_ends(x, out)


def _erfinv64(x: Array, out: Array, w: Array, s: Array, r: Array, _wide: Array) -> None:
    _minus_log(x, w, s)
    _rational(w, _INVERSE_NEAR, s, r)
    np.multiply(s, x, out)
    if np.maximum.reduce(w) < 6:
        return
    tail = np.flatnonzero(w >= 6)
    far = np.flatnonzero(w >= 16)
    for where, fractions in ((tail, _INVERSE_MIDDLE), (far, _INVERSE_FAR)):
        if where.size:
            v = w[where] - 6 if fractions is _INVERSE_MIDDLE else np.sqrt(w[where]) - 3.9375
            result = np.empty_like(v)
            _rational(v, fractions, result, np.empty_like(v))
            out[where] = result * x[where]
    _infinite_ends(x, out)


def _infinite_ends(x: Array, out: Array) -> None:
    if not (np.maximum.reduce(x) < 1 and np.minimum.reduce(x) > -1):
        out[x == 1] = np.inf
        out[x == -1] = -np.inf


def _inverse_formula(x: Symbol) -> Symbol:
    wide = ir.cast(x, "f64")
    w = -words.log((1 - wide) * (wide + 1))
    above, below = [_in_steps(w, part) for part in _INVERSE32]
    found = words.where(words.absolute(wide) == 1, wide * inf, above / below * wide)
    return ir.cast(found, x.dtype)


@by_kernel(_inverse_formula, "f", (FLOAT32,))
def erfinv(x: Array) -> Array:
    """The number whose error function is each element.

    Special: erfinv(1) -> inf; erfinv(-1) -> -inf; erfinv(1.5) -> nan; erfinv(nan) -> nan.
    """
    return _blockwise(_erfinv32, _erfinv64, True, 4, x)


# --- the normal distribution and gelu -------------------------------------------------------------


def _cdf32(x: Array, out: Array, t: Array, s: Array, r: Array) -> None:
    _bounded_square(x, t)
    _rational(t, _CDF32, s, r)
    np.multiply(s, x, s)
    np.exp(s, s)
    np.add(s, _ONE32, s)
    np.divide(_ONE32, s, out)


def _cdf64(x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, y: Array) -> None:
    np.multiply(x, _MINUS_SQRT_HALF, y)
    _complement(y, out, a, t, s, r, True)
    np.multiply(out, _HALF, out)


def _gelu32(x: Array, out: Array, t: Array, s: Array, r: Array) -> None:
    _cdf32(x, s, t, s, r)
    np.multiply(x, s, out)


def _gelu64(x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, y: Array) -> None:
    _cdf64(x, out, a, t, s, r, y)
    np.multiply(out, x, out)


def _gelu_tanh(x: Array, out: Array, t: Array, s: Array) -> None:
    first, cubic, _, half, one, _ = _TANH_GELU[x.dtype]
    np.multiply(x, x, t)
    np.multiply(t, cubic, t)
    np.add(t, first, t)
    np.multiply(t, x, t)
    np.tanh(t, t)
    np.add(t, one, t)
    np.multiply(x, half, s)
    np.multiply(t, s, out)


def gelu(x: Array, approximate: str = "none") -> Array:
    """x Φ(x), or with `approximate="tanh"` its approximation by a hyperbolic tangent."""
    if x.size << (6 if approximate == "tanh" else 0) >= kernels.LEAST:
        x = x if x.flags.c_contiguous else x.copy()
        found = kernels.activations.gelu(x, approximate)
        if found is not None:
            return found
    if approximate == "tanh":
        return _blockwise(_gelu_tanh, _gelu_tanh, False, 2, x)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _blockwise(_gelu32, _gelu64, False, 3 if x.dtype.itemsize < 8 else 5, x)


def _density(x: Array, out: Array, minus_half: Array, scale: Array) -> None:
    """Writes x φ(x) to `out`, φ the density of the standard normal."""
    np.multiply(x, x, out)
    np.multiply(out, minus_half, out)
    np.exp(out, out)
    np.multiply(out, scale, out)
    np.multiply(out, x, out)


def _gelu_backward32(g: Array, x: Array, out: Array, t: Array, s: Array, r: Array) -> None:
    _cdf32(x, s, t, s, r)
    _density(x, r, _MINUS_HALF32, _PDF_SCALE32)
    np.add(s, r, s)
    np.multiply(s, g, out)


def _gelu_backward64(
    g: Array, x: Array, out: Array, a: Array, t: Array, s: Array, r: Array, y: Array
) -> None:
    _cdf64(x, out, a, t, s, r, y)
    _density(x, r, _MINUS_HALF, _PDF_SCALE)
    np.add(out, r, out)
    np.multiply(out, g, out)


def _gelu_tanh_backward(g: Array, x: Array, out: Array, t: Array, s: Array, r: Array) -> None:
    # With h = tanh(u), u = x (c + d x²): the derivative is (1 + h)/2 · (1 + (1 - h) x u'), and
    # x u' = 3 u - 2 c x saves a polynomial.
    first, cubic, twice, half, one, three = _TANH_GELU[x.dtype]
    np.multiply(x, x, t)
    if not np.maximum.reduce(t) < _SQUARE_LIMIT:
        # x u' would be inf - inf. The derivative has long reached 0 or 1; x - x keeps NaN at the
        # infinities.
        x = np.clip(x, -1e4, 1e4) + (x - x)
        np.multiply(x, x, t)
    np.multiply(t, cubic, t)
    np.add(t, first, t)
    np.multiply(t, x, t)
    np.tanh(t, s)
    np.multiply(t, three, t)
    np.multiply(x, twice, r)
    np.subtract(t, r, t)
    np.subtract(one, s, r)
    np.multiply(t, r, t)
    np.add(t, one, t)
    np.add(s, one, s)
    np.multiply(t, s, t)
    np.multiply(t, half, t)
    np.multiply(t, g, out)


def gelu_backward(g: Array, x: Array, approximate: str = "none") -> Array:
    """The gradient for `x` of `gelu(x, approximate)`, given the gradient `g` of its result."""
    if x.size << (6 if approximate == "tanh" else 0) >= kernels.LEAST:
        g, x = (a if a.flags.c_contiguous else a.copy() for a in (g, x))
        found = kernels.activations.gelu_backward(g, x, approximate)
        if found is not None:
            return found
    if approximate == "tanh":
        return _blockwise(_gelu_tanh_backward, _gelu_tanh_backward, False, 3, g, x)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _blockwise(
        _gelu_backward32, _gelu_backward64, False, 3 if x.dtype.itemsize < 8 else 5, g, x
    )
