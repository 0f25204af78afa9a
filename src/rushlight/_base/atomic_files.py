"""Writing a file so that its old or its new content is whole, whatever happens meanwhile.

A new file takes the place of the old one in one step of the file system: who is killed while
writing leaves the old file, and nothing else. That is done only where nothing but the content
changes by it: links, owner, mode and extended attributes of the old file stay. Whatever can't be
exchanged so (a device, a pipe, a file of several names, a file in a folder that can't be written)
is written in place, as a plain `open(path, "wb")` would.

# Note [What survives what]
The process killed: the file is whole, old or new, unless it had to be written in place.
The disk full: the old file is whole; in place, too, because its space is reserved first.
The power lost: the old file is whole, old or new, because its successor is on the disk before it
takes its place (fsync). A file that had no content before isn't waited for: nothing can be lost
but what was just written, and programs that write many small new files (saved tensors on disk)
would otherwise wait for the disk at each.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final

try:
    import fcntl
except ImportError:  # where there are no such locks, abandoned files stay
    fcntl = None  # type: ignore[assignment]

Write = Callable[[Any], None]

#: The files that are about to take the place of others: one name for each writer at work in a
#: folder. Whoever holds the lock is at work; a file that nobody holds was left by a killed process,
#: and the next writer who replaces a file there takes it away.
_WAITING: Final = ".rushlight-{}.part"
_MOST_WRITERS: Final = 10_000
#: Files without a name, which get one by the link that stands for an open file.
_UNNAMED: Final[int] = getattr(os, "O_TMPFILE", 0) if os.path.isdir("/proc/self/fd") else 0
_FLAGS: Final[int] = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
#: Bytes that are collected for one write.
_BUFFER: Final = 1 << 16
#: Not through links, and without waiting for who writes into a pipe.
_CAREFUL: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
#: What a folder answers that holds no new files, or whose files can't be exchanged.
_UNWILLING: Final = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENOTSUP, errno.EINVAL,
}  # fmt: skip


class _CannotReplace(Exception):
    """The file can be written, but not exchanged for another."""


def write_whole(path: str | os.PathLike[str], write: Write) -> None:
    """Lets `write` fill the file at `path`, which holds its old content until the new is whole.

    `write` may be called twice, and must write the same both times.

    Raises:
        OSError: where the file can't be written.
    """
    name = os.fsdecode(path)
    try:
        old = os.stat(name)
    except FileNotFoundError:
        if _write_new(name, write):
            return
        old = None
    target = None if old is not None and not stat.S_ISREG(old.st_mode) else _behind_links(name)
    if target is None:
        # What `open` refuses, a folder or a device of another, it refuses with its own words.
        with open(name, "wb") as file:
            write(file)
        return
    if old is None and not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if old is not None:
        # Asks for the right to write, which exchanging files doesn't need.
        os.close(os.open(target, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)))
    try:
        if old is not None and old.st_nlink > 1:
            raise _CannotReplace
        _exchange(target, old, write)
    except _CannotReplace:
        _write_in_place(target, old, write)


def _write_new(name: str, write: Write) -> bool:
    """Writes a file that has no name until it is whole; False where that isn't possible.

    It isn't where the file system has no such files, and where the name is taken after all: by
    another writer since it was looked for, or by a link to nothing.
    """
    folder, last = os.path.split(name)
    try:
        place = os.open(folder or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return False
    try:
        handle = _open_unnamed(folder or ".", 0o666)
        if handle is None:
            return False
        try:
            with open(handle, "wb", _BUFFER, closefd=False) as file:
                write(file)
            return _link(handle, place, last)
        finally:
            os.close(handle)
    except _CannotReplace:
        return False
    finally:
        os.close(place)


def _behind_links(path: str) -> str | None:
    """The file that a path's links lead to; None where they go through a process's open files."""
    for _ in range(40):
        folder = os.path.realpath(os.path.dirname(path) or ".")
        if folder == "/proc" or folder.startswith("/proc/"):
            return None
        path = os.path.join(folder, os.path.basename(path))
        if not os.path.islink(path):
            return path
        path = os.path.join(folder, os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _exchange(target: str, old: os.stat_result | None, write: Write) -> None:
    """Writes a file without a name, or under a waiting name, and gives it the target's.

    Raises:
        _CannotReplace: where the folder, or what the old file has, doesn't allow that.
    """
    folder = os.path.dirname(target)
    _clear_abandoned(folder)
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    waiting: str | None = None
    handle = _open_unnamed(folder, mode)
    try:
        if handle is None:
            handle, waiting = _open_waiting(folder, mode)
        if old is not None:
            _give_attributes(handle, target, old)
        with open(handle, "wb", _BUFFER, closefd=False) as file:
            write(file)
        if old is not None and old.st_size:
            os.fsync(handle)
        if waiting is None:
            _lock(handle)
            waiting = _link_waiting(handle, folder)
        _rename(waiting, target)
        waiting = None
    finally:
        # Removed while it is still locked: nobody else takes it for an abandoned one.
        if waiting is not None:
            with suppress(OSError):
                os.unlink(waiting)
        if handle is not None:
            os.close(handle)


def _open_unnamed(folder: str, mode: int) -> int | None:
    """A file that goes with its process; None where the file system has no such."""
    if not _UNNAMED:
        return None
    try:
        return os.open(folder, _UNNAMED | _FLAGS, mode)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _CannotReplace from None
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            return None
        raise


def _open_waiting(folder: str, mode: int) -> tuple[int, str]:
    """A file under a waiting name, locked."""
    for number in range(_MOST_WRITERS):
        path = os.path.join(folder, _WAITING.format(number))
        try:
            handle = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        except OSError as error:
            raise _refusal(error) from None
        _lock(handle, wait=True)
        # Between opening and locking another writer may have taken it for an abandoned one.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(handle)):
                return handle, path
        os.close(handle)
    raise OSError(errno.EEXIST, "too many files are being written", folder)


def _link_waiting(handle: int, folder: str) -> str:
    """The waiting name that a file without a name got."""
    place = os.open(folder, os.O_RDONLY)
    try:
        for number in range(_MOST_WRITERS):
            name = _WAITING.format(number)
            if _link(handle, place, name):
                return os.path.join(folder, name)
    finally:
        os.close(place)
    raise OSError(errno.EEXIST, "too many files are being written", folder)


def _link(handle: int, folder: int, name: str) -> bool:
    """Names a file; whether the name was free."""
    try:
        # With a folder's handle, so that the call follows the link that stands for the open file.
        os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=folder, follow_symlinks=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise _refusal(error) from None
    return True


def _rename(waiting: str, target: str) -> None:
    try:
        os.replace(waiting, target)
    except OSError as error:
        raise _refusal(error) from None


def _refusal(error: OSError) -> Exception:
    return _CannotReplace() if error.errno in _UNWILLING else error


def _lock(handle: int, wait: bool = False) -> bool:
    """Locks a file, at once or after a `_clear_abandoned`; whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _clear_abandoned(folder: str) -> None:
    """Removes the waiting files that nobody works at."""
    for number in range(_MOST_WRITERS):
        path = os.path.join(folder, _WAITING.format(number))
        try:
            handle = os.open(path, os.O_RDONLY | _CAREFUL)
        except FileNotFoundError:
            return
        except OSError:
            continue
        try:
            if _lock(handle):
                with suppress(OSError):
                    if os.path.samestat(os.stat(path), os.fstat(handle)):
                        os.unlink(path)
        finally:
            os.close(handle)


def _give_attributes(handle: int, target: str, old: os.stat_result) -> None:
    """Gives the new file the old one's owner, mode and extended attributes.

    Raises:
        _CannotReplace: where one of them can't be given.
    """
    if not hasattr(os, "fchmod"):
        return
    try:
        now = os.fstat(handle)
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(handle, old.st_uid, old.st_gid)
        if stat.S_IMODE(now.st_mode) != stat.S_IMODE(old.st_mode):
            os.fchmod(handle, stat.S_IMODE(old.st_mode))
        if hasattr(os, "listxattr"):
            for name in _attributes_of(target):
                value = os.getxattr(target, name)
                if name not in _attributes_of(handle) or os.getxattr(handle, name) != value:
                    os.setxattr(handle, name, value)
    except OSError:
        raise _CannotReplace from None


def _attributes_of(file: str | int) -> list[str]:
    try:
        return os.listxattr(file)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return []
        raise


class _Counter(io.RawIOBase):
    """A file that only counts what is written to it."""

    count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.count += size
        return size


def _write_in_place(target: str, old: os.stat_result | None, write: Write) -> None:
    """Writes over a file whose space is reserved before the first byte of it is touched."""
    if old is None:
        with open(target, "wb") as file:
            write(file)
        return
    counter = _Counter()
    write(counter)
    with open(target, "r+b") as place:
        before = os.fstat(place.fileno()).st_size
        if hasattr(os, "posix_fallocate"):
            _reserve(place, counter.count, before)
        write(place)
        place.flush()
        place.truncate(counter.count)


def _reserve(place: IO[bytes], size: int, before: int) -> None:
    try:
        os.posix_fallocate(place.fileno(), 0, size)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):
            return  # a file system that can't promise space
        os.ftruncate(place.fileno(), before)
        raise
