"""Sparse matrices as arrays of places and values: products, merging of equal places, searches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .gather import add_rows

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_BLOCK = 1 << 16  # elements of the terms of a product that are there at once


def placeholder(shape: tuple[int, ...], dtype: RawType) -> Array:
    """An array of zeros that takes no memory: what a sparse tensor shows of its elements."""
    return np.ndarray(shape, dtype, _zero(dtype), 0, (0,) * len(shape))


@lru_cache(64)
def _zero(dtype: RawType) -> Array:
    zero = np.zeros(1, dtype)
    zero.flags.writeable = False
    return zero


def keys(places: Array, shape: tuple[int, ...]) -> Array:
    """One number for each column of `places`, ordered as the places are."""
    if not len(shape):
        return np.zeros(places.shape[1], np.int64)
    if len(shape) == 1:
        return places[0]
    return np.ravel_multi_index(tuple(places), shape) if places.size else places[0]


def merge_places(places: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The different places in order, and for each column which of them it is."""
    given = keys(places, shape)
    order = given.argsort(kind="stable")
    ordered = given[order]
    first = np.ones(given.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], first[1:])
    member = np.empty(given.size, np.int64)
    member[order] = first.cumsum() - 1
    different = ordered[first]
    if len(shape) == 1:
        return different.reshape(1, -1), member
    found = np.unravel_index(different, shape) if len(shape) else ()
    return np.array(found, np.int64).reshape(len(shape), different.size), member


def sum_of(parts: Sequence[tuple[Array, Array]], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Places and values of the sum of sparse tensors, each of which has a place once.

    They are added in their order: the same ones give the same bits.
    """
    first, values = parts[0]
    together = np.concatenate([places for places, _ in parts], 1)
    merged, member = merge_places(together, shape[: len(first)])
    out = np.zeros((merged.shape[1], *values.shape[1:]), values.dtype)
    start = 0
    for places, held in parts:
        end = start + places.shape[1]
        out[member[start:end]] += held
        start = end
    return merged, out


def lookup(wanted: Array, sorted_keys: Array) -> tuple[Array, Array]:
    """Which of the wanted keys there are, and where."""
    if not sorted_keys.size:
        return np.zeros(wanted.size, bool), np.zeros(wanted.size, np.int64)
    at = np.minimum(np.searchsorted(sorted_keys, wanted), sorted_keys.size - 1)
    return sorted_keys[at] == wanted, at


def pairs_of(columns: Array, row_starts: Array) -> tuple[Array, Array]:
    """For each element of a matrix in column k, every element of another in row k: both numbers."""
    counts = (row_starts[1:] - row_starts[:-1])[columns]
    left = np.repeat(np.arange(columns.size), counts)
    ends = np.cumsum(counts)
    right = np.arange(left.size) - np.repeat(ends - counts, counts) + row_starts[columns][left]
    return left, right


def starts(rows: Array, count: int) -> Array:
    """Where each row starts in a sorted list of row numbers, and the end."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)


def _sparse_product(values: Array, dense: Array, rows: Array, columns: Array, height: int) -> Array:
    """The product of the matrix with `values` at (rows, columns) and a dense one.

    Shapes: values, rows, columns [n], dense [k, m] to [height, m]. Places may be given twice.
    """
    kind = np.result_type(values, dense)
    result = np.zeros((height, dense.shape[1]), kind)
    values, dense = values.astype(kind, copy=False), dense.astype(kind, copy=False)
    block = max(1, _BLOCK // max(dense.shape[1], 1))
    for start in range(0, values.size, block):
        part = slice(start, start + block)
        terms = np.take(dense, columns[part], 0)
        np.multiply(terms, values[part, None], terms)
        add_rows(result, rows[part], terms)
    return result
