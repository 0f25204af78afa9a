"""The older file format: a row of pickles, then the storages one after the other.

In order: a magic number, a version, what the writing machine was like, the objects (with references
to storages), the list of the storages' keys, and for each its number of elements and its bytes.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any, BinaryIO

from .. import dtypes as D
from .._array import memory_of as M
from .names import unread
from .places import Place
from .unpickle import unpickled

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def write(file: Any, body: bytes, storages: list[tuple[str, Any, int]], protocol: int) -> None:
    """Writes a pickle of objects and the flat arrays (with their counts) to which it refers."""
    pickle.dump(MAGIC_NUMBER, file, protocol)
    pickle.dump(PROTOCOL_VERSION, file, protocol)
    machine = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": True,
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    pickle.dump(machine, file, protocol)
    file.write(body)
    pickle.dump([key for key, _, _ in storages], file, protocol)
    for _, flat, count in storages:
        file.write(count.to_bytes(8, "little"))
        file.write(M.bytes_of(M.little_endian(flat)))


def read(file: BinaryIO, careful: bool, encoding: str, place: Place) -> Any:
    """What `write` (or an old PyTorch) wrote.

    Raises:
        UnpicklingError: where the file is something else.
        EOFError: where it ends too early.
    """

    def nothing(key: str, kind: D.dtype, count: int, location: str) -> Any:
        raise pickle.UnpicklingError("a storage where none can be")

    magic = unpickled(file, nothing, careful, encoding)
    if magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = unpickled(file, nothing, careful, encoding)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    machine = unpickled(file, nothing, careful, encoding)
    swap = isinstance(machine, dict) and machine.get("little_endian") is False
    flats: dict[str, Any] = {}
    here = file.tell()
    left = file.seek(0, os.SEEK_END) - here
    file.seek(here)

    def storage(key: str, kind: D.dtype, count: int, location: str) -> Any:
        place(location, count * kind.itemsize)
        if key not in flats:
            nonlocal left
            left -= count * kind.itemsize
            if left < 0:
                raise ValueError(f"the storage {key} is longer than the file")
            flats[key] = M.unset(count, kind)
        return flats[key]

    later: list[Callable[[], None]] = []
    token = unread.set(later)
    try:
        result = unpickled(file, storage, careful, encoding)
    finally:
        unread.reset(token)
    keys = unpickled(file, nothing, careful, encoding)
    if not isinstance(keys, list) or not all(key in flats for key in keys):
        raise RuntimeError("the file lists storages that it doesn't use; corrupt file?")
    for key in keys:
        flat = flats[key]
        count = int.from_bytes(file.read(8), "big" if swap else "little")
        # A wrong count is told by its own value: it may be too large to ask for.
        data = file.read(flat.nbytes) if count == len(flat) else b""
        if count != len(flat) or len(data) != count * flat.itemsize:
            raise RuntimeError(f"the storage {key} is {len(data)} bytes long, not as announced")
        M.fill(flat, data, swap)
    for finish in later:
        finish()
    return result


__all__ = ["MAGIC_NUMBER", "PROTOCOL_VERSION", "read", "write"]
