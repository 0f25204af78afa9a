"""`load`: what `save`, Rushlight's or PyTorch's, wrote."""

from __future__ import annotations

import mmap as mmap_module
import os
import pickle
import sys
from typing import IO, TYPE_CHECKING, Any

from .._array.memory import storage_views as M
from .._base import dtypes as D
from .._base.device import device
from . import settings, stream, tar
from .archive import MARK, ArchiveReader, check_version
from .budget import Budget
from .names import Rebuilding, rebuilding, without_data
from .places import Place, place_of
from .unpickle import read_pickle

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from .._array.annotations import Array
    from .._base.annotations import DeviceLike


def load(
    f: str | PathLike[str] | IO[bytes],
    map_location: Callable[..., object] | DeviceLike | dict[str, str] | None = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: object,
) -> Any:
    """What `save` (Rushlight's or PyTorch's) wrote to a path or binary file.

    By default only tensors and plain containers are made, and nothing that the file names is
    called; `weights_only=False` unpickles anything, so use it on files you trust. `map_location`
    (a device, its name, a table of names, or a function of a storage and its place's name) matters
    for files from other devices: everything is loaded to the CPU. With `mmap` the data stay in the
    file until they are touched; writing to them doesn't change the file.

    What a file that isn't trusted makes besides the data of its tensors is bounded by its size;
    `torch.serialization.load_limits` sets the bounds.

    Raises:
        FileNotFoundError: where there is no such file.
        UnpicklingError: where the file names something that isn't allowed; it says what.
        RuntimeError: where the archive is damaged, or holds tensors of a device that isn't here.
        EOFError: where the file is empty.

    Parameters:
        f: a path, or a file open for reading bytes.
        map_location: where tensors go that lay on a device: a device, a mapping, or a function.
        pickle_module: what reads objects; not together with `weights_only`.
        weights_only: whether only tensors and plain values are read (safe), as by default.
        mmap: whether the tensors stay in the file until they are used.
    Returns: what was saved.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save(torch.ones(2), file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        tensor([1., 1.])
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
            if head == MARK
            else RuntimeError(_no_mmap(""))
        )
    return _load(f, map_location, careful, encoding)


def _no_mmap(name: str) -> str:
    return (
        f"mmap can only be used with files saved with `torch.save({name}"
        "_use_new_zipfile_serialization=True), "
        "please torch.save your checkpoint with this option in order to use mmap."
    )


def _load(
    file: IO[bytes], map_location: object, careful: bool, encoding: str, path: object = None
) -> object:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    place = Placing(place_of(map_location))
    budget = Budget.of(file) if careful else None
    token = without_data.set(
        isinstance(map_location, (str, device)) and str(map_location) == "meta"
    )
    try:
        return _read_either(file, head, place, budget, encoding, path)
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
    file: IO[bytes], head: bytes, place: Place, budget: Budget | None, encoding: str, path: object
) -> object:
    if head != MARK:
        if not head:
            raise EOFError("Ran out of input")
        if path is not None:
            raise RuntimeError(_no_mmap(f"{path}, "))
        if tar.is_tar(file):
            return tar.read(file, budget is not None, encoding, place)
        return stream.read(file, budget, encoding, place)
    archive = ArchiveReader(file, budget)
    memory = None if path is None else _map(file, path)
    token = rebuilding.set(Rebuilding())
    try:
        return _from_archive(archive, place, budget, encoding, memory)
    finally:
        rebuilding.reset(token)


def _map(file: IO[bytes], path: Any) -> object:
    flags = settings.get_default_mmap_options()
    if flags == mmap_module.MAP_PRIVATE:
        # Copied on writing, so that the file stays as it is.
        return mmap_module.mmap(file.fileno(), 0, access=mmap_module.ACCESS_COPY)
    # Writes go to the file, which has to be open for them.
    with open(path, "r+b") as writable:
        return mmap_module.mmap(writable.fileno(), 0, flags)


def _from_archive(
    archive: ArchiveReader, place: Place, budget: Budget | None, encoding: str, memory: object
) -> object:
    pickles = [n for n in archive.records if n.endswith("/data.pkl") and n.count("/") == 1]
    if not pickles:
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    stem = pickles[0].rpartition("/")[0]
    if f"{stem}/version" in archive:
        check_version(_small(archive, f"{stem}/version"))
    swap = _order(archive, stem) != sys.byteorder
    storages: dict[str, Any] = {}

    def storage(key: str, dtype: D.dtype, count: int, location: str) -> Array:
        if key not in storages:
            place(location, count * dtype.itemsize)
            storages[key] = data_of(f"{stem}/data/{key}", dtype, count)
        return storages[key]

    def data_of(name: str, dtype: D.dtype, count: int) -> Array:
        held, needed = archive.size_of(name), count * dtype.itemsize
        if held != needed:
            # PyTorch counts the elements in bytes here.
            raise RuntimeError(
                f"record size ({held} bytes) does not match expected size ({needed} bytes = "
                f"{needed} elements * 1 bytes/element) for dtype Byte"
            )
        start = None if memory is None else archive.data_start(name)
        if start is not None:
            return M.map_part(memory, start, count, dtype, swap)
        flat = M.unset(count, dtype)
        if settings.skipping():
            return flat
        archive.read_into(name, M.writable_bytes(flat))
        return M.swap_bytes(flat) if swap else flat

    return read_pickle(archive.read(pickles[0]), storage, budget, encoding)


def _small(archive: ArchiveReader, name: str) -> bytes:
    """A record of a few bytes."""
    return archive.read(name) if archive.size_of(name) <= 100 else b"?"


def _order(archive: ArchiveReader, stem: str) -> str:
    """The byte order of an archive's data.

    Raises:
        ValueError: where it tells one that there isn't.
    """
    if f"{stem}/byteorder" in archive:
        order = _small(archive, f"{stem}/byteorder").decode("ascii", "replace")
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        return order
    kept = settings.get_default_load_endianness()
    if kept is settings.LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if kept is settings.LoadEndianness.BIG else "little"
