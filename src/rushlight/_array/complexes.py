"""Complex numbers: parts, angles, and complex arrays seen as pairs of reals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as D
from .types import from_raw, to_raw


def absolute(x: Any) -> Any:
    """The size of each element: real for complex numbers.

    Raises:
        NotImplementedError: for bools.
    """
    if x.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return np.absolute(x)


def angle(x: Any) -> Any:
    """The argument of each element: 0 or π for reals, nan for nan."""
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real)
    if x.dtype.kind in "biu":
        x = x.astype(to_raw(D.get_default_dtype()))
    flat = np.where(np.less(x, 0), x.dtype.type(np.pi), x.dtype.type(0))
    return np.where(np.isnan(x), x, flat)


def turning(x: Any) -> Any:
    """The gradient of `angle`: i x / |x|² for complex numbers, 0 at 0 and for reals."""
    if x.dtype.kind != "c":
        return np.zeros_like(x)
    square = np.add(np.square(x.real), np.square(x.imag))
    zero = np.equal(square, 0)
    unit = x.dtype.type(1j)
    return np.where(
        zero, x.dtype.type(0), np.divide(np.multiply(x, unit), np.where(zero, 1, square).astype(x.dtype))
    )


def conjugate(x: Any) -> Any:
    """The complex conjugate, in memory of its own."""
    return np.conjugate(x) if x.dtype.kind == "c" else np.array(x)


def compose(real: Any, imag: Any) -> Any:
    """real + i imag.

    Raises:
        RuntimeError: for parts that aren't floats of one type.
    """
    names = [D.scalar_name(from_raw(x.dtype)) for x in (real, imag)]
    if real.dtype.kind != "f" or imag.dtype.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}"
        )
    if real.dtype != imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument"
        )
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), to_raw(from_raw(real.dtype).to_complex()))
    out.real = real
    out.imag = imag
    return out


def polar(size: Any, angle: Any) -> Any:
    """size exp(i angle).

    Raises:
        RuntimeError: for operands that aren't floats of one type.
    """
    if size.dtype != angle.dtype or size.dtype.kind != "f":
        return compose(size, angle)
    return compose(np.multiply(size, np.cos(angle)), np.multiply(size, np.sin(angle)))


def as_real(x: Any) -> Any:
    """The same memory as real numbers, with a last dimension (real, imaginary).

    Raises:
        RuntimeError: for real arrays.
    """
    if x.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    part = x.real
    return np.lib.stride_tricks.as_strided(
        part, x.shape + (2,), x.strides + (part.dtype.itemsize,)
    )


def as_complex(x: Any) -> Any:
    """The same memory as complex numbers; the last dimension holds (real, imaginary).

    Raises:
        RuntimeError: for other types, and where the last dimension isn't two neighbours.
    """
    if x.dtype.kind != "f":
        name = D.scalar_name(from_raw(x.dtype))
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {name}"
        )
    if not x.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if x.strides[-1] != x.dtype.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    pair = 2 * x.dtype.itemsize
    for stride in x.strides[:-1]:
        if stride % pair:
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return x.view(to_raw(from_raw(x.dtype).to_complex()))[..., 0]
