"""Methods of dense tensors that lead to sparse ones, and what the engine asks of sparse gradients.

They load the rest of this package when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._base.lazy import Function, load
from .._core.hooks import SPARSE
from .._table import TENSOR_METHODS
from .._table.calls.argument_parser import misuse
from .._table.calls.composite_checks import guard
from .._tensor import methods as _methods  # noqa: F401 -- methods that are guarded below
from .._tensor.public_functions import method_of
from .._tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import dtype


def to_sparse(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A sparse tensor with the elements that aren't zero; see `sparse.to_sparse`.

    Parameters:
        sparse_dim: how many dimensions places have; None: all.
        layout: another layout than `sparse_coo`.
        blocksize: the size of the blocks, for a layout of blocks.
        dense_dim: how many dimensions an element has; None: none.
    Shapes: any; the same.
    Returns: Tensor.
    Raises: RuntimeError: for more dimensions than there are, and blocks that don't fit.
    Example:
        >>> torch.tensor([[0.0, 3.0], [0.0, 0.0]]).to_sparse().values()
        tensor([3.])
    """
    from .make import to_sparse

    return to_sparse(self, *args, **kwargs)


to_sparse.__text_signature__ = (  # type: ignore[attr-defined]
    "(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None)"
)


def _to_compressed(name: str) -> Callable[..., object]:
    def method(self: Tensor, /, *args: object, **kwargs: object) -> object:
        return load(f"sparse.rows:{name}")(self, *args, **kwargs)

    method.__name__ = name
    blocks = "blocksize, " if name.startswith("to_sparse_bs") else ""
    method.__text_signature__ = f"(self, {blocks}dense_dim=None)"  # type: ignore[attr-defined]
    given = "        blocksize: the two sizes of a block, or one for both.\n" if blocks else ""
    method.__doc__ = f"""A sparse matrix in a compressed layout: {name[-3:]}.

    Parameters:
{given}        dense_dim: how many dimensions an element has: 0.
    Shapes: (m, n); the same.
    Returns: Tensor.
    Raises: RuntimeError: for what isn't a matrix{
        ", and for blocks that don't fit" if blocks else ""
    }.
    Example:
        >>> torch.eye(2).{name}({"1" if blocks else ""}).layout
        torch.sparse_{name[-3:]}
    """
    return method


def to_dense(
    self: Tensor, dtype: dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """This tensor, which is dense; in another type on request.

    Parameters:
        dtype: the type of the elements; None: their own.
        masked_grad: of sparse tensors; accepted.
    Shapes: any; the same.
    Returns: Tensor.
    Raises: TypeError: for anything but a dtype.
    Example:
        >>> torch.eye(2).to_sparse().to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    return self if dtype is None else self.to(dtype)


def sparse_mask(self: Tensor, mask: Any) -> Tensor:
    """The elements at the places of a sparse tensor.

    Parameters:
        mask: the sparse tensor; its elements don't matter.
    Shapes: both have the same.
    Returns: Tensor, of the mask's layout.
    Raises: NotImplementedError: for a mask that isn't sparse. RuntimeError: for other sizes.
    Example:
        >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(torch.eye(2).to_sparse()).values()
        tensor([1., 4.])
    """
    from .make import sparse_mask

    return sparse_mask(self, mask)


# A sparse gradient of the engine as a tensor, the gradient that it carries for a tensor, and what a
# leaf is given where that, or what it has, is sparse.
SPARSE.tensor = Function("sparse.gradients:as_tensor")
SPARSE.array = Function("sparse.gradients:as_array")
SPARSE.received = Function("sparse.gradients:receive")


def untyped_storage(self: Tensor) -> object:
    """The memory behind the tensor, as bytes.

    Shapes: any.
    Returns: UntypedStorage: shared with all views of this tensor.
    Example:
        >>> torch.ones(2).untyped_storage().nbytes()
        8
    """
    from .._tensor.storage import untyped

    return untyped(self)


def storage(self: Tensor) -> object:
    """The memory behind the tensor, as elements.

    Shapes: any.
    Returns: TypedStorage: shared with all views of this tensor; it warns that it is deprecated.
    Example:
        >>> torch.ones(3)[1:].storage().tolist()
        [1.0, 1.0, 1.0]
    """
    from .._tensor.storage import type_storage

    return type_storage(self)


def _typed_storage(self: Tensor) -> object:
    """The same, without a warning."""
    from .._tensor.storage import _type_storage

    return _type_storage(self)


def storage_type(self: Tensor) -> object:
    """The old class of storages with elements of this tensor's type, if there is one.

    Shapes: any.
    Returns: a class.
    Example:
        >>> torch.ones(1).storage_type().__name__
        'FloatStorage'
    """
    from .._tensor.storage import storage_type

    return storage_type(self)


def _fix_weakref(self: Tensor) -> None:
    """Nothing: a reference that lives is enough here."""


_OF_SPARSE: Final = {
    "coalesce": "The sparse tensor with its places in order, each once: equal ones are added.",
    "is_coalesced": "Whether the places of a sparse tensor are in order, each once.",
    "indices": "The places of the elements of a sparse tensor, one in each column.",
    "values": "The elements that a sparse tensor stores.",
    "crow_indices": "Where each row of a compressed matrix starts in its values, and the end.",
    "col_indices": "The column of each value of a matrix in compressed rows.",
    "ccol_indices": "Where each column of a compressed matrix starts in its values, and the end.",
    "row_indices": "The row of each value of a matrix in compressed columns.",
}
_LAYOUTS: Final = {
    "crow_indices": "_csr", "col_indices": "_csr", "ccol_indices": "_csc", "row_indices": "_csc",
}  # fmt: skip
_SHOWN: Final = {
    "coalesce": "tensor(indices=tensor([[0, 1],...", "is_coalesced": "True",
    "indices": "tensor([[0, 1],\n            [0, 1]])", "values": "tensor([1., 1.])",
    "col_indices": "tensor([0, 1])",
}  # fmt: skip


def _refuse(name: str, expected: str) -> Callable[..., object]:
    def method(self: Tensor, /, *args: object, **kwargs: object) -> object:
        if args or kwargs:
            raise misuse("method", name, args, kwargs)
        raise RuntimeError(f"{name} expected {expected} layout but got Strided")

    method.__name__ = name
    method.__text_signature__ = "(self)"  # type: ignore[attr-defined]
    method.__doc__ = (
        _OF_SPARSE[name]
        + f"""

Shapes: of matrices (m, n): places (2, k), starts (m + 1) or (n + 1), values (k).
Returns: {"bool" if name == "is_coalesced" else "Tensor"}.
Raises: RuntimeError: for other tensors than a {expected}.
Example:
    >>> torch.eye(2).to_sparse{_LAYOUTS.get(name, "")}().{name}()
    {_SHOWN.get(name, "tensor([0, 1, 2])" if name[0] == "c" else "tensor([0, 1])")}
"""
    )
    return method


_COO = "sparse coordinate tensor"
_CSR = "sparse row compressed tensor"
_CSC = "sparse column compressed tensor"
METHODS: dict[str, Callable[..., object]] = {
    "to_sparse": to_sparse,
    "to_sparse_coo": to_sparse,
    **{name: _to_compressed(name) for name in ("to_sparse_csr", "to_sparse_csc", "to_sparse_bsr",
                                               "to_sparse_bsc")},
    "to_dense": to_dense,
    "sparse_mask": sparse_mask,
    "untyped_storage": untyped_storage,
    "storage": storage,
    "_typed_storage": _typed_storage,
    "storage_type": storage_type,
    "_fix_weakref": _fix_weakref,
    **{name: _refuse(name, _COO) for name in ("coalesce", "is_coalesced", "indices")},
    "values": _refuse("values", "sparse tensor"),
    **{name: _refuse(name, _CSR) for name in ("crow_indices", "col_indices")},
    **{name: _refuse(name, _CSC) for name in ("ccol_indices", "row_indices")},
}  # fmt: skip
for _method in (storage, storage_type):
    _method.__qualname__ = f"Tensor.{_method.__name__}"  # as Python says who was misused
for _name, _method in METHODS.items():
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, guard("method", _name, _method))
for _name, _method in (
    ("is_pinned", TENSOR_METHODS["is_pinned"]),
    ("pin_memory", Tensor.pin_memory),
):
    setattr(Tensor, _name, guard("method", _name, method_of(_name, _method)))  # type: ignore[arg-type]


def _sparse_dim(self: Tensor) -> int:
    """How many dimensions the places of a sparse tensor have; 0 for a dense one.

    Shapes: any.
    Returns: int.
    Example:
        >>> torch.eye(2).to_sparse().sparse_dim(), torch.eye(2).sparse_dim()
        (2, 0)
    """
    return 0


Tensor.sparse_dim = _sparse_dim  # type: ignore[method-assign, assignment]
Tensor.dense_dim = Tensor.dim  # type: ignore[method-assign, assignment]
