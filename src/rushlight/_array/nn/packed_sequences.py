"""Packed sequences: the rows of a padded batch that count, time by time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def fill_rows(out: Array, rows: Sequence[Array], batch_first: bool, at_the_end: bool) -> bool:
    """Writes each of `rows` where it belongs in a padded batch; whether they are of its type and
    sizes, else nothing is written.
    """
    dtype, sizes = out.dtype, out.shape[2:]
    for one in rows:
        if type(one) is not np.ndarray or one.dtype != dtype or one.shape[1:] != sizes:
            return False
    batch = out if batch_first else out.swapaxes(0, 1)
    longest = batch.shape[1]
    for k, one in enumerate(rows):
        if at_the_end:
            batch[k, longest - len(one) :] = one
        else:
            batch[k, : len(one)] = one
    return True
