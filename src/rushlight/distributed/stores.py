"""Stores: the keys by which processes agree, in this process or behind another store's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from .._base.fork_locks import condition
from .errors import DistStoreError, QueueEmptyError
from .stored_keys import StoredKeys

if TYPE_CHECKING:
    from .annotations import StoreValue

__all__ = ["HashStore", "PrefixStore", "Store"]

DEFAULT_TIMEOUT: Final = timedelta(seconds=300)


def as_bytes(value: object, method: str) -> bytes:
    """A value as the bytes that a store keeps.

    Raises:
        TypeError: for what is neither text nor bytes.
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(
        f"{method}(): incompatible function arguments. The following argument types are "
        "supported:\n    1. (self: torch._C._distributed_c10d.Store, arg0: str, arg1: str) -> None"
    )


def as_keys(keys: Sequence[str]) -> list[str]:
    """A list of keys.

    Raises:
        TypeError: for a single text.
    """
    if isinstance(keys, str | bytes) or not all(isinstance(key, str) for key in keys):
        raise TypeError(
            "incompatible function arguments. The following argument types are supported:\n"
            "    1. (self: torch._C._distributed_c10d.Store, arg0: collections.abc.Sequence[str])"
        )
    return list(keys)


class Store:
    """Keys with bytes for values; `get` and `wait` wait until a key is there.

    The stores that there are: `HashStore` within a process, `FileStore` and `TCPStore` between
    processes, and `PrefixStore` within another one. A class of a program's own has the same
    methods.

    Example:
        >>> store: dist.Store = dist.HashStore()
        >>> store.set("best", "0.9")
        >>> store.get("best")
        b'0.9'
        >>> store.add("seen", 3), store.add("seen", 2)
        (3, 5)
    """

    def __init__(self) -> None:
        self._timeout = DEFAULT_TIMEOUT

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long `get` and `wait` wait."""
        self._timeout = timeout

    def set(self, key: str, value: StoreValue) -> None:
        """Sets the value of a key."""
        raise NotImplementedError

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it has one."""
        raise NotImplementedError

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        raise NotImplementedError

    def append(self, key: str, value: StoreValue) -> None:
        """Appends to the value of a key."""
        raise NotImplementedError

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        raise NotImplementedError

    def compare_set(self, key: str, expected_value: StoreValue, desired_value: StoreValue) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        raise NotImplementedError

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set."""
        raise NotImplementedError

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        raise NotImplementedError

    def num_keys(self) -> int:
        """How many keys are set."""
        raise NotImplementedError

    def list_keys(self) -> list[str]:
        """The keys that are set."""
        raise NotImplementedError

    def queue_push(self, key: str, value: StoreValue) -> None:
        """Puts a value at the end of a queue."""
        raise NotImplementedError

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the first value of a queue, as soon as there is one."""
        raise NotImplementedError

    def queue_len(self, key: str) -> int:
        """How many values a queue holds."""
        raise NotImplementedError

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys, as soon as all have one."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[StoreValue]) -> None:
        """Sets several keys.

        Raises:
            DistStoreError: for more or fewer values than keys.
        """
        if len(keys) != len(values):
            raise DistStoreError("multiSet keys and values vectors must be of same size")
        for key, value in zip(keys, values):
            self.set(key, value)

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` are one message each."""
        return True

    def clone(self) -> Store:
        """A store with the same keys, which another thread may use while this one waits."""
        return self

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Waits until `world_size` callers have said the same key."""
        here = self.add(f"{key}/arrived", 1)
        last = f"{key}/{(here - 1) // world_size}"
        if here % world_size == 0:
            self.set(last, b"1")
        self.wait([last], self.timeout if timeout is None else timeout)


class HashStore(Store):
    """A store in this process, which its threads share.

    Example:
        >>> store = dist.HashStore()
        >>> store.set("best", "0.9")
        >>> store.get("best"), store.check(["best", "last"])
        (b'0.9', False)
        >>> store.delete_key("best"), store.num_keys()
        (True, 0)
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed = condition()
        self._keys = StoredKeys()

    def _wait_for(self, keys: list[str], timeout: timedelta | None) -> None:
        limit = (self.timeout if timeout is None else timeout).total_seconds()
        if not self._changed.wait_for(lambda: self._keys.has(keys), limit):
            raise DistStoreError("Wait timeout")

    def set(self, key: str, value: StoreValue) -> None:
        """Sets the value of a key."""
        value = as_bytes(value, "set")
        with self._changed:
            self._keys.held[key] = value
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it has one.

        Raises:
            DistStoreError: where it isn't set within the timeout.
        """
        with self._changed:
            self._wait_for([key], None)
            return self._keys.held[key]

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        with self._changed:
            total = self._keys.add(key, value)
            self._changed.notify_all()
            return total

    def append(self, key: str, value: StoreValue) -> None:
        """Appends to the value of a key."""
        value = as_bytes(value, "append")
        with self._changed:
            self._keys.append(key, value)
            self._changed.notify_all()

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        with self._changed:
            return self._keys.has(as_keys(keys))

    def compare_set(self, key: str, expected_value: StoreValue, desired_value: StoreValue) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        expected = as_bytes(expected_value, "compare_set")
        desired = as_bytes(desired_value, "compare_set")
        with self._changed:
            now = self._keys.compare_set(key, expected, desired)
            self._changed.notify_all()
            return now

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set.

        Raises:
            DistStoreError: where they aren't within the timeout.
        """
        with self._changed:
            self._wait_for(as_keys(keys), timeout)

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        with self._changed:
            return self._keys.held.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many keys are set."""
        return len(self._keys.held)

    def list_keys(self) -> list[str]:
        """The keys that are set."""
        with self._changed:
            return list(self._keys.held)

    def queue_push(self, key: str, value: StoreValue) -> None:
        """Puts a value at the end of a queue."""
        value = as_bytes(value, "queue_push")
        with self._changed:
            self._keys.push(key, value)
            self._changed.notify_all()

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the first value of a queue, as soon as there is one.

        Raises:
            QueueEmptyError: without `block`, where there is none.
        """
        with self._changed:
            if block:
                self._wait_for([key], None)
            value = self._keys.pop(key)
        if value is None:
            raise QueueEmptyError("queue is empty")
        return value

    def queue_len(self, key: str) -> int:
        """How many values a queue holds."""
        return self._keys.length(key)


class PrefixStore(Store):
    """A store within another one, whose keys all start with a prefix.

    Parameters:
        prefix: what the keys start with, without the stroke that follows it.
        store: the other store.
    Raises: TypeError: for other parameters. AttributeError on the first use of what is no store.
    Example:
        >>> whole = dist.HashStore()
        >>> part = dist.PrefixStore("trial", whole)
        >>> part.set("best", "0.9")
        >>> whole.list_keys(), part.list_keys()
        (['trial/best'], ['best'])
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.underlying_store = store
        self._prefix = prefix

    @property
    def _underlying_non_prefix_store(self) -> Store:
        store = self.underlying_store
        return store._underlying_non_prefix_store if isinstance(store, PrefixStore) else store

    @property
    def timeout(self) -> timedelta:
        """How long the underlying store waits."""
        return self.underlying_store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long the underlying store waits."""
        self.underlying_store.set_timeout(timeout)

    def _name(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: StoreValue) -> None:
        """Sets the value of a key."""
        self.underlying_store.set(self._name(key), value)

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it has one."""
        return self.underlying_store.get(self._name(key))

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        return self.underlying_store.add(self._name(key), value)

    def append(self, key: str, value: StoreValue) -> None:
        """Appends to the value of a key."""
        self.underlying_store.append(self._name(key), value)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self.underlying_store.check([self._name(key) for key in as_keys(keys)])

    def compare_set(self, key: str, expected_value: StoreValue, desired_value: StoreValue) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        return self.underlying_store.compare_set(self._name(key), expected_value, desired_value)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set."""
        named = [self._name(key) for key in as_keys(keys)]
        self.underlying_store.wait(named, self.timeout if timeout is None else timeout)

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        return self.underlying_store.delete_key(self._name(key))

    def num_keys(self) -> int:
        """How many keys the underlying store holds."""
        return self.underlying_store.num_keys()

    def list_keys(self) -> list[str]:
        """The keys with this prefix, without it."""
        start = f"{self._prefix}/"
        keys = self.underlying_store.list_keys()
        return [key.removeprefix(start) for key in keys if key.startswith(start)]

    def queue_push(self, key: str, value: StoreValue) -> None:
        """Puts a value at the end of a queue."""
        self.underlying_store.queue_push(self._name(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the first value of a queue, as soon as there is one."""
        return self.underlying_store.queue_pop(self._name(key), block)

    def queue_len(self, key: str) -> int:
        """How many values a queue holds."""
        return self.underlying_store.queue_len(self._name(key))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys, as soon as all have one."""
        return self.underlying_store.multi_get([self._name(key) for key in keys])

    def multi_set(self, keys: Sequence[str], values: Sequence[StoreValue]) -> None:
        """Sets several keys."""
        self.underlying_store.multi_set([self._name(key) for key in keys], values)

    def has_extended_api(self) -> bool:
        """Whether the underlying store has it."""
        return self.underlying_store.has_extended_api()

    def clone(self) -> PrefixStore:
        """A store with the same keys, which another thread may use while this one waits."""
        return PrefixStore(self._prefix, self.underlying_store.clone())


def deadline_of(timeout: timedelta) -> float:
    """When a timeout that starts now ends, on the clock of `time.monotonic`."""
    return time.monotonic() + timeout.total_seconds()
