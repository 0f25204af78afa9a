"""What is refused of an archive before anything in it is read."""

from __future__ import annotations

import zipfile
from typing import Final

__all__ = ["check_records"]

# PyTorch stores records as they are. One that somebody has compressed may not grow, unpacked, to
# more than this, unless it is compressed as little as data can be.
_LARGE: Final = 64 << 20
_RATIO: Final = 100


def check_records(archive: zipfile.ZipFile) -> None:
    """Refuses archives that mean two things, and records that are small only while packed.

    Raises:
        RuntimeError: for two records of one name, and for a record that unpacks to a hundred times
            its size.
    """
    seen: set[str] = set()
    for record in archive.infolist():
        if record.filename in seen:
            raise RuntimeError(
                f"PytorchStreamReader failed reading zip archive: two records are called "
                f"{record.filename}"
            )
        seen.add(record.filename)
        if record.file_size > _LARGE and record.file_size > _RATIO * record.compress_size:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {record.filename}: it would unpack from "
                f"{record.compress_size} to {record.file_size} bytes"
            )
