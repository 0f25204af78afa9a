"""Fused native kernels for large arrays; NumPy's ways stay beside.

A raw function asks by one comparison, `x.size >= kernels.LEAST`, and calls the kernel's function,
which gives None for what it doesn't take; then the NumPy way goes on. Kernels come with a package
that a C compiler has built (`_native.prebuilt`), or are compiled by llvmlite where that is
installed. With neither, or with the environment variable RUSHLIGHT_NATIVE=0, `LEAST` is larger than
any array. The modules here are imported at their first use.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from ..._base.lazy import lazy, submodules
from ..._native import prebuilt


def is_llvmlite_here() -> bool:
    if prebuilt.present() and not prebuilt.is_turned_off():
        return True
    # `importlib.util` asks the same, and takes a third of a millisecond to load.
    return "llvmlite" in sys.modules or PathFinder.find_spec("llvmlite") is not None


_BROUGHT = 2049  # more than `ufunc_loops.MOST`: what chains of loops take keeps its digits
_COMPILED = 16384  # elements from which a kernel pays that is compiled first


def _least() -> int:
    if os.environ.get("RUSHLIGHT_NATIVE", "1") == "0" or not is_llvmlite_here():
        return sys.maxsize
    # One that came with the package is loaded in a millisecond, another one compiled first.
    return _BROUGHT if prebuilt.present() and not prebuilt.is_turned_off() else _COMPILED


#: Elements from which kernels are asked; four times as many where NumPy takes only one or two calls
#: for the same, and one in 64 where it takes dozens. See Note [Kernels and sizes] in `launch`.
LEAST = _least()

#: Multiplications from which `gemm` is asked for a product of matrices; half as many where the
#: right one is the transpose of one in order.
PRODUCT = sys.maxsize if sys.maxsize == LEAST else 1 << 19


#: Multiplications from which `convolution` is asked for a convolution.
CONVOLUTION = sys.maxsize if sys.maxsize == LEAST else 1 << 16

# Elements that a kernel does in the time that NumPy's calls of a step take.
_STEP = 2048


def pay(elements: int, steps: int) -> bool:
    """Whether kernels pay for a sequence of so many elements, or of so many steps, in all."""
    return elements >= LEAST or steps * _STEP >= max(LEAST, _COMPILED)


def off() -> None:
    """Leaves everything to NumPy from now on: this machine can't run kernels."""
    global CONVOLUTION, LEAST
    CONVOLUTION = LEAST = sys.maxsize
    products_off()


def products_off() -> None:
    """Leaves products of matrices to NumPy from now on."""
    global PRODUCT
    PRODUCT = sys.maxsize


__getattr__ = lazy(__name__, find=submodules(__name__))
