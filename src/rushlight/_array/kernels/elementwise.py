"""Formulas by element and their sums, and choices, by kernels over flat arrays.

Each function gives None where no kernel applies.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula import words
from ..._formula.ir import cast, total as sum_of_all
from ..types import BOOL, FLOAT64
from .launch import FLAT, Kernel, chunks_of, floating, plain, ready

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Symbol
    from ..annotations import Array
    from ..nn.generated_losses import _Summed

_KEEP = Kernel(words.keep, "f", "f b1")
_CHOOSE = {
    (False, False): Kernel(words.where, "f b1", "f", "f"),
    (False, True): Kernel(words.where, "f b1", "f", "s"),
    (True, False): Kernel(words.where, "f b1", "s", "f"),
}
_WHOLE = Kernel(sum_of_all, "f")


def _deviations(x: Symbol, centre: Symbol) -> tuple[Symbol, Symbol]:
    moved = cast(x, "f64") - centre
    return sum_of_all(moved), sum_of_all(moved * moved)


_DEVIATIONS = Kernel(_deviations, "f", "s f64")


@cache
def kernel_of(function: Any, known: bool) -> Kernel:
    """The kernel of a generated function; see `by_formula` for `known`."""
    kinds = [*["f"] * len(function.arrays), *["s"] * len(function.numbers)]
    return Kernel(words.formula_of(function, known), *kinds)


def by_formula(
    function: AnyCallable, known: bool, arrays: tuple[Any, ...], numbers: tuple[Any, ...]
) -> Array | None:
    """What a generated function gives for arrays of one shape and type.

    `known`: the numbers that have usual values have these.
    """
    x = arrays[0]
    if not floating(x.dtype) or not ready():
        return None
    out = np.empty(x.shape, x.dtype)
    given = (*arrays, *[float(n) for n in numbers])
    return out if kernel_of(function, known).flat(x.dtype, given, (out,), x.size) else None


def sum_by_formula(
    function: _Summed, known: bool, arrays: tuple[Array, ...], numbers: tuple[float, ...]
) -> float | None:
    """The sum of a formula over all elements of arrays of one shape, added up in float64."""
    x = arrays[0]
    if not plain(*arrays) or not ready():
        return None
    parts = np.empty(chunks_of(-(-x.size // FLAT), FLAT), FLOAT64)
    given = (*arrays, *[float(n) for n in numbers])
    if not kernel_of(function, known).flat(x.dtype, given, (parts,), x.size):
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


def sum_deviations(x: Array, centre: float) -> tuple[float, float] | None:
    """The sums of x - centre and of its square over all elements, in float64; or None."""
    if not floating(x.dtype) or not x.size or not ready():
        return None
    parts = tuple(np.empty((2, chunks_of(-(-x.size // FLAT), FLAT)), FLOAT64))
    if not _DEVIATIONS.flat(x.dtype, (x, centre), parts, x.size):
        return None
    return float(np.add.reduce(parts[0])), float(np.add.reduce(parts[1]))


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
