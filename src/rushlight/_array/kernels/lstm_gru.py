"""The steps of recurrent layers by kernels, on rows of the layers' arrays.

Each function looks at the arrays of a whole layer once and gives a function for one step, or None
where no kernel applies: rows from `start` on, as many as the batch has there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula import recurrent_cells as cells_of
from ..._formula.ir import Symbol, into
from .calls import Along, of_kernel, run
from .launch import Kernel, address, plain, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array
    from .repeated_gemm import Product


def _lstm_cell(
    o: Symbol, i: Symbol, f: Symbol, u: Symbol,
    ao: Symbol, ai: Symbol, af: Symbol, au: Symbol, c: Symbol,
) -> Any:  # fmt: skip
    """The gates, in place, new cell state and output; the logistic gates have the other sign."""
    (enter, keep, new, out), cell, h = cells_of.lstm(-(i + ai), -(f + af), u + au, -(o + ao), c)
    return into(o, out), into(i, enter), into(f, keep), into(u, new), cell, h


def _lstm_cell_backward(
    dh: Symbol, dc: Symbol, o: Symbol, i: Symbol, f: Symbol, u: Symbol, c: Symbol, before: Symbol
) -> Any:
    """The gradients of the sums (output, input, forget, new), and over `dc` of the old state."""
    (di, df, du, do), old = cells_of.lstm_backward(dh, dc, i, f, u, o, c, before)
    return do, di, df, du, into(dc, old)


def _gru_cell(
    r: Symbol, z: Symbol, n: Symbol, ar: Symbol, az: Symbol, an: Symbol,
    br: Symbol, bz: Symbol, bn: Symbol, h: Symbol,
) -> Any:  # fmt: skip
    """The gates, over the input's part, the state's part of the new, and the new state.

    The two logistic gates come with the other sign; `br`, `bz`, `bn` are the state's bias.
    """
    inner = an + bn
    (reset, update, new), out = cells_of.gru(-r, -z, n, -(ar + br), -(az + bz), inner, h)
    return into(r, reset), into(z, update), into(n, new), inner, out


def _sum(x: Symbol, y: Symbol) -> Any:
    """A sum, in place."""
    return into(x, x + y)


_SUM = Kernel(_sum, "f", "f")
_LSTM = Kernel(_lstm_cell, *"fffffffff")
_LSTM_BACK = Kernel(_lstm_cell_backward, *"ffffffff")
_GRU = Kernel(_gru_cell, *"ffffff", "c", "c", "c", "f")

# States shorter than this leave most lanes empty.
_SHORT = 16


def lstm_sequence(
    multiply: Product, starts: Sequence[int], h: Array, c: Array,
    gates: Array, fresh: Array, cells: Array, out: Array,
) -> None:  # fmt: skip
    """All steps of a layer for which `lstm` gives a function, where each has all examples: rows
    from each of `starts` on, one batch after the other or before it."""
    batch, size = c.shape
    dtype, rows = gates.dtype, np.array(starts, np.int64)
    width = size * dtype.itemsize
    # The state that a step begins with is what the one before has left.
    back = -width * batch if starts[-1] else width * batch
    state = Along(address(out) + back, width, address(h))
    before = Along(address(cells) + back, width, address(c))
    z = [Along(address(gates) + k * width, 4 * width) for k in range(4)]
    parts = [address(fresh) + k * width for k in range(4)]
    strides = [4 * size] * 8 + [size] + [4 * size] * 4 + [size, size]
    left = [Along(address(cells), width), Along(address(out), width)]
    words = [*z, *parts, before, *z, *left, *strides]
    run([
        multiply.calls(state, address(fresh), batch, rows),
        of_kernel(_LSTM, dtype, batch, size, words, rows),
    ])  # fmt: skip


def lstm_sequence_backward(
    multiply: Product, starts: Sequence[int], given: Array | None, dh: Array, dc: Array,
    gates: Array, cells: Array, before: Array, dz: Array,
) -> bool:  # fmt: skip
    """The same for all steps back, in the order of `starts`; whether it was done."""
    batch, size = dc.shape
    dtype, rows = gates.dtype, np.array(starts, np.int64)
    width = size * dtype.itemsize
    kinds = []
    if given is not None:
        if not plain(given, dh) or not _SUM.prepare(dtype):
            return False
        added = [address(dh), Along(address(given), width), address(dh), *[size] * 3]
        kinds.append(of_kernel(_SUM, dtype, batch, size, added, rows))
    z = [Along(address(gates) + k * width, 4 * width) for k in range(4)]
    d = [Along(address(dz) + k * width, 4 * width) for k in range(4)]
    now, old = (Along(address(a), width) for a in (cells, before))
    strides = [size, size] + [4 * size] * 4 + [size, size] + [4 * size] * 4 + [size]
    words = [address(dh), address(dc), *z, now, old, *d, address(dc), *strides]
    kinds.append(of_kernel(_LSTM_BACK, dtype, batch, size, words, rows))
    kinds.append(multiply.calls(d[0], address(dh), batch, rows))
    run(kinds)
    return True


def lstm(
    gates: Array, fresh: Array, cells: Array, out: Array, first: Array
) -> Callable[[int, int, Any, int], None] | None:
    """One step: the state's part is in `fresh`, the cell state in an array given each time, and
    the output goes to row `place` of `out`."""
    size = first.shape[1]
    if size < _SHORT or not plain(gates, fresh, cells, out, first) or not ready():
        return None
    dtype = gates.dtype
    if not _LSTM.prepare(dtype):
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
    if not _LSTM_BACK.prepare(dtype):
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
    if not _GRU.prepare(dtype):
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
