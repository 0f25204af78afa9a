"""`load`: what `save`, Rushlight's or PyTorch's, wrote."""

from __future__ import annotations

import os
import sys
import zipfile
from typing import Any

from .. import dtypes as D
from .._array import memory_of as M
from ..device import check_cpu, device
from . import stream
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
    matters for files from other devices: everything is loaded to the CPU. A function as
    `map_location` is not called, and `mmap` is accepted and reads the file.

    Raises:
        FileNotFoundError: where there is no such file.
        UnpicklingError: where the file names something that isn't allowed; it says what.
        RuntimeError: where the archive is damaged, or holds tensors of a device that isn't here.
        EOFError: where the file is empty.
    """
    careful = weights_only is None or bool(weights_only)
    encoding = str(pickle_load_args.get("encoding", "utf-8"))
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, map_location, careful, encoding)
    if not (hasattr(f, "seek") and hasattr(f, "tell") and hasattr(f, "read")):
        lacking = next(name for name in ("seek", "tell", "read") if not hasattr(f, name))
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute '{lacking}'. You can only "
            "torch.load from a "
            "file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
            "and try to load from it instead."
        )
    return _load(f, map_location, careful, encoding)


def _load(file: Any, map_location: Any, careful: bool, encoding: str) -> Any:
    start = file.tell()
    head = file.read(4)
    file.seek(start)

    def check(location: str) -> None:
        _check_place(location, map_location)

    if head != b"PK\x03\x04":
        if not head:
            raise EOFError("Ran out of input")
        return stream.read(file, careful, encoding, check)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError):
        raise RuntimeError(
            _broken("reading zip archive", "failed finding central directory")
        ) from None
    with archive:
        return _from_archive(archive, check, careful, encoding)


def _check_place(location: str, map_location: Any) -> None:
    """Refuses storages of a device that isn't here, in PyTorch's words."""
    if map_location is not None and not callable(map_location):
        if isinstance(map_location, dict):
            location = str(map_location.get(location, location))
        else:
            location = str(device(map_location))
    elif callable(map_location):
        return
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() "
            "is False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    check_cpu(location)


def _from_archive(archive: zipfile.ZipFile, check: Any, careful: bool, encoding: str) -> Any:
    names = archive.namelist()
    pickles = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
    if not pickles:
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    stem = pickles[0].rpartition("/")[0]
    swap = False
    if f"{stem}/byteorder" in names:
        swap = _read(archive, f"{stem}/byteorder").decode("ascii", "replace") != sys.byteorder
    storages: dict[str, Any] = {}

    def storage(key: str, dtype: D.dtype, count: int, location: str) -> Any:
        check(location)
        if key not in storages:
            data = _read(archive, f"{stem}/data/{key}")
            if len(data) < count * dtype.itemsize:
                raise ValueError(
                    f"the record {key} holds {len(data)} bytes, too few for {count} elements"
                )
            storages[key] = M.from_bytes(data[: count * dtype.itemsize], dtype, swap)
        return storages[key]

    return unpickled(_read(archive, pickles[0]), storage, careful, encoding)


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise RuntimeError(
            f"PytorchStreamReader failed locating file {name}: file not found"
        ) from None
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
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
