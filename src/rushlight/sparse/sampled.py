"""Products of dense matrices of which only some elements are asked for."""

from __future__ import annotations

from typing import Any, Final

from .._base import dtypes as D, errors
from .._table.calls.argument_parser import complaint_of_c
from .._tensor.tensor import Tensor
from .compressed import CompressedTensor, RowsTensor
from .coordinates import SparseTensor, functions

_NAME: Final = "sampled_addmm"
_BLOCK: Final = 1 << 20  # elements of the rows and columns that are multiplied at once


def sampled_addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: complex = 1.0,
    alpha: complex = 1.0,
    out: Tensor | None = None,
) -> Tensor:
    """beta·input + alpha·(mat1 @ mat2) at the places of `input`; no other element is computed.

    Parameters:
        input: a matrix in compressed rows: what is added, and which elements are asked for.
        mat1, mat2: the dense matrices that are multiplied.
        beta, alpha: the factors.
        out: a matrix in compressed rows that becomes the result.
    Shapes: (n, m), (n, k) and (k, m) give (n, m).
    Returns: Tensor, of layout `sparse_csr`.
    Raises: RuntimeError: where sizes, layouts or types don't fit. NotImplementedError: for an
        input in another form. TypeError: for other arguments.
    Example:
        >>> places = torch.eye(2).to_sparse_csr()
        >>> torch.sparse.sampled_addmm(places, torch.ones(2, 3), torch.ones(3, 2)).values()
        tensor([4., 4.])
    """
    factors: dict[str, Any] = {"beta": beta, "alpha": alpha}
    named = {name: factor for name, factor in factors.items() if factor != 1}
    named |= {} if out is None else {"out": out}
    problem = complaint_of_c("sparse", f"sparse_{_NAME}", (input, mat1, mat2), named)
    if problem is not None:
        raise problem
    if not isinstance(input, CompressedTensor):
        raise NotImplementedError(errors.no_kernel(f"sparse_{_NAME}"))
    _check(input, mat1, mat2)
    if out is not None and not isinstance(out, RowsTensor):
        raise RuntimeError(
            f"{_NAME}: Expected result to have sparse csr layout, but got {_layout(out)}"
        )
    if out is not None and out.shape != input.shape:
        raise RuntimeError(f"{_NAME}: out has another size than the result, and keeps it")
    rows, columns = input.places
    held = input.held * beta + _elements_of(mat1, mat2.mT, rows, columns) * alpha
    found = input._with(held)
    if out is None:
        return found
    out.places, out.held, out.starts = found.places, found.held.detach(), found.starts
    out.blocks = out.places
    return out


def _check(input: CompressedTensor, mat1: Tensor, mat2: Tensor) -> None:
    """Refuses what doesn't fit. Raises: RuntimeError: in PyTorch's words and order."""
    if not isinstance(input, RowsTensor):
        raise RuntimeError(
            f"{_NAME}: Expected result to have sparse csr layout, but got {input.shown}"
        )
    if not (input.dtype.is_complex or input.dtype in (D.float32, D.float64)):
        raise RuntimeError(
            f"sparse_{_NAME}: Expected self to be a floating-point or complex tensor, but got "
            f"{D.scalar_name(input.dtype)}"
        )
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if isinstance(matrix, SparseTensor):
            raise RuntimeError(
                f"{_NAME}: Expected {name} to have strided layout, but got {_layout(matrix)}"
            )
    for first, one, second, other in (
        ("mat1", mat1, "mat2", mat2), ("mat1", mat1, "self", input),
    ):  # fmt: skip
        if one.dtype is not other.dtype:
            raise RuntimeError(
                f"{_NAME}: Expected {first} and {second} to have the same dtype, but got "
                f"{D.scalar_name(one.dtype)} and {D.scalar_name(other.dtype)}"
            )
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.dim() != 2:
            raise RuntimeError(
                f"{_NAME}: Expected {name} to be a matrix, got {matrix.dim()}-D tensor"
            )
    if mat1.size(1) != mat2.size(0):
        raise RuntimeError(
            f"{_NAME}: mat1 and mat2 shapes cannot be multiplied ({mat1.size(0)}x{mat1.size(1)} "
            f"and {mat2.size(0)}x{mat2.size(1)})"
        )
    for axis, name, matrix in ((0, "mat1", mat1), (1, "mat2", mat2)):
        if input.size(axis) != matrix.size(axis):
            raise RuntimeError(
                f"{_NAME}: self.shape[{axis - 2}] must match {name}.shape[{axis - 2}]"
            )


def _layout(matrix: Tensor) -> str:
    """The name of a layout in PyTorch's messages."""
    if isinstance(matrix, CompressedTensor):
        return matrix.shown
    return "Sparse" if isinstance(matrix, SparseTensor) else "Strided"


def _elements_of(left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The products of rows of one matrix with rows of another, some at a time."""
    step = max(1, _BLOCK // max(1, left.size(1)))
    found = [
        (left.index_select(0, i) * right.index_select(0, j)).sum(1)
        for i, j in zip(rows.split(step), columns.split(step))
    ]
    return functions.cat(found)


__all__ = ["sampled_addmm"]
