"""Arrays in files: writing the elements, reading them back."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def write(file: BinaryIO, array: Array) -> None:
    """Writes the elements in memory order (C or Fortran, whichever the array has).

    Raises:
        OSError: where there is no room.
    """
    flat = array.ravel(order="K") if array.size else array.reshape(-1)
    file.write(np.ascontiguousarray(flat).view(np.uint8).data)


def identity(handle: int) -> tuple[int, int]:
    """Which file an open descriptor is of."""
    state = os.fstat(handle)
    return state.st_dev, state.st_ino


def read(
    path: str, like: tuple[tuple[int, ...], Any, bool], wanted: tuple[int, int] | None = None
) -> Array:
    """The array that was written, given its (shape, type, whether in Fortran order).

    Raises:
        OSError: where there is another file than the `wanted` one, or elements are missing.
    """
    shape, raw, fortran = like
    with open(path, "rb") as file:
        if wanted is not None and identity(file.fileno()) != wanted:
            raise OSError(f"{path}: somebody has put another file in the place of this one")
        octets = np.fromfile(file, np.uint8)
    if octets.size != math.prod(shape) * raw.itemsize:
        raise OSError(f"{path}: somebody has cut or lengthened this file")
    flat = octets.view(raw)
    return flat.reshape(shape, order="F" if fortran else "C")


def form(array: Array) -> tuple[tuple[int, ...], Any, bool]:
    """What `read` needs to know of an array; None of its memory is kept."""
    return array.shape, array.dtype, bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def compact(array: Array) -> Array:
    """The array, or a contiguous copy where it is neither in C nor in Fortran order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return np.ascontiguousarray(array)
