"""Who holds a thing, as the collector of garbage knows it."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from sys import getrefcount
from typing import Final


def find_referrers(things: Sequence[object]) -> list[object]:
    """What holds some things, among all objects of the process, frozen ones (`gc.freeze`) too."""
    gc.unfreeze()  # what is frozen isn't told
    return gc.get_referrers(*things)


def count_references(things: Sequence[object]) -> list[int]:
    """How many references there are to each of some things, beside that of the sequence."""
    return [count - _OWN for count in _count(things)]


def _count(things: Sequence[object]) -> list[int]:
    return [getrefcount(x) for x in things]


#: Interpreters count the loop's own in different ways: from Python 3.14 on it lends it to the call.
_OWN: Final = _count([object()])[0]
