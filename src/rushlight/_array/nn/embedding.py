"""Embedding tables: rows by index, sums and means and maxima of bags of rows, norms kept small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..reduce.reduce import name_of
from ..shape.gather import add_rows, embedding_backward
from ..types import internal_type_name

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

_UNSIGNED = {np.dtype(np.int64): np.dtype(np.uint64), np.dtype(np.int32): np.dtype(np.uint32)}


def type_of(x: TensorLike) -> str:
    """What PyTorch calls a tensor of this type."""
    return internal_type_name(x.dtype)


def require_indices(index: Array, function: str, number: int = 1) -> None:
    """Refuses all but int64 and int32.

    Raises: RuntimeError in PyTorch's words.
    """
    if index.dtype not in _UNSIGNED:
        kind = type_of(index)
        raise RuntimeError(
            f"Expected tensor for argument #{number} 'indices' to have one of the following scalar "
            f"types: Long, Int; but got {kind} instead (while checking arguments for {function})"
        )


def require_weight(weight: Array) -> None:
    """Refuses all but floating-point numbers as what bags are made of.

    Raises: RuntimeError in PyTorch's words.
    """
    if weight.dtype.kind in "biuc":
        shown = type_of(weight)
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {shown} instead (while checking arguments for "
            "embedding_bag)"
        )


def _inside(index: Any, rows: int) -> bool:
    """Whether all indices are rows; seen as unsigned, negative ones are huge."""
    return not index.size or bool(
        np.maximum.reduce(index.view(_UNSIGNED[index.dtype]), axis=None) < rows
    )


def embedding(weight: Array, index: Array, *_of_gradients: object) -> Array:
    """The rows of `weight` that `index` names.

    Raises: IndexError for an index that is no row, RuntimeError for wrong dtypes and shapes.
    """
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if index.dtype not in _UNSIGNED:
        require_indices(index, "embedding")
    if not _inside(index, weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(index, axis=0)


def embedding_gradient(
    g: Array, index: Array, shape: tuple[int, ...], padding_idx: int, scale_by_frequency: bool
) -> Array:
    """The gradient for a table of this shape, zero at `padding_idx`."""
    return embedding_backward(g, index.astype(np.int64, copy=False), shape[0], padding_idx,
                              scale_by_frequency)  # fmt: skip


def renormalise(weight: Array, index: Array, most: float, p: float) -> None:
    """Scales the rows that `index` names down to norm `most`, in place.

    Raises:
        IndexError: for a row that isn't there.
        RuntimeError: for whole numbers.
    """
    used = np.unique(index)
    if not used.size:
        return
    if weight.dtype.kind in "iub":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{name_of(weight.dtype)} instead."
        )
    count = weight.shape[0]
    outside = used[(used < -count) | (used >= count)]
    if outside.size:
        raise IndexError(
            f"select(): index {outside[0]} out of range for tensor of size {list(weight.shape)} at "
            "dimension 0"
        )
    rows = weight[used]
    norms = np.linalg.norm(rows if rows.dtype.kind == "c" else rows.astype(np.float64), p, axis=1)
    long = norms > most
    weight[used[long]] = (rows[long] * (most / (norms[long] + 1e-7))[:, None]).astype(weight.dtype)


# ---- bags -------------------------------------------------------------------------------------


def _at_once(dtype: RawType, mode: int, padding_idx: int) -> bool:
    """Whether PyTorch looks up and adds in one pass, which has words and limits of its own."""
    return mode != 2 and padding_idx < 0 and dtype != np.float64


def bag_lengths(
    index: Array, offsets: Array, include_last: bool, to_the_end: bool = False
) -> tuple[Array, Array]:
    """Where the bags begin, and how long they are; `to_the_end` the last one takes what is left.

    Raises: RuntimeError for offsets that don't fit.
    """
    if include_last and offsets.size < 1:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.size:
        if int(offsets[0]) != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                "from "
                f"position 0. However, got {int(offsets[0])}"
            )
        if int(offsets[-1]) > index.size:
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {index.size} but got "
                "offsets[-1] "
                f"of {int(offsets[-1])}"
            )
    offsets = offsets.astype(np.int64)
    if not include_last:
        starts, lengths = offsets, np.diff(offsets, append=index.size)
    else:
        if to_the_end:
            offsets[-1] = index.size
        starts, lengths = offsets[:-1], np.diff(offsets)
    if (lengths < 0).any():
        raise RuntimeError(
            "Expected i < index_size to be true, but got false.  (Could this error message be "
            "improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return starts, lengths


def bag_lengths_of(
    dtype: RawType, mode: int, padding_idx: int, index: Array, offsets: Array, include_last: bool
) -> tuple[Array, Array]:
    """`bag_lengths`, of a table of a type; PyTorch's one pass ends with the last offset.

    Raises: RuntimeError for offsets that don't fit.
    """
    whole = not _at_once(dtype, mode, padding_idx)
    return bag_lengths(index, offsets, include_last, whole)


def bag_numbers(lengths: Array) -> Array:
    """The bag of each index, for bags of these lengths."""
    return np.repeat(np.arange(lengths.size), lengths)


def _bag_of_each(
    starts: Array, lengths: Array, index: Array, padding_idx: int
) -> tuple[Array, Array, Array]:
    """The bag of each index, which indices count, and how many count in each bag."""
    bags = bag_numbers(lengths)
    counted = index[: bags.size] != padding_idx
    counts = np.bincount(bags[counted], minlength=starts.size) if bags.size else 0 * lengths
    return bags, counted, counts


def bag_sums(values: Array, bags: Array, count: int) -> Array:
    """The rows of `values` added up by bag."""
    return add_rows(np.zeros((count, *values.shape[1:]), values.dtype), bags, values)


def embedding_bag(
    weight: Array,
    index: Array,
    offsets: Array,
    mode: int,
    scales: Array | None,
    include_last: bool,
    padding_idx: int,
) -> Array:
    """The sum (0), mean (1) or maximum (2) of the rows of each bag; of an empty bag zeros.

    Raises: RuntimeError for an index that is no row, or offsets that don't fit.
    """
    require_indices(index, "embedding_bag")
    starts, lengths = bag_lengths_of(weight.dtype, mode, padding_idx, index, offsets, include_last)
    if not _inside(index, weight.shape[0]):
        wrong = np.flatnonzero((index < 0) | (index >= weight.shape[0]))[0]
        value, rows = int(index[wrong]), weight.shape[0]
        if _at_once(weight.dtype, mode, padding_idx):
            raise RuntimeError(
                f"Index {wrong} of input takes value {value} which is not in the valid range "
                f"[0, {rows})"
            )
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {value}"
        )
    if scales is not None:
        refuse_scales_of_another_type(weight, scales)
    bags, counted, counts = _bag_of_each(starts, lengths, index, padding_idx)
    rows = weight.take(index[: bags.size][counted], axis=0)
    if mode == 2:
        return _max_of_bags(rows, bags[counted], starts.size)[0]
    if scales is not None:
        rows = rows * scales[: bags.size][counted][:, None]
    sums = bag_sums(rows, bags[counted], starts.size)
    return sums / np.maximum(counts, 1).astype(sums.dtype)[:, None] if mode == 1 else sums


def refuse_scales_of_another_type(weight: Array, scales: Array) -> None:
    """Refuses weights of single indices of another type than the table's.

    Raises: RuntimeError.
    """
    if scales.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {type_of(weight)} does not equal "
            f"{type_of(scales)} (while checking arguments for embedding_bag)"
        )


def bag_places(
    weight: Array, index: Array, offsets: Array, mode: int, include_last: bool, padding_idx: int
) -> tuple[Array, Array, Array]:
    """The bag of each index, how many count in each bag, and the rows that maxima come from."""
    starts, lengths = bag_lengths_of(weight.dtype, mode, padding_idx, index, offsets, include_last)
    if mode == 0:
        nothing = np.zeros(starts.size, index.dtype)
        return np.empty(0, index.dtype), nothing, nothing.copy()
    bags, counted, counts = _bag_of_each(starts, lengths, index, padding_idx)
    counts = counts.astype(index.dtype)
    if mode == 1:
        return bags.astype(index.dtype), counts, counts.copy()
    used = index[: bags.size][counted]
    _, places = _max_of_bags(weight.take(used, axis=0), bags[counted], starts.size)
    rows = np.where(places >= 0, used[np.maximum(places, 0)] if used.size else 0, 0)
    return bags.astype(index.dtype), counts, rows.astype(index.dtype)


def _max_of_bags(rows: Array, bags: Array, count: int) -> tuple[Array, Array]:
    """The largest of each bag's rows by column, and which row of `rows` it is (-1: none)."""
    out = np.zeros((count, rows.shape[1]), rows.dtype)
    places = np.full((count, rows.shape[1]), -1)
    if bags.size:
        starts = np.flatnonzero(np.diff(bags, prepend=-1))
        most = np.maximum.reduceat(rows, starts, axis=0)
        own = np.repeat(np.arange(starts.size), np.diff(starts, append=bags.size))
        order = np.where(rows == most[own], np.arange(bags.size)[:, None], bags.size)
        out[bags[starts]] = most
        places[bags[starts]] = np.minimum.reduceat(order, starts, axis=0)
    return out, places


def embedding_bag_backward(
    g: Array,
    shape: tuple[int, ...],
    index: Array,
    offsets: Array,
    mode: int,
    scales: object,
    include_last: bool,
    padding_idx: int,
    scale_by_frequency: bool,
) -> Array:
    """The gradient of sums and means of bags for their table of a shape."""
    used, rows = _gradient_by_index(g, index, offsets, mode, scales, include_last, padding_idx)
    return embedding_backward(rows, used, shape[0], -1, scale_by_frequency)


def _gradient_by_index(
    g: Array, index: Array, offsets: Array, mode: int, scales: Any, include_last: bool,
    padding_idx: int,
) -> tuple[Array, Array]:  # fmt: skip
    """The indices that count, and for each the gradient of its bag, scaled."""
    starts, lengths = bag_lengths_of(g.dtype, mode, padding_idx, index, offsets, include_last)
    bags, counted, counts = _bag_of_each(starts, lengths, index, padding_idx)
    used, owners = index[: bags.size][counted].astype(np.int64), bags[counted]
    if mode == 1:
        g = g / np.maximum(counts, 1).astype(g.dtype)[:, None]
    rows = g.take(owners, axis=0)
    return used, rows if scales is None else rows * scales[: bags.size][counted][:, None]


def embedding_bag_rows(
    g: Array,
    shape: tuple[int, ...],
    index: Array,
    offsets: Array,
    mode: int,
    scales: object,
    include_last: bool,
    padding_idx: int,
    scale_by_frequency: bool,
) -> Array:
    """The gradient of `embedding_bag` for its table, as the rows that were read.

    Raises: RuntimeError where rows are to be scaled by how often they were read.
    """
    from ..shape.sparse_gradient import refuse_frequencies, sparse_gradient

    refuse_frequencies(scale_by_frequency)
    used, rows = _gradient_by_index(g, index, offsets, mode, scales, include_last, padding_idx)
    return sparse_gradient(used.reshape(1, -1), rows, shape)


def max_bag_backward(
    g: Array, weight: Array, index: Array, offsets: Array, include_last: bool, padding_idx: int
) -> Array:
    """The gradient of maxima of bags for their table."""
    starts, lengths = bag_lengths_of(g.dtype, 2, padding_idx, index, offsets, include_last)
    bags, counted, _ = _bag_of_each(starts, lengths, index, padding_idx)
    used, owners = index[: bags.size][counted].astype(np.int64), bags[counted]
    out = np.zeros(weight.shape, g.dtype)
    _, places = _max_of_bags(weight.take(used, axis=0), owners, starts.size)
    bag, column = np.nonzero(places >= 0)
    np.add.at(out, (used[places[bag, column]], column), g[bag, column])
    return out


def embedding_bag_weights(
    g: Array, weight: Array, index: Array, offsets: Array, include_last: bool, padding_idx: int
) -> Array:
    """The gradient of a summing `embedding_bag` for the weights of the single indices."""
    starts, lengths = bag_lengths_of(g.dtype, 0, padding_idx, index, offsets, include_last)
    bags, counted, _ = _bag_of_each(starts, lengths, index, padding_idx)
    out = np.zeros(index.shape, g.dtype)
    rows = weight.take(index[: bags.size], axis=0)
    out[: bags.size] = np.where(counted, np.vecdot(rows, g.take(bags, axis=0)), 0)
    return out
