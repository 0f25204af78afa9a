"""The order of rows with NaN, which no comparison puts in order.

A row with NaN is neither less than some others nor greater, and equal to none: where it comes to
lie hangs on how they are sorted. PyTorch sorts by quicksort, in which parts of up to 16 rows are
left to a last insertion sort; so it is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

_SHORT: Final = 16  # parts of so many rows are left to the insertion sort


def distinct_rows(rows: Array) -> tuple[Array, Array, Array]:
    """Which of the rows [n, m] stay, in order; for each row its place; how often each occurs."""
    order = _Sort(rows.tolist()).order
    kept, places, counts = [order[0]], np.zeros(len(order), np.int64), [0]
    for row in order:
        if row != kept[-1] and not np.array_equal(rows[row], rows[kept[-1]]):
            kept.append(row)
            counts.append(0)
        counts[-1] += 1
        places[row] = len(kept) - 1
    return np.array(kept, np.int64), places, np.array(counts, np.int64)


class _Sort:
    """Numbers of rows that are brought in order, as far as there is one."""

    def __init__(self, rows: list[list[float]]) -> None:
        self.rows = rows
        self.order = list(range(len(rows)))
        self._part(0, len(rows))
        for i in range(1, len(rows)):
            self._insert(i)

    def less(self, a: int, b: int) -> bool:
        """Whether row `a` is less than row `b` where they first differ, NaN passed over."""
        for x, y in zip(self.rows[a], self.rows[b]):
            if x < y:
                return True
            if x > y:
                return False
        return False

    def _part(self, first: int, last: int) -> None:
        """Moves what is less than a middle row before it, and so on in both parts."""
        order, less = self.order, self.less
        while last - first > _SHORT:
            self._take_median(first, first + (last - first) // 2, last - 1)
            pivot, low, high = order[first], first + 1, last
            while True:
                while low < last and less(order[low], pivot):
                    low += 1
                high -= 1
                while high > first and less(pivot, order[high]):
                    high -= 1
                if low >= high:
                    break
                order[low], order[high] = order[high], order[low]
                low += 1
            self._part(low, last)
            last = low

    def _take_median(self, first: int, middle: int, end: int) -> None:
        """Puts the median of the second, the middle and the last row first."""
        order, less = self.order, self.less
        low, high = first + 1, middle
        if not less(order[low], order[high]):
            low, high = high, low
        if less(order[high], order[end]):
            found = high
        else:
            found = end if less(order[low], order[end]) else low
        order[first], order[found] = order[found], order[first]

    def _insert(self, i: int) -> None:
        """Moves a row before those that are greater, or to the front where it is less than that."""
        order, row = self.order, self.order[i]
        if i < _SHORT and self.less(row, order[0]):
            order.insert(0, order.pop(i))
            return
        while i and self.less(row, order[i - 1]):
            order[i] = order[i - 1]
            i -= 1
        order[i] = row
