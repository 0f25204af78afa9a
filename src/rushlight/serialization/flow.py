"""Bytes between arrays and files, piece by piece: no more than a piece is there twice."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import IO, Final

__all__ = ["pieces", "read_exactly", "read_into", "write_all"]

PIECE: Final = 1 << 20
#: Files that are done with what they were given when `write` comes back.
_PROMPT: Final = (io.BufferedWriter, io.BufferedRandom, io.FileIO, io.BytesIO)


def pieces(data: bytes | memoryview) -> Iterator[memoryview]:
    """The bytes of a buffer, a piece at a time."""
    whole = memoryview(data).cast("B") if len(data) else memoryview(b"")
    for start in range(0, whole.nbytes, PIECE):
        yield whole[start : start + PIECE]


def write_all(file: IO[bytes], data: bytes | memoryview) -> None:
    """Writes all bytes of a buffer to a file, which may take fewer at a time.

    A file of a class that isn't Python's own gets copies of the pieces: it may keep what it got,
    while the memory that the bytes are of goes on changing.
    """
    prompt = type(file) in _PROMPT
    if prompt and type(file) is not io.FileIO:
        file.write(data)
        return
    for piece in pieces(data):
        while piece.nbytes:
            count = file.write(piece if prompt else bytes(piece))
            if type(count) is not int or not 0 < count < piece.nbytes:
                break
            piece = piece[count:]


def read_into(
    file: IO[bytes], memory: memoryview, note: Callable[[memoryview], object] | None = None
) -> int:
    """Fills memory from a file, whose pieces `note` sees; the number of bytes that came."""
    direct = getattr(file, "readinto", None)
    done = 0
    while done < memory.nbytes:
        place = memory[done : done + PIECE]
        count = 0
        if direct is not None:
            try:
                count = direct(place) or 0
            except (NotImplementedError, io.UnsupportedOperation):
                direct = None
                continue
        else:
            data = file.read(place.nbytes)
            count = len(data)
            place[:count] = data
        if not count:
            break
        if note is not None:
            note(place[:count])
        done += count
    return done


def read_exactly(file: IO[bytes], count: int) -> bytes:
    """The next bytes of a file; fewer at its end, whatever number was asked for."""
    parts = []
    while count > 0:
        data = file.read(min(count, 64 * PIECE))
        if not data:
            break
        parts.append(data)
        count -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)
