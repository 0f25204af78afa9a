"""Who holds a thing, as the collector of garbage knows it."""

from __future__ import annotations

import gc
from collections.abc import Sequence


def find_referrers(things: Sequence[object]) -> list[object]:
    """What holds some things, among all objects of the process, frozen ones (`gc.freeze`) too."""
    gc.unfreeze()  # what is frozen isn't told
    return gc.get_referrers(*things)
