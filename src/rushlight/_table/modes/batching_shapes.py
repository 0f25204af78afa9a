"""Batching rules of operations that name dimensions: shapes, views, reductions, scans, sorting.

They put the batch dimension first and move the dimensions that the user named by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.memory_format import contiguous_format
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..rows.tensor_namespace import table
from ..shape.shape import alias
from .batching_rules import (
    align,
    call,
    example_shape,
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

    from ..._base.annotations import Arguments, MappedDims, Shape, TensorLike
    from ..._tensor.tensor import Tensor

NAMED = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "dimension"})


def _move(value: Shape | int, rank: int) -> Any:
    """Dimensions of an example as dimensions of the batch."""
    if isinstance(value, int):
        return place(value, rank) + 1
    return tuple([place(d, rank) + 1 for d in value])


def _first(args: Arguments) -> int:
    return next(i for i, a in enumerate(args) if isinstance(a, TensorBase))


def _flatten(x: Tensor) -> Tensor:
    """Each example as one row."""
    return (
        table("reshape")(x, (x._raw.shape[0], -1))
        if x._raw.size
        else table("reshape")(x, (x._raw.shape[0], _product(x._raw.shape[1:])))
    )


def _product(sizes: tuple[int, ...]) -> int:
    n = 1
    for size in sizes:
        n *= size
    return n


@rule(
    "sum.dim_IntList", "mean.dim", "prod.dim_int", "nansum", "all.dim", "all.dims", "any.dim",
    "any.dims", "count_nonzero.dim_IntList", "logsumexp", "_var", "_std", "_var_mean", "_std_mean",
    "vector_norm", "_norm", "amax", "amin", "max.dim", "min.dim", "median.dim", "nanmedian.dim",
    "mode", "kthvalue", "reverse_cumsum",
    "shifted", "_safe_softmax", "exclusive_products", "cumsum", "cumprod", "logcumsumexp", "cummax",
    "cummin", "sort", "sort.stable", "argsort", "argsort.stable", "topk", "softmax", "log_softmax",
    "glu", "select.int", "slice", "diagonal", "unfold", "split.Tensor",
    "split_with_sizes", "unsafe_split.Tensor", "unsafe_split_with_sizes", "unbind.int", "transpose",
    "squeeze.dim", "rot90", "transpose_copy", "squeeze_copy.dim",
    "squeeze_copy.dims", "select_copy.int", "slice_copy", "diagonal_copy", "unfold_copy",
    "split_copy.Tensor", "split_with_sizes_copy", "unbind_copy.int", "narrow_copy", "_transpose_",
    "_squeeze_.dim", "_squeeze_.dims", "_fft_c2c", "_fft_r2c", "_fft_c2r",
)  # fmt: skip
@rule("squeeze.dims", empty=False)
@rule("flip", without="none")
@rule("argmax", "argmin", "aminmax", without="row")
@rule("others_product", "roll", without="row of the shape")
def by_dimension(
    op: Op, args: Arguments, dims: MappedDims, size: int, *, without: str = "all",
    empty: bool = True,
) -> tuple[object, int]:  # fmt: skip
    """One tensor; the dimensions that the call names are those of an example.

    `without` says what a call without a dimension means: "all" of them, "none", all elements as
    one "row", or so, and the result has the "shape" again. `empty` says that a call with an empty
    list is one.
    """
    params = op.row.schema.params
    rank = rank_of(args[0], dims[0])
    x = front(args[0], dims[0])
    lone = rank == 0
    if lone:
        x = table("unsqueeze")(x, 1)
    ready = [x, *args[1:]]
    for i, p in enumerate(params):
        if p.name not in NAMED or i >= len(ready):
            continue
        value = ready[i]
        if value is not None and (value != () or not empty):
            ready[i] = _move(value, rank)
        elif without == "all":
            ready[i] = tuple(range(1, max(rank, 1) + 1))
        elif without != "none":
            return _of_all(op, ready, i, rank, "shape" in without)
    result = call(op, ready)
    if lone:
        result = _numbers(result, size)
    return result, 0


def _numbers(result: Tensor, size: int) -> Tensor:
    """Results for examples that are single numbers."""
    if isinstance(result, (tuple, list)):
        return [_numbers(r, size) for r in result]
    return table("reshape")(result, (size,)) if result._raw.ndim else result


def _of_all(op: Op, args: Arguments, at: int, rank: int, same_shape: bool) -> tuple[Any, Any]:
    """A call without a dimension: it means all elements of an example, as one row."""
    x = args[0]
    shape = x._raw.shape
    ready = list(args)
    ready[0] = _flatten(x)
    params = op.row.schema.params
    ready[at] = (1,) if params[at].is_list else 1
    keep = False
    for i, p in enumerate(params):
        if p.name == "keepdim":
            keep, ready[i] = bool(ready[i]), False
    result = call(op, ready)
    reshape = table("reshape")
    if same_shape:
        return reshape(result, shape if rank else shape[:1]), 0
    if keep and rank:
        sizes = (shape[0], *(1,) * rank)
        if isinstance(result, (tuple, list)):
            return [reshape(r, sizes) for r in result], 0
        return reshape(result, sizes), 0
    return result, 0


@rule("sum", "mean", "prod", "all", "any", "median", "nanmedian")
@rule("max", along="amax")
@rule("min", along="amin")
def of_everything(
    op: Op, args: Arguments, dims: MappedDims, size: int, *, along: str = ""
) -> tuple[Tensor, int]:
    """A reduction of all elements: along the rows, one row for each example.

    `along` is the row that reduces along a dimension, where it isn't the one of the same name.
    """
    flat = _flatten(front(args[0], dims[0]))
    reduce = table(along or op.name)
    result = reduce(flat, 1, dtype=args[1]) if len(args) > 1 else reduce(flat, 1)
    return (result[0] if isinstance(result, (tuple, list)) else result), 0


@rule("unsqueeze", "unsqueeze_copy", "_unsqueeze_")
def unsqueeze(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[TensorLike, int]:
    """The new dimension counts among one more than the example has."""
    rank = rank_of(args[0], dims[0])
    return call(op, [front(args[0], dims[0]), place(args[1], rank + 1) + 1]), 0


@rule("view_copy.dtype")
def view_copy_as_type(
    op: Op, args: Arguments, dims: MappedDims, size: int
) -> tuple[object, object]:
    """The last dimension changes; one number keeps its size, or is refused alone."""
    if not rank_of(args[0], dims[0]):
        return one_by_one(op, args, dims, size)
    return call(op, [front(args[0], dims[0]), args[1]]), 0


@rule("diag_embed")
def diag_embed(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """The dimensions named are those of the result."""
    rank = rank_of(args[0], dims[0]) + 1
    x, offset, dim1, dim2 = args
    return call(op, [front(x, dims[0]), offset, _move(dim1, rank), _move(dim2, rank)]), 0


@rule("permute", "permute_copy")
def permute(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """The batch stays first."""
    x, order = args
    rank = rank_of(x, dims[0])
    if len(order) != rank:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal "
            f"to len(dims) = {len(order)}"
        )
    return call(op, [front(x, dims[0]), (0, *_move(order, rank))]), 0


@rule("t", "t_copy", "_t_")
def transposed(op: Op, args: list[Tensor], dims: list[int], size: int) -> tuple[Tensor, int]:
    """A matrix transposed; vectors and numbers as they are."""
    rank = rank_of(args[0], dims[0])
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    x = front(args[0], dims[0])
    if op.is_view:
        return (table("transpose")(x, 1, 2) if rank == 2 else alias(x)), 0
    return (table("transpose_copy")(x, 1, 2) if rank == 2 else table("clone")(x)), 0


@rule("squeeze", "squeeze_copy", "_squeeze_")
def squeeze(op: Op, args: Arguments, dims: list[int], size: int) -> tuple[Any, Any]:
    """All dimensions of size one but the batch's, whatever its length."""
    x = front(args[0], dims[0])
    ones = tuple(i for i, n in enumerate(x._raw.shape) if n == 1 and i)
    if not op.is_view:
        return table("squeeze_copy")(x, ones), 0
    return (table("squeeze")(x, ones) if ones else alias(x)), 0


@rule("view", "_reshape_alias", "view_copy")
@rule("_unsafe_view", "_reshape_words", strict=False)
def reshaped(
    op: Op, args: Arguments, dims: MappedDims, size: int, *, strict: bool = True
) -> tuple[Tensor, int]:
    """Another shape of each example; where it isn't `strict`, of any strides."""
    wanted = tuple(args[1])
    if -1 in wanted:
        total = _product(example_shape(args[0], dims[0]))
        known = -_product(wanted)
        if known > 0 and total % known == 0:
            wanted = tuple(total // known if n == -1 else n for n in wanted)
    x = front(args[0], dims[0])
    if not strict:
        return table("reshape")(x, (size, *wanted)), 0
    return call(op, [x, (size, *wanted), *args[2:]]), 0


@rule("expand", "expand_copy")
def expand(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[TensorLike, int]:
    """New dimensions come between the batch and the example."""
    x = align(args[0], dims[0], len(args[1]))
    if len(args[1]) < x._raw.ndim - 1:
        shape = x._raw.shape[1:]
        raise RuntimeError(
            f"expand(torch.FloatTensor{{{list(shape)}}}, size={list(args[1])}): the number of "
            f"sizes provided ({len(args[1])}) must be greater or equal to the number of dimensions "
            f"in the tensor ({len(shape)})"
        )
    return call(op, [x, (size, *args[1]), *args[2:]]), 0


@rule("repeat")
def repeat(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Tensor, int]:
    """The batch once."""
    return call(op, [align(args[0], dims[0], len(args[1])), (1, *args[1])]), 0


@rule("trace")
def trace(op: Op, args: Arguments, dims: list[int], size: int) -> tuple[Tensor, int]:
    """The sums of diagonals."""
    x = front(args[0], dims[0])
    if x._raw.ndim != 3:
        raise RuntimeError("trace: expected a matrix")
    return table("sum")(table("diagonal")(x, 0, 1, 2), -1), 0


@rule(
    "clone", "_clone_contiguous", "alias", "alias_copy", "_to_copy", "constant_pad_nd",
    "view_as_real", "view_as_real_copy", "frexp.Tensor",
    "_zero", "fill.Scalar", "_fill_.Scalar", "pixel_shuffle", "pixel_unshuffle", "detach_copy",
)  # fmt: skip
def anywhere(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, int]:
    """Operations that treat leading dimensions alike."""
    return call(op, [front(args[0], dims[0]), *args[1:]]), 0


@rule("_to_copy.format")
def to_copy(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, int]:
    """A copy in a format; examples of channels that lie last count as planes."""
    x = front(args[0], dims[0])
    if args[2] is contiguous_format:
        return call(op, [x, *args[1:]]), 0
    copied = call(op, [table("flatten")(x, 0, 1), *args[1:]])
    return table("unflatten")(copied, 0, tuple(x._raw.shape[:2])), 0


@rule("one_hot")
def one_hot(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, int]:
    """As `anywhere`; refused where each example's largest number says how wide its result is."""
    if args[1] == -1:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            "to vmap over aten::one_hot with num_classes=-1."
        )
    return anywhere(op, args, dims, size)


@rule("view_as_complex", "view_as_complex_copy")
def as_complex(op: Op, args: Arguments, dims: list[int], size: int) -> tuple[Tensor, int]:
    """Pairs must lie side by side; where the batch lay between them, a copy is made."""
    x = front(args[0], dims[0])
    if dims[0] and dims[0] == x._raw.ndim - 1:
        x = table("clone")(x)
        x = x.contiguous()
    return call(op, [x]), 0


def _check_window(example: Tensor, sizes: Shape, strides: Shape, offset: int) -> None:
    """Refuses a window over memory beyond that of one example.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    wanted = _last_place(sizes, strides, offset)
    if wanted is None:
        return
    first = example.storage_offset()
    steps: Any = example.stride()
    last = _last_place(tuple(example.shape), steps, first)
    if last is not None and first <= offset and wanted <= last:
        return
    reach = (
        ""
        if last is None
        else (
            f" `result` can access some memory in range [{offset}, {wanted}], but `tensor` can "
            f"only access some memory in range [{first}, {last}]."
        )
    )
    raise RuntimeError(
        f"result = tensor.as_strided({list(sizes)}, {list(strides)}, {offset}) can access memory "
        f"outside of `tensor`.{reach} This is not supported inside of vmap, please try to rewrite "
        "the `as_strided` call as a sequence of PyTorch view operations"
    )


def _last_place(sizes: Shape, strides: Shape, offset: int) -> int | None:
    """Where in memory a window ends; None where it is empty."""
    if 0 in sizes:
        return None
    return offset + 1 + sum((n - 1) * s for n, s in zip(sizes, strides))


@rule("_as_strided", "_as_strided_copy")
def strided(op: Op, args: Arguments, dims: Sequence[object], size: int) -> tuple[TensorLike, int]:
    """The batch as one more dimension of the window, with the stride that it has."""
    x, sizes, strides, offset = args[:4]
    if offset is None:
        offset = x.storage_offset()
    lead = x.stride(dims[0])
    _check_window(table("select")(x, dims[0], 0) if size else x, sizes, strides, offset)
    out = table("as_strided")(x, (size, *sizes), (lead, *strides), offset)
    return (out if op.is_view else table("clone")(out)), 0


@rule("slice_inverse", "_test_autograd_multiple_dispatch_view")
def refused(op: Op, args: Arguments, dims: Sequence[object], size: int) -> tuple[object, int]:
    """Views that have no form for batches: those of one example after the other are copies."""
    raise RuntimeError(
        f"Batching rule not implemented for aten::{op.name}; the fallback path doesn't work on "
        "out= or view ops."
    )


refused.refuses = True  # type: ignore[attr-defined]


@rule("_basic_index")
def basic(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """The index of an example, after all of the batch."""
    return call(op, [front(args[0], dims[0]), (slice(None), *args[1])]), 0


@rule("tril", "triu")
def triangle(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """The last two dimensions are those of matrices."""
    if rank_of(args[0], dims[0]) < 2:
        raise RuntimeError(f"{op.name}: input tensor must have at least 2 dimensions")
    return call(op, [front(args[0], dims[0]), *args[1:]]), 0


@rule(
    "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "_pad_circular",
)  # fmt: skip
def padded(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Batch and leading dimensions of the example counted as one."""
    x = front(args[0], dims[0])
    shape = x._raw.shape
    spatial = len(args[1]) // 2
    if len(shape) - 1 < spatial + 2:
        return call(op, [x, *args[1:]]), 0
    flat = table("reshape")(x, (shape[0] * shape[1], *shape[2:]))
    out = call(op, [flat, *args[1:]])
    return table("reshape")(out, (*shape[:2], *out._raw.shape[1:])), 0


@rule("fill.Tensor", "_fill_.Tensor")
@rule("_copy", itself=True)
def operands(
    op: Op, args: Arguments, dims: MappedDims, size: int, *, itself: bool = False
) -> tuple[Tensor, int]:
    """The value of each example in the shape of the first operand, which it fills.

    By `expand`, unless the operation `itself` takes a value of each example.
    """
    ranks = [rank_of(a, d) for a, d in zip(args, dims) if is_tensor(a)]
    rank = max(ranks)
    me = align(repeat_batch(args[0], dims[0], size), 0, rank)
    value = align(args[1], dims[1], rank)
    if not itself:
        value = table("expand")(value, me._raw.shape)
        return table("clone")(table("to")(value, me.dtype)), 0
    return call(op, [me, value, *args[2:]]), 0


@rule("cat")
def joined(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Tensors side by side; those without a batch are repeated."""
    tensors, dim = args
    ready = [repeat_batch(t, d, size) for t, d in zip(tensors, dims[0])]
    ranks = [t._raw.ndim - 1 for t in ready]
    rank = max(ranks)
    # An empty vector among tensors of more dimensions is ignored, as ever.
    ready = [t for t, r in zip(ready, ranks) if r == rank or t._raw.shape[1:] != (0,)]
    if not rank:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    return call(op, [ready, place(dim, rank) + 1]), 0


@rule("stack")
def stacked(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Tensors along a new dimension; those without a batch are repeated."""
    tensors, dim = args
    ready = [repeat_batch(t, d, size) for t, d in zip(tensors, dims[0])]
    return call(op, [ready, place(dim, ready[0]._raw.ndim) + 1]), 0


@rule("taken_along", "accumulated_along", "recurrence", "glu_backward")
@rule("placed_along", sizes=4)
def along(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, sizes: int | None = None
) -> tuple[Any, Any]:
    """Several tensors of one rank; the dimension is one of the first's.

    Or of the result's, where `sizes` says which argument has that shape.
    """
    first = _first(args)
    rank = rank_of(args[first], dims[first])
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    if sizes is not None:
        rank = len(args[sizes])
        ready[sizes] = (size, *args[sizes])
    if rank == 0:
        return one_by_one(op, args, dims, size)
    for i, p in enumerate(op.row.schema.params):
        if p.name in NAMED and ready[i] is not None:
            ready[i] = _move(ready[i], rank)
    return call(op, ready), 0


@rule("select_scatter", "slice_scatter", "diagonal_scatter")
def scattered_view(
    op: Op, args: Arguments, dims: list[int | None], size: int
) -> tuple[Tensor, int]:
    """A view's part replaced."""
    rank = rank_of(args[0], dims[0])
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    for i, p in enumerate(op.row.schema.params):
        if p.name in NAMED:
            ready[i] = _move(ready[i], rank)
    return call(op, ready), 0


@rule("select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def view_gradient(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """A gradient put back where a view was taken."""
    sizes = args[1]
    ready = [front(args[0], dims[0]), (size, *sizes), *args[2:]]
    for i, p in enumerate(op.row.schema.params):
        if p.name in NAMED:
            ready[i] = _move(ready[i], len(sizes))
    return call(op, ready), 0


@rule("repeat_backward")
def repeat_gradient(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """As `repeat`: the batch once."""
    g, shape, repeats = args
    padded_shape = (*(1,) * (len(repeats) - len(shape)), *shape)
    out = call(op, [front(g, dims[0]), (size, *padded_shape), (1, *repeats)])
    return table("reshape")(out, (size, *shape)), 0


@rule("renorm")
def renorm(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """The norms are those of one example's slices: batch and slices counted as one dimension."""
    rank = rank_of(args[0], dims[0])
    if rank < 2:
        return one_by_one(op, args, dims, size)
    x = table("movedim")(front(args[0], dims[0]), place(args[2], rank) + 1, 1)
    shape = x._raw.shape
    flat = table("reshape")(x, (shape[0] * shape[1], *shape[2:]))
    out = table("reshape")(call(op, [flat, args[1], 0, args[3]]), shape)
    return table("movedim")(out, 1, place(args[2], rank) + 1), 0
