"""When a program gets its quick way in: once it has been run some times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from .replay import Variant

#: Calls after which a program gets its quick way in (see `fast_entry`).
WARM = 3
#: Why programs have none, the last few.
FAILED: list[Exception] = []


def warm(variant: Variant) -> None:
    """Has a variant run as its text says at first, and by the quick way from some call on."""
    hits = 0
    held = ref(variant)  # which holds this function

    def run(args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        nonlocal hits
        variant = held()
        assert variant is not None
        found = variant.reference(args, kwargs)
        if found is not None:
            hits += 1
            if hits >= WARM:
                variant.run = variant.reference
                _quicken(variant, args, kwargs)
        return found

    variant.run = run


def _quicken(variant: Variant, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    from .fast_entry import quicken

    try:
        variant.run = quicken(variant, args, kwargs) or variant.reference
    except Exception as error:  # it is never worse off for guards that fail to be made
        FAILED.append(error.with_traceback(None))
        del FAILED[:-8]
