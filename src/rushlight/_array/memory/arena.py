"""Memory for compiled programs: one block, arrays within it, addresses, and BLAS by address."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.cpython import contract
from .places import first_byte

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..annotations import Array, RawType

ALIGNMENT: Final = 64
#: Where the elements of an array begin.
address: Final = first_byte


def block(size: int) -> Array:
    """That many zero bytes, aligned."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -address(raw) % ALIGNMENT
    return raw[start : start + size]


def words(count: int) -> Array:
    """64-bit integers, zero at first."""
    return np.zeros(count, np.int64)


def counting(count: int, dtype: str) -> Array:
    """The numbers from 0 on."""
    return np.arange(count, dtype=dtype)


def array_at(
    memory: Array, offset: int, shape: tuple[int, ...], dtype: RawType, strides: Shape
) -> Array:
    """An array within a block."""
    return np.ndarray(shape, dtype, memory, offset, strides)


def as_numbers(words_: Any, index: int, count: int = 1) -> Array:
    """Words seen as float64."""
    return words_[index : index + count].view(np.float64)


@cache
def unreadable() -> str | None:
    """Why machine code can't read arrays by their objects' addresses; None where it can."""
    return contract.arrays(np.zeros((2, 3)))


@cache
def product_routine(name: str) -> int:
    """The address of the BLAS routine `cblas_<name>` (64-bit integers) that NumPy uses, or 0."""
    try:
        module: Any = np._core._multiarray_umath  # type: ignore[attr-defined]
        library = ctypes.CDLL(module.__file__)
    except (AttributeError, OSError):
        return 0
    for form in (f"scipy_cblas_{name}64_", f"cblas_{name}64_"):
        found = getattr(library, form, None)
        if found is not None:
            return ctypes.cast(found, ctypes.c_void_p).value or 0
    return 0


@cache
def routine_of_c(name: str) -> int:
    """The address of a function of C's library of mathematics, the one that Python uses; or 0."""
    for library in ("ucrtbase",) if sys.platform == "win32" else (None, "libm.so.6", "libm.dylib"):
        try:
            found = getattr(ctypes.CDLL(library), name)
        except (AttributeError, OSError):
            continue
        return ctypes.cast(found, ctypes.c_void_p).value or 0
    return 0


def table(words_: Array, start: int, count: int) -> Any:
    """Some words for writing from Python, which is quicker than through an array."""
    return _several(ctypes.c_int64, count).from_buffer(words_[start : start + count])


def number_tables(words_: Array) -> tuple[object, object]:
    """All words as float32 numbers (two to a word), and as float64, for writing from Python."""
    count = len(words_)
    singles = _several(ctypes.c_float, 2 * count).from_buffer(words_)
    return singles, _several(ctypes.c_double, count).from_buffer(words_)


@cache
def _several(kind: type[Any], count: int) -> Any:
    """The type of so many numbers; made once, for a class is a cycle."""
    return kind * count
