"""Batching rules of matrix products and of linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.mode import current
from ..._core.op import Op
from ..rows.tensor_namespace import table
from .batching_rules import align, call, front, is_tensor, one_by_one, rank_of, repeat_batch, rule

if TYPE_CHECKING:
    from ..._base.annotations import Arguments, MappedDims, TensorLike
    from ..._tensor.tensor import Tensor


def product(a: Tensor, da: int | None, b: Tensor, db: int | None) -> Tensor:
    """The products of examples, the batch first: vectors, matrices or stacks as in `matmul`."""
    ra, rb = rank_of(a, da), rank_of(b, db)
    matmul = table("matmul")
    if db is None and rb == 2 and ra >= 1:
        assert da is not None
        return matmul(front(a, da), b)  # one product for the whole batch
    if da is None and ra == 2 and rb == 1:
        return matmul(front(b, db or 0), table("t")(a))
    if da is None and ra == 1 and rb == 1:
        return matmul(front(b, db or 0), a)
    if db is None and rb == 1 and ra == 1:
        return matmul(front(a, da or 0), b)
    a = a if da is None else front(a, da)
    b = b if db is None else front(b, db)
    if ra == 1 and rb == 1 and current().autocast is None:  # which rounds sums, and not products
        return table("sum")(a * b, 1)
    if ra == 1:
        a = table("unsqueeze")(a, -2)
    if rb == 1:
        b = table("unsqueeze")(b, -1)
    rank = max(ra, rb, 2)
    out = matmul(
        align(a, None if da is None else 0, rank), align(b, None if db is None else 0, rank)
    )
    if ra == 1:
        out = table("squeeze")(out, -2)
    if rb == 1:
        out = table("squeeze")(out, -1)
    return out


@rule("_matmul", ranks=None)
@rule("mm", ranks=(2, 2))
@rule("mv", ranks=(2, 1))
@rule("bmm", ranks=(3, 3))
@rule("dot", ranks=(1, 1), refusal="Got wrong shapes for dot")
def products(
    op: Op, args: list[Tensor], dims: list[int | None], size: int, *,
    ranks: tuple[int, int] | None, refusal: str = "",
) -> tuple[TensorLike, int]:  # fmt: skip
    """One product where only the left operand is a batch, else a stack of products.

    Raises:
        RuntimeError: for operands of other ranks than `ranks`, which the product on batches would
            take; in the words of PyTorch's batching rules.
    """
    a, b = args[0], args[1]
    ra, rb = rank_of(a, dims[0]), rank_of(b, dims[1])
    if ranks is not None and (ra, rb) != ranks:
        raise RuntimeError(
            refusal
            or f"Shape mismatch: Got incorrect dims for {op.name}(a, b). a has dim {ra}and b has "
            f"dim {rb}but expected them to have dim {ranks[0]} and dim {ranks[1]}"
        )
    return product(a, dims[0], b, dims[1]), 0


@rule("vdot")
def conjugated_product(
    op: Op, args: list[Tensor], dims: list[int | None], size: int
) -> tuple[TensorLike, int]:
    """The products of vectors, the left ones conjugated."""
    left = table("conj")(args[0])
    return products(
        op, [left, args[1]], dims, size, ranks=(1, 1), refusal="Got wrong shapes for dot"
    )


@rule("_linear")
def linear(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """x Wᵀ + b; the layer itself where only the input is a batch."""
    from ..linalg.matmul import linear as layer

    x, weight, bias = args
    dx, dw, db = dims
    if dw is None and db is None:
        return layer(front(x, dx), weight, bias), 0
    rank = rank_of(x, dx)
    if dw is None:
        out = layer(x if dx is None else front(x, dx), weight, None)
        out = out if dx is not None else repeat_batch(out, None, size)
    else:
        out = product(x, dx, table("transpose")(front(weight, dw), 1, 2), 0)
    if bias is not None:
        out = out + align(bias, db, rank)
    return out, 0


@rule("addmm", "addmv", "baddbmm")
@rule("addbmm", summed=True)
@rule("addr", outer=True)
def added(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, outer: bool = False,
    summed: bool = False,
) -> tuple[Tensor, int]:  # fmt: skip
    """beta · self + alpha · (the product), which is that of vectors, or the sum over a stack."""
    me, a, b, beta, alpha = args
    dm, da, db = dims[:3]
    if da is None and db is None:
        out = table("outer" if outer else "matmul")(a, b)
        rank = out._raw.ndim
        if summed:
            out, rank = table("sum")(out, 0), rank - 1
    elif outer:
        x = align(a, da, 1) if da is None else front(a, da)
        y = b if db is None else front(b, db)
        out = table("unsqueeze")(x, -1) * table("unsqueeze")(y, -2)
        rank = 2
    else:
        out = product(a, da, b, db)
        rank = out._raw.ndim - 1
        if summed:
            out, rank = table("sum")(out, 1), rank - 1
    if alpha != 1:
        out = out * alpha
    if beta == 0:
        return (repeat_batch(out, None, size) if out._raw.ndim == rank else out), 0
    whole = align(me, dm, rank)
    return (whole if beta == 1 else whole * beta) + out, 0


@rule(
    "linalg_inv", "linalg_inv_ex", "_cofactors", "linalg_det", "linalg_slogdet", "slogdet",
    "linalg_cholesky", "linalg_cholesky_ex", "cholesky", "cholesky_inverse", "linalg_matrix_exp",
    "linalg_qr", "geqrf", "linalg_eigh", "linalg_eigvalsh", "linalg_eig", "linalg_eigvals",
    "linalg_svd", "linalg_svdvals", "_pinv", "_matrix_rank", "linalg_lu", "linalg_lu_factor_ex",
    "permutation_matrix", "linalg_ldl_factor_ex",
)  # fmt: skip
def of_matrices(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Linear algebra takes stacks of matrices as it is."""
    if any(d is not None for d in dims[1:]):
        return one_by_one(op, args, dims, size)
    return call(op, [front(args[0], dims[0]), *args[1:]]), 0


@rule("linalg_solve", "linalg_solve_ex")
def solve(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[object, int]:
    """Right-hand sides that are vectors become matrices of one column."""
    a, b = args[0], args[1]
    ra, rb = rank_of(a, dims[0]), rank_of(b, dims[1])
    shape_a = a._raw.shape if dims[0] is None else front(a, dims[0])._raw.shape[1:]
    shape_b = b._raw.shape if dims[1] is None else front(b, dims[1])._raw.shape[1:]
    vector = rb == 1 or (ra - 1 == rb and shape_a[:-1] == shape_b)
    left = bool(args[2])
    a = repeat_batch(a, dims[0], size)
    b = repeat_batch(b, dims[1], size)
    if vector:
        b = table("unsqueeze")(b, -1 if left else -2)
        rb += 1
    rank = max(ra, rb)
    result = call(op, [align(a, 0, rank), align(b, 0, rank), *args[2:]])
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if vector:
        parts[0] = table("squeeze")(parts[0], -1 if left else -2)
    if len(parts) > 1:
        parts[1] = table("reshape")(parts[1], (size, *shape_a[:-2]))
    return parts if len(parts) > 1 else parts[0], 0


@rule("linalg_solve_triangular", "triangular_solve", "cholesky_solve", "_cdist")
@rule("linalg_cross", dim=2)
def stacks(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, dim: int | None = None
) -> tuple[object, int]:
    """Two stacks, aligned; `dim` is the argument that names one of their dimensions."""
    rank = max(rank_of(a, d) for a, d in zip(args, dims) if is_tensor(a))
    ready = [
        align(repeat_batch(a, d, size), 0, rank) if is_tensor(a) else a for a, d in zip(args, dims)
    ]
    if dim is not None and args[dim] >= 0:
        ready[dim] = args[dim] + 1
    return call(op, ready), 0


@rule("lu_unpack")
def lu_unpack(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[object, object]:
    """As `in_step`; one by one where parts aren't asked for, which have no batch."""
    return (in_step if args[2] and args[3] else one_by_one)(op, args, dims, size)


@rule("linalg_householder_product", "orgqr", "ormqr")
def in_step(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """Stacks that all have one and the same batch."""
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    return call(op, ready), 0


@rule("dist")
def dist(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Tensor, int]:
    """The norm of the difference."""
    rank = max(rank_of(a, d) for a, d in zip(args[:2], dims[:2]))
    difference = align(args[0], dims[0], rank) - align(args[1], dims[1], rank)
    flat = table("reshape")(difference, (size, -1 if difference._raw.size else 0))
    return table("vector_norm")(flat, args[2], 1), 0
