"""Loops over the elements of a line, by whole vectors and a rest under a mask.

    def copy(at: Places) -> None:
        at.store(to, at.load(source))

    each_vector(f, type, count, copy)

`share` cuts lines into what threads take: chunks of so many lines by so many elements of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..llvm import target
from ..llvm.emit import I64, Function, Type, Value

#: Vectors in a turn of the loop, as long as there are so many.
UNROLLED: Final = 4


class Places:
    """So many elements of a line as fill a vector, or what is left of it under a mask."""

    __slots__ = ("f", "mask", "start", "type")

    def __init__(self, f: Function, type: Type, start: Value, mask: Value | None = None) -> None:
        self.f, self.type, self.start, self.mask = f, type, start, mask

    def load(self, line: Value, fill: float = 0) -> Value:
        """The elements of a line that begins there; `fill` beyond its end."""
        place = self.f.at(line, self.start, self.type)
        wide = self.type.vector(target.lanes(self.type))
        if self.mask is None:
            return self.f.load(place, wide)
        return self.f.load_masked(place, wide, self.mask, fill)

    def store(self, line: Value, value: Value) -> None:
        """Writes them, and nothing beyond the end."""
        place = self.f.at(line, self.start, self.type)
        if self.mask is None:
            self.f.store(place, value)
        else:
            self.f.store_masked(place, value, self.mask)


def each_vector(
    f: Function,
    type: Type,
    count: Value,
    body: Callable[[Places], object],
    unrolled: int = UNROLLED,
) -> None:
    """Calls `body` for the places of `count` elements, from the first to the last."""

    def one(at: Places, _: int, carried: list[Value]) -> list[Value]:
        body(at)
        return carried

    start, _ = _whole(f, type, count, one, [], unrolled)
    with f.when(start < count):
        body(Places(f, type, start, f.mask(count - start, target.lanes(type))))


def copy_line(f: Function, type: Type, count: Value, to: Value, source: Value) -> None:
    """Copies `count` elements that lie side by side."""
    each_vector(f, type, count, lambda at: at.store(to, at.load(source)), 1)


def fold_vectors(
    f: Function,
    type: Type,
    count: Value,
    fold: Callable[[Value, Places], Value],
    first: list[Value],
) -> list[Value]:
    """`first`, each with every so many vectors folded in; the rest is folded into the first."""

    def one(at: Places, k: int, carried: list[Value]) -> list[Value]:
        return [fold(x, at) if j == k else x for j, x in enumerate(carried)]

    start, found = _whole(f, type, count, one, first, len(first))
    rest = Places(f, type, start, f.mask(count - start, target.lanes(type)))
    return [fold(found[0], rest), *found[1:]]


def _whole(
    f: Function,
    type: Type,
    count: Value,
    body: Callable[[Places, int, list[Value]], list[Value]],
    carried: list[Value],
    unrolled: int,
) -> tuple[Value, list[Value]]:
    """The loops over whole vectors: where they end, and what they carried there."""
    lanes = target.lanes(type)
    start = f.constant(I64, 0)
    for vectors in dict.fromkeys((unrolled, 1)):
        stop = count - (count - start) % (vectors * lanes)
        with f.loop(start, stop, vectors * lanes, carried=carried) as loop:
            now = list(loop.carried)
            for k in range(vectors):
                now = body(Places(f, type, loop.index + k * lanes), k, now)
            if now:
                loop.next(*now)
        start, carried = stop, list(loop.results)
    return start, carried


def share(f: Function, chunk: Value, c: dict[str, Value]) -> tuple[Value, Value, Value, Value]:
    """A chunk's part of `outer` lines of `inner` elements, `rows` lines by `grain` elements: the
    first line, the end of lines, the first element, and how many of them."""
    pieces = (c["inner"] + (c["grain"] - 1)) // c["grain"]
    top, first = chunk // pieces * c["rows"], chunk % pieces * c["grain"]
    end = f.minimum(top + c["rows"], c["outer"])
    return top, end, first, f.minimum(c["grain"], c["inner"] - first)
