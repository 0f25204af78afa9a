"""What a recorder knows of arrays and tensors, for as long as they are there.

Note [A recorder keeps nothing alive]
A step that is being recorded needs no more memory than an eager one: an intermediate result goes
when the step lets go of it. So a recorder knows arrays by their ids, and forgets one when it dies,
before its id can be another's. What a program needs of it (shape, strides, where it lies in its
memory) is in its `Value`. Constants alone are kept, by their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


class ById(dict[int, Any]):
    """Things by the ids of arrays or tensors that live."""

    def __init__(self) -> None:
        self.refs: dict[int, Any] = {}

    def put(self, thing: object, found: Any) -> None:
        """Notes something of a thing until it dies."""
        key = id(thing)

        def forget(_: object) -> None:
            self.refs.pop(key, None)
            self.pop(key, None)

        try:
            self.refs[key] = ref(thing, forget)
        except TypeError:  # it can't be told when that dies
            self.refs[key] = thing
        self[key] = found

    def clear(self) -> None:
        """Forgets all."""
        self.refs.clear()
        super().clear()


def loosely(x: Tensor | None) -> Any:
    """A weak reference to something; None to nothing."""
    return None if x is None else ref(x)


def refers(held: Any, x: object) -> bool:
    """Whether a loose reference is one to just that; to None only where it was made of None."""
    return x is None if held is None else x is not None and held() is x
