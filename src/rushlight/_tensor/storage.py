"""Storages: the memory behind tensors, as bytes (`UntypedStorage`) or as elements.

A storage looks at the memory that the tensor's array is a view of, so what is written to one is
seen in the other. Memory that a tensor looks at can grow, but not shrink.
"""

from __future__ import annotations

import functools
import os
import warnings
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .._array import types as T
from .._array.memory import raw_bytes as stored, shared as _shared
from .._array.memory.exported import is_fixed
from .._array.memory.meta import MetaArray, bytes_of as hollow_bytes
from .._base import dtypes as D
from .._base.device import CPU, META, device
from .._core.storage import TensorBase, new_tensor
from .._table.shape.resizing import NOT_RESIZABLE, STORAGES, grown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._array.annotations import Array
    from .._base.annotations import DeviceLike, Scalar
    from .._base.dtypes import dtype
    from .tensor import Tensor

__all__ = ["TypedStorage", "UntypedStorage", "is_storage"]

_REMOVAL: Final = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)
_warned: list[bool] = []


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Warns, once, that storages of elements will go."""
    if not _warned:
        _warned.append(True)
        warnings.warn(_REMOVAL, UserWarning, stacklevel=stacklevel + 1)


def _no_cuda(*args: object, **kwargs: object) -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


class StorageBase:
    """What all storages of bytes are, as packages ask."""

    __slots__ = ()
    __module__ = "torch._C"


class UntypedStorage(StorageBase):
    """Memory as bytes: of a size, of a list of bytes, or behind a tensor."""

    __slots__ = ("_data", "_of", "__weakref__", "_path", "_mapped")

    is_cuda = False
    is_sparse = False
    is_hpu = False
    is_sparse_csr = False

    def __init__(self, *args: object, device: DeviceLike | None = None) -> None:
        self._of: Any = None
        self._path: str | None = None
        self._mapped = False  # its memory is a file's
        if len(args) > 1:
            raise TypeError(f"UntypedStorage() got {len(args)} arguments, at most 1 is taken")
        given: Any = args[0] if args else 0
        self._data: Any = (
            stored.fresh(given)
            if isinstance(given, int)
            else stored.from_numbers(given, T.to_raw(D.uint8))
        )

    @classmethod
    def _over(cls, data: Array, of: Tensor | None = None) -> UntypedStorage:
        made = cls()
        made._data, made._of = data, of
        return made

    @classmethod
    def from_buffer(
        cls, buffer: object, *, dtype: dtype = D.uint8, offset: int = 0, count: int = -1,
        byte_order: str = "native",
    ) -> UntypedStorage:  # fmt: skip
        """A copy of the bytes of a buffer."""
        size = count if count < 0 else count * T.to_raw(dtype).itemsize
        return cls._over(stored.from_buffer(buffer, offset, size))

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, which are read when they are first looked at.

        Where `shared`, what is written goes to the file, which grows if it is too short.

        Raises:
            RuntimeError: where the file can't be opened, or is too short.
        """
        made = cls._over(stored.mapped(os.fspath(filename), shared, nbytes))
        made._mapped = True
        return made

    @property
    def device(self) -> device:
        """The CPU, or "meta" where there is no data."""
        return META if type(self._data) is MetaArray else CPU

    @property
    def filename(self) -> str | None:
        """None: no file is behind the memory."""
        return self._path

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._data.size)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return 0 if type(self._data) is MetaArray else T.address(self._data)

    _cdata = property(data_ptr)

    def element_size(self) -> int:
        """1: bytes."""
        return 1

    def __getitem__(self, index: int | slice) -> int | UntypedStorage:
        if isinstance(index, slice):
            return UntypedStorage._over(self._data[index], self._of)
        return int(self._data[index])

    def __setitem__(self, index: int, value: int) -> None:
        self._data[index] = value._data if isinstance(value, UntypedStorage) else value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        found: list[int] = self._data.tolist()
        return found

    def fill_(self, value: int) -> UntypedStorage:
        """Sets every byte."""
        self._data[...] = value
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Takes over the bytes of a storage of the same size.

        Raises:
            RuntimeError: where sizes differ.
        """
        other = (
            source._data if isinstance(source, UntypedStorage) else source._untyped_storage._data
        )
        if other.size != self._data.size:
            raise RuntimeError(
                "size does not match, self was "
                f"{self._data.size} bytes but src was {other.size} bytes"
            )
        self._data[...] = other
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage._over(self._data.copy())

    def cpu(self) -> UntypedStorage:
        """This storage, which is on the CPU."""
        return self

    cuda = _no_cuda

    def resizable(self) -> bool:
        """Whether `resize_` may change the size: neither NumPy nor a file is behind the memory."""
        if self._mapped or _shared.is_shared(self._data):
            return False
        return type(self._data) is MetaArray or not is_fixed(T.owner(self._data))

    def resize_(self, size: int) -> UntypedStorage:
        """Gives the storage another size.

        Raises:
            NotImplementedError: where a tensor looks at the memory.
        """
        if self._mapped:
            raise RuntimeError("Trying to resize storage that is not resizable")
        if size != self._data.size:
            if self._of is not None:
                if not self.resizable():
                    raise RuntimeError(NOT_RESIZABLE)
                if size < self._data.size:
                    raise NotImplementedError(
                        "UntypedStorage.resize_: a tensor looks at this memory, and Rushlight's "
                        "tensors can't do with less; assign `tensor.data` instead"
                    )
                grown(self._of, size)
                return self
            self._data = stored.resized(self._data, size)
        return self

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._mapped or bool(_shared.is_shared(self._data))

    def share_memory_(self) -> UntypedStorage:
        """This storage. Tensors are shared by `Tensor.share_memory_`."""
        if self._of is not None and not self._mapped:
            self._of.share_memory_()
            self._data = stored.bytes_of(self._of._raw)
        return self

    def is_pinned(self, device: DeviceLike = "cuda") -> bool:
        """False: there is no device to pin memory for."""
        return False

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    def type(self, dtype: dtype | None = None, non_blocking: bool = False) -> str:
        """The name of the class."""
        return "torch.storage.UntypedStorage"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, UntypedStorage)
            and self.data_ptr() == other.data_ptr()
            and self.nbytes() == other.nbytes()
        )

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = self.clone()
        copied: UntypedStorage = found
        return copied

    def __reduce__(self) -> tuple[object, ...]:
        return _bytes_again, (self._data.tobytes(),)

    def __repr__(self) -> str:
        lines = "\n".join(f" {v}" for v in self.tolist())
        return f"{lines or ' '}\n[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()


def _bytes_again(data: bytes) -> UntypedStorage:
    return UntypedStorage.from_buffer(data)


_NAMES: Final = {
    D.float32: "Float", D.float64: "Double", D.float16: "Half", D.bfloat16: "BFloat16",
    D.uint8: "Byte", D.int8: "Char", D.int16: "Short", D.int32: "Int", D.int64: "Long",
    D.bool_: "Bool", D.complex64: "ComplexFloat", D.complex128: "ComplexDouble",
}  # fmt: skip


class TypedStorage:
    """Memory as elements of one type."""

    is_sparse = False
    is_cuda = False
    _kind: D.dtype | None = None  # of the classes with a type in their name

    def __init__(
        self,
        *args: Any,
        wrap_storage: Any = None,
        dtype: dtype | None = None,
        device: DeviceLike | None = None,
        _internal: bool = False,
    ) -> None:
        kind = dtype if dtype is not None else self._kind
        self.dtype: D.dtype = D.get_default_dtype() if kind is None else kind
        raw = T.to_raw(self.dtype)
        if wrap_storage is None and not _internal:
            _warn_typed_storage_removal()
        if wrap_storage is not None:
            self._untyped_storage: UntypedStorage = wrap_storage
        elif args and not isinstance(args[0], int):
            self._untyped_storage = UntypedStorage._over(stored.from_numbers(args[0], raw))
        else:
            self._untyped_storage = UntypedStorage((args[0] if args else 0) * raw.itemsize)

    @classmethod
    def from_buffer(
        cls,
        *args: object,
        dtype: dtype | None = None,
        device: DeviceLike | None = None,
        **kwargs: Any,
    ) -> TypedStorage:
        """A copy of the elements of a buffer."""
        kind = dtype or cls._kind or D.get_default_dtype()
        raw = UntypedStorage.from_buffer(*args, dtype=kind, **kwargs)
        return TypedStorage(wrap_storage=raw, dtype=kind)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """The first elements of a file; see `UntypedStorage.from_file`."""
        kind = cls._kind or D.get_default_dtype()
        raw = UntypedStorage.from_file(filename, shared, size * T.to_raw(kind).itemsize)
        _warn_typed_storage_removal()
        return TypedStorage(wrap_storage=raw, dtype=kind)

    @property
    def _elements(self) -> Array:
        out: Array = stored.view_as(self._untyped_storage._data, T.to_raw(self.dtype))
        return out

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """How many elements there are."""
        return int(self._elements.size)

    __len__ = _size = size

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Bytes per element."""
        return int(T.to_raw(self.dtype).itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def tolist(self) -> list[Scalar]:
        """The elements as numbers."""
        found: list[Any] = self._elements.tolist()
        return found

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return T.number_of(self._elements[index : index + 1] if index >= 0 else
                           self._elements[index:][:1])  # fmt: skip

    def __setitem__(self, index: int, value: float) -> None:
        self._elements[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def fill_(self, value: object) -> TypedStorage:
        """Sets every element."""
        self._elements[...] = value
        return self

    def copy_(self, source: object, non_blocking: bool | None = None) -> TypedStorage:
        """Takes over the elements of another storage."""
        self._untyped_storage.copy_(source)
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def resize_(self, size: int) -> None:
        """Gives the storage another size, unless a tensor looks at it."""
        self._untyped_storage.resize_(size * self.element_size())

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """This storage, whose memory other processes can see from now on."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: DeviceLike | None = None) -> bool:
        """False: there is no device to pin memory for."""
        return False

    def cpu(self) -> TypedStorage:
        """This storage, which is on the CPU."""
        return self

    cuda = _no_cuda

    def pickle_storage_type(self) -> str:
        """The name of the class for this type of element."""
        return f"{_NAMES[self.dtype]}Storage"

    def type(self, dtype: dtype | None = None, non_blocking: bool = False) -> str | TypedStorage:
        """The name of the class for this type of element."""
        return f"torch.{self.pickle_storage_type()}"

    def _to(self, dtype: D.dtype) -> TypedStorage:
        made: Any = new_tensor(self._elements)
        found: TypedStorage = _typed(made.to(dtype).clone())
        return found

    def __deepcopy__(self, memo: dict[int, object]) -> TypedStorage:
        raw = self._untyped_storage.__deepcopy__(memo)
        return TypedStorage(wrap_storage=raw, dtype=self.dtype)

    def __reduce__(self) -> tuple[object, ...]:
        return _elements_again, (self._untyped_storage._data.tobytes(), self.dtype)

    def __repr__(self) -> str:
        lines = "\n".join(f" {v}" for v in self.tolist())
        return (
            f"{lines or ' '}\n[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size "
            f"{len(self)}]"
        )


def _elements_again(data: bytes, dtype: D.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=UntypedStorage.from_buffer(data), dtype=dtype)


for _dtype, _stem in _NAMES.items():
    _name = f"{_stem}Storage"
    globals()[_name] = type(
        _name, (TypedStorage,), {"_kind": _dtype, "__module__": "torch",
                                 "__doc__": f"Memory as elements of {_dtype}."},
    )  # fmt: skip
    _short = {"Float": "float", "Double": "double", "Half": "half", "BFloat16": "bfloat16",
              "Byte": "byte", "Char": "char", "Short": "short", "Int": "int", "Long": "long",
              "Bool": "bool", "ComplexFloat": "complex_float",
              "ComplexDouble": "complex_double"}[_stem]  # fmt: skip
    setattr(TypedStorage, _short, functools.partialmethod(TypedStorage._to, _dtype))


def is_storage(obj: object) -> bool:
    """Whether it is a storage, of bytes or of elements."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def untyped(t: Tensor) -> UntypedStorage:
    """The memory behind a tensor, as bytes."""
    if type(t._raw) is MetaArray:
        return UntypedStorage._over(hollow_bytes(t._raw), t)
    return UntypedStorage._over(stored.bytes_of(t._raw), t)


def _typed(t: Tensor) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped(t), dtype=T.from_raw(t._raw.dtype))


def typed(t: Tensor) -> TypedStorage:
    """The memory behind a tensor, as elements; warns that it will go."""
    _warn_typed_storage_removal(3)
    return _typed(t)


def tensor_over(source: Any, dtype: D.dtype) -> TensorBase:
    """A flat tensor over the memory of a storage."""
    inner = source if isinstance(source, UntypedStorage) else source._untyped_storage
    return new_tensor(stored.view_as(inner._data, T.to_raw(dtype)))


STORAGES.append(UntypedStorage)
for _storage in (UntypedStorage, TypedStorage):
    setattr(_storage, "_tensor_over", tensor_over)  # noqa: B010  (what `Tensor.set_` asks for)
