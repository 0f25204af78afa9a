"""The keys of a store and what can be done with them at once, the same for all kinds of stores."""

from __future__ import annotations

from collections import deque

__all__ = ["StoredKeys"]


class StoredKeys:
    """Keys with bytes for values, and queues of bytes; nothing here waits or locks."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.queues: dict[str, deque[bytes]] = {}

    def has(self, keys: list[str]) -> bool:
        """Whether each key has a value, or a queue that holds one."""
        return all(key in self.held or key in self.queues for key in keys)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number that a key holds, and gives the sum.

        Raises:
            ValueError: where it holds something else.
        """
        try:
            total = int(self.held.get(key, b"0")) + amount
        except ValueError:
            raise ValueError("stoll") from None
        self.held[key] = str(total).encode()
        return total

    def append(self, key: str, value: bytes) -> None:
        """Appends to the value of a key."""
        self.held[key] = self.held.get(key, b"") + value

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Sets a key if it has the value that is expected, or none where none is; gives what is."""
        held = self.held.get(key)
        if held is None and expected:
            return expected
        if held is None or held == expected:
            self.held[key] = desired
        return self.held[key]

    def push(self, key: str, value: bytes) -> None:
        """Puts a value at the end of a queue."""
        self.queues.setdefault(key, deque()).append(value)

    def pop(self, key: str) -> bytes | None:
        """Takes the first value of a queue; None where it is empty."""
        queue = self.queues.get(key)
        if queue is None:
            return None
        value = queue.popleft()
        if not queue:
            del self.queues[key]
        return value

    def length(self, key: str) -> int:
        """How many values a queue holds."""
        return len(self.queues.get(key, ()))
