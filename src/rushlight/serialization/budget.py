"""How much one `load` may make: bytes in proportion to the file, and tuples in tuples.

A file of a few bytes can ask for gigabytes: records that unpack to a thousand times their size,
pickles whose every byte is an empty dictionary, lists that are copied again and again. So one
budget goes with each file that isn't trusted, and all who read it spend from it: the archive for
what it unpacks, the unpickler for what every opcode makes. The data of tensors cost nothing: they
are as long as they are in the file.
"""

from __future__ import annotations

import os
import pickle
from contextvars import ContextVar
from typing import IO, Final

__all__ = ["Budget", "load_limits"]

#: What a file may make without looking at its size, and how many times its size beyond that.
_FLOOR: Final = 128 << 20
_TIMES: Final = 10
#: Tuples in tuples: hashing them is recursive in C, and Python's own picklers stop at 1000.
_DEEPEST: Final = 2000

_limits: Final[ContextVar[tuple[int | None, int | None]]] = ContextVar(
    "rushlight_load_limits", default=(None, None)
)


class load_limits:
    """A context that sets what `load` may make of a file that isn't trusted.

    Args:
        bytes: for objects and compressed records; the data of tensors that lie in the file as
            they are cost nothing. Without it ten times the file and 128 MiB.
        depth: of tuples in tuples; without it 2000.

    Example:
        >>> import rushlight as rl, io
        >>> file = io.BytesIO()
        >>> rl.save({"words": ["a", "b"]}, file)
        >>> _ = file.seek(0)
        >>> with rl.serialization.load_limits(bytes=4 << 30):
        ...     rl.load(file)
        {'words': ['a', 'b']}

    Parameters:
        bytes, depth: see above: how much a file may make, and how deep.
    Raises: nothing here; a file beyond the limits is refused by `load`.
    """

    def __init__(self, bytes: int | None = None, depth: int | None = None) -> None:
        self._limits = bytes, depth

    def __enter__(self) -> None:
        self._token = _limits.set(self._limits)

    def __exit__(self, *exc: object) -> None:
        _limits.reset(self._token)


class Budget:
    """What is left of what one file may make."""

    __slots__ = ("left", "deepest", "_whole", "_size")

    def __init__(self, size: int) -> None:
        whole, deepest = _limits.get()
        self._size = size
        self._whole = _FLOOR + _TIMES * size if whole is None else whole
        self.left = self._whole
        self.deepest = _DEEPEST if deepest is None else deepest

    @classmethod
    def of(cls, file: IO[bytes]) -> Budget:
        """The budget of a file, from its position on."""
        return cls(size_left(file))

    def spend(self, count: int) -> None:
        """Takes bytes away.

        Raises:
            UnpicklingError: where there are none left.
        """
        self.left -= count
        if self.left < 0:
            self.refuse()

    def refuse(self) -> None:
        """Raises UnpicklingError: the file asks for too much."""
        raise pickle.UnpicklingError(
            f"a file of {self._size} bytes asks for more than {self._whole} bytes of memory. If "
            "you trust it, `torch.serialization.load_limits(bytes=...)` is a context that allows "
            "more"
        )

    def check_depth(self, depth: int) -> None:
        """Raises UnpicklingError for tuples that lie too deep in each other."""
        if depth > self.deepest:
            raise pickle.UnpicklingError(
                f"more than {self.deepest} tuples lie in each other. "
                "`torch.serialization.load_limits(depth=...)` is a context that allows more"
            )


def size_left(file: IO[bytes]) -> int:
    """The bytes from a file's position to its end."""
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return int(file.tell() if end is None else end) - int(here)
