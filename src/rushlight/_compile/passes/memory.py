"""The memory plan: where in the arena each value lies, settled when the program is compiled.

Two values share memory if one is dead before the other is made (first fit on the times between a
value's first and last use). In-place reuse goes further: a result of an elementwise kernel takes
the memory of an operand that nobody reads after that kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir.iteration_values import in_order, size_of
from ..ir.program import Value
from ..lowering.fusion import Kernel


def place_items(
    items: Sequence[object], kept: set[int], reads: Callable[[Any], list[Value]],
    made: Callable[[Any], list[Value]], groups: dict[int, object],
) -> tuple[dict[int, int], int, list[tuple[Value, Value]]]:  # fmt: skip
    """Offsets of roots, how large the arena is, and which values took the place of which.

    `kept` are the roots that outlive the call and lie elsewhere.
    """
    last: dict[int, int] = {}
    for place, item in enumerate(items):
        for v in reads(item):
            last[v.root] = place
    offsets: dict[int, int] = {}
    reused: list[tuple[Value, Value]] = []
    top = 0
    live: list[tuple[int, int, int]] = []  # offset, size, last use
    for place, item in enumerate(items):
        live = [x for x in live if x[2] >= place]
        free = _find_reusable(item, place, last, offsets, groups)
        for v in made(item):
            if v.root in kept or v.kind == "write":
                continue
            size = _room(v)
            end = max(last.get(v.root, place), place)
            old = next((x for x in free if _takes(v, x)), None)
            if old is not None:
                free.remove(old)
                reused.append((v, old))
                offset = offsets[old.root]
                live = [x for x in live if x[0] != offset]
            else:
                offset = _first_fit(size, live)
            offsets[v.root] = offset
            top = max(top, offset + size)
            live.append((offset, size, end))
    return offsets, top, reused


def _room(v: Value) -> int:
    """Bytes for a value, with a gap to the next."""
    return -(-(size_of(v.shape) * int(v.dtype.itemsize) + 64) // 64) * 64


def _first_fit(size: int, live: Iterable[tuple[int, int, int]]) -> int:
    offset = 0
    for start, length, _ in sorted(live):
        if offset + size <= start:
            break
        offset = max(offset, start + length)
    return offset


def _find_reusable(item: object, place: int, last: dict[int, int], offsets: dict[int, int],
           groups: dict[int, Any]) -> list[Value]:  # fmt: skip
    """The operands whose memory an elementwise kernel may write: each element is read before."""
    if not isinstance(item, Kernel) or not item.flat or not groups[place].elementwise:
        return []
    roots = [v.root for v in item.operands]
    roots += [v.root for v in item.outputs if v.kind == "write"]  # written already
    return [
        v for v in item.operands
        if last.get(v.root) == place and v.root in offsets and v.offset == 0
        and item.layout(v).kind == "f" and roots.count(v.root) == 1
    ]  # fmt: skip


def _takes(v: Value, old: Value) -> bool:
    """Whether a value fits exactly where another lies: element by element."""
    return (
        size_of(v.shape) == size_of(old.shape) and v.dtype == old.dtype and not v.view
        and in_order(v) and in_order(old) and size_of(v.shape) > 1
    )  # fmt: skip
