"""What pickles and files keep of sparse tensors: the parts that PyTorch's keep."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .._base.memory_format import sparse_coo, sparse_csr
from .._core.storage import TensorBase
from .coordinates import SparseTensor
from .make import sparse_coo_tensor
from .rows import RowsTensor, sparse_csr_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.memory_format import layout
    from .._tensor.tensor import Tensor


def _rebuild_sparse_tensor(layout: layout, data: Sequence[object]) -> Tensor:
    """The sparse tensor of these parts, which may come from anywhere.

    Raises:
        RuntimeError, TypeError, ValueError: where they don't make one.
    """
    if layout is sparse_csr and len(data) == 4:
        starts, columns, held, size = data
        _refuse_others(starts, columns, held)
        _refuse_rows(starts, columns, size)  # type: ignore[arg-type]
        return sparse_csr_tensor(starts, columns, held, _sizes(size))
    if layout is not sparse_coo or len(data) not in (3, 4):
        raise ValueError(f"a sparse tensor of layout {layout} with {len(data)} parts")
    places, held, size, *rest = data
    _refuse_others(places, held)
    made = sparse_coo_tensor(places, held, _sizes(size), check_invariants=True)
    if rest and rest[0] and _in_order(made):
        made.coalesced = True
    return made


def _refuse_others(*parts: object) -> None:
    for part in parts:
        if not isinstance(part, TensorBase):
            raise TypeError(f"a {type(part).__name__} as a part of a sparse tensor")


def _sizes(size: object) -> tuple[int, ...]:
    if not isinstance(size, (tuple, list)) or not all(type(n) is int and n >= 0 for n in size):
        raise ValueError("the size of a sparse tensor that is none")
    return tuple(size)


def _refuse_rows(starts: Tensor, columns: Tensor, size: object) -> None:
    rows, width = _sizes(size)
    steps = starts[1:] - starts[:-1]
    if starts.dim() != 1 or starts.numel() != rows + 1 or int(starts[0]) or bool((steps < 0).any()):
        raise RuntimeError("crow_indices that don't say where rows start")
    if columns.numel() and not 0 <= int(columns.min()) <= int(columns.max()) < width:
        raise RuntimeError("`0 <= col_indices < ncols` is not satisfied.")


def _in_order(made: SparseTensor) -> bool:
    """Whether the places come one after the other, each once."""
    columns = made.places.T.tolist()
    return all(a < b for a, b in pairwise(columns))


def reduced(x: SparseTensor) -> tuple[object, ...]:
    """What a pickle keeps of a sparse tensor."""
    parts: tuple[object, ...] = (x.places, x.held.detach(), x.shape, x.coalesced)
    if isinstance(x, RowsTensor):
        parts = (x.crow_indices(), x.col_indices(), x.held.detach(), x.shape)
    return _rebuild_sparse_tensor, (x.layout, parts)
