"""Batching rules of indexing, gathering and scattering.

Where an index is itself a batch, the number of the example becomes one more index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.op import Op
from ..rows.tensor_namespace import table
from .batching_rules import (
    align,
    call,
    elementwise,
    front,
    is_tensor,
    one_by_one,
    place,
    rank_of,
    repeat_batch,
    rule,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Arguments, MappedDims
    from ..._tensor.tensor import Tensor

DYNAMIC_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
    "batch over indexing with a boolean mask."
)


def dynamic(name: str) -> RuntimeError:
    """The error for an operation whose result has another shape for each example."""
    return RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to "
        f"vmap over aten::{name}. Please file an issue at https://github.com/pytorch/pytorch/issues"
        " if you need this feature."
    )


def _whole(indices: Sequence[Tensor], dims: Any) -> tuple[list[Any], list[Any]]:
    """Indices with each mask replaced by the places where it is True."""
    found: list[Any] = []
    where: list[Any] = []
    for i, d in zip(indices, dims if dims is not None else [None] * len(indices)):
        if i is None or i._raw.dtype.kind not in "bu" or i._raw.dtype.name not in ("bool", "uint8"):
            found.append(i)
            where.append(d)
            continue
        if d is not None:
            raise RuntimeError(DYNAMIC_MASK)
        for places in table("unbind")(table("nonzero")(i), 1):
            found.append(places)
            where.append(None)
    return found, where


def _adjacent(indices: list[Tensor]) -> tuple[int, bool]:
    """Where the first index is, and whether no dimension without one lies between them."""
    at = [k for k, i in enumerate(indices) if i is not None]
    return at[0], at[-1] - at[0] + 1 == len(at)


def _with_number(indices: list[Tensor], dims: list[int | None], size: int) -> tuple[list[Any], int]:
    """Indices for the batch, the example's number first; and the rank that an index has."""
    rank = max(rank_of(i, d) for i, d in zip(indices, dims) if i is not None)
    number = table("arange")(size)
    ready = [None if i is None else align(i, d, rank) for i, d in zip(indices, dims)]
    return [table("reshape")(number, (size, *(1,) * rank)), *ready], rank


@rule("index.Tensor")
def index(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Elements at index tensors."""
    me, indices = args
    indices, where = _whole(indices, dims[1])
    at, adjacent = _adjacent(indices)
    if all(d is None for d in where):
        rank = max(i._raw.ndim for i in indices if i is not None)
        out = call(op, [front(me, dims[0]), (None, *indices)])
        return out, 0 if adjacent else rank
    ready, rank = _with_number(indices, where, size)
    if dims[0] is None:
        out = call(op, [me, tuple(ready[1:])])
        return out, at if adjacent else 0
    out = call(op, [front(me, dims[0]), tuple(ready)])
    if adjacent and at and rank:
        # The number and the indices are apart, so what they name came first: batch, index, before.
        out = table("movedim")(out, tuple(range(1, rank + 1)), tuple(range(at + 1, at + rank + 1)))
    return out, 0


@rule("index_backward")
def index_gradient(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Added into zeros."""
    g, shape, indices = args
    zeros = table("new_zeros")(g, (size, *shape))
    where = dims[2] if dims[2] is not None else [None] * len(indices)
    return put(zeros, 0, list(indices), list(where), g, dims[0], True, size), 0


@rule("_index_put")
def index_put(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Values written (or added) at index tensors."""
    me, indices, values, accumulate = args
    where = dims[1] if dims[1] is not None else [None] * len(indices)
    return put(me, dims[0], list(indices), list(where), values, dims[2], accumulate, size), 0


def put(
    me: Tensor,
    dim: int | None,
    indices: list[Tensor],
    where: Sequence[object],
    values: Tensor,
    dv: int | None,
    accumulate: bool,
    size: int,
) -> Tensor:
    """Each example with values written (or added) at index tensors; the batch first."""
    indices, where = _whole(indices, where)
    if dim is None:
        me = table("clone")(repeat_batch(me, None, size))
    else:
        me = front(me, dim)
    at, adjacent = _adjacent(indices)
    ready, rank = _with_number(indices, where, size)
    if dv is not None or values._raw.ndim:
        # The shape that the values are broadcast to, for one example.
        free = me._raw.ndim - 1 - sum(i is not None for i in indices)
        target = free + rank
        values = align(values, dv, target)
        if adjacent and at:
            lead = 0 if dv is None else 1
            missing = target + lead - values._raw.ndim
            if missing > 0:
                values = table("reshape")(values, (*(1,) * missing, *values._raw.shape))
            values = table("movedim")(
                values,
                tuple(range(lead + at, lead + at + rank)),
                tuple(range(lead, lead + rank)),
            )
    return table("index_put")(me, tuple(ready), values, bool(accumulate))


# ---- one dimension named ----------------------------------------------------------------------
@rule("gather", shaped_as=2)
@rule(
    "scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add",
    "scatter_reduce.two", shaped_as=0,
)  # fmt: skip
def gathered(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, shaped_as: int
) -> tuple[Tensor, int]:
    """Tensors of one rank, all with the batch first; the result is `shaped_as` that argument."""
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    rank = rank_of(args[0], dims[0])
    ready[1] = place(args[1], rank) + 1
    lone = rank == 0 or rank_of(args[2], dims[2]) == 0
    if lone:
        ready = [
            table("unsqueeze")(a, 1) if is_tensor(a) and a._raw.ndim == 1 else a for a in ready
        ]
    out = call(op, ready)
    if lone and not rank_of(args[shaped_as], dims[shaped_as]):
        out = table("reshape")(out, (size,))
    return out, 0


@rule("index_select")
def index_select(
    op: Op, args: Arguments, dims: list[int | None], size: int
) -> tuple[object, object]:
    """One index tensor for one dimension; an index that is a batch becomes a general index."""
    x, dim, picks = args
    rank = rank_of(x, dims[0])
    if dims[2] is None or not rank or rank_of(picks, dims[2]) != 1:
        return index_fill(op, args, dims, size)
    from ..shape.index import index as index_row

    before = [None] * place(dim, rank)
    return index(index_row.op, [x, [*before, picks]], [dims[0], [*before, dims[2]]], size)


@rule("index_fill.int_Tensor", "index_fill.int_Scalar")
def index_fill(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[object, object]:
    """One index tensor, and at most one value, for one dimension of all examples."""
    x, dim, *rest = args
    rank = rank_of(x, dims[0])
    if rank == 0 or any(d is not None for d in dims[2:]):
        return one_by_one(op, args, dims, size)
    return call(op, [repeat_batch(x, dims[0], size), place(dim, rank) + 1, *rest]), 0


@rule("index_add", "index_copy", "index_reduce")
def index_add(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[object, object]:
    """One index tensor for one dimension of all examples, and values for each of them."""
    x, dim, picks, values, *rest = args
    rank = rank_of(x, dims[0])
    if dims[2] is not None or rank == 0 or not rank_of(values, dims[3]):
        return one_by_one(op, args, dims, size)
    x, values = repeat_batch(x, dims[0], size), repeat_batch(values, dims[3], size)
    return call(op, [x, place(dim, rank) + 1, picks, values, *rest]), 0


@rule("index_select_backward")
def index_select_gradient(
    op: Op, args: Arguments, dims: list[int | None], size: int
) -> tuple[object, object]:
    """As `index_select`: one index tensor for all examples."""
    g, sizes, dim, picks = args
    if dims[3] is not None or not sizes:
        return one_by_one(op, args, dims, size)
    g = repeat_batch(g, dims[0], size)
    return call(op, [g, (size, *sizes), place(dim, len(sizes)) + 1, picks]), 0


@rule("take")
def take(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Elements of each example as one row."""
    me, at = args
    if dims[0] is None:
        return call(op, [me, front(at, dims[1])]), 0
    flat = table("reshape")(front(me, dims[0]), (size, -1 if me._raw.size else 0))
    if dims[1] is None:
        out = table("index_select")(flat, 1, table("reshape")(at % flat._raw.shape[1], (-1,)))
        return table("reshape")(out, (size, *at._raw.shape)), 0
    at = front(at, dims[1])
    picks = table("reshape")(at % flat._raw.shape[1], (size, -1 if at._raw.size else 0))
    return table("reshape")(table("gather")(flat, 1, picks), at._raw.shape), 0


@rule("masked_select")
def masked_select(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Refused where the mask is a batch: each example's result would have its own length."""
    if dims[1] is not None:
        raise RuntimeError(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot "
            "support this because for each batch this would return a differently shaped Tensor. "
            "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this "
            "feature."
        )
    me, mask = front(args[0], dims[0]), args[1]
    rank = max(me._raw.ndim - 1, mask._raw.ndim)
    me = align(me, 0, rank)
    mask = table("expand")(mask, table("broadcast_shapes")(me._raw.shape[1:], mask._raw.shape))
    me = table("expand")(me, (size, *mask._raw.shape))
    flat = table("reshape")(me, (size, -1 if me._raw.size else 0))
    where = table("reshape")(table("nonzero")(table("reshape")(mask, (-1,))), (-1,))
    return table("index_select")(flat, 1, where), 0


@rule("masked_fill.Tensor")
def masked_fill(op: Op, args: list[Tensor], dims: list[int | None], size: int) -> tuple[Any, Any]:
    """One value for each example."""
    me, mask, value = args
    if dims[2] is None:
        return elementwise(op, args, dims, size)
    rank = max(rank_of(me, dims[0]), rank_of(mask, dims[1]))
    values = align(value.to(me.dtype), dims[2], rank)
    return table("where")(align(mask, dims[1], rank), values, align(me, dims[0], rank)), 0


def _refusal(name: str, shown: str) -> None:
    """A row whose results have another shape for each example, and its name in PyTorch."""

    def refuse(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
        raise dynamic(shown)

    refuse.refuses = True  # type: ignore[attr-defined]
    rule(name)(refuse)


_refusal("_nonzero", "nonzero")
_refusal("_unique2", "_unique2")
_refusal("unique_dim", "unique_dim")
_refusal("_unique_consecutive", "unique_consecutive")


# ---- looking up -------------------------------------------------------------------------------
@rule("embedding", "_sparse_embedding")
def embedding(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Rows of one table for all indices; a batch of tables is read as one long table."""
    weight, indices, padding, *rest = args
    if dims[0] is None:
        return call(op, [weight, front(indices, dims[1]), padding, *rest]), 0
    if padding >= 0:
        return one_by_one(op, args, dims, size)
    tables = front(weight, dims[0])
    rows = tables._raw.shape[1]
    flat = table("reshape")(tables, (size * rows, *tables._raw.shape[2:]))
    picks = repeat_batch(indices, dims[1], size)
    shift = table("reshape")(
        table("arange")(0, size * rows, rows) if rows else table("zeros")(size, dtype=picks.dtype),
        (size, *(1,) * (picks._raw.ndim - 1)),
    )
    return call(op, [flat, picks + shift, padding, *rest]), 0


@rule("_sparse_product")
def sparse_product(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """One sparse matrix for a batch of dense ones: their columns stand side by side."""
    values, dense, rows, columns, height = args
    if any(d is not None for d in (dims[0], dims[2], dims[3])):
        return one_by_one(op, args, dims, size)
    side = table("movedim")(dense, dims[1], 1)
    count, width = side._raw.shape[0], side._raw.shape[2]
    flat = table("reshape")(side, (count, size * width))
    found = call(op, [values, flat, rows, columns, height])
    return table("reshape")(found, (height, size, width)), 1


@rule("_search")
def search(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Each example's row of sorted values is searched for its own values."""
    row, values = args[0], args[1]
    if dims[0] is None and row._raw.ndim == 1 and (len(dims) < 5 or dims[4] is None):
        return call(op, [row, front(values, dims[1]), *args[2:]]), 0
    return one_by_one(op, args, dims, size)
