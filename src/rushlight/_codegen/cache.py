"""Compiled objects on disk, so that a machine compiles a function once.

The folder is `rushlight` in XDG_CACHE_HOME (or ~/.cache); RUSHLIGHT_CACHE names another one, or
turns this off with 0. An entry is a digest followed by the object: one that was cut short or
altered is compiled again. Nothing is read from a folder that other users can write to, for it would
be run.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from ..atomic_files import write_whole

__all__ = ["LIMIT", "folder", "read", "write"]

LIMIT = 64 << 20  # bytes; from there on the entries that were not used for longest go
_DIGEST = 32


def folder() -> Path | None:
    """Where objects are kept; made if it must be, None if there is to be none."""
    named = os.environ.get("RUSHLIGHT_CACHE", "")
    if named == "0":
        return None
    if named:
        place = Path(named)
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        try:
            place = (Path(base) if base else Path.home() / ".cache") / "rushlight"
        except RuntimeError:  # no home
            return None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            state = place.stat()
            if state.st_uid != os.getuid() or state.st_mode & 0o022:
                return None
    except OSError:
        return None
    return place


def read(key: str) -> bytes | None:
    """The object kept under the key, or None."""
    place = folder()
    if place is None:
        return None
    path = place / f"{key}.o"
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = content[_DIGEST:]
    if not body or hashlib.sha256(body).digest() != content[:_DIGEST]:
        return None
    with suppress(OSError):
        os.utime(path)
    return body


def write(key: str, body: bytes) -> None:
    """Keeps an object. A disk that is full or read-only is no error."""
    place = folder()
    if place is None:
        return
    entry = hashlib.sha256(body).digest() + body
    try:
        # Readers see the whole entry or none.
        write_whole(place / f"{key}.o", lambda file: file.write(entry))
    except OSError:
        return
    _prune(place)


def _prune(place: Path) -> None:
    entries = []
    for path in place.glob("*.o"):
        with suppress(OSError):
            state = path.stat()
            entries.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LIMIT:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
