"""Gradients of which only some rows are stored, as the engine carries them.

Note [Sparse gradients are arrays]
A layer that reads a few rows of a large table gives the table a gradient with those rows only. The
engine knows nothing of that: it adds and passes arrays. So such a gradient is an array, a
placeholder (a zero broadcast to the table's shape), which has its rows beside it. The sum of two is
one with the rows of both; whatever else is done with one is done with the full array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .sparse import placeholder

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, TensorLike
    from ..annotations import Array


class SparseGradient(np.ndarray[Any, Any]):
    """A gradient with rows at some `places` [1, n] and zeros elsewhere; `held` are the rows."""

    places: Any
    held: Any

    def __array_finalize__(self, source: object) -> None:
        self.places = getattr(source, "places", None)
        self.held = getattr(source, "held", None)

    def __array_ufunc__(
        self, ufunc: AnyCallable, method: str, *inputs: Any, **options: Any
    ) -> TensorLike:
        if ufunc is np.add and method == "__call__" and not options.get("where"):
            first, second = inputs[:2]
            out = options.get("out") or inputs[2:]
            if not out and type(first) is type(second):
                return add_sparse(second, first)  # the newer one first, as PyTorch does
            if out and out[0] is first and type(first) is np.ndarray:
                np.add.at(first, second.places[0], second.held)
                return first
        if "out" in options:
            options["out"] = tuple(dense(x) for x in options["out"])
        return getattr(ufunc, method)(*[dense(x) for x in inputs], **options)

    def __array_function__(self, func: Any, types: object, args: Any, kwargs: object) -> Any:
        return func(*_all_dense(args), **_all_dense(kwargs))


def _all_dense(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)([_all_dense(item) for item in value])
    if isinstance(value, dict):
        return {key: _all_dense(item) for key, item in value.items()}
    return dense(value)


def sparse_gradient(places: Array, held: Array, shape: tuple[int, ...]) -> Array:
    """A gradient of these rows."""
    made = placeholder(shape, held.dtype).view(SparseGradient)
    made.places, made.held = places, held
    return made


def dense(value: Array | int) -> Any:
    """The full array of a sparse gradient; anything else as it is."""
    if type(value) is not SparseGradient:
        return value
    full = np.zeros(value.shape, value.dtype)
    np.add.at(full, value.places[0], value.held)
    return full


def add_sparse(a: Any, b: Any) -> Array:
    """The sum of two sparse gradients.

    As PyTorch's: rows that lie in order in both are merged, else the second's follow the first's.
    """
    rows, more = a.places[0], b.places[0]
    if a.held.flags.c_contiguous and b.held.flags.c_contiguous:
        if rows.size == more.size and (rows == more).all():
            return sparse_gradient(a.places, a.held + b.held, a.shape)
        if (rows[1:] > rows[:-1]).all() and (more[1:] > more[:-1]).all():
            where = np.union1d(rows, more)
            held = np.zeros((where.size, *a.held.shape[1:]), a.dtype)
            held[np.searchsorted(where, rows)] = a.held
            held[np.searchsorted(where, more)] += b.held
            return sparse_gradient(where.reshape(1, -1), held, a.shape)
    return sparse_gradient(
        np.concatenate([a.places, b.places], 1), np.concatenate([a.held, b.held]), a.shape
    )


def refuse_frequencies(scale_by_frequency: bool) -> None:
    """Refuses to scale rows by how often they were read.

    Raises: RuntimeError.
    """
    if scale_by_frequency:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )


def rows_gradient(
    g: Array,
    indices: Array,
    shape: tuple[int, ...],
    padding_idx: int,
    scale_by_frequency: bool,
) -> Array:
    """The gradient of a table of which rows were read at `indices`: those rows, in that order.

    Raises: RuntimeError where rows are to be scaled by how often they were read.
    """
    refuse_frequencies(scale_by_frequency)
    held = g.reshape(indices.size, *shape[1:])
    where = indices.reshape(1, -1).astype(np.int64)
    if padding_idx >= 0:
        used = where[0] != padding_idx
        where, held = where[:, used], np.ascontiguousarray(held[used])
    return sparse_gradient(where, held, shape)


def with_own_rows(g: Any) -> Any:
    """A sparse gradient with rows of its own, for whoever keeps it."""
    return sparse_gradient(g.places, np.array(g.held, order="C"), g.shape)
