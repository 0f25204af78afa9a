"""Routines of LAPACK in the OpenBLAS that came with NumPy, which NumPy doesn't show.

    factor = routine("getrf", x.dtype)      # or None
    factors, pivots, code = factor(x, 1)

They are called and answer as SciPy's do (`scipy.linalg.lapack`), as far as `linalg` needs it. Sizes
and pivots are 64-bit integers there, and every argument is an address.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from ..kernels import openblas
from ..kernels.launch import address

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable
    from ..annotations import Array, RawType

_LETTERS: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}
_UNITARY: Final = {"orgqr": "ungqr", "ormqr": "unmqr"}
_BLOCK: Final = 64  # columns that LAPACK handles together
# Multiplications up to which it is called with one thread, whose others would spin afterwards.
_SHARED: Final = 1 << 22
_NEVER_SHARED: Final = 40_000  # elements up to which an LU decomposition has one thread


@cache
def routine(word: str, dtype: RawType) -> AnyCallable | None:
    """A routine for an element type; None where NumPy has another library, or none is here."""
    make = _ROUTINES.get(word)
    letter = _LETTERS.get(dtype.char, "")
    if make is None or openblas.find() is None or not dtype.isnative or not letter:
        return None
    said = _UNITARY.get(word, word) if dtype.kind == "c" else word
    words = _WORDS.get(word, 0)
    count = _COUNTS[word] + (dtype.kind == "c" and word in _ROOM_FOR_REALS)
    try:
        library = ctypes.CDLL(openblas.find()._name)  # which gives up the interpreter's lock
        function = getattr(library, f"scipy_{letter}{said}_64_")
    except (AttributeError, OSError):
        return None
    function.restype = None
    function.argtypes = [ctypes.c_void_p] * count + [ctypes.c_size_t] * words
    return partial(make, partial(_call, function, (1,) * words))


def _call(
    function: AnyCallable, lengths: tuple[int, ...], numbers: Array, work: int, *args: object
) -> None:
    """Calls it with addresses: `numbers` by their places in the array, arrays, and letters.

    Lengths of the words follow at the end, as in every call of Fortran.
    """
    base = address(numbers)
    places = [
        base + 8 * x if type(x) is int else x if type(x) is bytes else address(x) for x in args
    ]
    if work < _SHARED:
        with openblas.one_thread:
            function(*places, *lengths)
    else:
        function(*places, *lengths)


def _by_columns(a: Array, overwrite: int = 1) -> Array:
    """`a` itself where its columns lie together and it may be written, else a copy."""
    fits = overwrite and a.flags.f_contiguous and a.flags.aligned and a.flags.writeable
    return a if fits else a.copy("F")


def _factor_lu(call: Callable[..., None], a: Array, overwrite: int) -> tuple[Array, Array, int]:
    a = _by_columns(a, overwrite)
    (rows, columns), count = a.shape, min(a.shape)
    numbers = np.array([rows, columns, max(1, rows), 0], np.int64)
    pivots = np.empty(count, np.int64)
    work = a.size * count if a.size >= _NEVER_SHARED else _SHARED
    call(numbers, work, 0, 1, a, 2, pivots, 3)
    found = pivots.astype(np.int32)
    found -= 1
    return a, found, int(numbers[3])


def _factor_qr(
    call: Callable[..., None], a: Array, room: int, overwrite: int
) -> tuple[Array, Array]:
    a = _by_columns(a, overwrite)
    (rows, columns), count = a.shape, min(a.shape)
    tau, work = np.zeros(count, a.dtype), np.empty(room, a.dtype)
    numbers = np.array([rows, columns, max(1, rows), room, 0], np.int64)
    call(numbers, a.size * count, 0, 1, a, 2, tau, work, 3, 4)
    return a, tau


def _make_q(
    call: Callable[..., None], a: Array, tau: Array, room: int, overwrite: int
) -> tuple[Array]:
    a = _by_columns(a, overwrite)
    rows, columns = a.shape
    tau, work = np.ascontiguousarray(tau), np.empty(room, a.dtype)
    numbers = np.array([rows, columns, len(tau), max(1, rows), room, 0], np.int64)
    call(numbers, a.size * columns, 0, 1, 2, a, 3, tau, work, 4, 5)
    return (a,)


def _multiply_by_q(
    call: Callable[..., None], side: str, turned: str, a: Array, tau: Array, c: Array, room: int,
    overwrite: int,
) -> tuple[Array]:  # fmt: skip
    a, c = _by_columns(a), _by_columns(c, overwrite)
    tau, work = np.ascontiguousarray(tau), np.empty(room, a.dtype)
    sizes = [*c.shape, len(tau), max(1, len(a)), max(1, len(c)), room, 0]
    numbers = np.array(sizes, np.int64)
    call(
        numbers, c.size * len(a), side.encode(), turned.encode(), 0, 1, 2, a, 3, tau, c, 4, work, 5,
        6,
    )  # fmt: skip
    return (c,)


def _factor_positive(call: Callable[..., None], a: Array, lower: bool) -> tuple[Array, int]:
    a = _by_columns(a, 0)
    numbers = np.array([len(a), max(1, len(a)), 0], np.int64)
    call(numbers, a.size * len(a), b"L" if lower else b"U", 0, a, 1, 2)
    return a, int(numbers[2])


def _invert_positive(
    call: Callable[..., None], a: Array, lower: bool, overwrite: int
) -> tuple[Array, int]:
    a = _by_columns(a, overwrite)
    numbers = np.array([len(a), max(1, len(a)), 0], np.int64)
    call(numbers, a.size * len(a), b"L" if lower else b"U", 0, a, 1, 2)
    return a, int(numbers[2])


def _solve_full_rank(
    call: Callable[..., None], a: Array, b: Array, turned: str, room: int, overwrite_a: int,
    overwrite_b: int,
) -> tuple[Array, Array, int]:  # fmt: skip
    a, b = _by_columns(a, overwrite_a), _by_columns(b, overwrite_b)
    rows, columns = a.shape
    work = np.empty(room, a.dtype)
    numbers = np.array([rows, columns, b.shape[1], max(1, rows), max(1, len(b)), room, 0], np.int64)
    call(numbers, a.size * min(a.shape), turned.encode(), 0, 1, 2, a, 3, b, 4, work, 5, 6)
    return a, b, int(numbers[6])


def _solve_any_rank(
    call: Callable[..., None], a: Array, b: Array, pivots: Array, rcond: float, room: int,
    overwrite_a: int, overwrite_b: int,
) -> tuple[Array, Array, Array, int, int]:  # fmt: skip
    a, b = _by_columns(a, overwrite_a), _by_columns(b, overwrite_b)
    rows, columns = a.shape
    found = pivots.astype(np.int64).reshape(-1)
    work, real = np.empty(room, a.dtype), np.empty(2 * columns, a.real.dtype)
    least = np.array([rcond], real.dtype)
    numbers = np.array(
        [rows, columns, b.shape[1], max(1, rows), max(1, len(b)), 0, room, 0], np.int64
    )
    more = (real, 7) if a.dtype.kind == "c" else (7,)
    call(numbers, a.size * min(a.shape), 0, 1, 2, a, 3, b, 4, found, least, 5, work, 6, *more)
    return a, b, found, int(numbers[5]), int(numbers[7])


#: What SciPy's functions take, of what LAPACK takes.
_ROUTINES: Final[dict[str, AnyCallable]] = {
    "getrf": _factor_lu, "geqrf": _factor_qr, "orgqr": _make_q, "ormqr": _multiply_by_q,
    "potrf": _factor_positive, "potri": _invert_positive, "gels": _solve_full_rank,
    "gelsy": _solve_any_rank,
}  # fmt: skip
_COUNTS: Final = {
    "getrf": 6, "geqrf": 8, "orgqr": 9, "ormqr": 13, "potrf": 5, "potri": 5, "gels": 11,
    "gelsy": 13,
}  # fmt: skip
_ROOM_FOR_REALS: Final = ("gelsy",)  # complex ones want it, too
_WORDS: Final = {"ormqr": 2, "potrf": 1, "potri": 1, "gels": 1}
