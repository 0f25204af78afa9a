"""The steps of recurrent layers by kernels, on rows of the layers' arrays.

Each function looks at the arrays of a whole layer once and gives a function for one step, or None
where no kernel applies: rows from `start` on, as many as the batch has there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import formulas
from .launch import Kernel, address, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

__all__ = ["gru", "lstm", "lstm_backward"]

_LSTM = Kernel(formulas.lstm_cell, *"fffffffff")
_LSTM_BACK = Kernel(formulas.lstm_cell_backward, *"ffffffff")
_GRU = Kernel(formulas.gru_cell, *"ffffff", "c", "c", "c", "f")

# States shorter than this leave most lanes empty.
_SHORT = 16


def lstm(
    gates: Array, fresh: Array, cells: Array, out: Array, first: Array
) -> Callable[[int, int, Any, int], None] | None:
    """One step: the state's part is in `fresh`, the cell state in an array given each time, and
    the output goes to row `place` of `out`."""
    size = first.shape[1]
    if size < _SHORT or not plain(gates, fresh, cells, out, first) or not ready():
        return None
    dtype = gates.dtype
    if not _LSTM.prepared(dtype):
        return None
    width = size * dtype.itemsize
    base, added, kept, result = address(gates), address(fresh), address(cells), address(out)
    parts = [added + k * width for k in range(4)]
    strides = [4 * size] * 8 + [size] + [4 * size] * 4 + [size, size]
    run = _LSTM.runner(dtype, size)

    def step(start: int, batch: int, before: Array, place: int) -> None:
        a = base + 4 * width * start
        b, c, d = a + width, a + 2 * width, a + 3 * width
        run(
            batch, a, b, c, d, *parts, address(before), a, b, c, d, kept + width * start,
            result + width * place, *strides,
        )  # fmt: skip

    return step


def lstm_backward(
    dh: Array, dc: Array, gates: Array, cells: Array, before: Array, dz: Array
) -> Callable[[int, int], None] | None:
    """One step back: `dh` and `dc` are the states' gradients, `dc` written over."""
    size = dc.shape[1]
    if size < _SHORT or not plain(dh, dc, gates, cells, before, dz) or not ready():
        return None
    dtype = gates.dtype
    if not _LSTM_BACK.prepared(dtype):
        return None
    width = size * dtype.itemsize
    states = [address(dh), address(dc)]
    base, now, old, target = address(gates), address(cells), address(before), address(dz)
    strides = [size, size] + [4 * size] * 4 + [size, size] + [4 * size] * 4 + [size]
    run = _LSTM_BACK.runner(dtype, size)

    def step(start: int, batch: int) -> None:
        z, d = base + 4 * width * start, target + 4 * width * start
        run(
            batch, *states, z, z + width, z + 2 * width, z + 3 * width,
            now + width * start, old + width * start,
            d, d + width, d + 2 * width, d + 3 * width, states[1], *strides,
        )  # fmt: skip

    return step


def gru(
    gates: Array, fresh: Array, shift: Array | None, inner: Array, h: Array, out: Array
) -> Callable[[int, int], None] | None:
    """One step: the state's part, without its bias `shift`, is in `fresh`; `h` isn't changed."""
    size = h.shape[1]
    if shift is None:
        shift = np.zeros(3 * size, gates.dtype)
    if size < _SHORT or not plain(gates, fresh, shift, inner, h, out) or not ready():
        return None
    dtype = gates.dtype
    if not _GRU.prepared(dtype):
        return None
    width = size * dtype.itemsize
    base, added, biases = address(gates), address(fresh), address(shift)
    kept, state, result = address(inner), address(h), address(out)
    fixed = [added, added + width, added + 2 * width, biases, biases + width, biases + 2 * width]
    strides = [3 * size] * 6 + [1] * 3 + [size] + [3 * size] * 3 + [size, size]
    alive = (shift,)

    def step(start: int, batch: int) -> None:
        assert alive
        z = base + 3 * width * start
        mine = [z, z + width, z + 2 * width]
        ends = [kept + width * start, result + width * start]
        _GRU.at(dtype, batch, size, [*mine, *fixed, state, *mine, *ends, *strides])

    return step
