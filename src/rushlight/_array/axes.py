"""Dimensions as numbers: counted from the front, checked, and as keys for NumPy."""

from __future__ import annotations

from typing import Any, Final

from .._base import errors

ALL: Final = slice(None)
LEAD: Final = tuple((ALL,) * d for d in range(65))  # the first d dimensions, whole
END: Final = (1 << 63) - 1  # the end of a slice that has none


def axis_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front.

    Raises:
        IndexError: for a dimension that isn't there; arrays without dimensions have one here.
    """
    limit = ndim or 1
    if -limit <= dim < limit:
        return dim + limit if dim < 0 else dim
    raise IndexError(errors.dimension(dim, ndim))


def axes_of(dims: Any, ndim: int) -> list[int]:
    """`dims` counted from the front.

    Raises:
        IndexError: for a dimension that isn't there.
        RuntimeError: for one that appears twice.
    """
    found: list[int] = []
    for dim in dims:
        axis = axis_of(dim, ndim)
        if axis in found:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        found.append(axis)
    return found


def other_axes(ndim: int, dims: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that `dims` leaves."""
    return tuple(d for d in range(ndim) if d not in dims and d - ndim not in dims)
