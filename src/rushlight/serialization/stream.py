"""The older file format: a row of pickles, then the storages one after the other.

In order: a magic number, a version, what the writing machine was like, the objects (with references
to storages), the list of the storages' keys, and for each its number of elements and its bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from .._array.memory import storage_views as M
from .._base import dtypes as D
from .budget import Budget, size_left
from .flow import read_into, write_all
from .metering import describe
from .names import Rebuilding, rebuilding
from .places import Place
from .unpickle import read_pickle

if TYPE_CHECKING:
    from .._array.annotations import Array


MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def write(
    file: IO[bytes], body: bytes, storages: list[tuple[str, Any, int]], protocol: int
) -> None:
    """Writes a pickle of objects and the flat arrays (with their counts) to which it refers."""
    for value in (MAGIC_NUMBER, PROTOCOL_VERSION):
        write_all(file, pickle.dumps(value, protocol))
    machine = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": True,
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    write_all(file, pickle.dumps(machine, protocol))
    write_all(file, body)
    write_all(file, pickle.dumps([key for key, _, _ in storages], protocol))
    for _, flat, count in storages:
        write_all(file, count.to_bytes(8, "little"))
        write_all(file, M.bytes_of(M.little_endian(flat)))


def read(file: IO[bytes], budget: Budget | None, encoding: str, place: Place) -> object:
    """What `write` (or an old PyTorch) wrote.

    Raises:
        UnpicklingError: where the file is something else.
        EOFError: where it ends too early.
    """

    def nothing(key: str, kind: D.dtype, count: int, location: str) -> object:
        raise pickle.UnpicklingError("a storage where none can be")

    magic = read_pickle(file, nothing, budget, encoding)
    if magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = read_pickle(file, nothing, budget, encoding)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {describe(version)}")
    machine = read_pickle(file, nothing, budget, encoding)
    swap = isinstance(machine, dict) and machine.get("little_endian") is False
    flats: dict[str, Any] = {}
    left = size_left(file)

    def storage(key: str, kind: D.dtype, count: int, location: str) -> Array:
        if key not in flats:
            place(location, count * kind.itemsize)
            nonlocal left
            left -= count * kind.itemsize
            if left < 0:
                raise ValueError(f"the storage {key} is longer than the file")
            flats[key] = M.unset(count, kind)
        return flats[key]

    later: list[Callable[[], None]] = []
    token = rebuilding.set(Rebuilding(later))
    try:
        result = read_pickle(file, storage, budget, encoding)
    finally:
        rebuilding.reset(token)
    keys = read_pickle(file, nothing, budget, encoding)
    known = isinstance(keys, list) and all(isinstance(key, str) and key in flats for key in keys)
    if not known:
        raise RuntimeError("the file lists storages that it doesn't use; corrupt file?")
    for key in keys:
        flat = flats[key]
        count = int.from_bytes(file.read(8), "big" if swap else "little")
        # A wrong count is told by its own value: it may be too large to ask for.
        done = read_into(file, M.writable_bytes(flat)) if count == len(flat) else 0
        if count != len(flat) or done != flat.nbytes:
            raise RuntimeError(f"the storage {key} is {done} bytes long, not as announced")
        if swap:
            M.swap_bytes(flat)
    for finish in later:
        finish()
    return result


__all__ = ["MAGIC_NUMBER", "PROTOCOL_VERSION", "read", "write"]
