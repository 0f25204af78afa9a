"""`FileStore`: keys that processes share through a file, which holds what was done to them."""

from __future__ import annotations

import contextlib
import os
import struct
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Final, TypeVar

from .._base.fork_locks import lock
from .stored_keys import StoredKeys
from .stores import Store, as_bytes, as_keys, deadline_of

if TYPE_CHECKING:
    from .annotations import StoreValue

__all__ = ["FileStore"]

T = TypeVar("T")

_REFERENCES: Final = "refcount"
_LENGTHS: Final = struct.Struct("<III")
#: The kinds of records: a key gets a value, and a key is removed.
_SET, _REMOVE = 0, 1


class _File:
    """The file: records of what was done, which every process adds to and reads in order."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.keys = StoredKeys()
        self.position = 0
        self.owner = os.getpid()

    def change(self, do: Callable[[StoredKeys], T], key: str | None = None) -> T:
        """Does something with the keys as they are now; what becomes of `key` is written down."""
        with open(self.path, "a+b") as file, _lock(file):
            self._catch_up(file)
            done = do(self.keys)
            if key is not None:
                value = self.keys.held.get(key)
                kind = _REMOVE if value is None else _SET
                name = key.encode()
                record = _LENGTHS.pack(kind, len(name), len(value or b"")) + name + (value or b"")
                file.write(record)
                file.flush()
                self.position += len(record)
            return done

    def _catch_up(self, file: IO[bytes]) -> None:
        file.seek(self.position)
        new = file.read()
        at = 0
        while at < len(new):
            kind, name_length, length = _LENGTHS.unpack_from(new, at)
            start = at + _LENGTHS.size + name_length
            key = new[at + _LENGTHS.size : start].decode()
            at = start + length
            if kind == _SET:
                self.keys.held[key] = new[start:at]
            else:
                self.keys.held.pop(key, None)
        self.position += at


@contextlib.contextmanager
def _lock(file: IO[bytes]) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - a system without locks on files
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _leave(file: _File, world_size: int) -> None:
    """Forgets a user of the file; the last of them removes it."""
    if file.owner != os.getpid():
        return
    with contextlib.suppress(OSError):
        left = file.change(lambda keys: keys.add(_REFERENCES, -1), _REFERENCES)
        if left == 0 and world_size > 0:
            os.remove(file.path)


class FileStore(Store):
    """A store in a file that all processes reach.

    Parameters:
        file_name: the file, which is made where it must be.
        world_size: how many processes use it; where it is positive the last that leaves removes the
            file.
    Raises: OSError: where the file can't be made. RuntimeError from `get` and `wait`, where a key
        isn't set within the timeout.
    Example:
        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = dist.FileStore(os.path.join(folder.name, "keys"), 1)
        >>> store.set("best", "0.9")
        >>> store.get("best")
        b'0.9'
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = file_name
        self._lock = lock()
        self._file = _File(file_name)
        self._file.change(lambda keys: keys.add(_REFERENCES, 1), _REFERENCES)
        weakref.finalize(self, _leave, self._file, world_size)

    def _change(self, do: Callable[[StoredKeys], T], key: str | None = None) -> T:
        with self._lock:
            return self._file.change(do, key)

    def _wait_for(self, keys: list[str], timeout: timedelta, message: str) -> None:
        end, pause = deadline_of(timeout), 0.001
        while not self._change(lambda held: held.has(keys)):
            if time.monotonic() >= end:
                raise RuntimeError(message)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def set(self, key: str, value: StoreValue) -> None:
        """Sets the value of a key."""
        kept = as_bytes(value, "set")
        self._change(lambda keys: keys.held.__setitem__(key, kept), key)

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it has one.

        Raises:
            RuntimeError: where it isn't set within the timeout.
        """
        milliseconds = int(self.timeout.total_seconds() * 1000)
        message = f"Timeout waiting for key: {key} after {milliseconds} ms"
        self._wait_for([key], self.timeout, message)
        return self._change(lambda keys: keys.held[key])

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        return self._change(lambda keys: keys.add(key, value), key)

    def append(self, key: str, value: StoreValue) -> None:
        """Appends to the value of a key."""
        more = as_bytes(value, "append")
        self._change(lambda keys: keys.append(key, more), key)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        wanted = as_keys(keys)
        return self._change(lambda held: held.has(wanted))

    def compare_set(self, key: str, expected_value: StoreValue, desired_value: StoreValue) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        expected = as_bytes(expected_value, "compare_set")
        desired = as_bytes(desired_value, "compare_set")
        return self._change(lambda keys: keys.compare_set(key, expected, desired), key)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set.

        Raises:
            RuntimeError: where they aren't within the timeout.
        """
        self._wait_for(as_keys(keys), self.timeout if timeout is None else timeout, "Wait timeout")

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        return self._change(lambda keys: keys.held.pop(key, None) is not None, key)

    def num_keys(self) -> int:
        """How many keys are set, the one with the number of users included."""
        return self._change(lambda keys: len(keys.held))

    def list_keys(self) -> list[str]:
        """The keys that are set, the one with the number of users left out."""
        return self._change(lambda keys: [key for key in keys.held if key != _REFERENCES])

    def has_extended_api(self) -> bool:
        """False: several keys are several turns at the file."""
        return False

    def clone(self) -> FileStore:
        """A store of the same file."""
        return FileStore(self.path)
