"""What guards have been seen to read, of objects that stay the same and of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._array.annotations import RawType
    from ..._base.annotations import Shape


class NotNative(Exception):
    """A condition that machine code can't look at."""


class ObjectReads:
    """What conditions have read of one object that is the same in each call."""

    __slots__ = ("thing", "fields", "noneness", "keys", "whole", "size")

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.fields: set[str] = set()  # `__class__`, `cell_contents`, a tensor's, a function's
        self.noneness: set[str] = set()  # fields of which only matters whether they are None
        self.keys: dict[int, Any] = {}  # of a dictionary, by id
        self.whole = False  # all items or entries, in order
        self.size = False

    def join(self, other: ObjectReads) -> None:
        """Takes over what another has read."""
        self.fields |= other.fields
        self.noneness |= other.noneness
        self.keys |= other.keys
        self.whole |= other.whole
        self.size |= other.size


class Geometry:
    """What an argument's array must be."""

    __slots__ = ("shape", "strides", "dtype")

    def __init__(self) -> None:
        self.shape: Any = None
        self.strides: Any = None
        self.dtype: Any = None

    def take(self, shape: Shape, strides: Shape, dtype: RawType) -> None:
        """Notes all of it."""
        self.shape, self.strides, self.dtype = shape, strides, dtype


class Argument:
    """What a tensor among the arguments must be."""

    __slots__ = ("name", "kind", "fields", "geometry", "written", "bare")

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind: Any = None
        self.bare = False  # it may have no attributes of its own
        self.fields: dict[str, Any] = {}
        self.geometry = Geometry()
        self.written = False  # its array may not be read-only

    def complete(self) -> bool:
        """Whether its class and its array's geometry are known."""
        g = self.geometry
        return self.kind is not None and None not in (g.shape, g.strides, g.dtype)


def betas_near(betas: object) -> bool:
    """Whether Adam's average is moved less than half the way, as its options hold that: they may
    change."""
    return _are_floats(betas) and betas[0] > 0.5  # type: ignore[index]


def betas_far(betas: object) -> bool:
    """The same for half the way and more, which is another formula."""
    return _are_floats(betas) and betas[0] <= 0.5  # type: ignore[index]


def _are_floats(betas: object) -> bool:
    return type(betas) is tuple and len(betas) == 2 and all(type(b) is float for b in betas)
