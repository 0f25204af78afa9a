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
from .calls import Along, Calls, of_kernel, run
from .launch import Kernel, address, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array
    from .repeated_gemm import Product


def _lstm_cell(
    i: Symbol, f: Symbol, u: Symbol, o: Symbol,
    ai: Symbol, af: Symbol, au: Symbol, ao: Symbol, c: Symbol,
) -> Any:  # fmt: skip
    """The gates from the parts of their sums, in place, new cell state and output."""
    gates, cell, h = cells_of.lstm(i + ai, f + af, u + au, o + ao, c)
    return *map(into, (i, f, u, o), gates), cell, h


def _lstm_cell_backward(
    dh: Symbol, dc: Symbol, i: Symbol, f: Symbol, u: Symbol, o: Symbol, c: Symbol, before: Symbol
) -> Any:
    """The gradients of the four sums, and over `dc` that of the old state."""
    sums, old = cells_of.lstm_backward(dh, dc, i, f, u, o, c, before)
    return *sums, into(dc, old)


def _gru_cell(
    r: Symbol, z: Symbol, n: Symbol, ar: Symbol, az: Symbol, an: Symbol,
    br: Symbol, bz: Symbol, bn: Symbol, h: Symbol,
) -> Any:  # fmt: skip
    """The gates, over the input's part, the state's part of the new, and the new state.

    `br`, `bz`, `bn` are the state's bias.
    """
    inner = an + bn
    gates, out = cells_of.gru(r, z, n, ar + br, az + bz, inner, h)
    return *map(into, (r, z, n), gates), inner, out


def _gru_cell_backward(
    dh: Symbol, r: Symbol, z: Symbol, n: Symbol, inner: Symbol, before: Symbol
) -> Any:
    """The gradients of the parts of input and state, and over `dh` what goes past the gates."""
    (reset, update, new), by_state, past = cells_of.gru_backward(dh, r, z, n, inner, before)
    return reset, update, new, reset, update, by_state, into(dh, past)


def _sum(x: Symbol, y: Symbol) -> Any:
    """A sum, in place."""
    return into(x, x + y)


_SUM = Kernel(_sum, "f", "f")
_LSTM = Kernel(_lstm_cell, *"fffffffff")
_LSTM_BACK = Kernel(_lstm_cell_backward, *"ffffffff")
_GRU = Kernel(_gru_cell, *"ffffff", "c", "c", "c", "f")
_GRU_BACK = Kernel(_gru_cell_backward, *"ffffff")

# States shorter than this leave most lanes empty.
_SHORT = 16


def _parts_of(row: Array, width: int, count: int) -> list[int]:
    """Where the gates' parts of a row lie."""
    here = address(row)
    return [here + k * width for k in range(count)]


def _gates_of(rows: Array, width: int, count: int) -> list[Along]:
    """The same for rows to go along."""
    return [Along(place, count * width) for place in _parts_of(rows, width, count)]


def lstm_sequence(
    multiply: Product, starts: range, h: Array, c: Array,
    gates: Array, fresh: Array, cells: Array, out: Array,
) -> None:  # fmt: skip
    """All steps of a layer for which `lstm` gives a function, where each has all examples: rows
    from each of `starts` on, which step by one batch to the next or to the one before."""
    batch, size = c.shape
    dtype = gates.dtype
    width = size * dtype.itemsize
    # The state that a step begins with is what the one before has left.
    back = -width * starts.step
    state = Along(address(out) + back, width, address(h))
    before = Along(address(cells) + back, width, address(c))
    z = _gates_of(gates, width, 4)
    parts = _parts_of(fresh, width, 4)
    strides = [4 * size] * 8 + [size] + [4 * size] * 4 + [size, size]
    left = [Along(address(cells), width), Along(address(out), width)]
    words = [*z, *parts, before, *z, *left, *strides]
    run([
        multiply.calls(state, address(fresh), batch),
        of_kernel(_LSTM, dtype, batch, size, words),
    ], starts)  # fmt: skip


def lstm_sequence_backward(
    multiply: Product, starts: range, given: Array | None, dh: Array, dc: Array,
    gates: Array, cells: Array, before: Array, dz: Array,
) -> bool:  # fmt: skip
    """The same for all steps back, in the order of `starts`; whether it was done."""
    batch, size = dc.shape
    dtype = gates.dtype
    width = size * dtype.itemsize
    kinds = _calls_that_add(given, dh)
    if kinds is None:
        return False
    z = _gates_of(gates, width, 4)
    d = _gates_of(dz, width, 4)
    now, old = (Along(address(a), width) for a in (cells, before))
    strides = [size, size] + [4 * size] * 4 + [size, size] + [4 * size] * 4 + [size]
    words = [address(dh), address(dc), *z, now, old, *d, address(dc), *strides]
    kinds.append(of_kernel(_LSTM_BACK, dtype, batch, size, words))
    kinds.append(multiply.calls(d[0], address(dh), batch))
    run(kinds, starts)
    return True


def _calls_that_add(given: Array | None, dh: Array) -> list[Calls] | None:
    """The calls that add the outputs' gradients to the state's; None where no kernel applies."""
    if given is None:
        return []
    if type(given) is not np.ndarray or given.dtype is not dh.dtype or not _SUM.prepare(dh.dtype):
        return None
    batch, size = dh.shape
    step, near = given.strides
    if near != dh.itemsize or step % near or not given.flags.aligned:
        return None
    words = [address(dh), Along(address(given), step), address(dh), size, step // near, size]
    return [of_kernel(_SUM, dh.dtype, batch, size, words)]


def gru_sequence(
    multiply: Product, starts: range, h: Array, gates: Array, fresh: Array,
    shift: Array | None, inner: Array, out: Array,
) -> None:  # fmt: skip
    """`lstm_sequence` for the layer for which `gru` gives a function."""
    batch, size = h.shape
    dtype = gates.dtype
    width = size * dtype.itemsize
    if shift is None:
        shift = np.zeros(3 * size, dtype)
    back = -width * starts.step
    state = Along(address(out) + back, width, address(h))
    z = _gates_of(gates, width, 3)
    parts = _parts_of(fresh, width, 3)
    biases = _parts_of(shift, width, 3)
    left = [Along(address(inner), width), Along(address(out), width)]
    words: list[int | Along] = [*z, *parts, *biases, state, *z, *left, *_gru_strides(size)]
    run([
        multiply.calls(state, address(fresh), batch),
        of_kernel(_GRU, dtype, batch, size, words),
    ], starts)  # fmt: skip


def takes_gru_backward(dh: Array, gates: Array, inner: Array, before: Array) -> bool:
    """Whether `gru_sequence_backward` has a kernel for these."""
    fits = dh.shape[1] >= _SHORT and plain(gates, dh, inner, before)
    return fits and ready() and _GRU_BACK.prepare(gates.dtype)


def gru_sequence_backward(
    multiply: Product, starts: range, given: Array | None, dh: Array, gates: Array,
    inner: Array, before: Array, dz: Array, wide: Array,
) -> bool:  # fmt: skip
    """All steps back, in the order of `starts`; whether it was done. `dz` gets the gradients of
    the gates by the state, `wide` by the input."""
    batch, size = dh.shape
    dtype = gates.dtype
    width = size * dtype.itemsize
    kinds = _calls_that_add(given, dh)
    if kinds is None:
        return False
    z, d, e = (_gates_of(a, width, 3) for a in (gates, dz, wide))
    old = [Along(address(a), width) for a in (inner, before)]
    strides = [size] + [3 * size] * 3 + [size, size] + [3 * size] * 6 + [size]
    words = [address(dh), *z, *old, *e, *d, address(dh), *strides]
    kinds.append(of_kernel(_GRU_BACK, dtype, batch, size, words))
    kinds.append(multiply.calls(d[0], address(dh), batch, added=True))
    run(kinds, starts)
    return True


def _gru_strides(size: int) -> list[int]:
    return [3 * size] * 6 + [1] * 3 + [size] + [3 * size] * 3 + [size, size]


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
    strides = _gru_strides(size)
    alive = (shift,)

    def step(start: int, batch: int) -> None:
        assert alive
        z = base + 3 * width * start
        mine = [z, z + width, z + 2 * width]
        ends = [kept + width * start, result + width * start]
        _GRU.at(dtype, batch, size, [*mine, *fixed, state, *mine, *ends, *strides])

    return step
