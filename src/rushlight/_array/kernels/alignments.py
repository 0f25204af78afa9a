"""The recursion of alignments (see `_array.nn.ctc`) by a kernel: many times in one native call."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ..._formula.ir import Symbol
from ..._formula.words import exp, log, maximum, where
from .calls import Along, of_kernel, run
from .launch import Kernel, address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array


def _reach(a: Symbol, b: Symbol, c: Symbol, barrier: Symbol, seen: Symbol) -> Any:
    """log(exp(a) + exp(b) + exp(c + barrier)) + seen, for logarithms of nothing, too."""
    c = c + barrier
    most = maximum(maximum(a, b), c)
    top = where(most > -inf, most, 0.0)
    return log(exp(a - top) + exp(b - top) + exp(c - top)) + top + seen


_REACH = Kernel(_reach, *"fffff")


@guard_launch
def advance(
    states: Array, emitted: Array, barrier: Array, times: range, before: int,
    places: tuple[int, int, int],
) -> bool | None:  # fmt: skip
    """Fills `states` at some times, one after the other; whether it was done.

    A state is reached from itself and from the next two, as they are `before` times further on.
    `places` are the columns at which the state's own, the next and the last one's begin.

    Shapes: states (T, N, W + 2), emitted (T, N, W), barrier (N, W).
    """
    if not times or not plain(states, emitted, barrier) or not ready():
        return None
    dtype = states.dtype
    if not _REACH.prepare(dtype):
        return None
    (count, width), size = barrier.shape, dtype.itemsize
    line, begin = width + 2, address(states)
    earlier = begin + before * count * line * size
    read = [Along(earlier + place * size, line * size) for place in places]
    seen = Along(address(emitted), width * size)
    out = Along(begin + places[0] * size, line * size)
    words = [*read, address(barrier), seen, out, line, line, line, width, width, line]
    rows = range(times.start * count, times.stop * count, times.step * count)
    run([of_kernel(_REACH, dtype, count, width, words)], rows)
    return True
