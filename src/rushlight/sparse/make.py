"""Making sparse tensors: of places and values, of dense tensors, of diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import dtypes as D, errors
from .._base.memory_format import sparse_coo, sparse_csc, sparse_csr, strided
from .._core.mode import current
from .._table.calls.argument_parser import complaint_of_c
from .._tensor.tensor import Tensor
from . import (
    compressed,
    products,  # noqa: F401 -- it says what is done with what is made here
)
from .coordinates import SparseTensor, check_type, functions, lacking, sparse

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike, Shape
    from .._base.dtypes import dtype
    from .._base.memory_format import layout


class INVARIANTS:
    """Whether places are checked where nobody says."""

    checked = False


__all__ = ["sparse_coo_tensor", "sparse_mask", "spdiags", "to_sparse"]


def sparse_coo_tensor(
    indices: Any = None,
    values: object = None,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A sparse tensor with `values` at the columns of `indices`; equal places count added.

    Shapes: indices [s, n], values [n, …]; `size` has s + (dimensions of a value) numbers and is the
    smallest possible where it isn't given. With one argument, a size: a tensor without elements.

    Raises:
        RuntimeError: where the parts don't fit each other, or a place lies outside.
        TypeError: places without values, or values without places.

    Parameters:
        indices: the places, one in each column: integers, [s, n].
        values: the elements, [n, …].
        size: the size of the whole.
        dtype: the type of the elements; None: that of `values`.
        device: the CPU.
        pin_memory: accepted.
        requires_grad: whether operations on it are recorded.
        check_invariants: whether places are looked at; None: those below zero are refused.
        is_coalesced: True: a promise that the places are in order and each stands once.
    Returns: Tensor, of layout `sparse_coo`.
    Example:
        >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 0.]])
    """
    if indices is None or values is None:
        size = _lone_size(indices, values, size)
        indices = functions.empty((len(size), 0), dtype=D.int64)
        values = functions.empty(0, dtype=dtype)
    places = check_type(indices, D.int64)
    held = check_type(values, dtype)
    if places.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if held.dim() == 0:
        held = held.expand(places.size(1))
    if places.size(1) != held.size(0):
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{places.size(1)}, nnz from values: {held.size(0)}"
        )
    if places.numel() and check_invariants is not False:
        _refuse_negative(places)
    if size is None:
        top = places.amax(1) + 1 if places.size(1) else functions.zeros(places.size(0))
        size = [*map(int, top.tolist()), *held.shape[1:]]
    size = tuple(int(n) for n in size)
    if len(size) != places.size(0) + held.dim() - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
            f"sparse_dim = {places.size(0)}, dense_dim = {held.dim() - 1}"
        )
    if check_invariants or (check_invariants is None and INVARIANTS.checked):
        _check(places, size)
    if requires_grad:
        held = held.detach().requires_grad_()
    elif held.is_leaf:
        held = held.view_as(held)  # what is made of a leaf is none
    return sparse(places.detach(), held, size, bool(is_coalesced) or places.size(1) < 2)


def _lone_size(indices: Any, values: object, size: Any) -> Any:
    """The size that is given, by position or by name, without elements. Raises: TypeError."""
    if values is not None or (indices is None) == (size is None):
        raise TypeError("sparse_coo_tensor() received an invalid combination of arguments")
    if isinstance(indices, Tensor):
        raise TypeError(
            "sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not Tensor"
        )
    return size if indices is None else indices


def _refuse_negative(places: Tensor) -> None:
    """Raises RuntimeError for a place before the first, which would count from the end."""
    for d, low in enumerate(places.amin(1).tolist()):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {d}")


def _check(places: Tensor, size: tuple[int, ...]) -> None:
    """Whether all places lie inside."""
    if not places.size(1):
        return
    _refuse_negative(places)
    for d, high in enumerate(places.amax(1).tolist()):
        if high >= size[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found "
                f"index {high}"
            )


def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: layout | None = None,
              blocksize: object = None, dense_dim: int | None = None) -> Tensor:  # fmt: skip
    """The tensor with only its elements (or rows) that aren't zero.

    Elements have the last `dense_dim` dimensions, or those behind the first `sparse_dim`.

    Raises:
        RuntimeError: for more dimensions than there are, and blocks that don't fit.

    Parameters:
        sparse_dim: how many dimensions places have; None: all.
        layout: another layout than `sparse_coo`.
        blocksize: the size of the blocks, for a layout of blocks.
        dense_dim: how many dimensions an element has; None: none.
    Shapes: any; the same.
    Returns: Tensor.
    Example:
        >>> torch.tensor([[0.0, 3.0], [0.0, 0.0]]).to_sparse().indices()
        tensor([[0],
                [1]])
    """
    if layout is not None and layout in compressed.CLASSES:
        cls = compressed.CLASSES[layout]
        if cls.blocked is (blocksize is None):
            with_ = "without" if blocksize is None else "with"
            raise RuntimeError(
                f"dense_to_sparse: conversion from Strided to {cls.shown} {with_} blocksize "
                "argument given is not supported"
            )
        return compressed.convert(self, layout, blocksize)
    if layout is strided:
        return _to_strided(self, blocksize, dense_dim)
    if blocksize is not None:
        raise RuntimeError(
            "dense_to_sparse: conversion from Strided to Sparse with blocksize argument given is "
            "not supported"
        )
    if isinstance(self, SparseTensor):
        return self.to_sparse()
    if self.requires_grad and current().grad and self.dtype.is_complex:
        raise RuntimeError(errors.real_only("_to_sparse"))
    for name, given in (("sparse_dim", sparse_dim), ("dense_dim", dense_dim)):
        if given is not None and not 0 <= given <= self.dim():
            raise RuntimeError(
                f"dense_to_sparse: {name} argument must be in [0,{self.dim()}] range, but {given} "
                "is given"
            )
    n = self.dim() - (dense_dim or 0) if sparse_dim is None else sparse_dim
    if not n and self.dim():
        wrong = "dense_dim" if dense_dim else "sparse_dim"
        known = "!=self.dim()" if dense_dim else "in >0"
        raise RuntimeError(f"dense_to_sparse: {wrong} argument must be {known} when self.dim()>0")
    there = self != 0
    if n < self.dim():
        there = there.flatten(n).any(-1)
    places = there.nonzero().t().contiguous()
    return sparse(places, self[tuple(places)], self.shape, True)


def _to_strided(self: Tensor, blocksize: object, dense_dim: int | None) -> Tensor:
    """The tensor with all its elements, itself where it has them."""
    head, shown = "to_sparse", "Strided"
    if isinstance(self, SparseTensor):
        head, shown = "sparse_coo_to_sparse", "Sparse"
    elif dense_dim:
        raise RuntimeError(
            f"{head}: dense_dim argument must be in [0,0] range, but {dense_dim} is given"
        )
    else:
        dense_dim = None
    for name, given in (("blocksize", blocksize), ("dense_dim", dense_dim)):
        if given is not None:
            raise RuntimeError(
                f"{head}: conversion from {shown} to Strided with {name} argument given is not "
                "supported"
            )
    return self.to_dense()


def sparse_mask(self: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of a dense tensor at the places of a sparse one.

    Raises:
        NotImplementedError: for a mask that isn't sparse.

    Parameters:
        mask: the sparse tensor; its elements don't matter.
    Shapes: both have the same.
    Returns: Tensor, of the mask's layout.
    Example:
        >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(torch.eye(2).to_sparse()).values()
        tensor([1., 4.])
    """
    if not isinstance(mask, SparseTensor):
        raise NotImplementedError(
            "Could not run 'aten::sparse_mask' with arguments from the 'CPU' backend."
        )
    if tuple(self.shape) != tuple(mask.shape):
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(self.shape)} but mask has size {list(mask.shape)}"
        )
    whole = mask.coalesce()
    return whole._with(self[tuple(whole.places)])


def spdiags(
    diagonals: Tensor, offsets: Tensor, shape: Shape, layout: layout | None = None
) -> Tensor:
    """A matrix with the rows of `diagonals` along its diagonals `offsets`.

    Parameters:
        diagonals: one diagonal in each row; column j of the result takes its elements j.
        offsets: for each its number: 0 for the main one, above it positive, below it negative.
        shape: height and width of the result.
        layout: `sparse_coo`, `sparse_csr` or `sparse_csc`; None: `sparse_coo`.
    Shapes: diagonals (d, n) or (n), offsets (d) or ().
    Returns: Tensor, sparse.
    Raises: RuntimeError: where numbers don't fit each other, for an offset that stands twice, for a
        shape of other than two numbers, and for other layouts.
    Example:
        >>> lines = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.sparse.spdiags(lines, torch.tensor([0, 1]), (2, 2)).to_dense()
        tensor([[1., 4.],
                [0., 2.]])
    """
    named = {} if layout is None else {"layout": layout}
    problem = complaint_of_c("sparse", "_spdiags", (diagonals, offsets, shape), named)
    if problem is not None:
        raise problem
    if isinstance(diagonals, SparseTensor):
        raise lacking("_spdiags")
    lines: Any = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    shifts = offsets.unsqueeze(0) if offsets.dim() == 0 else offsets
    kind = layout or sparse_coo
    _check_diagonals(lines, shifts, shape, kind)
    height, width = shape
    places, held = [functions.zeros((2, 0), dtype=D.int64)], [lines.new_empty(0)]
    for line, shift in zip(lines, shifts.tolist()):
        first, last = max(0, shift), min(width, height + shift, line.numel())
        if last < first:
            raise RuntimeError(errors.negative_dimension([2, last - first]))
        columns = functions.arange(first, last)
        places.append(functions.stack([columns - shift, columns]))
        held.append(line[columns])
    made: Any = sparse(functions.cat(places, 1), functions.cat(held), (height, width))
    if kind is sparse_coo:
        return made
    return made.to_sparse_csr() if kind is sparse_csr else made.to_sparse_csc()


def _check_diagonals(lines: Tensor, shifts: Any, shape: Any, kind: layout) -> None:
    """Refuses diagonals that don't fit their offsets, in the order in which PyTorch looks."""
    if lines.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if shifts.dim() != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if lines.size(0) != shifts.size(0):
        raise RuntimeError(
            f"Number of diagonals ({lines.size(0)}) does not match the number of offsets "
            f"({shifts.size(0)})"
        )
    if kind not in (sparse_coo, sparse_csr, sparse_csc):
        name = kind.name.title().replace("_", "")
        raise RuntimeError(
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {name}"
        )
    if shifts.dtype is not D.int64:
        raise RuntimeError(
            f"Offset Tensor must have dtype Long but got {D.scalar_name(shifts.dtype)}"
        )
    if len(set(shifts.tolist())) != shifts.size(0):
        raise RuntimeError("Offset tensor contains duplicate values")
