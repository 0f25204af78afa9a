"""Random words of a 32-bit Mersenne Twister as machine code, and what PyTorch makes of them.

The functions of `load`, by name:

    words(key, out, blocks)                  blocks of 624 words; `key` goes on with each
    normals(words, out, blocks, mean, std)   sixteen words a block: float32 normals
    uniforms(words, out, n, low, width, high)   float32 in [low, high), a word each
    doubles(words, out, n)                   float64 in [0, 1), two words each
    coins(words, out, n, bound)              booleans: whether 53 bits are below a bound
    shuffle(words, order, n)                 a permutation of `order`, n - 1 words of 32 bits

Note [The same digits]
Each step is the one that `_array.random.box_muller` and `_array.random.distributions` take with
NumPy, in the same roundings: a fused step there is a product and a sum in float64, here the
instruction. So which of the two works never shows in a number.

Sources: M. Matsumoto and T. Nishimura, Mersenne Twister (1998); S. Moshier, Cephes: logf, sinf and
cosf (single precision).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ..llvm import loader as engine
from ..llvm.emit import F32, F64, I8, I32, I64, PTR, Function, Loop, Module, Value

#: Words that one twist of the generator yields.
BLOCK: Final = 624
_AHEAD: Final = 397
_EIGHT: Final = 8
_LOG: Final = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_SIN: Final = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS: Final = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER_PI: Final = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)


@cache
def load() -> dict[str, int]:
    """The addresses of the functions."""
    return engine.load_made(emit)


def emit() -> Module:
    """The module with all functions."""
    module = Module("mersenne")
    for emitted in (_words, _normals, _uniforms, _doubles, _coins, _shuffle):
        emitted(module)
    return module


def _function(module: Module, name: str, *params: tuple[str, object]) -> Function:
    f = module.function(name, params)  # type: ignore[arg-type]
    f.contract = False
    return f


# ---- words ---------------------------------------------------------------------------------------
def _emit_twist(f: Function, key: Value, at: Value, ahead: Value, lanes: int) -> None:
    """Replaces words of the key from `at` on by their successors."""
    wide = I32.vector(lanes)
    own = f.load(f.at(key, at, I32), wide)
    after = f.load(f.at(key, at + 1, I32), wide)
    far = f.load(f.at(key, ahead, I32), wide)
    f.store(f.at(key, at, I32), _next(f, own, after, far))


def _next(f: Function, own: Value, after: Value, far: Value) -> Value:
    mixed = (own & -0x80000000) | (after & 0x7FFFFFFF)
    odd = -(after & 1) & (0x9908B0DF - 2**32)
    return far ^ f.shift_right(mixed, 1) ^ odd


def _words(module: Module) -> None:
    f = _function(module, "words", ("key", PTR), ("out", PTR), ("blocks", I64))
    key, out, blocks = f.params
    with f.loop(0, blocks) as loop:
        # A vector is read before it is written, and what lies ahead is far from it.
        for start, stop, ahead in ((0, 227, _AHEAD), (227, BLOCK - 1, _AHEAD - BLOCK)):
            whole = start + (stop - start) // _EIGHT * _EIGHT
            with f.loop(start, whole, _EIGHT) as turn:
                _emit_twist(f, key, turn.index, turn.index + ahead, _EIGHT)
            with f.loop(whole, stop) as turn:
                _emit_twist(f, key, turn.index, turn.index + ahead, 0)
        last = f.at(key, BLOCK - 1, I32)
        first = f.load(key, I32)
        far = f.load(f.at(key, _AHEAD - 1, I32), I32)
        f.store(last, _next(f, f.load(last, I32), first, far))
        there = f.at(out, loop.index * BLOCK, I32)
        with f.loop(0, BLOCK, _EIGHT) as turn:
            y = f.load(f.at(key, turn.index, I32), I32.vector(_EIGHT))
            y = y ^ f.shift_right(y, 11)
            y = y ^ ((y << 7) & (0x9D2C5680 - 2**32))
            y = y ^ ((y << 15) & (0xEFC60000 - 2**32))
            f.store(f.at(there, turn.index, I32), y ^ f.shift_right(y, 18))
    f.ret()


# ---- numbers -------------------------------------------------------------------------------------
def _unit(f: Function, words: Value) -> Value:
    """Words as uniforms in [0, 1) by their low 24 bits."""
    return f.cast(words & 0xFFFFFF, F32) * 2.0**-24


def _normals(module: Module) -> None:
    params = (("words", PTR), ("out", PTR), ("blocks", I64), ("mean", F32), ("std", F32))
    f = _function(module, "normals", *params)
    words, out, blocks, mean, std = f.params
    wide = I32.vector(_EIGHT)
    centred = mean.eq(0.0)
    with f.loop(0, blocks) as loop:
        at = loop.index * (2 * _EIGHT)
        radius = _radius(f, _unit(f, f.load(f.at(words, at, I32), wide)))
        turn = _unit(f, f.load(f.at(words, at + _EIGHT, I32), wide))
        for k, direction in enumerate(_cos_sin(f, turn)):
            z = radius * direction
            placed = f.select(centred, z * std, f.fma(z, std, mean))
            f.store(f.at(out, at + k * _EIGHT, F32), placed)
    f.ret()


def _polynomial(f: Function, x: Value, coefficients: tuple[float, ...]) -> Value:
    return f.polynomial(x, coefficients)


def _radius(f: Function, uniform: Value) -> Value:
    """sqrt(-2 log(1 - u))."""
    bits = f.bits(1.0 - uniform, I32) - 0x3F3504F3
    exponent = f.cast(bits >> 23, F32)
    x = f.bits((bits & 0x7FFFFF) + 0x3F3504F3, F32) - 1.0
    square = x * x
    y = _polynomial(f, x, _LOG) * x
    y = f.fma(y, square, exponent * -2.12194440e-4)
    y = y - square * 0.5
    x = (x + y) + exponent * 0.693359375
    return f.sqrt(x * -2.0)


def _cos_sin(f: Function, uniform: Value) -> tuple[Value, Value]:
    """The cosine and the sine of 2 pi u."""
    x = uniform * 6.283185307179586
    octant = (f.to_int(x * 1.27323954473516, I32) + 1) & -2
    quarters = f.cast(octant, F32)
    for part in _QUARTER_PI:
        x = f.fma(quarters, part, x)
    square = x * x
    sine = f.fma(_polynomial(f, square, _SIN) * square, x, x)
    half = -(square * 0.5)
    cosine = f.fma(_polynomial(f, square, _COS) * square, square, half) + 1.0
    # Octants 2 and 6 swap the two; the sine is negative in 4 and 6, the cosine in 2 and 4.
    swap = (octant & 2).ne(0)
    sine, cosine = f.select(swap, cosine, sine), f.select(swap, sine, cosine)
    sine_sign = (octant & 4) << 29
    cosine_sign = (((octant & 6) + 2) & 4) << 29
    sine = f.bits(f.bits(sine, I32) ^ sine_sign, F32)
    return f.bits(f.bits(cosine, I32) ^ cosine_sign, F32), sine


def _uniforms(module: Module) -> None:
    params = (("words", PTR), ("out", PTR), ("n", I64), ("low", F32), ("width", F32), ("high", F32))
    f = _function(module, "uniforms", *params)
    words, out, n, low, width, high = f.params
    whole = n - n % (2 * _EIGHT)
    for start, stop, lanes in ((0, whole, 2 * _EIGHT), (whole, n, 0)):
        with f.loop(start, stop, lanes or 1) as loop:
            unit = _unit(f, f.load(f.at(words, loop.index, I32), I32.vector(lanes)))
            value = f.fma(unit, f.splat(width, lanes), f.splat(low, lanes))
            # A draw that rounds up to the open bound becomes the closed one.
            value = f.select(value.eq(f.splat(high, lanes)), f.splat(low, lanes), value)
            f.store(f.at(out, loop.index, F32), value)
    f.ret()


def _doubles(module: Module) -> None:
    f = _function(module, "doubles", ("words", PTR), ("out", PTR), ("n", I64))
    words, out, n = f.params
    whole = n - n % _EIGHT
    for start, stop, lanes in ((0, whole, _EIGHT), (whole, n, 0)):
        with f.loop(start, stop, lanes or 1) as loop:
            f.store(
                f.at(out, loop.index, F64), f.cast(_bits(f, words, loop, lanes), F64) * 2.0**-53
            )
    f.ret()


def _bits(f: Function, words: Value, loop: Loop, lanes: int) -> Value:
    """53 bits from each pair of words, the high one first."""
    both = f.load(f.at(words, loop.index, I64), I64.vector(lanes), align=4)
    return ((both & 0x1FFFFF) << 32) | f.shift_right(both, 32)


def _coins(module: Module) -> None:
    f = _function(module, "coins", ("words", PTR), ("out", PTR), ("n", I64), ("bound", I64))
    words, out, n, bound = f.params
    whole = n - n % _EIGHT
    for start, stop, lanes in ((0, whole, _EIGHT), (whole, n, 0)):
        with f.loop(start, stop, lanes or 1) as loop:
            f.store(f.at(out, loop.index, I8), _bits(f, words, loop, lanes) < bound)
    f.ret()


def _shuffle(module: Module) -> None:
    f = _function(module, "shuffle", ("words", PTR), ("order", PTR), ("n", I64))
    words, order, n = f.params
    with f.loop(0, n - 1) as loop:
        word = f.load(f.at(words, loop.index, I32), I32)
        left = f.emit(I32, f"trunc {n - loop.index!r} to i32")
        step = f.emit(I32, f"urem {word!r}, {left.name}")
        far = loop.index + f.emit(I64, f"zext {step!r} to i64")
        here, there = f.at(order, loop.index, I64), f.at(order, far, I64)
        own = f.load(here, I64)
        f.store(here, f.load(there, I64))
        f.store(there, own)
    f.ret()
