"""Storages with elements of one type, and the old classes with a type in their name.

A storage of elements is a storage of bytes (`untyped_storage`) and a dtype. All that is public
warns, once, that such storages will go; what is not is for code that asked for none.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn

from .._array import types as T
from .._base import dtypes as D
from .._base.device import device as a_device
from .._base.errors import type_name
from .._base.lazy import lazy
from .._table.rows.warn_once import warn_the_caller
from .._table.shape.create import tensor as tensor_of
from . import copies
from .member_help import storage_text
from .untyped_storage import (
    StorageBase,
    UntypedStorage,
    of_tensor,
    of_tensor as untyped,
    tensor_over,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._base.annotations import AnyCallable, DeviceLike, Scalar
    from .tensor import Tensor

__all__ = [
    "StorageBase", "TypedStorage", "UntypedStorage", "is_storage", "tensor_over", "type_storage",
    "untyped",
]  # fmt: skip

_REMOVAL: Final = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)
_INIT: Final = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n"
)
_NEW: Final = (
    "{}.__new__ received an invalid combination of arguments. Expected one of:\n"
    " * no arguments\n"
    " * (int size)\n"
    " * (Sequence data)\n"
    " * (*, UntypedStorage wrap_storage)\n"
)
_NO_ARGUMENTS: Final = "No positional arguments should be given when using 'wrap_storage'"

_NAMES: Final = {
    D.float64: "Double", D.float32: "Float", D.float16: "Half", D.int64: "Long", D.int32: "Int",
    D.int16: "Short", D.int8: "Char", D.uint8: "Byte", D.bool_: "Bool", D.bfloat16: "BFloat16",
    D.complex128: "ComplexDouble", D.complex64: "ComplexFloat", D.qint8: "QInt8",
    D.qint32: "QInt32", D.quint8: "QUInt8", D.quint4x2: "QUInt4x2", D.quint2x4: "QUInt2x4",
}  # fmt: skip
#: The types of integers as which quantised elements are read and written.
_QUANTISED: Final = {
    D.quint8: D.uint8, D.quint4x2: D.uint8, D.quint2x4: D.uint8, D.qint32: D.int32,
    D.qint8: D.int8,
}  # fmt: skip


class _Warnings:
    """Whether the warning was given, and whether it is given each time."""

    given = False
    always = False


def _get_always_warn_typed_storage_removal() -> bool:
    return _Warnings.always


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    if not isinstance(always_warn, bool):
        raise AssertionError(f"always_warn must be bool, got {type(always_warn).__name__}")
    _Warnings.always = always_warn


def _reset_warn_typed_storage_removal() -> None:
    _Warnings.given = False


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Warns, once, that storages of elements will go."""
    if _Warnings.always or not _Warnings.given:
        _Warnings.given = True
        warn_the_caller(_REMOVAL)


@functools.cache
def _dtype_to_storage_type_map() -> dict[D.dtype, str]:
    return {dtype: f"{name}Storage" for dtype, name in _NAMES.items()}


@functools.cache
def _storage_type_to_dtype_map() -> dict[str, D.dtype]:
    return {name: dtype for dtype, name in _dtype_to_storage_type_map().items()}


def _get_dtype_from_pickle_storage_type(pickle_storage_type: str) -> D.dtype:
    try:
        return _storage_type_to_dtype_map()[pickle_storage_type]
    except KeyError:
        raise KeyError(f'pickle storage type "{pickle_storage_type}" is not recognized') from None


def _add_warning(name: str) -> AnyCallable:
    """The public method over a private one, which warns that storages of elements will go."""

    def method(self: TypedStorage, *args: object, **kwargs: object) -> object:
        _warn_typed_storage_removal()
        return getattr(self, name)(*args, **kwargs)

    return method


def _is_count(value: object) -> bool:
    return isinstance(value, int) or T.is_integer_scalar(value)


class TypedStorage:
    __doc__ = storage_text("TypedStorage", "")

    __module__ = "torch.storage"
    is_sparse = False
    dtype: D.dtype
    _untyped_storage: UntypedStorage

    def __new__(
        cls,
        *args: object,
        wrap_storage: object = None,
        dtype: D.dtype | None = None,
        device: DeviceLike | None = None,
        _internal: bool = False,
    ) -> TypedStorage:
        if not _internal:
            _warn_typed_storage_removal()
        return object.__new__(cls)

    def __init__(
        self,
        *args: object,
        device: DeviceLike | None = None,
        dtype: D.dtype | None = None,
        wrap_storage: object = None,
        _internal: bool = False,
    ) -> None:
        if wrap_storage is None:
            self.dtype = D.get_default_dtype() if dtype is None else dtype
            self._untyped_storage = _bytes_for(args, self.dtype, a_device(device or "cpu"))
            return
        if args:
            raise RuntimeError(_INIT + _NO_ARGUMENTS)
        if dtype is None:
            raise RuntimeError(f"{_INIT}Argument 'dtype' must be specified")
        if not isinstance(dtype, D.dtype):
            raise TypeError(f"{_INIT}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        if device is not None:
            raise RuntimeError(
                f"{_INIT}Argument 'device' should not be specified when 'wrap_storage' is given"
            )
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                f"{_INIT}Argument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage)}"
            )
        self.dtype = dtype
        self._untyped_storage = wrap_storage

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'torch.storage.TypedStorage' object has no attribute '{name}'")

    # ---- what doesn't warn ------------------------------------------------------------------
    @property
    def _dtype(self) -> D.dtype:
        return self.dtype

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    @property
    def filename(self) -> str | None:
        """The file that is written to with the memory, if there is one."""
        return self._untyped_storage.filename

    def _wrap(self, inner: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=inner, dtype=self.dtype, _internal=True)

    def _tensor(self) -> Tensor:
        made: Any = tensor_over(self, _QUANTISED.get(self.dtype, self.dtype))
        return made

    def _untyped(self) -> UntypedStorage:
        return self._untyped_storage

    def _element_size(self) -> int:
        return self.dtype.itemsize

    def _nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def _size(self) -> int:
        return self._nbytes() // self._element_size()

    def _data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def _device(self) -> a_device:
        return self._untyped_storage.device

    def _get_device(self) -> int | None:
        return self._untyped_storage.get_device()

    def _getitem(self, index: object) -> Scalar:
        if self._untyped_storage.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if type(index) is not int:
            raise TypeError(f"can't index a {type(self)} with {type(index)}")
        count = self._size()
        if not -count <= index < count:
            raise IndexError(f"index {index} out of range for storage of size {count}")
        return self._tensor()[index].item()

    def _setitem(self, index: object, value: object) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if is_storage(value):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._tensor()[index] = value

    def _fill_(self, value: object) -> TypedStorage:
        self._setitem(slice(0, self._size()), value)
        return self

    def _copy_(self, source: object, non_blocking: bool | None = None) -> TypedStorage:
        self._untyped_storage.copy_(source, non_blocking)
        return self

    def _tolist(self) -> list[Scalar]:
        if self._untyped_storage.device.type == "meta" and self._size():
            raise NotImplementedError("Not available for 'meta' device type")
        return self._tensor().tolist()

    def _iter(self) -> Iterator[Scalar]:
        return iter(self._tolist())

    def _clone(self) -> TypedStorage:
        return self._wrap(self._untyped_storage.clone())

    def _deepcopy(self, memo: dict[int, object]) -> TypedStorage:
        return self._wrap(copy.deepcopy(self._untyped_storage, memo))

    def _cpu(self) -> TypedStorage:
        return self._wrap(self._untyped_storage.cpu())

    def _cuda(self, *args: object, **kwargs: object) -> TypedStorage:
        return self._wrap(self._untyped_storage.cuda(*args, **kwargs))

    def _hpu(self, *args: object, **kwargs: object) -> TypedStorage:
        return self._wrap(self._untyped_storage.hpu(*args, **kwargs))

    def _to_device(self, *, device: DeviceLike, non_blocking: bool = False) -> TypedStorage:
        return self._wrap(self._untyped_storage.to(device=device, non_blocking=non_blocking))

    def _resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self._element_size())

    def _resizable(self) -> bool:
        return self._untyped_storage.resizable()

    def _is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def _share_memory_(self) -> TypedStorage:
        self._untyped_storage.share_memory_()
        return self

    def _new_shared(self, size: int, *, device: DeviceLike | None = None) -> TypedStorage:
        """Zeros that other processes can see, of the same type."""
        count = size * self._element_size()
        return self._wrap(UntypedStorage._new_shared(count, device=device or "cpu"))

    def _share_fd_cpu_(self) -> tuple[int, int]:
        fd, count = self._untyped_storage._share_fd_cpu_()
        return fd, count // self._element_size()

    def _share_filename_cpu_(self) -> NoReturn:
        self._untyped_storage._share_filename_cpu_()

    def _write_file(self, file: BinaryIO, *how: int) -> None:
        self._untyped_storage._write_file(file, *how)  # type: ignore[arg-type]

    def _is_pinned(self, device: DeviceLike | None = None) -> bool:
        return self._untyped_storage.is_pinned(device)

    def _pin_memory(self, device: DeviceLike | None = None) -> TypedStorage:
        return self._wrap(self._untyped_storage.pin_memory(device))

    def _pickle_storage_type(self) -> str:
        try:
            return _dtype_to_storage_type_map()[self.dtype]
        except KeyError:
            raise KeyError(f"dtype {self.dtype} is not recognized") from None

    def _get_legacy_storage_class(self) -> type | None:
        name = _dtype_to_storage_type_map().get(self.dtype)
        return None if name is None or self._device().type != "cpu" else globals()[name]

    def _type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        if dtype is not None:
            return self._untyped_storage.type(dtype, non_blocking)
        cls = self._get_legacy_storage_class() or type(self)
        return f"{cls.__module__}.{cls.__name__}"

    def _to(self, dtype: D.dtype) -> TypedStorage:
        if not isinstance(dtype, D.dtype):
            raise TypeError(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        return _type_storage(self._tensor().to(dtype, copy=True))

    def _str(self) -> str:
        bare = self._untyped_storage.device.type == "meta"
        lines = "..." if bare else " " + "\n ".join(str(v) for v in self._tolist())
        return (
            f"{lines}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self._device()}) of "
            f"size {self._size()}]"
        )

    def _sizeof(self) -> int:
        return object.__sizeof__(self) + self._nbytes()

    def __reduce__(self) -> Any:
        if "storage" in copies.PICKLED:
            return copies.PICKLED["storage"](self)
        return _elements_again, (self._untyped_storage._data.tobytes(), self.dtype)

    @classmethod
    def _from_buffer(
        cls, *args: object, dtype: D.dtype | None = None, device: DeviceLike | None = None,
        **kwargs: object,
    ) -> TypedStorage:  # fmt: skip
        kind = D.get_default_dtype() if dtype is None else dtype
        if device is not None and a_device(device).type != "cpu":
            where = a_device(device).type
            raise RuntimeError(f"TypedStorage.from_buffer: Not available for device {where}")
        return _over(UntypedStorage.from_buffer(*args, dtype=kind, **kwargs), kind)

    # ---- what warns -------------------------------------------------------------------------
    @classmethod
    def from_buffer(cls, *args: object, **kwargs: object) -> TypedStorage:
        """A copy of the elements of a buffer; see `UntypedStorage.from_buffer`."""
        _warn_typed_storage_removal()
        return cls._from_buffer(*args, **kwargs)  # type: ignore[arg-type]

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """The first elements of a file; see `UntypedStorage.from_file`."""
        _warn_typed_storage_removal()
        if cls is TypedStorage:
            raise RuntimeError("from_file can only be called on derived classes")
        kind = _type_of(cls)
        return _over(UntypedStorage.from_file(filename, shared, size * kind.itemsize), kind)

    @property
    def device(self) -> a_device:
        """The CPU, or "meta" where there is no data."""
        _warn_typed_storage_removal()
        return self._device()

    @property
    def is_cuda(self) -> bool:
        """False: there is no such device."""
        _warn_typed_storage_removal()
        return False

    is_hpu = is_cuda


for _public, _private in {
    "untyped": "_untyped", "__len__": "_size", "size": "_size", "nbytes": "_nbytes",
    "element_size": "_element_size", "data_ptr": "_data_ptr", "get_device": "_get_device",
    "__getitem__": "_getitem", "__setitem__": "_setitem", "fill_": "_fill_", "copy_": "_copy_",
    "tolist": "_tolist", "__iter__": "_iter", "clone": "_clone", "__copy__": "_clone",
    "__deepcopy__": "_deepcopy", "cpu": "_cpu", "cuda": "_cuda", "hpu": "_hpu",
    "to": "_to_device", "resize_": "_resize_", "resizable": "_resizable",
    "is_shared": "_is_shared", "share_memory_": "_share_memory_", "is_pinned": "_is_pinned",
    "pin_memory": "_pin_memory", "pickle_storage_type": "_pickle_storage_type", "type": "_type",
    "__str__": "_str", "__repr__": "_str", "__sizeof__": "_sizeof",
}.items():  # fmt: skip
    _method = _add_warning(_private)
    _method.__name__ = _public
    setattr(TypedStorage, _public, _method)


def _over(inner: UntypedStorage, dtype: D.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=inner, dtype=dtype, _internal=True)


def _bytes_for(args: tuple[object, ...], dtype: D.dtype, where: a_device) -> UntypedStorage:
    """The memory for a number of elements, or of the elements of a sequence.

    Raises:
        RuntimeError, TypeError: for other arguments.
    """
    if len(args) > 1:
        raise RuntimeError(f"{_INIT}Too many positional arguments")
    if not args:
        return UntypedStorage(device=where)
    (given,) = args
    if _is_count(given):
        if not isinstance(dtype, D.dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        count: Any = given
        return UntypedStorage(int(count) * dtype.itemsize, device=where)
    if not isinstance(given, Sequence):
        raise TypeError(f"{_INIT}Argument type not recognized: {type(given)}")
    if isinstance(given, str):
        raise TypeError(f"new(): invalid data type '{type_name(given)}'")
    made: Any = tensor_of(given, dtype=_QUANTISED.get(dtype, dtype), device=where)
    return of_tensor(made)


def _elements_again(data: bytes, dtype: D.dtype) -> TypedStorage:
    return _over(UntypedStorage.from_buffer(data, dtype=D.uint8), dtype)


def _type_of(cls: Any) -> D.dtype:
    """The type in the name of a class."""
    return cls._dtype


class _LegacyStorageMeta(type):
    _dtype: D.dtype

    @property
    def dtype(cls) -> D.dtype:
        """The type in the name of the class."""
        _warn_typed_storage_removal()
        return cls._dtype

    def __instancecheck__(cls, instance: object) -> bool:
        if type(instance) is not TypedStorage:
            return False
        return instance._device().type == "cpu" and instance.dtype is cls._dtype


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The classes with a type in their name; what they make is a `TypedStorage`."""

    def __new__(  # type: ignore[misc]
        cls,
        *args: object,
        wrap_storage: object = None,
        dtype: D.dtype | None = None,
        device: DeviceLike | None = None,
        _internal: bool = False,
    ) -> TypedStorage:
        super().__new__(cls, _internal=_internal)  # warns
        if cls is _LegacyStorage:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        calls = _NEW.format(cls)
        for name, value in (("device", device), ("dtype", dtype)):
            if value is not None:
                raise RuntimeError(f"{calls}Keyword argument '{name}' cannot be specified")
        if wrap_storage is None:
            if len(args) > 1:
                raise RuntimeError(f"{calls}Too many positional arguments")
            if args and not _is_count(args[0]) and not isinstance(args[0], Sequence):
                raise TypeError(f"{calls}Argument type not recognized: {type(args[0])}")
            return TypedStorage(*args, dtype=_type_of(cls), device="cpu", _internal=True)
        if args:
            raise RuntimeError(calls + _NO_ARGUMENTS)
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                f"{calls}Argument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage)}"
            )
        if wrap_storage.device.type != "cpu":
            raise RuntimeError(
                f"{calls}Device of 'wrap_storage' must be cpu, but got {wrap_storage.device.type}"
            )
        return _over(wrap_storage, _type_of(cls))

    @classmethod
    def _new_shared(cls, size: int) -> TypedStorage:  # type: ignore[override]
        kind = _type_of(cls)
        return _over(UntypedStorage._new_shared(size * kind.itemsize), kind)

    @classmethod
    def _from_buffer(
        cls, *args: object, dtype: D.dtype | None = None, device: DeviceLike | None = None,
        **kwargs: object,
    ) -> TypedStorage:  # fmt: skip
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise RuntimeError(
                    f"from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer "
                    "and TypedStorage.from_buffer"
                )
        kind = _type_of(cls)
        return _over(UntypedStorage.from_buffer(*args, dtype=kind, **kwargs), kind)


def _caster(dtype: D.dtype) -> Callable[[Any], TypedStorage]:
    def cast(self: Any) -> TypedStorage:
        """The elements in another type, in memory of their own."""
        if isinstance(self, TypedStorage):
            _warn_typed_storage_removal()
            return self._to(dtype)
        return _over(self, D.uint8)._to(dtype)

    return cast


_storage_classes: Final[set[type]] = {TypedStorage, UntypedStorage}
_CASTS: Final = {
    "double": D.float64, "float": D.float32, "half": D.float16, "long": D.int64, "int": D.int32,
    "short": D.int16, "char": D.int8, "byte": D.uint8, "bool": D.bool_, "bfloat16": D.bfloat16,
    "complex_double": D.complex128, "complex_float": D.complex64,
}  # fmt: skip
for _dtype, _stem in _NAMES.items():
    _name = f"{_stem}Storage"
    globals()[_name] = _LegacyStorageMeta(
        _name, (_LegacyStorage,), {"_dtype": _dtype, "__module__": "torch",
                                   "__doc__": storage_text(_name, str(_dtype))},
    )  # fmt: skip
    _storage_classes.add(globals()[_name])
for _name, _dtype in _CASTS.items():
    for _class in (TypedStorage, UntypedStorage):
        setattr(_class, _name, _caster(_dtype))


def _find(name: str) -> object:
    """`Storage`: the class whose elements have the default type at that time."""
    if name != "Storage":
        raise KeyError(name)
    return globals()[_dtype_to_storage_type_map()[D.get_default_dtype()]]


__getattr__ = lazy(__name__, find=_find)


def is_storage(obj: object) -> bool:
    """Whether it is a storage, of bytes or of elements.

    Parameters:
        obj: any value.
    Returns: bool.
    Raises: nothing.
    Example:
        >>> torch.is_storage(torch.ones(1).untyped_storage()), torch.is_storage([1.0])
        (True, False)
    """
    return isinstance(obj, (UntypedStorage, TypedStorage))


def _type_storage(t: Tensor) -> TypedStorage:
    return _over(of_tensor(t), T.from_raw(t._raw.dtype))


def type_storage(t: Tensor) -> TypedStorage:
    """The memory behind a tensor, as elements; warns that it will go."""
    _warn_typed_storage_removal()
    return _type_storage(t)


def storage_type(t: Tensor) -> type | None:
    """The old class of storages with elements of a tensor's type, if there is one."""
    _warn_typed_storage_removal()
    return _type_storage(t)._get_legacy_storage_class()


for _name in ("_tensor_over", "_taken_by"):  # what `Tensor.set_` asks for
    setattr(TypedStorage, _name, getattr(StorageBase, _name))
