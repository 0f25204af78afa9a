"""The handle that registering a hook returns: keep it to take the hook away again."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Iterable, MutableMapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .annotations import AnyCallable

_ids: Final = itertools.count()


class RemovableHandle:
    """The handle of a registered hook; `remove()`, or leaving `with handle:`, takes the hook away.

    The handle holds the table of hooks weakly: it keeps no tensor, module or optimizer alive, and
    removing a hook from a table that is gone does nothing.

    `extra` are companion tables (say, which hooks take keyword arguments) that are cleaned along.
    """

    id: int
    next_id: int = 0

    def __init__(
        self,
        hooks: MutableMapping[int, Any],
        *,
        extra: MutableMapping[int, Any] | Iterable[MutableMapping[int, Any]] = (),
    ) -> None:
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id = next(_ids)
        RemovableHandle.next_id = self.id + 1
        tables = (extra,) if isinstance(extra, MutableMapping) else tuple(extra)
        self.extra_dict_ref = tuple(weakref.ref(table) for table in tables)

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id, extra = state
        # A table that died before pickling has no identity to restore: any empty one will do.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if t is None else t) for t in extra)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def register(table: MutableMapping[int, Any], hook: AnyCallable) -> RemovableHandle:
    """Puts `hook` last into a table of hooks; the handle takes it out again."""
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle
