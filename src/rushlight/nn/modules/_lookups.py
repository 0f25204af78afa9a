"""Whether a layer may read its parameters in the table, which takes half the time of `self.weight`.

A class that finds attributes its own way (`__getattr__`, a property `weight`) is asked for them.
"""

from __future__ import annotations

from typing import Final

from ._registry import Registry

#: The classes that find attributes their own way, as a mark: a layer looks here before it looks at
#: its class, and most programs have none.
FOUND: Final[list[bool]] = []


class ReadsParameters:
    """A layer whose `forward` reads parameters called `weight…` and `bias…` in the table."""

    _finds_attributes = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        asked = [getattr(cls, "__getattr__", None), cls.__getattribute__]
        named = any(name.startswith(("weight", "bias")) for c in cls.__mro__ for name in vars(c))
        cls._finds_attributes = named or asked != [Registry.__getattr__, object.__getattribute__]
        if cls._finds_attributes:
            FOUND[:] = [True]
