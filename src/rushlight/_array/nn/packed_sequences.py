"""Packed sequences: the rows of a padded batch that count, time by time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def packed_places(lengths: Array) -> tuple[Array, Array]:
    """How many examples have a row at each time, and the places of those rows, time by time.

    `lengths` falls; a place is that of a row in a (time, example) batch laid out flat.
    """
    batch = lengths.size
    times = np.arange(int(lengths[0]))
    present = times[:, None] < lengths[None, :]
    return present.sum(1), np.flatnonzero(present.reshape(-1)) if batch else times


def pack_rows(x: Array, places: Array) -> Array:
    """The rows of a (time, example, …) batch at these places."""
    return x.reshape(-1, *x.shape[2:]).take(places, axis=0)


def place_rows(rows: Array, places: Array, shape: tuple[int, ...], value: float) -> Array:
    """A batch of this shape that holds the rows at their places, and `value` elsewhere."""
    out = np.full(shape, value, rows.dtype)
    out.reshape(-1, *shape[2:])[places] = rows
    return out
