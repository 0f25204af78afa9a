"""Sparse matrices in compressed rows or columns, of elements or of blocks.

Note [Compressed layouts]
They are kept as such and computed with as coordinates. `places` and `held` are those of the single
elements, in the order of the layout (a block's elements one after the other, with its zeros), so
that what is said of coordinates holds here; `blocks` are the places of the blocks, which are those
of the elements where a block is one element. A row is "compressed" in rows: of each block the
column is kept, and where each row starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from .._array.shape import sparse as raw
from .._base.lazy import load
from .._base.memory_format import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from .._core.storage import TensorBase, new_tensor
from .._table.rows.warn_once import say_once
from .._tensor.tensor import Tensor
from . import products  # noqa: F401 -- it says what is done with what is made here
from .coordinates import SparseTensor, functions, sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from .._base.memory_format import layout

#: Functions that turn rows into columns.
_TRANSPOSE: Final = ("t", "T", "mT", "adjoint", "transpose", "swapaxes", "swapdims")


class CompressedTensor(SparseTensor):
    """A sparse matrix of one of the four layouts; see Note [Compressed layouts].

    Parameters:
        args, device: what `Tensor` takes; programs call `sparse_compressed_tensor`.
    Raises: AttributeError: on the first use of one that is made by its name.
    Example:
        >>> isinstance(torch.eye(2).to_sparse_csr(), torch.sparse.CompressedTensor)
        True
    """

    is_sparse = False
    by_rows: ClassVar[bool] = True
    blocked: ClassVar[bool] = False
    shown: ClassVar[str] = "SparseCsr"

    blocks: Tensor
    blocksize: tuple[int, int]
    starts: Any = None  # where each row begins, once that was asked for

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        rule = cls.rule_of(func)
        found = [a for a in args if isinstance(a, CompressedTensor)]
        plain = [a.to_sparse() if isinstance(a, CompressedTensor) else a for a in args]
        result = rule(*plain, **(kwargs or {}))
        if not found or type(result) is not SparseTensor or result.sparse_dim() != 2:
            return result
        like = found[0]
        if getattr(func, "__name__", "") in _TRANSPOSE:
            blocksize = (like.blocksize[1], like.blocksize[0])
            return compress(result, _TRANSPOSED[like.layout], blocksize)
        return compress(result, like.layout, like.blocksize)

    def _parts(self) -> tuple[Tensor, Tensor]:
        """Where each row (or column) of blocks starts, and the other place of each block."""
        d = 0 if self.by_rows else 1
        if self.starts is None:
            count = self.size(d) // self.blocksize[d]
            self.starts = new_tensor(raw.starts(self.blocks._raw[d], count))
        return self.starts, self.blocks[1 - d]

    def _give_parts(self, name: str, by_rows: bool) -> tuple[Tensor, Tensor]:
        if by_rows is not self.by_rows:
            wanted = "row" if by_rows else "column"
            raise RuntimeError(
                f"{name} expected sparse {wanted} compressed tensor layout but got {self.shown}"
            )
        return self._parts()

    def crow_indices(self) -> Tensor:
        """Where each row starts, and the end: [rows + 1]."""
        return self._give_parts("crow_indices", True)[0]

    def col_indices(self) -> Tensor:
        """The column of each stored element or block."""
        return self._give_parts("col_indices", True)[1]

    def ccol_indices(self) -> Tensor:
        """Where each column starts, and the end: [columns + 1]."""
        return self._give_parts("ccol_indices", False)[0]

    def row_indices(self) -> Tensor:
        """The row of each stored element or block."""
        return self._give_parts("row_indices", False)[1]

    def _nnz(self) -> int:
        """How many elements, or blocks, are stored."""
        return int(self.blocks.size(1))

    def values(self) -> Tensor:
        """The stored elements, or blocks, in the order of the layout."""
        return self.held.view(-1, *self.blocksize) if self.blocked else self.held

    def _values(self) -> Tensor:
        return self.values().detach()

    def indices(self) -> Tensor:
        """Not for this layout. Raises: RuntimeError."""
        raise self._refusal("indices")

    _indices = indices

    def coalesce(self) -> SparseTensor:
        """Not for this layout. Raises: RuntimeError."""
        raise self._refusal("coalesce")

    def is_coalesced(self) -> bool:
        """Not for this layout. Raises: RuntimeError."""
        raise self._refusal("is_coalesced")

    def _refusal(self, name: str) -> RuntimeError:
        return RuntimeError(f"{name} expected sparse coordinate tensor layout but got {self.shown}")

    def to_sparse(self, *args: object, **kwargs: object) -> SparseTensor:
        """The matrix in coordinates, or in another layout."""
        if args or kwargs.get("layout") is not None:
            # By its name: what makes sparse tensors imports this file.
            return load("sparse.make:to_sparse")(self, *args, **kwargs)
        if self.coalesced:
            return sparse(self.places, self.held, self.shape, True)
        order = new_tensor(raw.keys(self.places._raw, tuple(self.shape)).argsort(kind="stable"))
        held = self.held.index_select(0, order)
        return sparse(self.places.index_select(1, order), held, self.shape, True)

    to_sparse_coo = to_sparse

    def with_own_places(self) -> SparseTensor:
        """This new tensor, its places copied, so that no other sees them written."""
        of_elements = self.blocks is self.places
        self.places, self.starts = self.places.clone(), None
        self.blocks = self.places if of_elements else self.blocks.clone()
        return self

    def _with(self, held: Tensor) -> Self:
        made: Any = _make(type(self), self.places, held, self.shape, self.blocks, self.blocksize)
        made.starts = self.starts
        found: Self = made
        return found

    def _gradient(self, found: Tensor) -> SparseTensor:
        return self._with(found)

    def _text(self) -> str:
        names = ("crow_indices", "col_indices") if self.by_rows else ("ccol_indices", "row_indices")
        parts = dict(zip((*names, "values"), (*self._parts(), self.values()), strict=True))
        return self._text_of(parts, f"To{self.shown}", False)


class RowsTensor(CompressedTensor):
    """Elements by rows: `torch.sparse_csr`."""

    layout = sparse_csr
    is_sparse_csr = True


class ColumnsTensor(CompressedTensor):
    """Elements by columns: `torch.sparse_csc`."""

    layout = sparse_csc
    by_rows = False
    shown = "SparseCsc"


class BlockRowsTensor(CompressedTensor):
    """Blocks by rows: `torch.sparse_bsr`."""

    layout = sparse_bsr
    blocked = True
    shown = "SparseBsr"


class BlockColumnsTensor(CompressedTensor):
    """Blocks by columns: `torch.sparse_bsc`."""

    layout = sparse_bsc
    by_rows = False
    blocked = True
    shown = "SparseBsc"


CLASSES: Final[dict[layout, type[CompressedTensor]]] = {
    cls.layout: cls for cls in (RowsTensor, ColumnsTensor, BlockRowsTensor, BlockColumnsTensor)
}
_TRANSPOSED: Final = {
    sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr,
}  # fmt: skip


def _make(
    cls: type[CompressedTensor],
    places: TensorBase,
    held: TensorBase,
    size: Sequence[int],
    blocks: TensorBase,
    blocksize: tuple[int, int],
) -> CompressedTensor:
    say_once(
        "compressed rows",
        f"Sparse {cls.shown[-3:].upper()} tensor support is in beta state. If you miss a "
        "functionality in the sparse tensor support, please submit a feature request to "
        "https://github.com/pytorch/pytorch/issues.",
    )
    made: Any = sparse(places, held, size, cls is RowsTensor, cls)
    made.blocks, made.blocksize = blocks, blocksize
    return made


def of_parts(
    cls: type[CompressedTensor], blocks: Tensor, values: Tensor, size: Sequence[int]
) -> CompressedTensor:
    """A matrix with `values` ([n], or [n, height, width]) at the places of blocks [2, n]."""
    if not cls.blocked:
        return _make(cls, blocks, values, size, blocks, (1, 1))
    blocksize = (int(values.size(1)), int(values.size(2)))
    places = _elements(blocks, blocksize)
    return _make(cls, places, values.reshape(-1), size, blocks, blocksize)


def _elements(blocks: Tensor, blocksize: tuple[int, int]) -> Tensor:
    """The places of the elements of blocks, block by block."""
    height, width = blocksize
    rows = blocks[0].view(-1, 1, 1) * height + functions.arange(height).view(1, -1, 1)
    columns = blocks[1].view(-1, 1, 1) * width + functions.arange(width).view(1, 1, -1)
    whole = functions.broadcast_tensors(rows, columns)
    return functions.stack([part.reshape(-1) for part in whole])


def compress(
    source: Tensor, wanted: layout, blocksize: tuple[int, int] = (1, 1)
) -> CompressedTensor:
    """A dense matrix, or one in coordinates, in a compressed layout."""
    cls = CLASSES[wanted]
    coordinates = isinstance(source, SparseTensor)
    whole: Any = source.coalesce() if coordinates else source
    places = whole.places if coordinates else (whole != 0).nonzero().t().contiguous()
    if not cls.blocked:
        order = None if cls.by_rows else places[1].argsort(stable=True)
        if order is not None:
            places = places.index_select(1, order)
        if not coordinates:
            held = source[tuple(places)]
        else:
            held = whole.held if order is None else whole.held.index_select(0, order)
        return _make(cls, places, held, source.shape, places, (1, 1))
    size = tuple(source.shape)
    height, width = blocksize
    grid = (size[0] // height, size[1] // width)
    at = places // functions.tensor([[height], [width]])
    if cls.by_rows:
        found, member = raw.merge_places(at._raw, grid)
    else:
        found, member = raw.merge_places(at.flip(0)._raw, grid[::-1])
        found = found[::-1].copy()
    blocks: Any = new_tensor(found)
    everything = _elements(blocks, blocksize)
    if not coordinates:
        return _make(cls, everything, source[tuple(everything)], size, blocks, blocksize)
    inside = new_tensor(member * (height * width)) + places[0] % height * width + places[1] % width
    zeros = functions.zeros(everything.size(1), dtype=source.dtype)
    return _make(cls, everything, zeros.index_copy(0, inside, whole.held), size, blocks, blocksize)


def convert(self: Tensor, wanted: layout, blocksize: object = None) -> Tensor:
    """A matrix in a compressed layout.

    Raises:
        RuntimeError: for what isn't a matrix, blocks that don't fit, elements of other blocks.
    """
    name = str(wanted).removeprefix("torch.")
    cls = CLASSES[wanted]
    source = self.shown if isinstance(self, CompressedTensor) else ""
    if self.dim() != 2:
        count = self.sparse_dim()
        raise RuntimeError(
            "Only tensors with two sparse dimensions can be converted to the "
            f"{cls.shown} layout, got self with {count or self.dim()} sparse dimensions."
        )
    size = (1, 1)
    if cls.blocked:
        size = _blocksize(f"dense_to_{name}", blocksize, tuple(self.shape))
    if isinstance(self, CompressedTensor):
        if self.layout is wanted:
            if self.blocksize == size:
                return self
            raise RuntimeError(
                f"to_{name}: conversion from {source} to {source} with blocksize changed from "
                f"{list(self.blocksize)} to {list(size)} is not supported"
            )
        if self.blocked and (not cls.blocked or self.blocksize != size):
            expected = "SparseCsr or SparseCsc"
            raise RuntimeError(
                f"sparse_compressed_to_{name}: expected {expected} layout but got {source}"
            )
        return compress(self.to_sparse(), wanted, size)
    return compress(self, wanted, size)


def _blocksize(name: str, given: object, size: tuple[int, ...]) -> tuple[int, int]:
    """The height and width of blocks. Raises: RuntimeError, where they don't fit."""
    pair = (given, given) if isinstance(given, int) else tuple(given)  # type: ignore[arg-type]
    if len(pair) != 2:
        raise RuntimeError(f"{name}: blocksize needs to be a tuple of size 2, but got {len(pair)}")
    if min(pair) <= 0:
        raise RuntimeError(f"{name}: blocksize needs to be positive, but got {list(pair)}")
    if size[0] % pair[0] or size[1] % pair[1]:
        raise RuntimeError(
            f"{name}: tensor sparse size ({size[0]},{size[1]}) must be divisible by given "
            f"blocksize ({pair[0]},{pair[1]})"
        )
    return pair
