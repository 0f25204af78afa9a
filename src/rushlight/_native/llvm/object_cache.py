"""Compiled objects on disk, so that a machine compiles a function once.

The folder is `rushlight` in XDG_CACHE_HOME (or ~/.cache); RUSHLIGHT_CACHE names another one, or
turns this off with 0. An entry is a digest followed by the object.

Note [Nobody else's code is run]
What is read here is run. So the folder and each entry must belong to the user and be writable by
nobody else, and an entry must be a plain file: both are asked of the open descriptor, from which is
then read, and names are looked up in the open folder, so that nothing can be exchanged in between.
The digest covers the key too, which tells the function, the machine, LLVM and the emitter: an entry
that was cut short, altered, or put under another name is compiled again. `refused` tells what was
passed over and why.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LIMIT = 64 << 20  # bytes; from there on the entries that were not used for longest go
_DIGEST: Final = 32
_ABANDONED: Final = 3600.0  # seconds after which a half-written entry is nobody's

#: What was not used of late, and why.
refused: deque[str] = deque(maxlen=16)

_READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Without O_NONBLOCK, opening a pipe that lies there would wait for somebody to write to it.
_ENTRY: Final = _READ | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)  # fmt: skip
#: Whether files have owners here, and names can be looked up in an open folder.
_OWNED: Final = hasattr(os, "geteuid") and os.open in os.supports_dir_fd


def folder() -> Path | None:
    """Where objects are kept; made if it must be, None if there is to be none."""
    with _open() as found:
        return None if found is None else found[0]


def read_object(key: str) -> bytes | None:
    """The object kept under the key, or None."""
    with _open() as found:
        if found is None:
            return None
        place, at = found
        name = f"{key}.o"
        try:
            handle = os.open(name if at is not None else place / name, _ENTRY, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError as error:  # a link, to begin with
            refused.append(f"{place / name}: {error.strerror}")
            return None
        state = os.fstat(handle)
        why = "not a plain file" if not stat.S_ISREG(state.st_mode) else _stranger(state)
        if why:
            os.close(handle)
            refused.append(f"{place / name}: {why}")
            return None
        with os.fdopen(handle, "rb") as file:
            content = file.read()
            body = content[_DIGEST:]
            if not body or _digest(key, body) != content[:_DIGEST]:
                refused.append(f"{place / name}: damaged")
                return None
            with suppress(OSError):
                os.utime(handle if os.utime in os.supports_fd else place / name)
            return body


def write(key: str, body: bytes) -> None:
    """Keeps an object. A disk that is full or read-only is no error."""
    with _open() as found:
        if found is None:
            return
        place, at = found
        made = f".{os.getpid()}-{secrets.token_hex(8)}.part"
        try:
            handle = os.open(made if at is not None else place / made, _NEW, 0o600, dir_fd=at)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, body) + body)
            # Readers see the whole entry or none.
            if at is None:
                os.replace(place / made, place / f"{key}.o")
            else:
                os.replace(made, f"{key}.o", src_dir_fd=at, dst_dir_fd=at)
        except BaseException as error:
            _remove(place, at, made)
            if not isinstance(error, OSError):
                raise
            return
        _prune(place, at)


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


def _stranger(state: os.stat_result) -> str | None:
    """Why somebody else may have put it there; None where nobody can have."""
    if not _OWNED:
        return None
    if state.st_uid != os.geteuid():
        return f"belongs to user {state.st_uid}"
    if state.st_mode & 0o022:
        return f"others may write to it (mode {stat.S_IMODE(state.st_mode):o})"
    return None


def _name_folder() -> Path | None:
    named = os.environ.get("RUSHLIGHT_CACHE", "")
    if named == "0":
        return None
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "rushlight"
    except RuntimeError:  # no home
        return None


@contextmanager
def _open() -> Iterator[tuple[Path, int | None] | None]:
    """The folder and a descriptor of it (None where files have no owners); None if none is used."""
    place = _name_folder()
    at: int | None = None
    if place is not None:
        try:
            _make(place)
            if _OWNED:
                at = os.open(place, _READ | os.O_DIRECTORY)
                link = os.lstat(place)  # a link of the user's own may lead there
                why = _stranger(os.fstat(at))
                if why is None and stat.S_ISLNK(link.st_mode) and link.st_uid != os.geteuid():
                    why = f"a link that belongs to user {link.st_uid}"
                if why:
                    refused.append(f"{place}: {why}")
                    os.close(at)
                    at = place = None
        except OSError as error:
            refused.append(f"{place}: {error.strerror}")
            place = None
    try:
        yield None if place is None else (place, at)
    finally:
        if at is not None:
            os.close(at)


def _make(place: Path) -> None:
    if place.is_dir():
        return
    # A folder above that is missing is made for the user alone too, whatever the umask says.
    for missing in reversed([above for above in place.parents if not above.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)


def _remove(place: Path, at: int | None, name: str) -> None:
    with suppress(OSError):
        os.unlink(name if at is not None else place / name, dir_fd=at)


def _prune(place: Path, at: int | None) -> None:
    entries = []
    now = time.time()
    with suppress(OSError), os.scandir(place if at is None else at) as found:
        for entry in found:
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".o"):
                    entries.append((state.st_mtime, state.st_size, entry.name))
                elif entry.name.endswith(".part") and state.st_mtime < now - _ABANDONED:
                    _remove(place, at, entry.name)
    total = sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if total <= LIMIT:
            return
        _remove(place, at, name)
        total -= size
