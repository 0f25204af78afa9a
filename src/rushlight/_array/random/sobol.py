"""Sobol sequences on arrays: direction numbers, scrambling, points in the order of Gray codes.

Source: Joe and Kuo 2008 for the direction numbers, as SciPy carries them; Matousek 1998 for the
linear scrambling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

BITS = 30


def directions(dimension: int) -> Array:
    """The direction numbers of each dimension, whole numbers of 30 bits.

    Raises:
        ImportError: without SciPy, which carries the table.
    """
    try:
        from scipy.stats import qmc
    except ImportError:
        raise ImportError(
            "Sobol sequences need SciPy, which carries their direction numbers: "
            "pip install rushlight[scipy]"
        ) from None
    engine = qmc.Sobol(dimension, scramble=False, bits=BITS)
    return np.asarray(engine._sv, dtype=np.int64)


def scramble(state: Array, triangles: Array) -> Array:
    """The direction numbers, as bits, multiplied by lower triangular matrices."""
    matrices = triangles.copy()
    places = np.arange(BITS)
    matrices[:, places, places] = 1
    down = places[::-1]
    bits = (state[:, :, None] >> down) & 1  # most significant first
    product = np.einsum("dpq,djq->djp", matrices, bits) & 1
    return (product << down).sum(-1)


def points(last: Any, state: Any, before: int, n: int) -> tuple[Any, Any]:
    """The `n` states after `last`, when `before` have been, as rows; and the last of them."""
    if n == 0:
        return np.empty((0, len(last)), np.int64), last
    counts = before + np.arange(n)
    lowest = ~counts & (counts + 1)  # the lowest bit that is not set
    steps = state[:, np.log2(lowest).astype(np.int64)].T.copy()
    steps[0] ^= last
    found = np.bitwise_xor.accumulate(steps, axis=0)
    return found, found[-1].copy()
