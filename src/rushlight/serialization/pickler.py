"""The pickler of PyTorch's files: tensors as views of storages, which are written apart."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import IO, TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory import storage_views as M
from .._base import dtypes as D
from .._base.device import device
from .._base.memory_format import layout
from .._base.size import Size
from .._core.storage import TensorBase
from .._table.rows.meta import NO_DATA
from .._tensor.copies import warn_if_has_hooks
from .._tensor.storage import TypedStorage, UntypedStorage
from .._tensor.tensor import Tensor
from .names import STORAGE_NAMES, torch_name

if TYPE_CHECKING:
    from .._array.annotations import Array


class Global:
    """A module-level name that the pickle mentions, whether or not this process can import it."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: object) -> object:
        """Nothing: picklers ask whether what they write as a function can be called."""
        raise TypeError(f"{self.module}.{self.name} is only a name here")


# One object each, so that a pickle spells a name once and refers back to it afterwards.
_REBUILD_META: Final = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
_REBUILD: Final = Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_UNTYPED: Final = Global("torch._utils", "_rebuild_tensor_v3")
_REBUILD_TYPED: Final = Global("torch._tensor", "_rebuild_from_type_v2")
_DEVICE: Final = Global("torch", "device")
_SIZE: Final = Global("torch", "Size")
_LAYOUT: Final = Global("torch.serialization", "_get_layout")
_UNTYPED: Final = Global("torch.storage", "UntypedStorage")
#: Types whose values are neither storages nor have a reducer.
_PLAIN: Final = frozenset({bool, int, str, tuple, type(None), Global, D.dtype})
_STORAGE_KINDS: Final = {d: Global("torch", name) for d, name in STORAGE_NAMES.items()}


def _is_nowhere(storage: TypedStorage | UntypedStorage) -> bool:
    return getattr(storage, "_untyped_storage", storage).device.type == "meta"


class Storage:
    """Flat memory of one element type, pickled by reference."""

    __slots__ = ("flat", "dtype", "key")

    def __init__(self, flat: Array, dtype: D.dtype, key: str) -> None:
        self.flat = flat
        self.dtype = dtype
        self.key = key

    @property
    def count(self) -> int:
        """The elements as the file has them: bytes where it has no class for the type."""
        return M.count_of(self.flat, untyped=self.dtype not in _STORAGE_KINDS)


# The pickler written in Python: what it does for each type can be overridden.
_Base: Any = pickle._Pickler


class TorchPickler(_Base):  # type: ignore[misc]
    """Writes objects as PyTorch's pickles do. `storages` are what was referred to, in order."""

    dispatch = dict(_Base.dispatch)

    def __init__(self, file: IO[bytes], protocol: int, stream: bool = False) -> None:
        super().__init__(file, protocol=protocol)
        self.storages: list[Storage] = []
        self._stream = stream
        self._seen: dict[int, Storage] = {}
        self._keep: list[Any] = []

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """Writes an object: plain values at once, others as the base class and this one say."""
        kind = type(obj)
        if kind not in _PLAIN:
            super().save(obj, save_persistent_id)
        elif (known := self.memo.get(id(obj))) is not None:
            self.write(self.get(known[0]))
        else:
            self.dispatch[kind](self, obj)

    def persistent_id(self, obj: Any) -> object:
        """What stands in the pickle for a storage.

        Raises:
            NotImplementedError: for one without data.
        """
        if type(obj) is Storage:
            if int(obj.key) == len(self.storages):  # given as it is, and not below a tensor
                self.storages.append(obj)
            return self._reference(_STORAGE_KINDS.get(obj.dtype, _UNTYPED), obj)
        if not isinstance(obj, (TypedStorage, UntypedStorage)):
            return None
        if _is_nowhere(obj):
            raise NotImplementedError(NO_DATA)
        if isinstance(obj, UntypedStorage):
            return self._reference(_UNTYPED, self.storage(obj._data)[0])
        if obj.dtype not in _STORAGE_KINDS:
            return None
        flat = M.retype(obj._untyped_storage._data, obj.dtype)
        return self._reference(_STORAGE_KINDS[obj.dtype], self.storage(flat)[0])

    def _reference(self, kind: Global, storage: Storage) -> tuple[object, ...]:
        answer = ("storage", kind, storage.key, "cpu", storage.count)
        return (*answer, None) if self._stream else answer

    def storage(self, array: Array) -> tuple[Storage, int]:
        """The storage of an array, one object for all views of the same memory.

        Raises:
            RuntimeError: where another view of the memory has elements of another type.
        """
        flat, offset = M.storage_of(array)
        key = T.address(flat) if flat.size else id(array)
        found = self._seen.get(key)
        if found is not None and found.flat.dtype != flat.dtype and found.flat.size:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        if found is None or len(found.flat) != len(flat):
            found = Storage(flat, T.from_raw(array.dtype), str(len(self.storages)))
            self.storages.append(found)
            self._seen[key] = found
            self._keep.append(array)
        return found, offset

    def reducer_override(self, obj: object) -> object:
        """How tensors and what belongs to them are pickled."""
        if isinstance(obj, TensorBase):
            if type(obj).__reduce_ex__ is not Tensor.__reduce_ex__:
                return NotImplemented
            return self._tensor(obj)
        if type(obj) is Size:
            return _SIZE, (tuple(obj),)
        if type(obj) is device:
            return _DEVICE, ((obj.type,) if obj.index is None else (obj.type, obj.index))
        if type(obj) is layout:
            return _LAYOUT, (repr(obj),)
        return NotImplemented

    def _tensor(self, t: Any) -> object:
        if t.hooks is not None:
            warn_if_has_hooks(t)
        if t.is_meta:
            size, steps = tuple(t._raw.shape), T.byte_strides(t._raw)
            return _REBUILD_META, (t.dtype, size, steps, bool(t.requires_grad))
        storage, offset = self.storage(t._raw)
        # What isn't a view of its storage was copied into one, in C order.
        apart = storage.flat.size and not M.same_memory(storage.flat, t._raw)
        strides = T.contiguous_strides(t._raw.shape) if apart else M.strides_of(t._raw)
        body: tuple[Any, ...] = (
            storage, offset, tuple(t._raw.shape), strides, bool(t.requires_grad), OrderedDict(),
        )  # fmt: skip
        function = _REBUILD
        if storage.dtype not in _STORAGE_KINDS:
            function = _REBUILD_UNTYPED
            body = (*body, storage.dtype)
        if type(t) is Tensor and not t.__dict__:
            return function, body
        state = t.__getstate__() if "__getstate__" in type(t).__dict__ else dict(t.__dict__)
        return _REBUILD_TYPED, (function, type(t), body, state)

    def _write_name(self, obj: object, module: str, name: str) -> None:
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def save_global_name(self, obj: Global) -> None:
        """Writes the name itself."""
        self._write_name(obj, obj.module, obj.name)

    def save_dtype(self, obj: D.dtype) -> None:
        """Writes a dtype as the name in torch that it is."""
        self._write_name(obj, "torch", obj.name)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Writes a class or function by name; Rushlight's own under the name that torch gives it.

        Raises:
            AttributeError: for what stands inside a function, which no name reaches.
        """
        shown = name or getattr(obj, "__qualname__", None) or obj.__name__
        if "<locals>" in shown:
            raise AttributeError(f"Can't pickle local object '{shown}'")
        module = getattr(obj, "__module__", None) or ""
        if module.partition(".")[0] == "rushlight":
            if shown.startswith("Tensor.") and getattr(Tensor, shown[7:], None) is obj:
                self.save_reduce(getattr, (Tensor, shown[7:]), obj=obj)  # as PyTorch writes it
                return
            self._write_name(obj, *torch_name(module, shown))
            return
        super().save_global(obj, name)

    def _save_class(self, obj: type[object]) -> None:
        # As the base class does, which calls a function of its own for the types of singletons.
        if obj in (type(None), type(NotImplemented), type(...)):
            super().save_type(obj)
        else:
            self.save_global(obj)

    dispatch[Global] = save_global_name
    dispatch[D.dtype] = save_dtype
    dispatch[type(lambda: None)] = save_global
    dispatch[type] = _save_class
