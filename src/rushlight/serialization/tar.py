"""The oldest file format, a tar archive of four pickled lists: read only, and only on trust.

Its members: `sys_info`; `storages`, each a key, a place and a class before its count and its bytes;
`tensors`, each a key, a storage's key and a class before its geometry; and `pickle`, the objects,
which refer to tensors by their keys.
"""

from __future__ import annotations

import pickle
import struct
import tarfile
from typing import IO, Any, Final

from .._array.memory import storage_views as M
from .._base import dtypes as D
from . import names
from .budget import size_left
from .flow import read_into
from .places import Place
from .unpickle import EITHER, Trusting

__all__ = ["is_tar", "read"]

_MAGIC: Final = b"ustar"


def is_tar(file: IO[bytes]) -> bool:
    """Whether a file begins as a tar archive does."""
    start = file.tell()
    file.seek(start + 257)
    found = file.read(5)
    file.seek(start)
    return found == _MAGIC


class _Entries(pickle.Unpickler):
    """The entries of a list: numbers, text, and the classes of storages as dtypes."""

    def find_class(self, module: str, name: str) -> object:
        """The dtype of a storage's class; other classes are told by name and not looked up."""
        found = names.SAFE.get((module, name))
        return found if isinstance(found, D.dtype) else f"{module}.{name}"


class _Objects(Trusting):
    """The objects, whose references are to tensors."""

    def __init__(self, body: IO[bytes], tensors: dict[int, Any], encoding: str) -> None:
        super().__init__(body, _no_storage, encoding)
        self._tensors = tensors

    def persistent_load(self, pid: Any) -> Any:
        """The tensor of this key."""
        if isinstance(pid, tuple):
            return pid[1]
        return self._tensors[int(pid)]


def _no_storage(key: str, kind: D.dtype, count: int, location: str) -> object:
    raise pickle.UnpicklingError("a storage where none can be")


def _numbers(file: IO[bytes], count: int) -> tuple[int, ...]:
    data = file.read(8 * count)
    if len(data) != 8 * count:
        raise EOFError("Ran out of input")
    return struct.unpack(f"<{count}q", data)


def read(file: IO[bytes], careful: bool, encoding: str, place: Place) -> object:
    """What a PyTorch of before 2017 wrote.

    Raises:
        RuntimeError: for a reader that trusts nobody, and where the archive is damaged.
    """
    if careful:
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. " + EITHER
        )
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            members = {}
            for name in ("storages", "tensors", "pickle"):
                member = archive.extractfile(name)
                if member is None:
                    raise RuntimeError(f"the member {name} of the archive is no file")
                members[name] = member
            storages = _storages(members["storages"], place)
            tensors = _tensors(members["tensors"], storages)
            return _Objects(members["pickle"], tensors, encoding).load()
    except (tarfile.TarError, KeyError, struct.error) as error:
        raise RuntimeError(f"the legacy archive is damaged: {error}") from None


def _storages(file: IO[bytes], place: Place) -> dict[object, object]:
    flats: dict[Any, Any] = {}
    for _ in range(_Entries(file).load()):
        key, location, dtype = _Entries(file).load()
        if not isinstance(dtype, D.dtype):
            raise RuntimeError(f"a storage of the unknown class {dtype}")
        (count,) = _numbers(file, 1)
        place(location, count * dtype.itemsize)
        if not 0 <= count * dtype.itemsize <= size_left(file):
            raise RuntimeError(f"the storage {key} is cut off")
        flats[key] = M.unset(count, dtype)
        if read_into(file, M.writable_bytes(flats[key])) != flats[key].nbytes:
            raise RuntimeError(f"the storage {key} is cut off")
        if not M.is_little_endian():
            M.swap_bytes(flats[key])
    for key, root, offset, count in _Entries(file).load():
        flats[key] = flats[root][offset : offset + count]
    return flats


def _tensors(file: IO[bytes], storages: dict[Any, Any]) -> dict[int, object]:
    made: dict[int, Any] = {}
    for _ in range(_Entries(file).load()):
        key, storage, _ = _Entries(file).load()
        (ndim,) = struct.unpack("<i4x", file.read(8))
        shape, stride = _numbers(file, ndim), _numbers(file, ndim)
        (offset,) = _numbers(file, 1)
        made[int(key)] = names.rebuild_tensor(storages[storage], offset, shape, stride)
    return made
