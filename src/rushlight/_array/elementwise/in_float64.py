"""Functions of large float32 arrays that compute with float64 in between, by one formula.

    @in_float64(bessel.i0)
    def i0(x): ...

A kernel takes the formula where there is one, NumPy otherwise, over blocks that stay in the cache;
where SciPy is missing small arrays, too. What isn't float32 is the function's own. A polynomial in
float64 takes a tenth of SciPy's time for an element, and is right to the last place of float32.
"""

from __future__ import annotations

from functools import cache, wraps
from typing import TYPE_CHECKING

import numpy as np

from ..._formula import ir
from .. import kernels
from ..types import FLOAT32, FLOAT64
from . import generated  # noqa: F401 - has formulas mean something on arrays
from .blocked import LARGE, fits, map_blocks
from .by_kernel import by_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Symbol
    from ..annotations import Array


def polynomial(x: Symbol, coefficients: tuple[float, ...]) -> Symbol:
    """A polynomial of ascending coefficients, of symbols as of arrays."""
    found = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        found = found * x + coefficient
    return found


def in_float64(formula: AnyCallable) -> Callable[[AnyCallable], AnyCallable]:
    """A function whose large arrays of float32 a formula of doubles takes."""

    def of_symbols(x: Symbol) -> Symbol:
        return ir.cast(formula(ir.cast(x, "f64")), x.dtype)

    def write(out: Array, x: Array) -> None:
        out[...] = formula(x.astype(FLOAT64))

    def put(raw: AnyCallable) -> AnyCallable:
        @wraps(raw)
        def by_blocks(x: Array) -> Array:
            if x.dtype is not FLOAT32:
                return raw(x)
            few = x.size < LARGE
            if few and has_scipy():
                return raw(x)
            if few and x.size << 12 >= kernels.LEAST:  # NumPy takes dozens of calls
                found: Array | None = vars(kernel)["large"].call((x,))
                if found is not None:
                    return found
            with np.errstate(all="ignore"):
                return (
                    map_blocks(write, x) if fits(x) else formula(x.astype(FLOAT64)).astype(FLOAT32)
                )

        kernel: AnyCallable = by_kernel(of_symbols, "f", (FLOAT32,))(by_blocks)
        vars(kernel)["large"].of_any_size = True
        return kernel

    return put


@cache
def has_scipy() -> bool:
    """Whether SciPy is there, whose own loops are quick for few elements."""
    try:
        import scipy.special  # noqa: F401
    except ImportError:
        return False
    return True
