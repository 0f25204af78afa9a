"""Batching rules: an operation on whole batches, where the user wrote it for one example.

A rule is called as `rule(op, args, dims, size)`: `args` as the operation takes them, with batches
in place of some of the tensors; `dims` says for each argument where its batch dimension is (None:
it has none; for a list of tensors a list); `size` is the length of the batch. It returns the
results and where their batch dimensions are. Rules are written with operations, so what they do is
recorded, and may itself be batched by an outer vmap.

The kind of a row gives its rule where nothing else is said: operands of elementwise rows are
aligned. `batch=` in a row, or a rule registered here for its name, comes first. A row without
either runs example by example (`one_by_one`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import load
from ..._core.apply import apply1, apply2, apply_n
from ..._core.op import PROMOTE_NONE, Op
from ..._core.storage import TensorBase
from ..rows.row import Row
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, MappedDims, Shape, TensorLike
    from ..._tensor.tensor import Tensor

Rule = Callable[[Op, list[Any], list[Any], int], tuple[Any, Any]]

RULES: Final[dict[str, Rule]] = {}  # by the row's name, with its overload
_found: Final[dict[int, Rule]] = {}
_MODULES: Final = (
    "batching_layers", "batching_indexing", "batching_products", "batching_shapes",
    "batching_windows",
)  # fmt: skip


def rule(*names: str, **options: object) -> Callable[[AnyCallable], AnyCallable]:
    """Registers a batching rule for the rows of the given names.

    `options` are what the rule is told of these rows: its further arguments, by name.
    """

    def register(function: AnyCallable) -> AnyCallable:
        for name in names:
            RULES[name] = partial(function, **options) if options else function
        return function

    return register


def find_rule(row: Row) -> Rule:
    """The batching rule of a row."""
    found = _found.get(id(row))
    if found is None:
        if len(RULES) < 20:  # only those of this module
            for name in _MODULES:
                load(f"_table.modes.{name}")
        s = row.schema
        full = f"{s.name}.{s.overload}" if s.overload else s.name
        found = row.batch or RULES.get(full)
        if found is None:
            found = elementwise if row.kind == "elementwise" else one_by_one
        _found[id(row)] = found
    return found


def rule_of(row: Row) -> str:
    """How a row runs under vmap: "rule", "loop" (one example after the other), or "none"."""
    found = find_rule(row)
    if found is one_by_one:
        return "loop"
    return "none" if getattr(found, "refuses", False) else "rule"


def run_batched(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """The results of `op` on batches, and their batch dimensions."""
    row: Row | None = op.row
    if row is None:
        return one_by_one(op, args, dims, size)
    found = _found.get(id(row))
    if found is None:
        found = find_rule(row)
    if op is not row.op and found is not elementwise:
        args = [*args, *row.simple_defaults]  # a row's short form takes its tensors alone
        dims = [*dims, *(None for _ in row.simple_defaults)]
        op = row.op
    return found(op, args, dims, size)


# ---- moving dimensions ------------------------------------------------------------------------
def front(x: Any, dim: int) -> Any:
    """A batch with its batch dimension first."""
    if dim == 0:
        return x
    order = (dim, *(i for i in range(x._raw.ndim) if i != dim))
    return table("permute")(x, order)


def align(x: Any, dim: int | None, rank: int) -> Any:
    """A batch first, its examples given leading dimensions of size one up to `rank`."""
    if dim is None:
        return x
    x = front(x, dim)
    shape = x._raw.shape
    missing = rank + 1 - len(shape)
    return x if missing <= 0 else table("reshape")(x, (shape[0], *(1,) * missing, *shape[1:]))


def repeat_batch(x: Any, dim: int | None, size: int) -> Any:
    """A batch first; a tensor that has no batch dimension is repeated along a new one."""
    if dim is not None:
        return front(x, dim)
    return table("expand")(x, (size, *x._raw.shape))


def rank_of(x: Any, dim: int | None) -> int:
    """The number of dimensions of one example."""
    return int(x._raw.ndim) - (dim is not None)


def example_shape(x: Any, dim: int | None) -> tuple[int, ...]:
    """The shape of one example."""
    shape: tuple[int, ...] = x._raw.shape
    return shape if dim is None else shape[:dim] + shape[dim + 1 :]


def place(dim: int, rank: int) -> int:
    """A dimension of an example counted from zero; for one number, 0 and -1 are allowed.

    Raises:
        IndexError: where the example has no such dimension.
    """
    bound = max(rank, 1)
    if not -bound <= dim < bound:
        raise IndexError(errors.dimension(dim, rank))
    return dim % bound


def is_tensor(arg: TensorLike | Shape | float | str | None) -> bool:
    """Whether an argument is a tensor."""
    return isinstance(arg, TensorBase)


def call(op: Op, args: Arguments) -> Any:
    """The operation itself."""
    if op.simple and len(args) == 2:
        return apply2(op, args[0], args[1])
    if op.simple and len(args) == 1:
        return apply1(op, args[0])
    return apply_n(op, args)


# ---- rules by kind ----------------------------------------------------------------------------
def elementwise(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """Operands aligned: batch dimensions first, examples padded to the same rank."""
    if len(args) == 2 and op.simple:  # the usual calls, without further ado
        a, b = args
        if isinstance(b, TensorBase) and isinstance(a, TensorBase):
            x, y = a._raw, b._raw
            if dims[0] == dims[1] and x.ndim == y.ndim and x.dtype is y.dtype:
                return apply2(op, a, b), dims[0]
        elif dims[0] is not None:
            return apply2(op, a, b), dims[0]
    if len(args) == 1 or sum(isinstance(a, TensorBase) for a in args) == 1:
        where = next(d for d in dims if d is not None)
        result = call(op, args)
        outs = result if isinstance(result, (tuple, list)) else [result]
        return result, [where] * len(outs) if len(outs) > 1 else where
    rank = max(rank_of(a, d) for a, d in zip(args, dims) if isinstance(a, TensorBase))
    if op.promote != PROMOTE_NONE:
        args = _promote(op, args, dims)
    ready = [
        align(a, d, rank) if isinstance(a, TensorBase) else a for a, d in zip(args, dims)
    ]  # fmt: skip
    result = call(op, ready)
    return result, [0] * len(result) if isinstance(result, (tuple, list)) else 0


@rule("_native_dropout", "rrelu_with_noise", "_normal_mean", "_normal_std", "_normal_both",
      "_bernoulli", "_bernoulli_number", "_standard_gamma_grad", "_dirichlet_grad")  # fmt: skip
def alike(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Tensor, int]:
    """Operands of one shape, which the result has too."""
    ready = [
        repeat_batch(a, d, size) if isinstance(a, TensorBase) else a for a, d in zip(args, dims)
    ]
    return call(op, ready), 0


def _promote(op: Op, args: Arguments, dims: list[int | None]) -> list[Any]:
    """Operands converted as one example's would be: a number is weaker than what has dimensions."""
    types = {a._raw.dtype for a in args if isinstance(a, TensorBase)}
    if len(types) < 2:
        return args
    levels: list[D.dtype | None] = [None, None, None]
    chosen = [pos for pos in op.promote_at if pos < len(args) and args[pos] is not None]
    for pos in chosen:
        a = args[pos]
        if isinstance(a, TensorBase):
            level, found = 0 if rank_of(a, dims[pos]) else 1, T.from_raw(a._raw.dtype)
        elif isinstance(a, (int, float, complex)):
            level, found = 2, D.number_dtype(a)
        else:
            continue
        before = levels[level]
        levels[level] = found if before is None else D.promote_types(before, found)
    common = D.combine_levels(levels[0], levels[1], levels[2])
    ready = list(args)
    for pos in chosen:
        a = args[pos]
        if isinstance(a, TensorBase) and T.from_raw(a._raw.dtype) is not common:
            ready[pos] = table("to")(a, common)
    return ready


def one_by_one(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, object]:
    """The operation on each example, the results stacked: the last resort."""
    rows = [call_plain(op, [example(a, d, k) for a, d in zip(args, dims)]) for k in range(size)]
    if not rows:  # an empty batch: one example of ones says what form the results have
        made = [_ones_example(a, d) for a, d in zip(args, dims)]
        result = call_plain(op, made)
        outs = result if isinstance(result, (tuple, list)) else [result]
        empty = [table("expand")(o, (1, *o._raw.shape))[:0] for o in outs]
        return (empty, [0] * len(empty)) if isinstance(result, (tuple, list)) else (empty[0], 0)
    stack = table("stack")
    if isinstance(rows[0], (tuple, list)):
        joined = [stack(list(column), 0) for column in zip(*rows)]
        return joined, [0] * len(joined)
    return stack(rows, 0), 0


def call_plain(op: Op, args: Arguments) -> Any:
    """The operation itself, on examples."""
    return apply_n(op, args)


def example(arg: Tensor | Shape | float | str | None, dim: int | None, k: int) -> Any:
    """The k-th example of an argument."""
    if dim is None:
        return arg
    if isinstance(dim, (list, tuple)):
        return type(arg)([example(a, d, k) for a, d in zip(arg, dim)])
    return table("select")(arg, dim, k)


def _ones_example(arg: Any, dim: Any) -> Tensor | int:
    if dim is None:
        return arg
    if isinstance(dim, (list, tuple)):
        return type(arg)([_ones_example(a, d) for a, d in zip(arg, dim)])
    return table("ones")(example_shape(arg, dim), dtype=T.from_raw(arg._raw.dtype))
