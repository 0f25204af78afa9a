"""What pickles and files keep of sparse tensors: the parts that PyTorch's keep."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._base.memory_format import sparse_coo
from .._core.storage import TensorBase
from .compressed import CLASSES, CompressedTensor
from .coordinates import SparseTensor
from .make import sparse_coo_tensor
from .rows import sparse_compressed_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.memory_format import layout
    from .._tensor.tensor import Tensor


def _rebuild_sparse_tensor(layout: layout, data: Sequence[object]) -> Tensor:
    """The sparse tensor of these parts, which may come from anywhere.

    Raises:
        RuntimeError, TypeError, ValueError: where they don't make one.
    """
    if layout in CLASSES and len(data) == 4:
        parts: Any = data
        starts, plain, held, size = parts
        _refuse_others(starts, plain, held)
        _refuse_lines(CLASSES[layout], starts, plain, held, size)
        return sparse_compressed_tensor(starts, plain, held, _sizes(size), layout=layout)
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


def _refuse_lines(
    cls: type[CompressedTensor], starts: Tensor, plain: Tensor, held: Tensor, size: object
) -> None:
    """Raises RuntimeError where the parts of a compressed matrix don't fit."""
    whole = list(_sizes(size))
    if len(whole) != 2 or held.dim() != (3 if cls.blocked else 1):
        raise RuntimeError("values or a size that make no matrix")
    if cls.blocked:
        if 0 in held.shape[1:] or any(n % b for n, b in zip(whole, held.shape[1:])):
            raise RuntimeError("a size that isn't made of blocks")
        whole = [n // b for n, b in zip(whole, held.shape[1:])]
    lines, width = whole if cls.by_rows else whole[::-1]
    first, second = ("crow", "col") if cls.by_rows else ("ccol", "row")
    steps = starts[1:] - starts[:-1]
    if (starts.dim() != 1 or starts.numel() != lines + 1 or int(starts[0])
            or bool((steps < 0).any())):  # fmt: skip
        raise RuntimeError(f"{first}_indices that don't say where {second}s start")
    if plain.numel() and not 0 <= int(plain.min()) <= int(plain.max()) < width:
        n = "ncols" if cls.by_rows else "nrows"
        raise RuntimeError(f"`0 <= {second}_indices < {n}` is not satisfied.")


def _in_order(made: SparseTensor) -> bool:
    """Whether the places come one after the other, each once."""
    columns = made.places.T.tolist()
    return all(a < b for a, b in pairwise(columns))


def reduce_tensor(x: SparseTensor) -> tuple[object, ...]:
    """What a pickle keeps of a sparse tensor."""
    parts: tuple[object, ...] = (x.places, x.held.detach(), x.shape, x.coalesced)
    if isinstance(x, CompressedTensor):
        parts = (*x._parts(), x._values(), x.shape)
    return _rebuild_sparse_tensor, (x.layout, parts)
