"""Stores: the keys by which processes agree, here all in the one process that there is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from .._base.fork_locks import condition

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]

DEFAULT_TIMEOUT: Final = timedelta(seconds=300)


class Store:
    """Keys with bytes for values; `get` and `wait` wait until a key is there."""

    def __init__(self) -> None:
        self._changed = condition()
        self._held: dict[str, bytes] = {}
        self.timeout = DEFAULT_TIMEOUT

    def set(self, key: str, value: Any) -> None:
        """Sets the value of a key."""
        with self._changed:
            self._held[key] = value.encode() if isinstance(value, str) else bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of a key.

        Raises:
            RuntimeError: where it isn't set within the timeout.
        """
        self.wait([key])
        return self._held[key]

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        with self._changed:
            total = int(self._held.get(key, b"0")) + value
            self._held[key] = str(total).encode()
            self._changed.notify_all()
        return total

    def append(self, key: str, value: Any) -> None:
        """Appends to the value of a key."""
        added = value.encode() if isinstance(value, str) else bytes(value)
        self.set(key, self._held.get(key, b"") + added)

    def check(self, keys: list[str]) -> bool:
        """Whether all keys are set."""
        return all(key in self._held for key in keys)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        with self._changed:
            held = self._held.get(key)
            if held is None:
                if expected_value:
                    return expected_value.encode()
                held = b""
            if held == expected_value.encode():
                self._held[key] = desired_value.encode()
            self._changed.notify_all()
            return self._held[key]

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set.

        Raises:
            RuntimeError: where they aren't within the timeout.
        """
        limit = (self.timeout if timeout is None else timeout).total_seconds()
        with self._changed:
            if not self._changed.wait_for(lambda: self.check(keys), limit):
                raise RuntimeError(f"wait timeout after {int(limit * 1000)}ms, keys: {keys}")

    def num_keys(self) -> int:
        """How many keys are set."""
        return len(self._held)

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        with self._changed:
            return self._held.pop(key, None) is not None

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """The values of several keys."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: list[str], values: list[object]) -> None:
        """Sets several keys."""
        for key, value in zip(keys, values):
            self.set(key, value)

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long `get` and `wait` wait."""
        self.timeout = timeout


class HashStore(Store):
    """A store in this process."""


class FileStore(Store):
    """A store that PyTorch keeps in a file; one process needs none."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = file_name


class TCPStore(Store):
    """A store that PyTorch keeps behind a port; one process needs none.

    Raises:
        RuntimeError: for more than one process, and where this one isn't the master.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        **options: object,
    ) -> None:
        if (world_size or 1) > 1 or not is_master:
            raise RuntimeError(
                "TCPStore: Rushlight runs in one process; it neither serves other processes nor "
                "connects to them"
            )
        super().__init__()
        self.host, self.port, self.timeout = host_name, port, timeout


class PrefixStore(Store):
    """A store within another one, whose keys all start with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.underlying_store = store
        self._prefix = prefix

    def _named(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: object) -> None:
        """Sets the value of a key."""
        self.underlying_store.set(self._named(key), value)

    def get(self, key: str) -> bytes:
        """The value of a key."""
        return self.underlying_store.get(self._named(key))

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        return self.underlying_store.add(self._named(key), value)

    def check(self, keys: list[str]) -> bool:
        """Whether all keys are set."""
        return self.underlying_store.check([self._named(key) for key in keys])

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set."""
        self.underlying_store.wait([self._named(key) for key in keys], timeout)

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        return self.underlying_store.delete_key(self._named(key))

    def num_keys(self) -> int:
        """How many keys the underlying store holds."""
        return self.underlying_store.num_keys()
