"""Sparse matrices in compressed rows: kept as such, computed with as coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array.shape import sparse as raw
from .._base import dtypes as D
from .._base.memory_format import sparse_csr
from .._core.storage import new_tensor
from .._table.rows.warn_once import say_once
from .._tensor.tensor import Tensor
from . import products  # noqa: F401 -- it says what is done with what is made here
from .coordinates import SparseTensor, checked_type, functions, sparse, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.annotations import DeviceLike
    from .._base.dtypes import dtype
    from .._core.storage import TensorBase


class RowsTensor(SparseTensor):
    """A sparse matrix that says where each row starts."""

    layout = sparse_csr
    is_sparse = False
    is_sparse_csr = True

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        rule = cls.rule_of(func)
        plain = [a.to_sparse() if isinstance(a, RowsTensor) else a for a in args]
        result = rule(*plain, **(kwargs or {}))
        if type(result) is SparseTensor and result.sparse_dim() == 2:
            return to_sparse_csr(result)
        return result

    def crow_indices(self) -> TensorBase:
        """Where each row starts, and the end: [rows + 1]."""
        return new_tensor(raw.starts(self.places._raw[0], self.size(0)))

    def col_indices(self) -> Tensor:
        """The column of each stored element."""
        return self.places[1]

    def values(self) -> Any:
        """The stored elements, row by row."""
        return self.held

    def to_sparse(self, *args: object, **kwargs: object) -> SparseTensor:
        """The matrix in coordinates."""
        return sparse(self.places, self.held, self.shape, True)

    def _with(self, held: Tensor) -> SparseTensor:
        return sparse(self.places, held, self.shape, True, RowsTensor)

    def _text(self) -> str:
        parts: dict[str, Any] = {
            "crow_indices": self.crow_indices(),
            "col_indices": self.col_indices(),
        }
        text = text_of({**parts, "values": self.held}, "layout=torch.sparse_csr", self.held)
        size = f" size={tuple(self.shape)}, nnz={self._nnz()},"
        return text.replace(",\n       layout=", f",{size}\n       layout=", 1)


def _in_rows(places: Tensor, held: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A matrix in compressed rows, with PyTorch's warning of what isn't done yet."""
    say_once(
        "compressed rows",
        "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse "
        "tensor support, please submit a feature request to "
        "https://github.com/pytorch/pytorch/issues.",
    )
    return sparse(places, held, shape, True, RowsTensor)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """A matrix in compressed rows.

    Raises:
        RuntimeError: for what isn't a matrix.
    """
    if dense_dim and self.dim() == 2:
        raise RuntimeError(
            "dense_to_sparse_csr: dense_dim argument must be in [0,0] range, but "
            f"{dense_dim} is given"
        )
    if self.dim() != 2:
        raise RuntimeError(
            "Only tensors with two sparse dimensions can be converted to the SparseCsr layout, "
            f"got self with {self.dim()} sparse dimensions."
        )
    if not isinstance(self, SparseTensor):
        places = (self != 0).nonzero().t().contiguous()
        return _in_rows(places, self[tuple(places)], self.shape)
    whole = self.coalesce()
    return _in_rows(whole.places, whole.held, whole.shape)


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
    """
    starts = checked_type(crow_indices, D.int64)
    columns = checked_type(col_indices, D.int64)
    held = checked_type(values, dtype)
    if columns.numel() != held.size(0) or int(starts[-1]) != held.size(0):
        raise RuntimeError(
            "`crow_indices[..., -1] == nnz` is not satisfied: the parts of the matrix don't fit"
        )
    rows = functions.repeat_interleave(
        functions.arange(starts.numel() - 1), starts[1:] - starts[:-1]
    )
    if size is None:
        size = (starts.numel() - 1, int(columns.max()) + 1 if columns.numel() else 0)
    if requires_grad:
        held = held.detach().requires_grad_()
    return sparse(functions.stack([rows, columns]), held, size, True, RowsTensor)


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
