"""`save`: objects with tensors into PyTorch's file formats, atomically."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import IO, Any

from .._array.memory import storage_views as M
from .._base.atomic_files import write_whole
from . import stream
from .archive import ArchiveWriter
from .pickler import Storage, TorchPickler
from .settings import skipping


def save(
    obj: object,
    f: Any,
    pickle_module: object = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes `obj` (tensors, state dicts, nested containers, modules) to a path or binary file.

    A file that is there already is replaced when the new one is whole, so a failure leaves it as
    it was; links to it, its owner and its mode stay. What can't be replaced (a device, a pipe, a
    file of several names, a file in a folder that can't be written) is written in place.

    Tensors that share memory share it when they are loaded, too. So all the memory behind a view
    is written: `clone` a small part of a large tensor. Of modules save `state_dict()`: it doesn't
    depend on where their code lies.

    Raises:
        RuntimeError: where the folder doesn't exist, or the path is one.
        OSError: where the file can't be written; pickling errors as Python's.

    Parameters:
        obj: what is written: tensors, modules' states, collections of them.
        f: a path, or a file open for writing bytes.
        pickle_module: what writes objects; Python's `pickle`.
        pickle_protocol: the protocol of the pickles.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"w": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'w': tensor([1., 1.])}
    """
    by_name = isinstance(f, (str, os.PathLike))
    if not by_name and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    body = io.BytesIO()
    pickler = TorchPickler(body, pickle_protocol, stream=not _use_new_zipfile_serialization)
    pickler.dump(obj)
    content = body.getvalue()
    body.close()

    def write(file: IO[bytes], stem: str) -> None:
        if _use_new_zipfile_serialization:
            _write_zip(file, stem, content, pickler.storages, not _disable_byteorder_record)
        else:
            flats = [(s.key, s.flat, s.count) for s in pickler.storages]
            stream.write(file, content, flats, pickle_protocol)

    if not by_name:
        write(f, "archive")
        if hasattr(f, "flush"):
            f.flush()  # who opens the file by its name finds all of it
        return
    path = os.fsdecode(f)
    stem = os.path.splitext(os.path.basename(path))[0] or "archive"
    try:
        write_atomically(path, lambda file: write(file, stem))
    except IsADirectoryError:
        if not _use_new_zipfile_serialization:
            raise
        raise RuntimeError("open file failed with strerror: Is a directory") from None


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """Lets `write` fill a file.

    Raises:
        RuntimeError: where the folder doesn't exist, or the path is one.
    """
    name = os.fsdecode(path)
    try:
        write_whole(name, write)
    except (FileNotFoundError, NotADirectoryError):
        folder = os.path.dirname(name)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.") from None
        raise


def _write_zip(
    file: IO[bytes], stem: str, body: bytes, storages: list[Storage], byteorder: bool
) -> None:
    """The archive: data.pkl, then a stored (uncompressed), 64-byte aligned record per storage."""
    archive = ArchiveWriter(file)
    archive.add(f"{stem}/data.pkl", body)
    archive.add(f"{stem}/.format_version", b"1")
    archive.add(f"{stem}/.storage_alignment", b"64")
    if byteorder:
        archive.add(f"{stem}/byteorder", sys.byteorder.encode())
    for storage in storages:
        name = f"{stem}/data/{storage.key}"
        if skipping():
            archive.add_zeros(name, storage.flat.nbytes)
        else:
            archive.add(name, M.bytes_of(storage.flat))
    archive.add(f"{stem}/version", b"3\n")
    archive.add(f"{stem}/.data/serialization_id", b"0" * 40)
    archive.finish()
