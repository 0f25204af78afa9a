"""Angles: what NumPy spells or refuses otherwise than PyTorch."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from .comparison import refuse_dtype

if TYPE_CHECKING:
    from ..annotations import Array


def arctan2(y: Array, x: Array) -> Array:
    """The angle of the point (x, y).

    Raises:
        NotImplementedError: for complex numbers.
    """
    if y.dtype.kind == "c":
        raise refuse_dtype("atan2_cpu", y.dtype)
    return np.arctan2(y, x)


def radians(x: Array) -> Array:
    """Degrees as radians.

    Raises:
        RuntimeError: for complex numbers.
    """
    if x.dtype.kind == "c":
        raise RuntimeError("deg2rad is not supported for complex tensors.")
    return np.multiply(x, pi / 180).astype(x.dtype, copy=False)  # bfloat16 has grown


def degrees(x: Array) -> Array:
    """Radians as degrees.

    Raises:
        RuntimeError: for complex numbers.
    """
    if x.dtype.kind == "c":
        raise RuntimeError("rad2deg is not supported for complex tensors.")
    return np.multiply(x, 180 / pi).astype(x.dtype, copy=False)
