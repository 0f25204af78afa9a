"""Methods of dense tensors that lead to sparse ones, and what the engine asks of sparse gradients.

They load the rest of this package when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.lazy import load
from .._core.hooks import SPARSE
from .._table import TENSOR_METHODS
from .._table.calls.argument_parser import misuse
from .._table.calls.composite_checks import guard
from .._tensor import methods as _methods  # noqa: F401 -- methods that are guarded below
from .._tensor.public_functions import method_of
from .._tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._array.annotations import Array
    from .._base.dtypes import dtype


def to_sparse(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A sparse tensor with the elements that aren't zero; see `sparse.to_sparse`."""
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
    method.__doc__ = f"A sparse matrix in a compressed layout; see `sparse.{name}`."
    return method


def to_dense(
    self: Tensor, dtype: dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """This tensor, which is dense; in another type on request."""
    return self if dtype is None else self.to(dtype)


def sparse_mask(self: Tensor, mask: Any) -> Tensor:
    """The elements at the places of a sparse tensor."""
    from .make import sparse_mask

    return sparse_mask(self, mask)


def _sparse_tensor(g: Any) -> Tensor:
    """A sparse gradient of the engine as a tensor."""
    from .gradients import as_tensor

    return as_tensor(g)


def _sparse_array(t: Tensor) -> Array:
    """The gradient that the engine carries for a tensor."""
    from .gradients import as_array

    return as_array(t)


def _sparse_received(leaf: Tensor, g: Any, old: Tensor | None) -> None:
    """Gives a leaf a gradient where it, or the one that the leaf has, is sparse."""
    from .gradients import receive

    receive(leaf, g, old)


SPARSE.tensor = _sparse_tensor
SPARSE.array = _sparse_array
SPARSE.received = _sparse_received


def untyped_storage(self: Tensor) -> object:
    """The memory behind the tensor, as bytes."""
    from .._tensor.storage import untyped

    return untyped(self)


def storage(self: Tensor) -> object:
    """The memory behind the tensor, as elements."""
    from .._tensor.storage import typed

    return typed(self)


def _typed_storage(self: Tensor) -> object:
    """The same, without a warning."""
    from .._tensor.storage import _typed

    return _typed(self)


def storage_type(self: Tensor) -> object:
    """The old class of storages with elements of this tensor's type, if there is one."""
    from .._tensor.storage import storage_type

    return storage_type(self)


def _fix_weakref(self: Tensor) -> None:
    """Nothing: a reference that lives is enough here."""


def _refused(name: str, expected: str) -> Callable[..., object]:
    def method(self: Tensor, /, *args: object, **kwargs: object) -> object:
        if args or kwargs:
            raise misuse("method", name, args, kwargs)
        raise RuntimeError(f"{name} expected {expected} layout but got Strided")

    method.__name__ = name
    method.__text_signature__ = "(self)"  # type: ignore[attr-defined]
    method.__doc__ = f"Not for dense tensors.\n\nRaises: RuntimeError: {name} is for {expected}."
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
    **{name: _refused(name, _COO) for name in ("coalesce", "is_coalesced", "indices")},
    "values": _refused("values", "sparse tensor"),
    **{name: _refused(name, _CSR) for name in ("crow_indices", "col_indices")},
    **{name: _refused(name, _CSC) for name in ("ccol_indices", "row_indices")},
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
Tensor.sparse_dim = lambda self: 0  # type: ignore[method-assign]
Tensor.dense_dim = Tensor.dim  # type: ignore[method-assign, assignment]
