"""Products of sparse matrices with dense and sparse ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.shape import sparse as raw
from .._base import dtypes as D, errors
from .._core.storage import new_tensor
from .._table.calls.argument_parser import complaint_of_c
from .._table.shape.sparse import _sparse_product
from .._tensor.tensor import Tensor
from .arithmetic import rule, select
from .coordinates import SparseTensor, functions, sparse

if TYPE_CHECKING:
    from .._base.dtypes import dtype


def _check(a: Tensor, b: Tensor) -> None:
    if a.dim() != 2 or b.dim() != 2:
        raise RuntimeError(
            f"mat1 and mat2 must be matrices, got {a.dim()}-D and {b.dim()}-D tensors"
        )
    if a.size(1) != b.size(0):
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.size(0)}x{a.size(1)} and "
            f"{b.size(0)}x{b.size(1)})"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"expected mat1 and mat2 to have the same dtype, but got: {a.dtype} != {b.dtype}"
        )


@rule("mm", "spmm", "smm", "hspmm")
def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, of which one or both are sparse.

    Shapes: [n, k] and [k, m] to [n, m]; dense, unless both are sparse.

    Raises:
        RuntimeError: where sizes or types don't fit.

    Parameters:
        mat1, mat2: the matrices.
    Returns: Tensor.
    Example:
        >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[1., 2.],
                [3., 4.]])
    """
    _check(mat1, mat2)
    if not isinstance(mat1, SparseTensor):
        # X·A = (Aᵀ·Xᵀ)ᵀ
        return mm(mat2.t(), mat1.t()).t()
    if isinstance(mat2, SparseTensor):
        return _of_sparse(mat1.coalesce(), mat2.coalesce())
    rows, columns = mat1.places
    return _sparse_product(mat1.held, mat2, rows, columns, mat1.size(0))


dsmm = mm


def _of_sparse(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    first = raw.starts(b.places._raw[0], b.size(0))
    left, right = (new_tensor(part) for part in raw.pairs_of(a.places._raw[1], first))
    places = functions.stack([a.places[0][left], b.places[1][right]])
    held = a.held.index_select(0, left) * b.held.index_select(0, right)
    return sparse(places, held, (a.size(0), b.size(1))).coalesce()


@rule("mv")
def _mv(input: Tensor, vec: Tensor) -> Tensor:
    return mm(input, vec.unsqueeze(1)).squeeze(1)


@rule("matmul", "rmatmul")
def _matmul(input: Tensor, other: Any) -> Tensor:
    if other.dim() == 1:
        out: Tensor = _mv(input, other)
    else:
        out = mm(input, other)
    return out


@rule("linear", "_linear")
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows: Any = input if input.dim() == 2 else input.reshape(-1, input.size(-1))
    result: Any = mm(rows, weight.t())
    if input.dim() != 2:
        result = result.view(*input.shape[:-1], weight.size(0))
    return result if bias is None else result + bias


@rule("addmm", "sspaddmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta·input + alpha·(mat1 @ mat2), of which `mat1` is sparse.

    Parameters:
        input: what is added, dense.
        mat1: the sparse matrix.
        mat2: the other one.
        beta, alpha: the factors.
    Shapes: (n, m), (n, k) and (k, m) give (n, m).
    Returns: Tensor.
    Raises: RuntimeError: where sizes or types don't fit.
    Example:
        >>> torch.sparse.addmm(torch.ones(2, 2), torch.eye(2).to_sparse(), torch.eye(2), alpha=3)
        tensor([[4., 1.],
                [1., 4.]])
    """
    return input * beta + mm(mat1, mat2) * alpha


@rule("bmm")
def _bmm(input: SparseTensor, mat2: Tensor) -> Tensor:
    return functions.stack([mm(select(input, 0, i), mat2[i]) for i in range(input.size(0))])


@rule("softmax")
def softmax(input: Tensor, dim: int, *, dtype: dtype | None = None) -> SparseTensor:
    """Softmax along `dim` over the elements that are there: the others count as -inf.

    Parameters:
        input: a sparse tensor.
        dim: the dimension.
        dtype: the type in which it is computed; None: the input's.
    Shapes: the result has the input's, and its places.
    Returns: Tensor, sparse.
    Raises: NotImplementedError: for a dense tensor, and for types other than float32 and float64.
        IndexError: where there is no dimension `dim`. TypeError: for other arguments.
    Example:
        >>> torch.sparse.softmax(torch.tensor([[2.0, 2.0, 0.0]]).to_sparse(), 1).values()
        tensor([0.5000, 0.5000])
    """
    return _normalise(input, dim, dtype, logarithm=False)


@rule("log_softmax")
def log_softmax(input: Tensor, dim: int, *, dtype: dtype | None = None) -> SparseTensor:
    """The logarithm of `softmax`.

    Parameters:
        input: a sparse tensor.
        dim: the dimension.
        dtype: the type in which it is computed; None: the input's.
    Shapes: the result has the input's, and its places.
    Returns: Tensor, sparse.
    Raises: NotImplementedError: for a dense tensor, and for types other than float32 and float64.
        IndexError: where there is no dimension `dim`. TypeError: for other arguments.
    Example:
        >>> torch.sparse.log_softmax(torch.tensor([[2.0, 2.0, 0.0]]).to_sparse(), 1).values()
        tensor([-0.6931, -0.6931])
    """
    return _normalise(input, dim, dtype, logarithm=True)


def _normalise(input: Tensor, dim: int, dtype: dtype | None, *, logarithm: bool) -> SparseTensor:
    name = "log_softmax" if logarithm else "softmax"
    named = {} if dtype is None else {"dtype": dtype}
    problem = complaint_of_c("sparse", f"_sparse_{name}", (input, dim), named)
    if problem is not None:
        raise problem
    if not isinstance(input, SparseTensor):
        raise NotImplementedError(errors.no_kernel(f"_sparse_{name}"))
    if not -input.dim() <= dim < input.dim():
        raise IndexError(errors.dimension(dim, input.dim()))
    whole = input.coalesce()
    held = whole.held if dtype is None else whole.held.to(dtype)
    if held.dtype not in (D.float32, D.float64):
        raise NotImplementedError(errors.not_implemented(name, D.scalar_name(held.dtype)))
    d, n = dim % whole.dim(), whole.sparse_dim()
    if d >= n:
        inner = functions.log_softmax(held, d - n + 1)
        return whole._with(inner if logarithm else inner.exp())
    rest = [i for i in range(n) if i != d]
    shape = tuple(whole.size(i) for i in rest)
    different, member = raw.merge_places(whole.places._raw[rest], shape)
    group: Any = new_tensor(member)
    count = different.shape[1]
    size = (count, *held.shape[1:])
    index = group.view(-1, *[1] * (held.dim() - 1)).expand(held.shape)
    top = functions.full(size, float("-inf"), dtype=held.dtype)
    top = top.scatter_reduce(0, index, held.detach(), "amax")
    moved = held - top.index_select(0, group)
    sums = functions.zeros(size, dtype=held.dtype).index_add(0, group, moved.exp())
    if logarithm:
        return whole._with(moved - sums.log().index_select(0, group))
    return whole._with(moved.exp() / sums.index_select(0, group))


__all__ = ["addmm", "log_softmax", "mm", "softmax"]
