"""Sums, differences, products and quotients of two large arrays that broadcast, by emitted code.

NumPy computes them on one thread, and runs its loop anew for each row of the last axis. The digits
are the same: each is one operation.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import pairs as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32, FLOAT64
from .launch import address, guard_launch, ready

if TYPE_CHECKING:
    from ..annotations import Array

Sizes = tuple[int, ...]

#: Elements of a result from which threads are worth waking: of one shape, and where one broadcasts,
#: for which NumPy takes twice as long.
PLAIN: Final = 1 << 18
BROADCAST: Final = 1 << 16
_CHUNK: Final = 1 << 14  # elements of a chunk, about
_SHORT: Final = 16  # elements of a row from which its start is worth finding
_FRAME = struct.Struct(f"{len(code.FRAME)}q").pack


@lru_cache(maxsize=512)
def plan(
    a: Sizes, a_steps: Sizes, b: Sizes, b_steps: Sizes, size: int
) -> tuple[Sizes, Sizes, int] | None:
    """The shape of the result, the words of a frame behind the addresses, and how many chunks there
    are; None for what is left to NumPy."""
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return None
    total = 1
    for n in shape:
        total *= n
    broadcasts = a != b or 0 in a_steps or 0 in b_steps
    if total < (BROADCAST if broadcasts else PLAIN):
        return None
    # Axes from the last one on, of which those that step alike are one.
    axes: list[list[int]] = []
    for k in range(1, len(shape) + 1):
        n = shape[-k]
        if n == 1:
            continue
        steps = []
        for own, own_steps in ((a, a_steps), (b, b_steps)):
            step = own_steps[-k] if k <= len(own) and own[-k] != 1 else 0
            # Backwards, or in another order, in which NumPy lays out the result: not here.
            if step % size or step < 0:
                return None
            steps.append(step // size)
        if axes and all(s == axes[-1][0] * last for s, last in zip(steps, axes[-1][1:])):
            axes[-1][0] *= n
        else:
            axes.append([n, *steps])
    inner = axes[0]
    if len(axes) > 4 or inner[0] < _SHORT or max(inner[1:]) != 1:
        return None
    for operand in (1, 2):
        steps = [axis[operand] for axis in axes if axis[operand]]
        if steps != sorted(steps):
            return None
    axes += [[1, 0, 0]] * (4 - len(axes))
    (n, a_step, b_step), last, middle, top = axes
    outer = last[0] * middle[0] * top[0]
    grain = min(n, _CHUNK)
    rows = max(1, _CHUNK // n)
    words = (
        outer, n, middle[0], last[0], top[1], middle[1], last[1], a_step,
        top[2], middle[2], last[2], b_step, rows, grain,
    )  # fmt: skip
    return shape, words, -(-outer // rows) * -(-n // grain)


@guard_launch
def combine(word: str, a: Array, b: Array) -> Array | None:
    """What `word` of `emitted.pairs.COMBINED` makes of two arrays of one type; or None."""
    dtype = a.dtype
    if dtype is not b.dtype or not (dtype is FLOAT32 or dtype is FLOAT64):
        return None
    found = plan(a.shape, a.strides, b.shape, b.strides, dtype.itemsize)
    if found is None or not ready():
        return None
    shape, words, chunks = found
    place = code.load(word, F32 if dtype is FLOAT32 else F64)
    out = np.empty(shape, dtype)
    pool.run(place, _FRAME(address(out), address(a), address(b), *words), chunks, get_num_threads())
    return out
