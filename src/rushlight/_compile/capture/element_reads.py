"""Reading a tensor's elements into Python, seen by the recorder.

Note [Numbers that are only passed on]
`return loss.item()` needs no more than the tensor: the number is read when the program has run. But
a number on which the step branches, or that it computes with, would be a constant of the program.
So while a step is recorded, `item()` gives a number that notes whatever is done with it, see
`scalars`.
"""

from __future__ import annotations

from typing import Any

from ..._tensor.watched_methods import watch
from .symbolic_numbers import NUMBERS, READS, plain_number


def plain(result: Any) -> Any:
    """A result with ordinary numbers, as the user gets it."""
    kind = type(result)
    if kind in NUMBERS:
        return plain_number(result)
    if kind in (list, tuple):
        items = [plain(x) for x in result]
        return result if all(x is y for x, y in zip(items, result)) else kind(items)
    if kind is dict:
        entries = {k: plain(v) for k, v in result.items()}
        return result if all(entries[k] is result[k] for k in entries) else entries
    return result


def holds_read(x: object) -> bool:
    """Whether a number that was read is among some arguments."""
    if type(x) in READS:
        return True
    if isinstance(x, (list, tuple)):
        return any(holds_read(y) for y in x)
    return isinstance(x, dict) and any(holds_read(y) for y in x.values())


watch()
