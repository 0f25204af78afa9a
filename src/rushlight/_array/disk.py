"""Arrays in files: writing the elements, reading them back."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np


def write(file: BinaryIO, array: Any) -> None:
    """Writes the elements in memory order (C or Fortran, whichever the array has).

    Raises:
        OSError: where there is no room.
    """
    flat = array.ravel(order="K") if array.size else array.reshape(-1)
    file.write(np.ascontiguousarray(flat).view(np.uint8).data)


def read(path: str, like: tuple[tuple[int, ...], Any, bool]) -> Any:
    """The array that was written, given its (shape, type, whether in Fortran order)."""
    shape, raw, fortran = like
    flat = np.fromfile(path, np.uint8).view(raw)
    return flat.reshape(shape, order="F" if fortran else "C")


def form(array: Any) -> tuple[tuple[int, ...], Any, bool]:
    """What `read` needs to know of an array; None of its memory is kept."""
    return array.shape, array.dtype, bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def compact(array: Any) -> Any:
    """The array, or a contiguous copy where it is neither in C nor in Fortran order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return np.ascontiguousarray(array)
