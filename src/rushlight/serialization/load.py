"""`load`: what `save`, Rushlight's or PyTorch's, wrote."""

from __future__ import annotations

import mmap as mmap_module
import os
import pickle
import sys
import zipfile
import zlib
from typing import Any

from .. import dtypes as D
from .._array import memory_of as M
from ..device import device
from . import settings, stream, tar
from .names import without_data
from .places import Place, place_of
from .records import check_records
from .unpickle import unpickled


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """What `save` (Rushlight's or PyTorch's) wrote to a path or binary file.

    By default only tensors and plain containers are made, and nothing that the file names is
    called; `weights_only=False` unpickles anything, so use it on files you trust. `map_location`
    (a device, its name, a table of names, or a function of a storage and its place's name) matters
    for files from other devices: everything is loaded to the CPU. With `mmap` the data stay in the
    file until they are touched; writing to them doesn't change the file.

    Raises:
        FileNotFoundError: where there is no such file.
        UnpicklingError: where the file names something that isn't allowed; it says what.
        RuntimeError: where the archive is damaged, or holds tensors of a device that isn't here.
        EOFError: where the file is empty.
    """
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    # Whoever names a pickle module trusts the file, as in PyTorch; it is read by our own reader.
    careful = pickle_module is None if weights_only is None else bool(weights_only)
    encoding = str(pickle_load_args.get("encoding", "utf-8"))
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, map_location, careful, encoding, f if mmap else None)
    if not (hasattr(f, "seek") and hasattr(f, "tell") and hasattr(f, "read")):
        lacking = next(name for name in ("seek", "tell", "read") if not hasattr(f, name))
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute '{lacking}'. You can only "
            "torch.load from a "
            "file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
            "and try to load from it instead."
        )
    if mmap:
        head = f.read(4)
        raise (
            ValueError("f must be a file path in order to use the mmap argument")
            if head == b"PK\x03\x04"
            else RuntimeError(_no_mmap(""))
        )
    return _load(f, map_location, careful, encoding)


def _no_mmap(name: str) -> str:
    return (
        f"mmap can only be used with files saved with `torch.save({name}"
        "_use_new_zipfile_serialization=True), "
        "please torch.save your checkpoint with this option in order to use mmap."
    )


def _load(file: Any, map_location: Any, careful: bool, encoding: str, path: Any = None) -> Any:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    place = Placing(place_of(map_location))
    token = without_data.set(
        isinstance(map_location, (str, device)) and str(map_location) == "meta"
    )
    try:
        return _read_either(file, head, place, careful, encoding, path)
    except pickle.UnpicklingError:
        if place.error is None:
            raise
        raise place.error from None
    finally:
        without_data.reset(token)


class Placing:
    """The check of storages' places, which remembers its error: that one is the caller's own."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.error: Exception | None = None

    def __call__(self, location: str, count: int) -> None:
        try:
            self.place(location, count)
        except Exception as error:
            self.error = error
            raise


def _read_either(
    file: Any, head: bytes, place: Place, careful: bool, encoding: str, path: Any
) -> Any:
    if head != b"PK\x03\x04":
        if not head:
            raise EOFError("Ran out of input")
        if path is not None:
            raise RuntimeError(_no_mmap(f"{path}, "))
        if tar.is_tar(file):
            return tar.read(file, careful, encoding, place)
        return stream.read(file, careful, encoding, place)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, OverflowError):
        raise RuntimeError(
            _broken("reading zip archive", "failed finding central directory")
        ) from None
    with archive:
        memory = None if path is None else _mapped(file, path)
        return _from_archive(archive, place, careful, encoding, memory)


def _mapped(file: Any, path: Any) -> Any:
    flags = settings.get_default_mmap_options()
    if flags == mmap_module.MAP_PRIVATE:
        # Copied on writing, so that the file stays as it is.
        return mmap_module.mmap(file.fileno(), 0, access=mmap_module.ACCESS_COPY)
    # Writes go to the file, which has to be open for them.
    with open(path, "r+b") as writable:
        return mmap_module.mmap(writable.fileno(), 0, flags)


def _data_start(archive: zipfile.ZipFile, name: str) -> int | None:
    """Where a record's data begin in the file; None where they aren't there as they are."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise RuntimeError(
            f"PytorchStreamReader failed locating file {name}: file not found"
        ) from None
    if info.compress_type != zipfile.ZIP_STORED or archive.fp is None:
        return None
    archive.fp.seek(info.header_offset)
    head = archive.fp.read(30)
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise RuntimeError(_broken(f"reading file {name}", "its header is missing"))
    return (
        info.header_offset
        + 30
        + int.from_bytes(head[26:28], "little")
        + int.from_bytes(head[28:30], "little")
    )


def _from_archive(
    archive: zipfile.ZipFile, place: Place, careful: bool, encoding: str, memory: Any = None
) -> Any:
    check_records(archive)
    names = archive.namelist()
    pickles = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
    if not pickles:
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    stem = pickles[0].rpartition("/")[0]
    swap = False
    if f"{stem}/byteorder" in names:
        swap = _read(archive, f"{stem}/byteorder").decode("ascii", "replace") != sys.byteorder
    else:
        kept = settings.get_default_load_endianness()
        big = kept is settings.LoadEndianness.BIG
        native = kept is settings.LoadEndianness.NATIVE
        swap = not native and ("big" if big else "little") != sys.byteorder
    storages: dict[str, Any] = {}

    def storage(key: str, dtype: D.dtype, count: int, location: str) -> Any:
        place(location, count * dtype.itemsize)
        if key not in storages:
            storages[key] = data_of(f"{stem}/data/{key}", dtype, count)
        return storages[key]

    def data_of(name: str, dtype: D.dtype, count: int) -> Any:
        needed = count * dtype.itemsize
        start = None if memory is None else _data_start(archive, name)
        if start is not None and start + needed <= len(memory):
            return M.mapped(memory, start, count, dtype, swap)
        if settings.skipping():
            held = archive.getinfo(name).file_size
            if held >= needed:
                return M.unset(count, dtype)
        data = _read(archive, name)
        if len(data) < needed:
            raise ValueError(
                f"the record {name} holds {len(data)} bytes, too few for {count} elements"
            )
        return M.from_bytes(data[:needed], dtype, swap)

    return unpickled(_read(archive, pickles[0]), storage, careful, encoding)


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise RuntimeError(
            f"PytorchStreamReader failed locating file {name}: file not found"
        ) from None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError,
            RuntimeError, ValueError) as error:  # fmt: skip
        raise RuntimeError(_broken(f"reading file {name}", str(error))) from None


def _broken(doing: str, why: str) -> str:
    return (
        f"PytorchStreamReader failed {doing}: {why}. This is an internal miniz error. If "
        "you are seeing "
        "this error, there is a high likelihood that your checkpoint file is corrupted. This "
        "can happen "
        "if the checkpoint was not saved properly, was transferred incorrectly, or the file "
        "was modified after saving."
    )
