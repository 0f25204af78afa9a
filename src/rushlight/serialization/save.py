"""`save`: objects with tensors into PyTorch's file formats, atomically."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

from .._array import memory_of as M
from . import stream
from .pickler import Storage, TorchPickler
from .settings import skipping


def save(
    obj: object,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes `obj` (tensors, state dicts, nested containers, modules) to a path or binary file.

    A path is written through a temporary file beside it, so a failure leaves the previous file
    whole.

    Raises:
        RuntimeError: where the folder doesn't exist.
        OSError: where the file can't be written; pickling errors as Python's.
    """
    by_name = isinstance(f, (str, os.PathLike))
    if not by_name and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    body = io.BytesIO()
    pickler = TorchPickler(body, pickle_protocol, stream=not _use_new_zipfile_serialization)
    pickler.dump(obj)

    def write(file: Any, stem: str) -> None:
        if _use_new_zipfile_serialization:
            _write_zip(file, stem, body.getvalue(), pickler.storages, not _disable_byteorder_record)
        else:
            flats = [(s.key, s.flat, s.count) for s in pickler.storages]
            stream.write(file, body.getvalue(), flats, pickle_protocol)

    if not by_name:
        write(f, "archive")
        return
    path = os.fspath(f)
    stem = os.path.splitext(os.path.basename(path))[0] or "archive"
    written_atomically(path, lambda file: write(file, stem))


def written_atomically(path: str, write: Callable[[Any], None]) -> None:
    """Lets `write` fill a file beside the path, which then takes the path's place at once.

    Raises:
        RuntimeError: where the folder doesn't exist.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(path)} does not exist.")
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode_for(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _write_zip(file: Any, stem: str, body: bytes, storages: list[Storage], byteorder: bool) -> None:
    """The archive: data.pkl, then a stored (uncompressed), 64-byte aligned record per storage."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _record(archive, f"{stem}/data.pkl", body)
        _record(archive, f"{stem}/.format_version", b"1")
        _record(archive, f"{stem}/.storage_alignment", b"64")
        if byteorder:
            _record(archive, f"{stem}/byteorder", sys.byteorder.encode())
        for storage in storages:
            _record(archive, f"{stem}/data/{storage.key}", _data(storage.flat))
        _record(archive, f"{stem}/version", b"3\n")
        _record(archive, f"{stem}/.data/serialization_id", b"0" * 40)


def _data(flat: Any) -> Any:
    return bytes(flat.nbytes) if skipping() else M.bytes_of(flat)


def _record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    assert archive.fp is not None
    start = archive.fp.tell() + 30 + len(name.encode())
    # The extra field "FB" pads the record so that its data begin at a multiple of 64 bytes.
    pad = -(start + 4) % 64
    info.extra = b"FB" + pad.to_bytes(2, "little") + b"Z" * pad
    archive.writestr(info, bytes(data) if isinstance(data, memoryview) else data)
