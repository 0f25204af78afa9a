"""Continuous distributions: uniform, normal, exponential, Cauchy and log-normal draws.

Every function with a final underscore fills the array that it is given, of any strides, in the
order of its memory, and returns it. The numbers are PyTorch's: the rules below were found by
comparing draws with PyTorch 2.13 on x86-64 with AVX2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import empty
from .box_muller import Polar
from .draws import (
    C_NAMES,
    COMPLEX,
    FLOATS,
    PART,
    doubles,
    in_memory_order,
    kernel_name,
    multiply_add,
    name_of,
    parts,
    refuse,
)
from .mt19937 import NATIVE, Stream

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

_LOW24 = np.array(0xFFFFFF, np.uint32)
_STEP24 = np.array(2.0**-24, np.float32)
_LARGEST = {
    "float16": (65504.0, "Half"),
    "bfloat16": (3.3895313892515355e38, "BFloat16"),
    "float32": (3.4028234663852886e38, "Float"),
    "float64": (1.7976931348623157e308, "Double"),
}
_PARTS_OF_COMPLEX: dict[str, Any] = {
    "complex32": np.dtype(np.float16),
    "complex64": np.dtype(np.float32),
    "complex128": np.dtype(np.float64),
}


def rand(stream: Stream, shape: tuple[int, ...], dtype: RawType) -> TensorLike:
    """A fresh array of uniforms in [0, 1)."""
    few: TensorLike | None = stream.draw("U", shape) if dtype == np.float32 else None
    if few is not None:
        return few
    raw: Any = empty(shape, dtype)
    if raw.dtype == np.float32:
        with stream.lock:
            units = stream.units(raw.size)
            if units is not None:
                raw.reshape(-1)[...] = units
                return raw
    return uniform_(stream, raw)


def randn(stream: Stream, shape: tuple[int, ...], dtype: RawType) -> TensorLike:
    """A fresh array of standard normals."""
    few: TensorLike | None = stream.draw("N", shape) if dtype == np.float32 else None
    if few is not None:
        return few
    raw = empty(shape, dtype)
    code = NATIVE.code
    if code is not None and raw.dtype == np.float32 and stream.exact_normals:
        size = raw.size
        if 16 <= size <= PART and not size % 16:  # what `normal_` comes to
            with stream.lock:
                code.normals(stream.words(size), raw, 0.0, 1.0)
            return raw
    return normal_(stream, raw)


def uniform_(stream: Stream, out: Array, low: float = 0.0, high: float = 1.0) -> Array:
    """`out`, filled with uniforms in [low, high).

    Dtypes: floating and complex (both parts alike).
    Raises: RuntimeError where the bounds are out of order or of range.
    """
    if stream.draw("u", out, float(low), float(high)) is not None:
        return out
    real = _PARTS_OF_COMPLEX.get(name_of(out.dtype), out.dtype)
    if name_of(real) not in FLOATS:
        raise refuse("check_uniform_bounds", out.dtype)
    _check_uniform(name_of(real), float(low), float(high))
    return _fill(stream, out, lambda flat, _: _uniform(stream, flat, float(low), float(high)))


def normal_(stream: Stream, out: Array, mean: float = 0.0, std: float = 1.0) -> Array:
    """`out`, filled with normals of the mean and the standard deviation given.

    Dtypes: floating; complex, whose two parts both have the mean `mean` and half the variance.
    Raises: RuntimeError where `std` is negative.
    """
    if stream.draw("n", out, float(mean), float(std)) is not None:
        return out
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    name = name_of(out.dtype)
    if name in COMPLEX:
        std = std / math.sqrt(2.0)
    elif name not in FLOATS:
        raise refuse("normal_kernel_cpu", out.dtype)
    usual = mean == 0.0 and std == 1.0

    def draw(flat: Array, contiguous: bool) -> None:
        if contiguous and flat.size >= 16 and usual:
            _normal(stream, flat, 0.0, 1.0)  # nothing can overflow
        elif contiguous and flat.size >= 16:
            with np.errstate(over="ignore"):
                _normal(stream, flat, float(mean), float(std))
        else:
            flat[...] = _narrow(multiply_add(_standard(stream, flat.size), std, mean), flat.dtype)

    return _fill(stream, out, draw)


def normal(stream: Stream, mean: Array, std: Any, dtype: RawType | None = None) -> Array:
    """A fresh array of normals, each with its own mean and standard deviation.

    `mean` or `std` or both are arrays; the other may be a number.

    Shapes: broadcast. Dtypes: `dtype`; else of `mean` where it is an array, else of `std`.
    Raises: RuntimeError where an element of `std` is negative or complex.
    """
    own = isinstance(std, np.ndarray)
    if own and std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if own and std.size and not std.min() >= 0:
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if dtype is None:
        dtype = mean.dtype if isinstance(mean, np.ndarray) else std.dtype
    out = np.empty(np.broadcast_shapes(np.shape(mean), np.shape(std)), dtype)
    if not out.size:
        return out
    normal_(stream, out, 0.0, 1.0 if own else std)
    # Two roundings to the result's dtype, as of a multiplication and an addition in place.
    if own:
        np.multiply(out, std, out=out, casting="unsafe")
    return np.add(out, mean, out=out, casting="unsafe")


def exponential_(stream: Stream, out: Array, rate: float = 1.0) -> Array:
    """`out`, filled with exponential draws of the rate given.

    Raises: RuntimeError where `rate` isn't positive or the dtype isn't floating.
    """
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if name_of(out.dtype) not in FLOATS:
        raise RuntimeError(_continuous("Exponential", kernel_name(out.dtype)))
    scale = -1.0 / rate
    if stream.draw("e", out, scale) is not None:
        return out
    return _each_double(stream, out, lambda u: np.log1p(-u) * scale)


def check_cauchy(out: Array, sigma: float) -> None:
    """Refuses what has no Cauchy draws, elements or none.

    Raises: RuntimeError where `sigma` isn't positive or the dtype isn't floating.
    """
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if name_of(out.dtype) not in FLOATS:
        name = name_of(out.dtype)
        raise RuntimeError(_continuous("Cauchy", C_NAMES.get(name, name)))


def cauchy_(stream: Stream, out: Array, median: float = 0.0, sigma: float = 1.0) -> Array:
    """`out`, filled with Cauchy draws; see `check_cauchy`."""
    check_cauchy(out, sigma)
    return _each_double(
        stream, out, lambda u: multiply_add(np.tan((u - 0.5) * np.pi), sigma, median)
    )


def log_normal_(stream: Stream, out: Array, mean: float = 1.0, std: float = 2.0) -> Array:
    """`out`, filled with the exponentials of normals.

    Raises: RuntimeError where `std` isn't positive.
    """
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if name_of(out.dtype) not in FLOATS:
        raise refuse("log_normal_cpu", out.dtype)

    def draw(flat: Array, _: bool) -> None:
        with np.errstate(over="ignore"):
            flat[...] = _narrow(
                np.exp(multiply_add(_standard(stream, flat.size), std, mean)), flat.dtype
            )

    return _fill(stream, out, draw)


def _fill(stream: Stream, out: Array, draw: Callable[[Any, bool], None]) -> Array:
    """`out` after `draw(flat, contiguous)` has filled it through a flat array of reals."""
    real = _PARTS_OF_COMPLEX.get(name_of(out.dtype))
    flags = out.flags
    if not flags.writeable:  # machine code doesn't ask
        raise ValueError("assignment destination is read-only")
    contiguous = flags.c_contiguous
    target = out if contiguous else np.empty(out.size, out.dtype)
    flat = target.reshape(-1)
    with stream.lock:
        draw(flat if real is None else flat.view(real), contiguous)
    if not contiguous:
        (turned,) = in_memory_order(out)
        turned[...] = target.reshape(turned.shape)
    return out


def _each_double(stream: Stream, out: Array, transform: Callable[[Any], Any]) -> Array:
    """`out`, each element of which is `transform` of one uniform double."""

    def draw(flat: Array, _: bool) -> None:
        with np.errstate(divide="ignore", over="ignore"):
            for part in parts(flat.size):
                u = doubles(stream, part.stop - part.start)
                flat[part] = _narrow(transform(u), flat.dtype)

    return _fill(stream, out, draw)


def _narrow(values: Array, dtype: RawType) -> Array:
    """Doubles on their way to `dtype`: half precision is reached through float32."""
    if dtype.itemsize > 2:
        return values
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float32)


def _singles(stream: Stream, n: int) -> Array:
    """`n` fresh float32 uniforms in [0, 1), from the low 24 bits of a word each."""
    few: Array | None = stream.draw("U", (n,))
    units = stream.units(n) if few is None else few
    if units is not None:
        return units
    low = np.bitwise_and(stream.words(n), _LOW24)
    units = low.view(np.int32).astype(np.float32)
    return np.multiply(units, _STEP24, units)


def _uniform(stream: Stream, flat: Array, low: float, high: float) -> None:
    double = flat.dtype == np.float64
    plain = low == 0.0 and high == 1.0
    code = NATIVE.code or NATIVE.ask(flat.size)
    if code is not None and flat.dtype == np.float32:
        for part in parts(flat.size):
            code.uniforms(stream.words(part.stop - part.start), flat[part], low, high)
        return
    for part in parts(flat.size):
        n = part.stop - part.start
        if double:
            u = doubles(stream, n)
            values = u if plain else multiply_add(u, high - low, low)
        elif plain:
            values = _singles(stream, n)
        else:
            # The product is exact in float64, so this is one fused step (Note [Rounding twice]).
            width = np.float32(high) - np.float32(low)
            values = _singles(stream, n) * np.float64(width)
            values += np.float64(np.float32(low))
            values = values.astype(np.float32)
        flat[part] = values
        if not plain or flat.itemsize == 2:
            # A draw that rounds up to the open bound becomes the closed one.
            last = np.asarray(high).astype(flat.dtype)
            reached = flat[part] == last
            if reached.any():
                flat[part][reached] = np.asarray(low).astype(flat.dtype)


def _standard(stream: Stream, n: int) -> Array:
    """`n` standard normals in float64, two from every two doubles; an odd one is kept back."""
    out = np.empty(n)
    start = 0
    if n and stream.next_normal is not None:
        out[0] = stream.next_normal
        stream.next_normal = None
        start = 1
    pairs = (n - start + 1) // 2
    if pairs == 0:
        return out
    if pairs <= 16:
        # Few: the C library's functions, which are PyTorch's, digit for digit.
        values: list[float] = []
        words = stream.words(4 * pairs).tolist()
        for k in range(0, 4 * pairs, 4):
            angle = 2.0 * math.pi * ((((words[k] & 0x1FFFFF) << 32) | words[k + 1]) * 2.0**-53)
            tail = (((words[k + 2] & 0x1FFFFF) << 32) | words[k + 3]) * 2.0**-53
            radius = math.sqrt(-2.0 * math.log1p(-tail))
            values += (radius * math.cos(angle), radius * math.sin(angle))
        if len(values) > n - start:
            stream.next_normal = values.pop()
        out[start:] = values
        return out
    for part in parts(pairs, PART // 4):
        u = doubles(stream, 2 * (part.stop - part.start))
        angle = u[0::2] * (2.0 * np.pi)
        radius = np.sqrt(-2.0 * np.log1p(-u[1::2]))
        at = start + 2 * part.start
        stop = start + 2 * part.stop
        out[at:stop:2] = radius * np.cos(angle)
        second = radius * np.sin(angle)
        if stop > n:
            # What is kept back is part of the state: the C library's digits again.
            radius_kept = math.sqrt(-2.0 * math.log1p(-float(u[-1])))
            stream.next_normal = radius_kept * math.sin(2.0 * math.pi * float(u[-2]))
            second = second[:-1]
        out[at + 1 : stop : 2] = second
    return out


def _normal(stream: Stream, flat: Array, mean: float, std: float) -> None:
    """Box and Muller's normals in blocks of 16: eight uniforms give the radii, eight the angles.

    What is left over at the end is drawn with the last 16 anew, over the ones that stood there.
    """
    n = flat.size
    whole = n - n % 16
    if flat.dtype == np.float64:
        for part in parts(whole, PART // 2):
            _blocks64(doubles(stream, part.stop - part.start), flat[part], mean, std)
        if whole < n:
            stream.words(2 * (n - whole))
            _blocks64(doubles(stream, 16), flat[n - 16 :], mean, std)
        return
    left_over = n - whole
    skipped = left_over if flat.dtype == np.float32 else 0  # half precision doesn't draw these
    code = NATIVE.code or NATIVE.ask(n)
    if code is not None and flat.dtype == np.float32 and stream.exact_normals:
        for part in parts(whole):
            code.normals(stream.words(part.stop - part.start), flat[part], mean, std)
        if left_over:
            stream.words(skipped)
            code.normals(stream.words(16), flat[n - 16 :], mean, std)
        return
    if n <= 320:
        ready = stream.normals(n if not left_over else whole + skipped + 16)
        if ready is not None:
            normals, start = ready
            _copy_blocks(normals, start, flat[:whole], mean, std)
            if left_over:
                _copy_blocks(normals, start + whole + skipped, flat[n - 16 :], mean, std)
            return
    if left_over and n <= PART:
        # One evaluation for both: at these lengths the calls are the cost.
        head = _singles(stream, whole)
        stream.words(skipped)
        points = _points(np.concatenate((head, _singles(stream, 16))), stream)
        _place(points[: whole // 2], flat[:whole], mean, std)
        _place(points[whole // 2 :], flat[n - 16 :], mean, std)
        return
    for part in parts(whole):
        _place(_points(_singles(stream, part.stop - part.start), stream), flat[part], mean, std)
    if left_over:
        stream.words(skipped)
        _place(_points(_singles(stream, 16), stream), flat[n - 16 :], mean, std)


def _blocks64(u: Array, flat: Array, mean: float, std: float) -> None:
    u = u.reshape(-1, 2, 8)
    polar = Polar.close(u[:, 0], u[:, 1])
    out = flat.reshape(-1, 2, 8)
    out[:, 0] = multiply_add(polar.radius * polar.cos, std, mean)
    out[:, 1] = multiply_add(polar.radius * polar.sin, std, mean)


def _points(units: Array, stream: Stream) -> Polar:
    """The points of blocks of sixteen uniforms: eight radii, eight angles."""
    # Eight float32 move as one item of 32 bytes: twice as fast as runs of eight.
    eights = units.view("V32")
    halves = np.empty((2, units.size // 2), np.float32)
    halves[0].view("V32")[...] = eights[0::2]
    halves[1].view("V32")[...] = eights[1::2]
    return stream.points(halves[0], halves[1])


def _copy_blocks(normals: Array, start: int, flat: Array, mean: float, std: float) -> None:
    """Fills `flat` from the normals of a block's words, from the word `start` on."""
    shape = (flat.size // 16, 2, 8)
    z = np.ndarray(shape, np.float32, normals, 4 * start, (64, normals.strides[0], 4))
    flat.reshape(shape)[...] = _scale(z, mean, std)


def _scale(z: Array, mean: float, std: float) -> Array:
    """Standard normals with the mean and the standard deviation given, in float32."""
    if mean != 0.0:
        wide = z * np.float64(np.float32(std))
        wide += np.float64(np.float32(mean))
        return wide.astype(np.float32)
    return z if std == 1.0 else z * np.float32(std)


def _place(polar: Polar, flat: Array, mean: float, std: float) -> None:
    """Fills `flat` from points, one for each pair."""
    for k, direction in enumerate((polar.cos, polar.sin)):
        z = _scale(polar.radius * direction, mean, std)
        if flat.itemsize == 4:
            flat.view("V32")[k::2] = z.view("V32")
        else:
            flat.reshape(-1, 2, 8)[:, k] = z.reshape(-1, 8)


def _check_uniform(name: str, low: float, high: float) -> None:
    largest, limit_name = _LARGEST[name]
    for word, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{word} is out of bounds for {C_NAMES[name]}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{limit_name}>::max(), but found "
            f"to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def _continuous(distribution: str, dtype_name: str) -> str:
    return (
        f"{distribution} distribution is a continuous probability distribution. "
        f"dtype must be a floating point but you specified {dtype_name}"
    )
