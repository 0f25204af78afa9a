"""What all special functions share: operands in float64, broadcast, and NumPy kept silent."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..annotations import Array


def wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function` of one-dimensional float64 arrays, as one of arrays and numbers of any shape."""

    @wraps(function)
    def call(*operands: Array | float) -> Array:
        arrays = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in operands))
        with np.errstate(all="ignore"):
            result = function(*(x.reshape(-1) for x in arrays))
        return result.reshape(arrays[0].shape)

    return call


def piecewise(
    operands: Sequence[Array],
    *pieces: tuple[Array, Callable[..., Array]],
    otherwise: float = np.nan,
) -> Array:
    """Each function, called with those elements of the operands at which its condition is the
    first that holds; `otherwise` where none does."""
    result = np.full(operands[0].shape, otherwise)
    left = np.ones(operands[0].shape, bool)
    for condition, function in pieces:
        here = left & condition
        if here.any():
            result[here] = function(*(x[here] for x in operands))
            left &= ~here
    return result


def sum_series(first: Array, ratio: Callable[[int], Array], most: int) -> Array:
    """Σ of the terms `first`, `first` r(1), `first` r(1) r(2), …, until none of them counts."""
    total, term = first.copy(), first
    for k in range(1, most):
        term = term * ratio(k)
        total += term
        if not (np.abs(term) > 1e-17 * np.abs(total)).any():
            break
    return total
