"""Complex numbers: parts, angles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from ..._formula import words
from ..memory import dense_layout as dense
from ..types import FLOAT32, FLOAT64, from_raw, to_raw
from .blocked import SIGN_BITS, fits, map_blocks
from .by_kernel import by_kernel
from .masks import anywhere, where

if TYPE_CHECKING:
    from ..annotations import Array


def absolute(x: Any) -> Array:
    """The size of each element: real for complex numbers.

    Raises:
        NotImplementedError: for bools.
    """
    if x.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return np.absolute(x)


@by_kernel(lambda x: words.where(x == x, words.where(x < 0, np.pi, x.like(0.0)), x))
def angle(x: Array) -> Array:
    """The argument of each element: 0 or π for reals, nan for nan."""
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real, order="C")  # a row after the other, as PyTorch
    if x.dtype.kind in "biu":
        x = x.astype(to_raw(D.get_default_dtype()))
    if fits(x):
        return map_blocks(_write_angle, x)
    half_turn = _HALF_TURN.get(x.dtype)
    if half_turn is None:
        flat = where(np.less(x, 0), x.dtype.type(np.pi), x.dtype.type(0))
    else:
        flat = np.multiply(np.less(x, 0), half_turn)
    unknown = np.isnan(x)
    return where(unknown, x, flat) if half_turn is None or anywhere(unknown) else flat


_HALF_TURN: Final = {d: np.asarray(np.pi, d) for d in (FLOAT32, FLOAT64)}


def _write_angle(out: Array, x: Array) -> None:
    integer, _, _ = SIGN_BITS[x.dtype]
    np.add(x, 0.0, out)  # -0.0 has the angle of 0.0
    bits = out.view(integer)
    np.right_shift(bits, 8 * x.dtype.itemsize - 1, bits)
    np.bitwise_and(bits, np.asarray(np.pi, x.dtype).view(integer), bits)
    if np.isnan(np.maximum.reduce(x, None)):
        np.copyto(out, x, where=np.isnan(x))


def angle_gradient(x: Array) -> Array:
    """The gradient of `angle`: i x / |x|² for complex numbers, 0 at 0 and for reals."""
    if x.dtype.kind != "c":
        return np.zeros_like(x)
    square = np.add(np.square(x.real), np.square(x.imag))
    zero = np.equal(square, 0)
    unit = x.dtype.type(1j)
    return where(
        zero,
        x.dtype.type(0),
        np.divide(np.multiply(x, unit), where(zero, 1, square).astype(x.dtype)),
    )


def conjugate(x: Array) -> Array:
    """The complex conjugate, in memory of its own."""
    return np.conjugate(x) if x.dtype.kind == "c" else np.array(x)


def compose(real: Array, imag: Array) -> Array:
    """real + i imag.

    Raises:
        RuntimeError: for parts that aren't floats of one type.
    """
    names = [D.scalar_name(from_raw(x.dtype)) for x in (real, imag)]
    if real.dtype.kind != "f" or imag.dtype.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and "
            f"{names[1]}"
        )
    if real.dtype != imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for "
            f"second argument"
        )
    shape = np.broadcast_shapes(real.shape, imag.shape)
    raw = to_raw(from_raw(real.dtype).to_complex())
    if raw.kind == "W":  # NumPy knows no parts of it
        whole = np.empty((*shape, 2), real.dtype)
        whole[..., 0], whole[..., 1] = real, imag
        return whole.view(raw).reshape(shape)
    out = dense.empty_like(real, raw) if real.shape == shape else np.empty(shape, raw)
    out.real = real
    out.imag = imag
    return out


def polar(size: Array, angle: Array) -> Array:
    """size exp(i angle).

    Raises:
        RuntimeError: for operands that aren't floats of one type.
        NotImplementedError: for half precision.
    """
    if size.dtype != angle.dtype or size.dtype.kind != "f":
        return compose(size, angle)
    if size.dtype.itemsize == 2:
        raise NotImplementedError("\"polar_cpu\" not implemented for 'Half'")
    return compose(np.multiply(size, np.cos(angle)), np.multiply(size, np.sin(angle)))
