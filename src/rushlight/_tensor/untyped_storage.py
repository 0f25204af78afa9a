"""Storages: the memory behind tensors, as bytes.

A storage looks at the memory that the tensor's array is a view of, so what is written to one is
seen in the other. Memory that a tensor looks at can grow, but not shrink.

Note [One storage for one memory]
A storage is made when somebody asks for it. While it lives, all tensors over that memory give the
same one: it is found by the array that owns the memory. A storage with attributes (or of a class of
one's own, or that a tensor was made of) lives as long as a tensor that has given or taken it.
"""

from __future__ import annotations

import operator
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn

from .._array import types as T
from .._array.memory import packed as P, raw_bytes as stored, shared as _shared
from .._array.memory.exported import is_fixed
from .._array.memory.meta import MetaArray, bytes_of as meta_bytes, meta_array
from .._base import dtypes as D
from .._base.device import CPU, META, device as a_device, on_meta
from .._base.errors import type_name
from .._core.storage import TensorBase, new_tensor
from .._table.calls.argument_parser import is_index
from .._table.rows.meta import NO_DATA
from .._table.rows.resizing import NOT_RESIZABLE, STORAGES, grow, relocate
from . import copies

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from .._array.annotations import Array
    from .._base.annotations import DeviceLike, Keywords

    Memo = dict[int, Any]
    from .._base.dtypes import dtype

_LIVING: Final[weakref.WeakValueDictionary[int, StorageBase]] = weakref.WeakValueDictionary()
_KEPT: Final[dict[int, tuple[weakref.ref[TensorBase], StorageBase]]] = {}

_CALLS: Final = (
    " * (*, int allocator = None, torch.device device = None)\n"
    " * (int size, *, int allocator = None, torch.device device = None)\n"
    " * (object sequence, *, int allocator = None, torch.device device = None)\n"
)
_NOT_HERE: Final = "Not available for 'meta' device type"
_NEGATIVE: Final = (
    "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been "
    "called with negative number: "
)


def _fresh(count: int, nowhere: bool) -> Array:
    if count < 0:
        raise RuntimeError(f"{_NEGATIVE}{count + 2**64}")
    return meta_array((count,), T.to_raw(D.uint8)) if nowhere else stored.fresh(count)


def _numbers(given: object) -> list[int]:
    """The items of a sequence as bytes.

    Raises:
        RuntimeError: for what is no sequence, or of other things than integers.
    """
    if isinstance(given, TensorBase) or not hasattr(given, "__getitem__"):
        raise RuntimeError(
            f"torch.UntypedStorage(): Expected a sequence type, but got {type_name(given)}"
        )
    found = []
    for item in iter(given):
        if not is_index(item):
            raise RuntimeError(
                "torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type_name(given)}), but one of the items was of type {type_name(item)} instead "
                "of int"
            )
        found.append(int(item) & 255)
    return found


def _make(args: tuple[object, ...], kwargs: Keywords) -> Array:
    """The bytes that a call of the class asks for.

    Raises:
        TypeError: for other arguments.
    """
    if len(args) > 1 or kwargs.keys() - {"device", "allocator"}:
        given = [type_name(a) for a in args]
        given += [f"{name}={type_name(value)}" for name, value in kwargs.items()]
        got = f"{given[0]}, " if len(given) == 1 and not args else ", ".join(given)
        raise TypeError(
            "torch.UntypedStorage() received an invalid combination of arguments - got "
            f"({got}), but expected one of:\n{_CALLS}"
        )
    wanted = kwargs.get("device")
    if wanted is not None and a_device(wanted).type not in ("cpu", "meta", "cuda"):
        raise RuntimeError(
            f"torch.UntypedStorage(): Storage device not recognized: {a_device(wanted).type}"
        )
    nowhere = on_meta(wanted)
    if not args or is_index(args[0]):
        return _fresh(operator.index(args[0]) if args else 0, nowhere)  # type: ignore[arg-type]
    numbers = _numbers(args[0])
    return (
        _fresh(len(numbers), True) if nowhere else stored.from_numbers(numbers, T.to_raw(D.uint8))
    )


class StorageBase:
    """What all storages of bytes are. Only classes made from it have instances.

    Parameters:
        args: what the classes made from it take.
    Raises: RuntimeError: always; its subclasses for what makes no bytes.
    Example:
        >>> issubclass(torch.UntypedStorage, torch.StorageBase)
        True
    """

    __slots__ = ("_data", "_path", "_mapped", "_lookers", "__weakref__")
    __module__ = "torch._C"

    _data: Any
    _path: str | None
    _mapped: bool  # its memory is a file's
    _lookers: list[weakref.ref[TensorBase]]  # tensors that have given or taken it

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        if cls is StorageBase:
            raise RuntimeError(
                "Cannot directly construct StorageBase; subclass it and then construct that"
            )
        return cls._over(_make(args, kwargs))

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Nothing: `__new__` has made the storage."""

    @classmethod
    def _over(cls, data: Array) -> Self:
        made = object.__new__(cls)
        made._data, made._path, made._mapped, made._lookers = data, None, False, []
        return made


class UntypedStorage(StorageBase):
    """Memory as bytes: of a size, of a list of bytes, or behind a tensor.

    Parameters:
        args: how many bytes, or which; none: an empty storage.
    Raises: RuntimeError or TypeError: for anything else.
    Example:
        >>> torch.UntypedStorage([1, 2]).tolist()
        [1, 2]
    """

    __module__ = "torch.storage"

    is_cuda = False
    is_sparse = False
    is_hpu = False
    is_sparse_csr = False

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        if name not in StorageBase.__slots__:
            for ref in self._lookers:
                t = ref()
                if t is not None:
                    _keep(t, self)

    @classmethod
    def from_buffer(cls, *args: object, **kwargs: object) -> UntypedStorage:
        """A copy of the bytes of a buffer: (buffer, byte_order, count, offset, *, dtype).

        Bytes in the other order than the machine's are turned.

        Raises:
            RuntimeError: without a dtype, or an order of bytes.
            ValueError: for counts and offsets beyond the end.
        """
        names = ("buffer", "byte_order", "count", "offset", "dtype")
        given: dict[str, Any] = {"byte_order": None, "count": -1, "offset": 0, "dtype": None}
        given.update(zip(names, args), **kwargs)
        kind: dtype | None = given["dtype"]
        if kind is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        order = given["byte_order"]
        if order is None and kind.itemsize > 1:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if order is not None and order not in ("native", "little", "big"):
            raise ValueError(
                f"invalid byte_order '{order}' (expected 'native', 'little', or 'big')"
            )
        octets = stored.from_buffer(
            given["buffer"], int(given["count"]), int(given["offset"]), kind
        )
        if kind is D.bool_:
            octets = (octets != 0).view("u1")
        elif order not in (None, "native") and (order == "little") != stored.little_endian():
            octets = stored.swap_octets(octets, _part_size(kind))
        return cls._over(octets)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, which are read when they are first looked at.

        Where `shared`, what is written goes to the file, which grows if it is too short.

        Raises:
            RuntimeError: where the file can't be opened, or is too short.
        """
        path = os.fspath(filename)
        made = cls._over(stored.map_file(path, shared, nbytes))
        made._mapped = True
        made._path = path if shared else None
        return made

    @classmethod
    def _new_shared(cls, size: int, *, device: DeviceLike = "cpu") -> UntypedStorage:
        made = cls(size, device=device)
        return made if on_meta(device) else made.fill_(0).share_memory_()

    @property
    def device(self) -> a_device:
        """The CPU, or "meta" where there is no data."""
        return META if type(self._data) is MetaArray else CPU

    @property
    def filename(self) -> str | None:
        """The file that is written to with the memory, if there is one."""
        return self._path

    def _get_filename(self) -> str | None:
        return self._path

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._data.size)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return 0 if type(self._data) is MetaArray else T.address(self._data)

    @property
    def _cdata(self) -> int:
        return id(T.owner(self._data))

    def element_size(self) -> int:
        """1: bytes."""
        return 1

    def get_device(self) -> int | None:
        """The number of the device, of which there is none."""
        return self.device.index

    def _span(self, index: slice) -> slice:
        start, stop, step = index.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(
                f"Trying to slice with a step of {step}, but only a step of 1 is supported"
            )
        return slice(start, max(start, stop))

    def __getitem__(self, index: object) -> int | UntypedStorage:
        if type(self._data) is MetaArray:
            raise NotImplementedError(_NOT_HERE)
        if isinstance(index, slice):
            return UntypedStorage._over(self._data[self._span(index)])
        if not is_index(index):
            raise TypeError(f"can't index a torch.UntypedStorage with {type_name(index)}")
        at, count = operator.index(index), self.nbytes()  # type: ignore[arg-type]
        at += count if at < 0 else 0
        if not 0 <= at < count:
            raise IndexError(f"index {at} out of range for storage of size {count}")
        return int(self._data[at])

    def __setitem__(self, index: object, value: int) -> None:
        if not is_index(value):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type_name(value)} instead"
            )
        if isinstance(index, slice):
            at: Any = self._span(index)
        elif is_index(index):
            at, count = operator.index(index), self.nbytes()  # type: ignore[arg-type]
            at += count if at < 0 else 0
            if not 0 <= at < count:
                raise RuntimeError("out of bounds")
        else:
            raise RuntimeError(f"can't index a torch.UntypedStorage with {type_name(index)}")
        if type(self._data) is not MetaArray:
            self._data[at] = int(value) & 255

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        if type(self._data) is MetaArray:
            raise NotImplementedError(_NOT_HERE)
        return self._data.tolist()

    def fill_(self, value: int) -> Self:
        """Sets every byte."""
        if not is_index(value):
            raise RuntimeError(f"fill_ expects int, but got {type_name(value)}")
        if type(self._data) is not MetaArray:
            self._data[...] = int(value) & 255
        return self

    def copy_(self, source: object, non_blocking: bool | None = None) -> Self:
        """Takes over the bytes of a storage of the same size.

        Raises:
            RuntimeError: where sizes differ.
            TypeError: for anything but a storage.
        """
        inner = getattr(source, "_untyped_storage", source)
        if not isinstance(inner, StorageBase):
            raise TypeError(
                "copy_(): argument 'src' (position 1) must be torch.Storage, not "
                f"{type_name(source)}"
            )
        other = inner._data
        if other.size != self._data.size:
            raise RuntimeError(
                f"size does not match, self was {self._data.size} bytes but src was {other.size} "
                "bytes"
            )
        if type(self._data) is MetaArray:
            return self
        if type(other) is MetaArray:
            raise NotImplementedError(NO_DATA)
        self._data[...] = other
        return self

    def new(self) -> UntypedStorage:
        """A storage of no bytes."""
        return UntypedStorage()

    def clone(self) -> Self:
        """A copy."""
        return type(self)(self.nbytes(), device=self.device).copy_(self)

    def cpu(self) -> UntypedStorage:
        """This storage, which is on the CPU.

        Raises:
            NotImplementedError: where there is no data.
        """
        if type(self._data) is MetaArray:
            raise NotImplementedError(NO_DATA)
        return self

    def to(self, *, device: DeviceLike, non_blocking: bool = False) -> UntypedStorage:
        """This storage, if it is on that device; a copy from "meta" isn't possible."""
        wanted = a_device(device)
        if wanted == self.device:
            return self
        if wanted.type != "cpu":
            raise AssertionError(f"{wanted.type.upper()} device module is not loaded")
        return UntypedStorage(self.nbytes()).copy_(self)

    def cuda(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: there is no such device."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def hpu(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: there is no such device."""
        raise AssertionError("HPU device module is not loaded")

    def resizable(self) -> bool:
        """Whether `resize_` may change the size: neither NumPy nor a file is behind the memory."""
        if self._mapped or _shared.is_shared(self._data):
            return False
        return type(self._data) is MetaArray or not is_fixed(T.owner(self._data))

    def resize_(self, size: int) -> Self:
        """Gives the storage another size.

        Raises:
            RuntimeError: where NumPy or a file is behind the memory.
            NotImplementedError: for fewer bytes, where a tensor looks at the memory.
        """
        if size < 0 or type(self._data) is MetaArray:
            self._data = _fresh(size, True)
        elif not self.resizable():
            raise RuntimeError(NOT_RESIZABLE)
        elif size != self._data.size:
            grow(self, size)
        return self

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._mapped or bool(_shared.is_shared(self._data))

    def share_memory_(self) -> Self:
        """This storage, its memory moved to where other processes see it, for all that look at it.

        Raises:
            RuntimeError: where there is no data.
        """
        self._share("fd")
        return self

    def _share(self, how: str) -> None:
        if type(self._data) is MetaArray:
            raise RuntimeError(f"_share_{how}_: only available on CPU")
        if not self.is_shared():
            relocate(self, _shared.share(stored.bytes_of(self._data)))

    def _share_fd_cpu_(self) -> tuple[int, int]:
        self._share("fd")
        block: Any = _shared.block_of(self._data)
        return os.dup(block.fd), self.nbytes()

    def _share_filename_cpu_(self) -> NoReturn:
        self._share("filename")
        raise NotImplementedError("memory is shared by descriptors here, not by the names of files")

    def _write_file(self, file: BinaryIO, is_real_file: bool, save_size: bool, step: int) -> None:
        """Writes the bytes to a file, after how many elements of `step` bytes they are."""
        if type(self._data) is MetaArray:
            raise NotImplementedError(NO_DATA)
        head = (self.nbytes() // step).to_bytes(8, "little") if save_size else b""
        file.write(head + self._data.tobytes())
        file.flush()

    def is_pinned(self, device: DeviceLike | None = None) -> bool:
        """False: there is no device to pin memory for."""
        return False

    def pin_memory(self, device: DeviceLike | None = None) -> NoReturn:
        """Refused: there is no device to pin memory for."""
        if type(self._data) is MetaArray:
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def byteswap(self, dtype: dtype) -> None:
        """Turns the order of the bytes of each element, or of each part of a complex one.

        Raises:
            RuntimeError: where the bytes aren't whole elements.
        """
        size = _part_size(dtype)
        if self.nbytes() % size:
            raise RuntimeError(f"the length of data is not a multiple of {size}")
        if type(self._data) is not MetaArray:
            self._data[...] = stored.swap_octets(self._data, size)

    def untyped(self) -> Self:
        """This storage."""
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the class; or the bytes in a storage of another class."""
        if dtype is None:
            return "torch.storage.UntypedStorage"
        if isinstance(dtype, str):
            package = sys.modules[__name__.partition(".")[0]]
            dtype = getattr(package, dtype.rpartition(".")[2])
        return self if dtype is type(self) else dtype(self.size()).copy_(self, non_blocking)

    def _fix_weakref(self) -> None:
        """Nothing: a reference that lives is enough here."""

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: Memo) -> UntypedStorage:
        found = memo.get(id(self))
        if found is None:
            bare = type(self._data) is MetaArray
            data = self._data if bare else P.copy_with_storage(self._data, memo)
            found = memo[id(self)] = type(self)._over(data)
        return found

    def __reduce__(self) -> Any:
        if "storage" in copies.PICKLED:
            return copies.PICKLED["storage"](self)
        return _bytes_again, (self._data.tobytes(),)

    def __repr__(self) -> str:
        bare = type(self._data) is MetaArray
        lines = "..." if bare else " " + "\n ".join(str(v) for v in self.tolist())
        return f"{lines}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()


def _part_size(dtype: dtype) -> int:
    """The bytes of an element, or of a part of a complex one."""
    return dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize


def _bytes_again(data: bytes) -> UntypedStorage:
    return UntypedStorage.from_buffer(data, dtype=D.uint8)


# ---- tensors and their storages --------------------------------------------------------------
def of_tensor(t: TensorBase) -> UntypedStorage:
    """The memory behind a tensor, as bytes; see Note [One storage for one memory]."""
    raw = t._raw
    if type(raw) is MetaArray:
        kept = _KEPT.get(id(t))
        if kept is not None and kept[1]._data.size == T.owner(raw).nbytes:
            return kept[1]  # type: ignore[return-value]
        made = UntypedStorage._over(meta_bytes(raw))
    else:
        whole = T.owner(raw)
        found = _LIVING.get(id(whole))
        if found is not None and T.owner(found._data) is whole:
            return _share(t, found)
        made = UntypedStorage._over(stored.bytes_of(raw))
        _LIVING[id(T.owner(made._data))] = made
    return _share(t, made)


def over_array(flat: Array) -> UntypedStorage:
    """The memory of a flat array that no tensor has shown yet, as bytes."""
    made = UntypedStorage._over(stored.bytes_of(flat))
    _LIVING[id(T.owner(made._data))] = made
    return made


def _share(t: TensorBase, storage: Any) -> UntypedStorage:
    """The storage, which a tensor gives or has taken."""
    storage._lookers = [ref for ref in storage._lookers if ref() is not None and ref() is not t]
    storage._lookers.append(weakref.ref(t))
    if type(storage) is not UntypedStorage or storage.__dict__:
        _keep(t, storage)
    return storage


def _keep(t: TensorBase, storage: StorageBase) -> None:
    """Has a storage live as long as a tensor."""
    number = id(t)
    _KEPT[number] = weakref.ref(t, lambda _: _KEPT.pop(number, None)), storage


def take(t: TensorBase, storage: Any) -> TensorBase:
    """The tensor, which shows the memory of a storage from now on."""
    inner = getattr(storage, "_untyped_storage", storage)
    whole = T.owner(inner._data)
    if inner._data.nbytes == whole.nbytes:
        _LIVING[id(whole)] = inner
    _share(t, inner)
    _keep(t, inner)
    return t


def tensor_over(source: Any, dtype: D.dtype) -> TensorBase:
    """A flat tensor over the memory of a storage."""
    inner = getattr(source, "_untyped_storage", source)
    made = new_tensor(stored.view_as(inner._data, T.to_raw(dtype)))
    if type(inner._data) is MetaArray:
        made._plain = False
        made._layered = True
    return take(made, inner)


STORAGES.append(StorageBase)
setattr(StorageBase, "_tensor_over", tensor_over)  # noqa: B010  (what `Tensor.set_` asks for)
setattr(StorageBase, "_taken_by", lambda storage, t: take(t, storage))  # noqa: B010
