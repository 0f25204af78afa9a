"""The OpenBLAS that came with NumPy, where it did: its threads, and what NumPy doesn't show."""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.fork_locks import in_child, lock as make_lock
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_LETTERS: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}
# Multiplications up to which a triangular solution is made on one thread: see Note [Which product
# is faster] in `gemm`.
_SHARED: Final = 1 << 22
# OpenBLAS's names for its kernels that have small products apart, and what it takes for such.
_SMALL_PRODUCTS: Final = {b"SkylakeX", b"Cooperlake", b"SapphireRapids"}
PIECE: Final = 1200
_PACKED: Final = 1 << 20  # multiplications from which it packs at little cost, or has threads
_DEEP: Final = 64
FEW_ROWS: Final = 12
_COLUMNS: Final = 102  # these are CBLAS's numbers
_SIDES: Final = {True: 141, False: 142}
_TRIANGLES: Final = {True: 121, False: 122}
_TURNED: Final = {False: 111, True: 112}
_DIAGONALS: Final = {False: 131, True: 132}


@cache
def find() -> Any:
    """The OpenBLAS that came with NumPy, called under the interpreter's lock; or None."""
    try:
        module: Any = np._core._multiarray_umath  # type: ignore[attr-defined]
        library = ctypes.PyDLL(module.__file__)
        for name in ("get_corename", "get_num_threads", "set_num_threads"):
            getattr(library, f"scipy_openblas_{name}64_")
    except (AttributeError, OSError):
        return None
    return library


@cache
def has_small_products() -> bool:
    """Whether it has kernels for small products: see Note [Few rows times a turned matrix]."""
    library = find()
    if library is None:
        return False
    name = library.scipy_openblas_get_corename64_
    name.restype = ctypes.c_char_p
    return name() in _SMALL_PRODUCTS


def multiply_few_rows(a: Array, b: Array, out: Array | None = None) -> Array | None:
    """`numpy.matmul` of few rows and a transposed matrix in pieces; None where that isn't faster.

    Note [Few rows times a turned matrix]
    A layer's product with its weights in a batch of a few samples is one of few rows with the
    transpose of a matrix in order. For up to 1,200 elements of the result OpenBLAS has a kernel for
    that on processors with 512-bit vectors; one more, and it takes five to nine times as long,
    since it packs the whole matrix. So the columns come in pieces, each as large as that kernel
    takes. Sizes alone decide.
    """
    if a.ndim != 2 or b.ndim != 2 or a.dtype is not b.dtype or not has_small_products():
        return None
    (rows, inner), columns, size = a.shape, b.shape[1], a.dtype.itemsize
    if (
        not 1 < rows <= FEW_ROWS
        or rows * columns <= PIECE
        or inner < _DEEP
        or rows * columns * inner >= _PACKED
        or b.shape[0] != inner
        or not (a.dtype is FLOAT32 or a.dtype is FLOAT64)
        or b.strides[0] != size
        or b.strides[1] % size
        or a.strides[1] != size
    ):
        return None
    if out is None:
        out = np.empty((rows, columns), a.dtype)
    elif (
        out.shape != (rows, columns)
        or out.dtype is not a.dtype
        or np.may_share_memory(out, a)
        or np.may_share_memory(out, b)
    ):
        return None
    width = max(16, PIECE // rows // 16 * 16)
    for start in range(0, columns, width):
        part = slice(start, start + width)
        np.matmul(a, b[:, part], out=out[:, part])
    return out


_most_threads = 0  # what it had before anybody set another number here


def set_num_threads(number: int) -> None:
    """Has it use so many threads, though no more than it had at first."""
    global _most_threads
    library = find()
    if library is None:
        return
    with one_thread.lock:
        taken = one_thread.taken
        now = one_thread.threads if taken else library.scipy_openblas_get_num_threads64_()
        _most_threads = _most_threads or now
        one_thread.threads = min(number, _most_threads)
        if not taken:
            library.scipy_openblas_set_num_threads64_(one_thread.threads)


class _OneThread:
    """A context in which OpenBLAS has one thread, for products on any number of Python's threads.

    The first to enter takes the others away, the last to leave gives them back. A thread that an
    interrupt kept from leaving does so the next time: `taken` and its own number are still there.
    """

    def __init__(self) -> None:
        self.lock = make_lock()
        self.inside: set[int] = set()
        self.threads = 0
        self.taken = False
        in_child(self._leave_all)

    def __enter__(self) -> None:
        with self.lock:
            self.inside.add(get_ident())
            if not self.taken:
                self.threads = find().scipy_openblas_get_num_threads64_()
                self.taken = True
            find().scipy_openblas_set_num_threads64_(1)

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside.discard(get_ident())
            if not self.inside:
                self._give_back()

    def _give_back(self) -> None:
        find().scipy_openblas_set_num_threads64_(self.threads)
        self.taken = False

    def _leave_all(self) -> None:
        # The threads that were inside don't survive a fork.
        self.inside.clear()
        if self.taken:
            self._give_back()


#: Held while products, or solutions, are to leave no thread waiting for more work.
one_thread: Final = _OneThread()


# ---- triangular systems -------------------------------------------------------------------------
@cache
def triangular_solver(dtype: RawType) -> Callable[[Array, Array, bool, bool, bool], None] | None:
    """What solves A X = B or X A = B in place: (A, X, upper, left, unit); None without OpenBLAS.

    A is square, of the type of X, and in any order; X lies by columns. One triangle of A is read.
    """
    library, letter = find(), _LETTERS.get(dtype.char)
    if library is None or letter is None:
        return None
    number: Any = {"s": ctypes.c_float, "d": ctypes.c_double}.get(letter, ctypes.c_char_p)
    try:
        # Called without the interpreter's lock.
        function = getattr(ctypes.CDLL(library._name), f"scipy_cblas_{letter}trsm64_")
    except (AttributeError, OSError):
        return None
    size, place = ctypes.c_int64, ctypes.c_void_p
    function.argtypes = [*[ctypes.c_int] * 5, size, size, number, place, size, place, size]
    function.restype = None
    one = number(1) if number is not ctypes.c_char_p else np.ones(1, dtype).tobytes()

    def solve(a: Array, x: Array, upper: bool, left: bool, unit: bool) -> None:
        turned = a.flags.c_contiguous  # the transpose of one that lies by columns
        matrix = a.T if turned else a
        if not (matrix.flags.f_contiguous and matrix.flags.aligned):
            matrix = matrix.copy("F")
        (rows, columns), n = x.shape, len(matrix)
        arguments = (
            _COLUMNS, _SIDES[left], _TRIANGLES[upper != turned], _TURNED[turned], _DIAGONALS[unit],
            rows, columns, one, matrix.ctypes.data, n, x.ctypes.data, rows,
        )  # fmt: skip
        if n * rows * columns < _SHARED:
            with one_thread:
                function(*arguments)
        else:
            function(*arguments)

    return solve
