"""The zip archives of PyTorch's files, written and read a record at a time, without copies.

Only what such files consist of: records stored as they are, each beginning at a multiple of 64
bytes; when reading, also records that somebody has compressed (deflate, as PyTorch's own reader
takes them). Python's `zipfile` would copy each record, take 700 bytes of memory for each of 46 in
the directory, and unpack what has no end.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from typing import IO, Final, NamedTuple

from .budget import Budget, size_left
from .flow import PIECE, pieces, read_exactly, read_into, write_all

__all__ = ["ArchiveReader", "ArchiveWriter", "MARK", "describe_broken", "check_version"]

MARK: Final = b"PK\x03\x04"
_ENTRY: Final = b"PK\x01\x02"
_END: Final = b"PK\x05\x06"
_END64: Final = b"PK\x06\x06"
_LOCATOR64: Final = b"PK\x06\x07"
_LOCAL_FORM: Final = struct.Struct("<4s5H3L2H")
_ENTRY_FORM: Final = struct.Struct("<4s6H3L5H2L")
_END_FORM: Final = struct.Struct("<4s4H2LH")
_END64_FORM: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64_FORM: Final = struct.Struct("<4sLQL")
_LIMIT: Final = 0xFFFFFFFF
_DATE: Final = 0x21  # the first day of 1980
_UTF8: Final = 0x800
_ALIGNMENT: Final = 64
_STORED, _DEFLATED = 0, 8
#: What a record of the directory takes in memory, with its name.
_RECORD_COST: Final = 300


class Record(NamedTuple):
    """A record as the directory has it."""

    start: int  # of its own header
    packed: int
    size: int
    method: int
    checksum: int
    encrypted: bool


class ArchiveWriter:
    """Writes records to a file from its position on, and never goes back in it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._at = 0
        if hasattr(file, "tell"):
            try:
                self._at = file.tell()
            except (OSError, ValueError, NotImplementedError):
                self._at = 0  # a pipe, or what can only be written to
        self._directory: list[bytes] = []

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Writes a record: bytes, or the memory of an array."""
        size = len(data)
        checksum = 0
        for piece in [data] if size <= PIECE else pieces(data):
            checksum = zlib.crc32(piece, checksum)
        self._head(name, size, checksum)
        write_all(self._file, data)
        self._at += size

    def add_zeros(self, name: str, size: int) -> None:
        """Writes a record of zeros."""
        zeros, checksum = bytes(min(size, PIECE)), 0
        counts = [PIECE] * (size // PIECE) + [size % PIECE]
        for count in counts:
            checksum = zlib.crc32(zeros[:count], checksum)
        self._head(name, size, checksum)
        for count in counts:
            write_all(self._file, zeros[:count])
        self._at += size

    def _head(self, name: str, size: int, checksum: int) -> None:
        raw = name.encode()
        flags = 0 if name.isascii() else _UTF8
        start, large = self._at, size >= _LIMIT
        extra = struct.pack("<2H2Q", 1, 16, size, size) if large else b""
        # The extra field "FB" pads the header so that the data begin at a multiple of 64 bytes.
        pad = -(start + _LOCAL_FORM.size + len(raw) + len(extra) + 4) % _ALIGNMENT
        extra += b"FB" + pad.to_bytes(2, "little") + b"Z" * pad
        shown, version = min(size, _LIMIT), 45 if large else 20
        self._write(
            _LOCAL_FORM.pack(MARK, version, flags, _STORED, 0, _DATE, checksum, shown, shown,
                             len(raw), len(extra)) + raw + extra
        )  # fmt: skip
        wide = b""
        if large or start >= _LIMIT:
            fields = [size, size] * large + [start] * (start >= _LIMIT)
            wide, version = struct.pack(f"<2H{len(fields)}Q", 1, 8 * len(fields), *fields), 45
        self._directory.append(
            _ENTRY_FORM.pack(_ENTRY, version | 3 << 8, version, flags, _STORED, 0, _DATE, checksum,
                             shown, shown, len(raw), len(wide), 0, 0, 0, 0o600 << 16,
                             min(start, _LIMIT)) + raw + wide
        )  # fmt: skip

    def finish(self) -> None:
        """Writes the directory."""
        start, count = self._at, len(self._directory)
        directory = b"".join(self._directory)
        self._write(directory)
        size, end = len(directory), self._at
        if count >= 0xFFFF or start >= _LIMIT or size >= _LIMIT:
            self._write(_END64_FORM.pack(_END64, 44, 45, 45, 0, 0, count, count, size, start))
            self._write(_LOCATOR64_FORM.pack(_LOCATOR64, 0, end, 1))
        few = min(count, 0xFFFF)
        self._write(_END_FORM.pack(_END, 0, 0, few, few, min(size, _LIMIT), min(start, _LIMIT), 0))

    def _write(self, data: bytes) -> None:
        write_all(self._file, data)
        self._at += len(data)


class ArchiveReader:
    """The records of the archive that a file ends with.

    Raises:
        RuntimeError: where there is no archive, two records have one name, or lie over each other.
    """

    def __init__(self, file: IO[bytes], budget: Budget | None) -> None:
        self._file = file
        # From the file's beginning, whatever its position: what is before the archive is told by
        # the directory, whose own place is known.
        file.seek(0)
        self._size = size_left(file)
        self._budget = budget
        self.records: dict[str, Record] = {}
        try:
            self._read_directory()
        except (struct.error, IndexError, OverflowError, ValueError):
            raise _no_directory() from None
        self._ends = self._check_places()
        if budget is not None:
            self._check_packed(budget)

    def _at(self, place: int, count: int) -> bytes:
        self._file.seek(place)
        return read_exactly(self._file, count)

    def _read_directory(self) -> None:
        if self._size < _END_FORM.size:
            raise RuntimeError(describe_broken("reading zip archive", "not a ZIP archive"))
        tail_size = min(self._size, _END_FORM.size + 0xFFFF)
        tail = self._at(self._size - tail_size, tail_size)
        found = tail.rfind(_END, 0, len(tail) - _END_FORM.size + len(_END))
        if found < 0:
            raise _no_directory()
        end = self._size - tail_size + found
        *_, size, start, _ = _END_FORM.unpack_from(tail, found)
        after = end
        if end >= _LOCATOR64_FORM.size:
            # PyTorch writes it always, however small the numbers are.
            locator = self._at(end - _LOCATOR64_FORM.size, _LOCATOR64_FORM.size)
            if locator[:4] == _LOCATOR64:
                # The record that it tells the place of lies directly before it.
                after = end - _LOCATOR64_FORM.size - _END64_FORM.size
                whole = self._at(after, _END64_FORM.size)
                if after < 0 or whole[:4] != _END64:
                    raise _no_directory()
                *_, size, start = _END64_FORM.unpack(whole)
        # What stands before the archive moves all of it.
        self._shift = after - size - start
        if self._shift < 0 or size > after:
            raise _no_directory()
        self.end = after - size
        if self._budget is not None:
            self._budget.spend(size)
        self._parse(self._at(self.end, size))

    def _parse(self, directory: bytes) -> None:
        place = 0
        while place < len(directory):
            if self._budget is not None:
                self._budget.spend(_RECORD_COST)
            (mark, _, _, flags, method, _, _, checksum, packed, size, name_size, extra_size,
             comment_size, _, _, _, start) = _ENTRY_FORM.unpack_from(directory, place)  # fmt: skip
            if mark != _ENTRY:
                raise _no_directory()
            place += _ENTRY_FORM.size
            raw = directory[place : place + name_size]
            place += name_size
            if _LIMIT in (packed, size, start):
                extra = directory[place : place + extra_size]
                size, packed, start = _widen(extra, size, packed, start)
            place += extra_size + comment_size
            name = raw.decode("utf-8", "surrogateescape")
            if name in self.records:
                raise RuntimeError(
                    "PytorchStreamReader failed reading zip archive: two records are called "
                    f"{name[:200]}"
                )
            self.records[name] = Record(
                start + self._shift, packed, size, method, checksum, bool(flags & 1)
            )
        if place != len(directory):
            raise _no_directory()

    def _check_places(self) -> dict[int, int]:
        """Where the space of each record ends, by its start: at the next, or at the directory."""
        order = sorted(self.records.items(), key=lambda item: item[1].start)
        starts = [record.start for _, record in order] + [self.end]
        for (name, record), end in zip(order, starts[1:]):
            if record.start + _LOCAL_FORM.size + record.packed > end:
                raise RuntimeError(
                    describe_broken(f"reading file {name[:200]}", "it lies over other records")
                )
        return dict(itertools.pairwise(starts))

    def _check_packed(self, budget: Budget) -> None:
        left = budget.left
        for name, record in self.records.items():
            if record.method != _STORED:
                left -= record.size
                if left < 0:
                    raise RuntimeError(
                        f"PytorchStreamReader failed reading file {name[:200]}: it would unpack "
                        f"from {record.packed} to {record.size} bytes"
                    )

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def size_of(self, name: str) -> int:
        """The bytes of a record, unpacked.

        Raises:
            RuntimeError: where there is no such record.
        """
        return self._record(name).size

    def _record(self, name: str) -> Record:
        try:
            return self.records[name]
        except KeyError:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name[:200]}: file not found"
            ) from None

    def data_start(self, name: str) -> int | None:
        """Where a record's data begin in the file; None where they aren't there as they are.

        Raises:
            RuntimeError: where the record is damaged.
        """
        record = self._record(name)
        if record.method not in (_STORED, _DEFLATED):
            raise RuntimeError(describe_broken(f"reading file {name}", "unsupported method"))
        if record.encrypted:
            raise RuntimeError(describe_broken(f"reading file {name}", "unsupported encryption"))
        head = self._at(record.start, _LOCAL_FORM.size)
        if len(head) < _LOCAL_FORM.size or head[:4] != MARK:
            raise RuntimeError(describe_broken(f"reading file {name}", "its header is missing"))
        *_, name_size, extra_size = _LOCAL_FORM.unpack(head)
        raw = self._at(record.start + _LOCAL_FORM.size, name_size)
        start = record.start + _LOCAL_FORM.size + name_size + extra_size
        if raw != name.encode("utf-8", "surrogateescape"):
            raise RuntimeError(
                describe_broken(f"reading file {name}", "its header has another name")
            )
        if start + record.packed > self._ends[record.start]:
            raise RuntimeError(
                describe_broken(f"reading file {name}", "it lies over other records")
            )
        if record.method == _STORED and record.packed != record.size:
            raise RuntimeError(describe_broken(f"reading file {name}", "it has two sizes"))
        self._file.seek(start)
        return start if record.method == _STORED else None

    def read(self, name: str) -> bytes:
        """The bytes of a record.

        Raises:
            RuntimeError: where the record is damaged.
        """
        record = self._record(name)
        stored = self.data_start(name) is not None
        if stored:
            data = read_exactly(self._file, record.size)
            self._check(name, record, len(data), zlib.crc32(data))
            return data
        if self._budget is not None:
            # It is there twice for a moment, and a pickle takes its reader's time for each byte.
            self._budget.spend(30 * record.size)
        made = bytearray(record.size)
        self._unpack(name, record, memoryview(made))
        return bytes(made)

    def read_into(self, name: str, memory: memoryview) -> None:
        """The same, into memory of the record's size."""
        record = self._record(name)
        if self.data_start(name) is None:
            self._unpack(name, record, memory)
            return
        checksum = 0

        def note(piece: memoryview) -> None:
            nonlocal checksum
            checksum = zlib.crc32(piece, checksum)

        self._check(name, record, read_into(self._file, memory, note), checksum)

    def _unpack(self, name: str, record: Record, memory: memoryview) -> None:
        if self._budget is not None:
            self._budget.spend(record.size)
        unpacker, left, done, checksum = zlib.decompressobj(-15), record.packed, 0, 0
        try:
            while done < record.size and not unpacker.eof:
                data = unpacker.unconsumed_tail
                if not data:
                    data = read_exactly(self._file, min(left, PIECE))
                    left -= len(data)
                    if not data:
                        break
                piece = unpacker.decompress(data, min(PIECE, record.size - done))
                memory[done : done + len(piece)] = piece
                checksum = zlib.crc32(piece, checksum)
                done += len(piece)
        except zlib.error as error:
            raise RuntimeError(describe_broken(f"reading file {name}", str(error))) from None
        self._check(name, record, done, checksum)

    def _check(self, name: str, record: Record, count: int, checksum: int) -> None:
        if count != record.size:
            raise RuntimeError(describe_broken(f"reading file {name}", "it is cut off"))
        # PyTorch writes 0 where it was told to compute none.
        if record.checksum and checksum != record.checksum:
            raise RuntimeError(describe_broken(f"reading file {name}", "its checksum is wrong"))


def _widen(extra: bytes, size: int, packed: int, start: int) -> tuple[int, int, int]:
    """The numbers that didn't fit into 32 bits, from the extra fields of an entry."""
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            wide = list(struct.unpack_from(f"<{length // 8}Q", extra, place + 4))[::-1]
            size = wide.pop() if size == _LIMIT else size
            packed = wide.pop() if packed == _LIMIT else packed
            start = wide.pop() if start == _LIMIT else start
            break
        place += 4 + length
    return size, packed, start


def _no_directory() -> RuntimeError:
    return RuntimeError(describe_broken("reading zip archive", "failed finding central directory"))


def describe_broken(doing: str, why: str) -> str:
    """The words for an archive that can't be read."""
    return (
        f"PytorchStreamReader failed {doing}: {why}. This is an internal miniz error. If you are "
        "seeing this error, there is a high likelihood that your checkpoint file is corrupted. "
        "This can happen if the checkpoint was not saved properly, was transferred incorrectly, or "
        "the file was modified after saving."
    )


def check_version(data: bytes) -> None:
    """Checks the record that tells the format's version.

    Raises:
        RuntimeError: for a version that isn't read here.
    """
    text = data[:40].decode("ascii", "replace").strip()
    try:
        version = int(text)
    except ValueError:
        raise RuntimeError(f"Couldn't parse the version {text} as Long Long.") from None
    if not 1 <= version <= 10:
        old = version < 1
        bound = "minimum" if old else "maximum"
        what = (
            "Your PyTorch script module file is too old. Please regenerate it with latest version "
            "of PyTorch to mitigate this issue."
            if old
            else "The version of your PyTorch installation may be too old, please upgrade PyTorch "
            "to latest version to mitigate this issue."
        )
        raise RuntimeError(
            f"Attempted to read a PyTorch file with version {version}, but the {bound} supported "
            f"version for reading is {1 if old else 10}. {what}"
        )
