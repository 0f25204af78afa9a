"""Clocks of dictionaries: words that each change of a dictionary makes another one.

CPython 3.11 and 3.12 keep such a word in each dictionary, its version. Later ones don't, but tell
of changes: see `dict_watch`. 3.13.0 forgets to, where an object's attributes are stored that lie in
the object itself: a dictionary over those has no clock there. Either way is tried before its first
use. Where there is no clock, guards compare entries.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from . import dict_watch, interpreter, object_layout as layout
from .memory import window, word


@cache
def unknown() -> str | None:
    """Why dictionaries have no clocks; None where they have, all or most of them."""
    wrong = interpreter.unknown()
    if wrong is not None:
        return wrong
    if layout.version_offset() is not None:
        return None
    if not dict_watch.ready():
        return "this CPython has none"
    seen = layout.changes_are_seen(_watch, split=False)
    return None if seen else "changes of dictionaries are told otherwise"


def _watch(table: dict[object, object]) -> int:
    return word(dict_watch.clock(table))


@cache
def _split_ones_too() -> bool:
    return layout.version_offset() is not None or layout.changes_are_seen(_watch)


def address(table: dict[object, object]) -> int:
    """Where a dictionary's clock is, 0 where it has none; `unknown` is asked first.

    The dictionary must outlive the use.
    """
    offset = layout.version_offset()
    if offset is not None:
        return id(table) + offset
    if layout.is_split(table) and not _split_ones_too():
        return 0
    return dict_watch.clock(table)


def bytes_of(table: dict[object, object]) -> Any:
    """The bytes of a dictionary's clock, for comparing; None where it has none."""
    found = address(table)
    return window(found, 8) if found else None
