"""`save`: objects with tensors into PyTorch's zip format, atomically."""

from __future__ import annotations

import io
import os
import pickle
import sys
import tempfile
import zipfile
from typing import IO, Any

from .. import dtypes as D
from .._array import memory_of as M
from .._array import types as T
from .._core.storage import TensorBase
from ..device import device
from ..memory_format import memory_format
from ..size import Size

_STORAGE_NAMES = {
    "bool": "BoolStorage", "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage",
    "int32": "IntStorage", "int64": "LongStorage", "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage", "float32": "FloatStorage", "float64": "DoubleStorage",
    "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip


class Global:
    """A module-level name that the pickle mentions, whether or not this process can import it."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


class _Storage:
    """Flat memory of one element type, pickled by reference."""

    __slots__ = ("flat", "dtype")

    def __init__(self, flat: Any, dtype: D.dtype) -> None:
        self.flat = flat
        self.dtype = dtype


class TorchPickler(pickle._Pickler):  # type: ignore[name-defined,misc]
    """Writes tensors as PyTorch's pickles do, storages apart."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol=protocol)
        self.storages: list[_Storage] = []
        self._numbers: dict[int, int] = {}
        self._seen: dict[int, _Storage] = {}
        self._keep: list[Any] = []

    def persistent_id(self, obj: Any) -> Any:
        """What stands in the pickle for a storage."""
        if not isinstance(obj, _Storage):
            return None
        number = self._numbers.setdefault(id(obj), len(self._numbers))
        if number == len(self.storages):
            self.storages.append(obj)
        kind = Global("torch", _STORAGE_NAMES[obj.dtype.name])
        return ("storage", kind, str(number), "cpu", len(obj.flat))

    def storage(self, array: Any) -> tuple[_Storage, int]:
        """The storage of an array, one object for all views of the same memory."""
        flat, offset = M.storage_of(array)
        key = T.address(flat) if flat.size else id(array)
        found = self._seen.get(key)
        if found is None or len(found.flat) != len(flat) or found.flat.dtype != flat.dtype:
            found = _Storage(flat, T.from_raw(array.dtype))
            self._seen[key] = found
            self._keep.append(array)
        return found, offset

    def reducer_override(self, obj: Any) -> Any:
        """How tensors and what belongs to them are pickled."""
        if isinstance(obj, TensorBase):
            return self._tensor(obj)
        if isinstance(obj, D.dtype):
            return NotImplemented
        if isinstance(obj, Size):
            return Global("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return Global("torch", "device"), args
        return NotImplemented

    def _tensor(self, t: Any) -> Any:
        from collections import OrderedDict

        storage, offset = self.storage(t._raw)
        contiguous = storage.flat.size == t._raw.size and offset == 0 and not _same_memory(storage, t._raw)
        strides = M.contiguous_strides(t._raw.shape) if contiguous else M.strides_of(t._raw)
        body = (storage, offset, tuple(t._raw.shape), strides, t._requires_grad, OrderedDict())
        if getattr(type(t), "_is_param_class", False):
            data = _Detached(body[:4] + (False, OrderedDict()))
            return Global("torch._utils", "_rebuild_parameter"), (data, t._requires_grad, OrderedDict())
        return Global("torch._utils", "_rebuild_tensor_v2"), body

    def save_global_name(self, obj: Global) -> None:
        """Writes the name itself."""
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_dtype(self, obj: D.dtype) -> None:
        """Writes a dtype as the name in torch that it is."""
        self.write(pickle.GLOBAL + f"torch\n{obj.name}\n".encode())

    def save_global(self, obj: Any, name: Any = None) -> None:
        """Writes a class or function by name; Rushlight's own under the name that torch gives it."""
        module = getattr(obj, "__module__", None) or ""
        if module.split(".")[0] == "rushlight":
            shown = name or getattr(obj, "__qualname__", obj.__name__)
            self.write(pickle.GLOBAL + f"torch{module[len('rushlight'):]}\n{shown}\n".encode())
            self.memoize(obj)
            return
        super().save_global(obj, name)

    dispatch[Global] = save_global_name
    dispatch[D.dtype] = save_dtype
    dispatch[type(lambda: None)] = save_global


class _Detached:
    """The tensor inside a parameter."""

    __slots__ = ("body",)

    def __init__(self, body: tuple[Any, ...]) -> None:
        self.body = body

    def __reduce__(self) -> Any:
        return Global("torch._utils", "_rebuild_tensor_v2"), self.body


def _same_memory(storage: _Storage, array: Any) -> bool:
    return array.size > 0 and T.address(storage.flat) == T.address(T.owner(array))


def save(obj: object, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
         _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False) -> None:  # fmt: skip
    """Writes `obj` (tensors, state dicts, nested containers, modules) to a path or binary file.

    A path is written through a temporary file beside it, so a failure leaves the previous file whole.

    Raises:
        RuntimeError: where the folder doesn't exist.
        OSError: where the file can't be written; pickling errors as Python's.
    """
    body = io.BytesIO()
    pickler = TorchPickler(body, pickle_protocol)
    pickler.dump(obj)
    if not isinstance(f, (str, os.PathLike)):
        _write_zip(f, "archive", body.getvalue(), pickler.storages)
        return
    path = os.fspath(f)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(path)} does not exist.")
    stem = os.path.splitext(os.path.basename(path))[0] or "archive"
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            _write_zip(file, stem, body.getvalue(), pickler.storages)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(path))
        os.replace(temporary, path)
    except BaseException:
        with _ignored():
            os.unlink(temporary)
        raise


def _mode_for(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


class _ignored:
    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, OSError)


def _write_zip(file: Any, stem: str, body: bytes, storages: list[_Storage]) -> None:
    """The archive: data.pkl, then a stored (uncompressed), 64-byte aligned record per storage."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _record(archive, f"{stem}/data.pkl", body)
        _record(archive, f"{stem}/.format_version", b"1")
        _record(archive, f"{stem}/.storage_alignment", b"64")
        _record(archive, f"{stem}/byteorder", sys.byteorder.encode())
        for number, storage in enumerate(storages):
            _record(archive, f"{stem}/data/{number}", M.bytes_of(storage.flat))
        _record(archive, f"{stem}/version", b"3\n")
        _record(archive, f"{stem}/.data/serialization_id", b"0" * 40)


def _record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    assert archive.fp is not None
    start = archive.fp.tell() + 30 + len(name.encode())
    # The extra field "FB" pads the record so that its data begin at a multiple of 64 bytes.
    pad = -(start + 4) % 64
    info.extra = b"FB" + pad.to_bytes(2, "little") + b"Z" * pad
    archive.writestr(info, bytes(data) if isinstance(data, memoryview) else data)
