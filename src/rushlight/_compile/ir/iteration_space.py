"""How values lie in a space of rows by columns: what a kernel has to know of their layout.

A kernel runs over (R, C). For each row it has the value's address, and from there it reads along
the row, or one element for all of it. So a value needs no copy in another layout if its rows are
evenly spaced, if they repeat after a while, or if several in succession are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from .iteration_values import DTYPES, size_of
from .program import Value


@dataclass(frozen=True, slots=True)
class Layout:
    """How a value varies (`f`, `r`, `c` or `s`), and where row n of it begins.

    That is at element ((n // each) % period) * step; a period of 0 is none.
    """

    kind: str
    step: int = 0
    each: int = 1
    period: int = 0

    @property
    def plain(self) -> bool:
        """Whether rows come one after the other, evenly spaced."""
        return self.each == 1 and self.period == 0

    @property
    def symbol(self) -> str:
        """The kind of the operand in a group."""
        return self.kind if self.plain else self.kind + "%"


def layout_in(
    shape: tuple[int, ...], split: int, value: Value, order: tuple[int, ...] | None = None
) -> Layout | None:
    """The layout of a value over a space whose rows are the first `split` dimensions.

    None where it doesn't fit. What has been expanded counts as what it was before: strides of zero
    don't vary. `order` says which dimension of the value is which of the space.
    """
    if value.dtype.name not in DTYPES or len(value.shape) > len(shape):
        return None
    if size_of(value.shape) == 1:
        return Layout("s")
    size = value.dtype.itemsize
    if any(s % size for s in value.strides):
        return None
    missing = len(shape) - len(value.shape)
    whole = shape if order is None else tuple(shape[order.index(d)] for d in range(len(shape)))
    steps = [0] * missing
    for n, m, stride in zip(value.shape, whole[missing:], value.strides):
        if n not in (1, m):
            return None
        steps.append(0 if n == 1 else stride // size)
    if order is not None:
        steps = [steps[d] for d in order]
    along = _run(shape[split:], steps[split:])
    if along is None or (along and along != 1):
        return None
    found = _rows(shape[:split], steps[:split])
    if found is None:
        return None
    step, each, period = found
    columns = size_of(shape[split:])
    broad = bool(along) or columns == 1
    if size_of(shape[:split]) == 1:
        return Layout("f", columns) if broad else Layout("s")
    if not step:
        return Layout("c") if broad else Layout("s")
    return Layout("f" if broad else "r", step, each, period)


def _run(shape: tuple[int, ...], steps: list[int]) -> int | None:
    """The distance of elements that are evenly spaced; 0 where they don't vary."""
    moving = [(n, s) for n, s in zip(shape, steps) if n != 1]
    if all(s == 0 for _, s in moving):
        return 0
    first = step = moving[-1][1]
    for n, s in reversed(moving):
        if s != step:
            return None
        step *= n
    return first if first > 0 else None


def _rows(shape: tuple[int, ...], steps: list[int]) -> tuple[int, int, int] | None:
    """Step, rows for each, and period of rows; see `Layout`."""
    moving = [(n, s) for n, s in zip(shape, steps) if n != 1]
    each = period = 1
    while moving and moving[-1][1] == 0:
        each *= moving.pop()[0]
    leading = False
    while moving and moving[0][1] == 0:
        moving.pop(0)
        leading = True
    if not moving:
        return 0, 1, 0
    step = _run(tuple(n for n, _ in moving), [s for _, s in moving])
    if step is None:
        return None
    period = size_of(tuple(n for n, _ in moving))
    return step, each, period if leading else 0
