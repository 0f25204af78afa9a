"""What modules of the library's know of themselves, beside what code of the user's names."""

from __future__ import annotations

from ...nn.modules.module import Module
from .places import is_library_class

__all__ = ["own_affairs", "reads_itself"]


def own_affairs(x: object, named: set[str], moved: set[tuple[int, object]]) -> frozenset[str]:
    """The attributes of an object that the walk needn't look at, but for those that code names.

    `DistributedDataParallel` changes them in each call, which `moved` says, and tells the recorder
    itself; one that code names may not change.
    """
    own: frozenset[str] = getattr(type(x), "_by_messages", frozenset())
    for name in own:
        change = moved.discard if name in named else moved.add
        change((id(vars(x)), name))
    return own


def reads_itself(base: type) -> bool:
    """Whether a base class is a layer of the library's, whose code reads its own attributes."""
    return issubclass(base, Module) and base is not Module and is_library_class(base)
