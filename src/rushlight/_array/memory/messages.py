"""Arrays as messages between processes: their bytes, and how those of several ranks become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

__all__ = ["bytes_in", "copy", "flat", "fold", "numbers", "put_scaled", "scales", "scratch"]

#: How two arrays become one, by the name of the operation; AVG divides the sum at the end.
_FOLDS: Final[dict[str, Callable[..., Any]]] = {
    "SUM": np.add, "AVG": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum,
    "BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor,
}  # fmt: skip
#: Elements that are added up at a time, so that they stay near the processor.
_TILE: Final = 1 << 15


def flat(array: Array) -> Array:
    """The elements in a row: the array's own memory where it is contiguous, else a copy."""
    return array.reshape(-1) if array.flags.c_contiguous else np.ascontiguousarray(array).ravel()


def is_own(row: Array, array: Array) -> bool:
    """Whether a row is the array's own memory, so that what is received there has arrived."""
    return array.flags.c_contiguous or not array.size


def scratch(count: int, like: Array) -> Array:
    """A row of `count` elements that aren't set, of an array's type."""
    return np.empty(count, like.dtype)


def numbers(values: Sequence[int]) -> Array:
    """Whole numbers as a row."""
    return np.array(values, np.int64)


def copy(target: Array, source: Array) -> None:
    """Copies a row's elements to an array of as many, or between arrays of one shape."""
    target[...] = source.reshape(target.shape)


def scales(row: Array) -> bool:
    """Whether `put_scaled` knows the type: the product has the precision of the numbers."""
    return row.dtype.kind in "fc" and row.dtype.itemsize >= 4


def put_scaled(target: Array, source: Array, factor: float) -> None:
    """Writes an array's elements times a number, in their own precision."""
    np.multiply(source, target.dtype.type(factor), out=target)


def bytes_in(row: Array) -> Array:
    """The memory of a row as bytes, which a message is read from or written to."""
    return row.view(np.uint8)


def fold(rows: Sequence[Array], into: Array, operation: str) -> None:
    """Writes what becomes of the rows, taken in their order, to `into`, which may be one of them.

    The order is always that of the ranks: the same rows give the same bits.
    """
    if len(rows) == 1:
        into[...] = rows[0]
        return
    function = _FOLDS[operation]
    first, second, *rest = rows
    apart = any(row is into for row in rest)  # it would be overwritten before it is read
    for start in range(0, len(into), _TILE):
        part = slice(start, start + _TILE)
        total = function(first[part], second[part], out=None if apart else into[part])
        for row in rest:
            function(total, row[part], out=total)
        if apart:
            into[part] = total
    if operation == "AVG":
        divide(into, len(rows))


def divide(row: Array, count: int) -> None:
    """Divides a row's elements by a number of ranks."""
    np.divide(row, row.dtype.type(count), out=row)
