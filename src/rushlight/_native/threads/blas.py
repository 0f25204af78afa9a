"""Matrix products by the BLAS that is loaded already, called from emitted code by its address.

NumPy's own library is the one to use: a second copy has threads of its own, which fight with the
first one's. Only libraries with 64-bit integers are taken, which are known by their names.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

from ..llvm.emit import I32, PTR, VOID, Function, Type, Value

_ROW_MAJOR = 101


class Routines(NamedTuple):
    """Addresses of a BLAS; 0 for what was not found."""

    sgemm: int = 0
    dgemm: int = 0
    set_threads: int = 0


@cache
def routines(path: str) -> Routines:
    """The products of the OpenBLAS that the loaded library at `path` uses.

    NumPy's is `numpy._core._multiarray_umath.__file__`. Other systems than Linux, and other
    libraries (Accelerate, MKL), may give zeros.
    """
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return Routines()

    def find(name: str) -> int:
        for form in (f"scipy_{name}64_", f"{name}64_"):
            found = getattr(library, form, None)
            if found is not None:
                return ctypes.cast(found, ctypes.c_void_p).value or 0
        return 0

    return Routines(find("cblas_sgemm"), find("cblas_dgemm"), find("openblas_set_num_threads"))


def call(
    f: Function,
    routine: Value,
    type: Type,
    a: tuple[Value, Value, bool],
    b: tuple[Value, Value, bool],
    c: tuple[Value, Value],
    sizes: tuple[Value, Value, Value],
    alpha: Value,
    beta: Value,
) -> None:
    """Emits C = alpha A B + beta C for matrices in row order.

    `a` and `b` are an address, the elements between rows as stored, and whether it is stored
    transposed; `sizes` are those of the product: rows, columns, and what is summed over.
    """
    form = [f.constant(I32, _ROW_MAJOR)]
    form += [f.constant(I32, 112 if transposed else 111) for *_, transposed in (a, b)]
    assert alpha.type == beta.type == type and type.is_float and routine.type == PTR
    f.call(routine, [*form, *sizes, alpha, a[0], a[1], b[0], b[1], beta, c[0], c[1]], VOID)
