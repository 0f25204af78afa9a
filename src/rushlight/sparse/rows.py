"""Making compressed sparse matrices of their parts, and by methods of other tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array.shape import sparse as raw
from .._base import dtypes as D
from .._base.memory_format import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from .._core.storage import new_tensor
from .._tensor.tensor import Tensor
from .compressed import CLASSES, convert, of_parts
from .coordinates import check_type, functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import DeviceLike
    from .._base.dtypes import dtype
    from .._base.memory_format import layout as Layout
    from .._core.storage import TensorBase


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """A matrix in compressed rows.

    Raises:
        RuntimeError: for what isn't a matrix.

    Parameters:
        dense_dim: how many dimensions an element has: 0.
    Shapes: (m, n).
    Returns: Tensor, of layout `sparse_csr`.
    Example:
        >>> torch.eye(2).to_sparse_csr().crow_indices()
        tensor([0, 1, 2])
    """
    _refuse_dense(self, "csr", dense_dim)
    return convert(self, sparse_csr)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """A matrix in compressed columns.

    Raises:
        RuntimeError: for what isn't a matrix.
    """
    _refuse_dense(self, "csc", dense_dim)
    return convert(self, sparse_csc)


def to_sparse_bsr(
    self: Tensor, blocksize: int | Sequence[int], dense_dim: int | None = None
) -> Tensor:
    """A matrix in compressed rows of blocks.

    Raises:
        RuntimeError: for what isn't a matrix, and for blocks that don't fit.
    """
    _refuse_dense(self, "bsr", dense_dim)
    return convert(self, sparse_bsr, blocksize)


def to_sparse_bsc(
    self: Tensor, blocksize: int | Sequence[int], dense_dim: int | None = None
) -> Tensor:
    """A matrix in compressed columns of blocks.

    Raises:
        RuntimeError: for what isn't a matrix, and for blocks that don't fit.
    """
    _refuse_dense(self, "bsc", dense_dim)
    return convert(self, sparse_bsc, blocksize)


def _refuse_dense(self: Tensor, name: str, dense_dim: int | None) -> None:
    if dense_dim and self.dim() == 2:
        raise RuntimeError(
            f"dense_to_sparse_{name}: dense_dim argument must be in [0,0] range, but "
            f"{dense_dim} is given"
        )


def sparse_compressed_tensor(
    compressed_indices: object,
    plain_indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    layout: Layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix of a compressed layout: where each row (or column) starts, and what stands in it.

    Raises:
        RuntimeError: where the parts don't fit each other, or the layout is another one.

    Parameters:
        compressed_indices: where each row (or column) starts, and the end.
        plain_indices: the column (or row) of each element.
        values: the elements, or blocks.
        size: the size of the matrix; None: the smallest possible.
        dtype: the type of the elements; None: that of `values`.
        layout: one of the four.
        device: the CPU.
        pin_memory: accepted.
        requires_grad: whether operations on it are recorded.
        check_invariants: accepted: what is needed is always looked at.
    Shapes: starts (m + 1), places (n), values (n) or (n, h, w).
    Returns: Tensor.
    Example:
        >>> parts = [0, 1, 2], [1, 0], [3.0, 4.0]
        >>> torch.sparse_compressed_tensor(*parts, (2, 2), layout=torch.sparse_csr).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    if layout not in CLASSES:
        raise RuntimeError(
            "sparse_compressed_tensor expected sparse compressed tensor layout but got "
            f"{'none' if layout is None else _SHOWN.get(str(layout), str(layout))}"
        )
    cls = CLASSES[layout]
    starts = check_type(compressed_indices, D.int64)
    plain = check_type(plain_indices, D.int64)
    held = check_type(values, dtype)
    if plain.numel() != held.size(0) or int(starts[-1]) != held.size(0):
        name = "crow_indices" if cls.by_rows else "ccol_indices"
        raise RuntimeError(
            f"`{name}[..., -1] == nnz` is not satisfied: the parts of the matrix don't fit"
        )
    if cls.blocked and held.dim() != 3:
        raise RuntimeError(f"values must have dimensionality > 2, but got {held.dim()}")
    lines = functions.repeat_interleave(
        functions.arange(starts.numel() - 1), starts[1:] - starts[:-1]
    )
    if size is None:
        height, width = held.shape[1:3] if cls.blocked else (1, 1)
        count, longest = starts.numel() - 1, int(plain.max()) + 1 if plain.numel() else 0
        rows, columns = (count, longest) if cls.by_rows else (longest, count)
        size = (rows * height, columns * width)
    if requires_grad:
        held = held.detach().requires_grad_()
    blocks = functions.stack([lines, plain] if cls.by_rows else [plain, lines])
    return of_parts(cls, blocks, held, size)


_SHOWN = {"torch.strided": "Strided", "torch.sparse_coo": "Sparse"}


def sparse_csr_tensor(
    crow_indices: object,
    col_indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix of which row i has the elements crow_indices[i] to crow_indices[i + 1].

    Raises:
        RuntimeError: where the parts don't fit each other.

    Parameters:
        crow_indices: where each row starts in the list of elements, and the end.
        col_indices: the column of each of the elements.
        values: the elements.
        size: the size of the matrix; None: the smallest possible.
        dtype, device, pin_memory, requires_grad, check_invariants: as in
            `sparse_compressed_tensor`.
    Shapes: starts (m + 1), places (n), values (n).
    Returns: Tensor, of layout `sparse_csr`.
    Example:
        >>> torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0], (2, 2)).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, dtype=dtype, layout=sparse_csr, device=device,
        pin_memory=pin_memory, requires_grad=requires_grad, check_invariants=check_invariants,
    )  # fmt: skip


def sparse_csc_tensor(
    ccol_indices: object,
    row_indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix of which column i has the elements ccol_indices[i] to ccol_indices[i + 1].

    Raises:
        RuntimeError: where the parts don't fit each other.

    Parameters:
        ccol_indices: where each column starts in the list of elements, and the end.
        row_indices: the row of each of the elements.
        values: the elements.
        size: the size of the matrix; None: the smallest possible.
        dtype, device, pin_memory, requires_grad, check_invariants: as in
            `sparse_compressed_tensor`.
    Shapes: starts (m + 1), places (n), values (n).
    Returns: Tensor, of layout `sparse_csc`.
    Example:
        >>> torch.sparse_csc_tensor([0, 1, 2], [1, 0], [4.0, 3.0], (2, 2)).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, dtype=dtype, layout=sparse_csc, device=device,
        pin_memory=pin_memory, requires_grad=requires_grad, check_invariants=check_invariants,
    )  # fmt: skip


def sparse_bsr_tensor(
    crow_indices: object,
    col_indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix of which row i has the blocks crow_indices[i] to crow_indices[i + 1].

    Raises:
        RuntimeError: where the parts don't fit each other.

    Parameters:
        crow_indices: where each row starts in the list of blocks, and the end.
        col_indices: the column of each of the blocks.
        values: the blocks.
        size: the size of the matrix; None: the smallest possible.
        dtype, device, pin_memory, requires_grad, check_invariants: as in
            `sparse_compressed_tensor`.
    Shapes: starts (m + 1), places (n), values (n, h, w).
    Returns: Tensor, of layout `sparse_bsr`.
    Example:
        >>> torch.sparse_bsr_tensor([0, 1, 2], [1, 0], [[[3.0]], [[4.0]]], (2, 2)).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, dtype=dtype, layout=sparse_bsr, device=device,
        pin_memory=pin_memory, requires_grad=requires_grad, check_invariants=check_invariants,
    )  # fmt: skip


def sparse_bsc_tensor(
    ccol_indices: object,
    row_indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix of which column i has the blocks ccol_indices[i] to ccol_indices[i + 1].

    Raises:
        RuntimeError: where the parts don't fit each other.

    Parameters:
        ccol_indices: where each column starts in the list of blocks, and the end.
        row_indices: the row of each of the blocks.
        values: the blocks.
        size: the size of the matrix; None: the smallest possible.
        dtype, device, pin_memory, requires_grad, check_invariants: as in
            `sparse_compressed_tensor`.
    Shapes: starts (m + 1), places (n), values (n, h, w).
    Returns: Tensor, of layout `sparse_bsc`.
    Example:
        >>> torch.sparse_bsc_tensor([0, 1, 2], [1, 0], [[[4.0]], [[3.0]]], (2, 2)).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, dtype=dtype, layout=sparse_bsc, device=device,
        pin_memory=pin_memory, requires_grad=requires_grad, check_invariants=check_invariants,
    )  # fmt: skip


def _convert_indices_from_coo_to_csr(
    input: Tensor, size: int, *, out_int32: bool = False
) -> TensorBase:
    """Where each of `size` rows starts, and the end, from sorted row numbers."""
    starts = new_tensor(raw.starts(input._raw, size))
    return starts.to(D.int32) if out_int32 else starts  # type: ignore[attr-defined]


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The places [2, n] of elements, from where each row starts and the column of each."""
    rows = functions.repeat_interleave(
        functions.arange(crow_indices.numel() - 1), crow_indices[1:] - crow_indices[:-1]
    )
    both = [col_indices, rows] if transpose else [rows, col_indices]
    kind = D.int32 if out_int32 else D.int64
    return functions.stack([part.to(kind) for part in both])
