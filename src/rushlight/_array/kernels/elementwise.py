"""Formulas by element and their sums, choices and gates, by kernels over flat arrays.

Each function gives None where no kernel applies.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elementwise import masks
from ..elementwise.generated import formula_of
from ..types import BOOL, FLOAT64
from . import element_formulas as formulas
from .launch import FLAT, Kernel, address, chunks_of, floating, plain, ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..annotations import Array

__all__ = [
    "by_formula", "choose", "glu", "glu_backward", "keep", "summed_by_formula", "total",
]  # fmt: skip

_KEEP = Kernel(masks.keep.formula, "f", "f b1")
_CHOOSE = {
    (False, False): Kernel(masks.where.formula, "f b1", "f", "f"),
    (False, True): Kernel(masks.where.formula, "f b1", "f", "s"),
    (True, False): Kernel(masks.where.formula, "f b1", "s", "f"),
}
_WHOLE = Kernel(formulas.whole, "f")
_GLU = Kernel(formulas.glu, "f", "f")
_GLU_BACK = Kernel(formulas.glu_backward, "f", "f", "f")


@cache
def _of(function: Any, known: bool) -> Kernel:
    kinds = [*["f"] * len(function.arrays), *["s"] * len(function.numbers)]
    return Kernel(formula_of(function, known), *kinds)


def by_formula(
    function: Callable[..., Any], known: bool, arrays: tuple[Any, ...], numbers: tuple[Any, ...]
) -> Array | None:
    """What a generated function gives for arrays of one shape and type.

    `known`: the numbers that have usual values have these.
    """
    x = arrays[0]
    if not floating(x.dtype) or not ready():
        return None
    out = np.empty(x.shape, x.dtype)
    given = (*arrays, *[float(n) for n in numbers])
    return out if _of(function, known).flat(x.dtype, given, (out,), x.size) else None


def summed_by_formula(
    function: Any, known: bool, arrays: tuple[Any, ...], numbers: tuple[Any, ...]
) -> float | None:
    """The sum of a formula over all elements of arrays of one shape, added up in float64."""
    x = arrays[0]
    if not plain(*arrays) or not ready():
        return None
    parts = np.empty(chunks_of(-(-x.size // FLAT), FLAT), FLOAT64)
    given = (*arrays, *[float(n) for n in numbers])
    if not _of(function, known).flat(x.dtype, given, (parts,), x.size):
        return None
    return float(np.add.reduce(parts))


def total(x: Array) -> Any:
    """The sum of all elements, added up in float64, as an array of the dtype; or None."""
    if not floating(x.dtype) or not x.size or not ready():
        return None
    parts = np.empty(chunks_of(-(-x.size // FLAT), FLAT), FLOAT64)
    if not _WHOLE.flat(x.dtype, (x,), (parts,), x.size):
        return None
    return np.array(np.add.reduce(parts), x.dtype)


def keep(g: Array, mask: Array) -> Array | None:
    """g where the mask is True, else 0."""
    if mask.dtype is not BOOL or g.shape != mask.shape or not floating(g.dtype) or not ready():
        return None
    out = np.empty(g.shape, g.dtype)
    return out if _KEEP.flat(g.dtype, (g, mask), (out,), g.size) else None


def choose(mask: Array, a: Array | float, b: Array | float) -> Array | None:
    """a where the mask is True, else b: arrays of the mask's shape, or one of them a number."""
    x = b if type(a) is float else a
    if type(x) is not np.ndarray or not floating(x.dtype) or x.shape != mask.shape or not ready():
        return None
    kernel = _CHOOSE.get((type(a) is float, type(b) is float))
    out = np.empty(x.shape, x.dtype)
    if kernel is None or (x is a and type(b) is np.ndarray and b.shape != x.shape):
        return None
    return out if kernel.flat(x.dtype, (mask, a, b), (out,), x.size) else None


def _halved(x: Array, dim: int) -> tuple[int, int] | None:
    """Rows, and columns of a half, where both halves lie side by side; None where x isn't plain."""
    if not plain(x) or not ready():
        return None
    rows = 1
    for n in x.shape[: dim % x.ndim]:
        rows *= n
    return rows, x.size // (2 * rows)


def glu(x: Array, dim: int) -> Array | None:
    """See `gating.glu`."""
    found = _halved(x, dim)
    if found is None or not _GLU.prepared(x.dtype):
        return None
    rows, columns = found
    shape = list(x.shape)
    shape[dim] //= 2
    out = np.empty(shape, x.dtype)
    here = x.reshape(-1)
    places = [address(here), address(here[columns:]), address(out)]
    _GLU.at(x.dtype, rows, columns, [*places, 2 * columns, 2 * columns, columns])
    return out


def glu_backward(g: Array, x: Array, dim: int) -> Array | None:
    """See `gating.glu_backward`."""
    found = _halved(x, dim)
    if found is None or not plain(g, x) or 2 * g.size != x.size:
        return None
    if not _GLU_BACK.prepared(x.dtype):
        return None
    rows, columns = found
    out = np.empty(x.shape, x.dtype)
    halves = [address(y.reshape(-1)[start:]) for y in (x, out) for start in (0, columns)]
    _GLU_BACK.at(x.dtype, rows, columns, [address(g), *halves, columns, *[2 * columns] * 4])
    return out
