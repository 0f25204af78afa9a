"""Recurrent layers over whole sequences: one array product for the inputs of all times, then steps.

Note [Rows of a packed sequence]
A sequence is a list of rows, time by time; at each time the first so many examples have a row. A
padded batch is the case where all have. The state keeps a row for every example: a step renews the
first ones, whichever way time runs, so examples that have ended keep their last state and examples
that haven't begun (backwards in time) keep their first.

Note [Gates with the other sign]
NumPy's steps work on minus the gates' sums: that saves the minus in 1 / (1 + exp(-x)), and weights
are read as they lie. What an LSTM's cell takes up, the one gate of four that isn't logistic, gets
its sign back at the end, all steps at once.

Note [Cells by hand]
What a cell computes is told in `_formula.recurrent_cells`, which kernels, Tensors and compiled
steps read. The passes here override it: three gates at once, and backwards the slopes of all
places at once. Code generated gate by gate takes 37 µs for a step of an LSTM where this takes 17
(2 examples, 8 units), and 66 where it takes 41 (32 and 64).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..linalg import tiny_matmul as tiny
from ..linalg.matmul import biased_product, matrix_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..annotations import Array


def _product(a: Array, b: Any, out: Array | None = None) -> Any:
    """a b, in the order of PyTorch's BLAS where that shows. See Note [Tiny products]."""
    if a.shape[0] * b.shape[0] * b.shape[1] <= tiny.LIMIT and a.dtype.itemsize == 4 and a.size:
        found = tiny.product(a, b)
        if out is None:
            return found
        out[...] = found
        return out
    if a.dtype.kind not in "fc":  # NumPy's products of bfloat16 are float32
        found = np.matmul(a, b).astype(a.dtype)
        if out is None:
            return found
        out[...] = found
        return out
    return matrix_product(a, b, out)


def _asks_kernel(gates: Array, first: Array) -> bool:
    """Whether a layer is worth a kernel."""
    return kernels.pay(gates.size, len(gates) // max(1, len(first)))


def _multiplier(matrix: Array, rows: int, step: AnyCallable | None) -> Callable[[Any, Any], Any]:
    """A function (a, out) that writes a @ matrix, for a layer that has a kernel for its steps."""
    found = None if step is None else kernels.repeated_gemm.by_matrix(matrix, rows)
    return found or (lambda a, out: _product(a, matrix, out))


def _has_native_steps(multiply: Any, step: AnyCallable | None) -> bool:
    """Whether all steps of a layer can be listed and made by one call of native code."""
    return step is not None and isinstance(multiply, kernels.repeated_gemm.Product)


def spans(x: TensorLike, sizes: Shape | None, reverse: bool) -> list[tuple[int, int, int]]:
    """First row, last row and number of rows of each step, in the order of the steps."""
    if sizes is None:
        batch = x.shape[1]
        found = [(t * batch, (t + 1) * batch, batch) for t in range(x.shape[0])]
    else:
        found, start = [], 0
        for batch in sizes:
            found.append((start, start + batch, batch))
            start += batch
    return found[::-1] if reverse else found


def _starts(steps: list[tuple[int, int, int]]) -> range:
    """The first rows of steps that have all examples."""
    first, _, batch = steps[0]
    step = batch if steps[-1][0] >= first else -batch
    return range(first, steps[-1][0] + step, step)


def _flat(x: Array) -> Array:
    return x.reshape(-1, x.shape[-1])


def _shape_rows(rows: Array, x: Array) -> Array:
    """Rows in the shape that `x` has but for its last dimension."""
    return rows.reshape(*x.shape[:-1], rows.shape[-1])


def _previous(states: Array, first: Array, steps: list[tuple[int, int, int]]) -> Array:
    """The state that each row began its step with."""
    before = np.empty_like(states)
    batch = len(first)
    if len(steps) * batch == len(states):  # every step has all examples: rows move as one
        ahead, behind = slice(batch, None), slice(None, len(states) - batch)
        begin, to, of = slice(None, batch), ahead, behind
        if steps[0][0]:  # backwards in time
            begin, to, of = slice(len(states) - batch, None), behind, ahead
        before[begin] = first
        before[to] = states[of]
        return before
    now = first.copy()
    last = None
    for start, stop, batch in steps:
        if last is not None:
            now[: last[2]] = states[last[0] : last[1]]
        before[start:stop] = now[:batch]
        last = (start, stop, batch)
    return before


def _input_part(x: Array, weight: Array, bias: Array | None) -> Any:
    rows = _flat(x)
    if bias is None:
        return _product(rows, weight.T)
    found = biased_product(rows, weight.T, bias)
    if found is not None:
        return found
    part = _product(rows, weight.T)
    return np.add(part, bias, part)


def _logistic(z: Array) -> None:
    """1 / (1 + exp(z)), in place: the minus is in the weights."""
    np.exp(z, z)
    np.add(z, 1, z)
    np.reciprocal(z, z)


def _ends(
    dz: Array,
    x: Array,
    before: Array,
    w_ih: Array,
    dh: Array,
    dz_hidden: Array,
    biased: bool,
    need: list[bool],
) -> list[Any]:
    """The gradients for x, hx, w_ih, w_hh, b_ih, b_hh from those of all rows' gates."""
    shift = dz.sum(0) if biased and need[4] else None
    other = None
    if biased and need[5]:
        other = dz_hidden.sum(0) if shift is None or dz_hidden is not dz else shift.copy()
    return [
        _shape_rows(_product(dz, w_ih), x) if need[0] else None,
        dh if need[1] else None,
        _product(dz.T, _flat(x)) if need[2] else None,
        _product(dz_hidden.T, before) if need[3] else None,
        shift,
        other,
    ]


# ---- the plain layer ----------------------------------------------------------------------------


def rnn(
    x: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    relu: bool,
    sizes: Shape | None,
    reverse: bool,
) -> tuple[Array, Array]:
    """h = tanh(W x + b + U h + c), or the larger of that and zero: all rows, and the last state."""
    out = _input_part(x, w_ih, None if b_ih is None else b_ih + b_hh)
    h = hx.copy()
    turned = w_hh.T
    fresh = np.empty_like(h)
    for start, stop, batch in spans(x, sizes, reverse):
        row, add = out[start:stop], fresh[:batch]
        _product(h[:batch], turned, add)
        np.add(row, add, row)
        if relu:
            np.maximum(row, 0, out=row)
        else:
            np.tanh(row, row)
        h[:batch] = row
    return _shape_rows(out, x), h


def rnn_backward(
    g_out: Array | None,
    g_hy: Array | None,
    x: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    relu: bool,
    out: Array,
    sizes: Shape | None,
    reverse: bool,
    need: list[bool],
) -> list[Any]:
    """The gradients of `rnn` for x, hx, w_ih, w_hh, b_ih, b_hh."""
    steps = spans(x, sizes, reverse)
    out = _flat(out)
    dz = np.greater(out, 0).astype(out.dtype) if relu else 1 - out * out
    given = None if g_out is None else _flat(g_out)
    dh = np.zeros_like(hx) if g_hy is None else g_hy.astype(hx.dtype)
    for start, stop, batch in reversed(steps):
        part, now = dz[start:stop], dh[:batch]
        if given is not None:
            np.add(now, given[start:stop], now)
        np.multiply(part, now, part)
        _product(part, w_hh, now)
    before = _previous(out, hx, steps)
    return _ends(dz, x, before, w_ih, dh, dz, b_ih is not None, need)


# ---- long short-term memory ---------------------------------------------------------------------


def lstm(
    x: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    w_hr: Array | None,
    sizes: Shape | None,
    reverse: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """All rows, the last two states, and for the backward pass the gates and cell states."""
    size = cx.shape[1]
    third = 3 * size
    gates = _input_part(x, w_ih, None if b_ih is None else b_ih + b_hh)
    turned = w_hh.T
    cells = np.empty((gates.shape[0], size), gates.dtype)
    out = cells if w_hr is None else np.empty((gates.shape[0], w_hr.shape[0]), gates.dtype)
    out = np.empty_like(out)
    h, c = hx.copy(), cx
    fresh = np.empty((hx.shape[0], 4 * size), gates.dtype)
    room = np.empty_like(cx)
    whole = cx.copy() if sizes is not None else None
    step = None
    if _asks_kernel(gates, hx):
        step = kernels.lstm_gru.lstm(gates, fresh, cells, out if w_hr is None else room, cx)
    multiply = _multiplier(turned, hx.shape[0], step)
    if step is None:  # see Note [Gates with the other sign]
        np.negative(gates, gates)
    steps = spans(x, sizes, reverse)
    if whole is None and w_hr is None and _has_native_steps(multiply, step):
        starts = _starts(steps)
        kernels.lstm_gru.lstm_sequence(multiply, starts, h, c, gates, fresh, cells, out)
        start, stop, _ = steps[-1]
        h, c, steps = out[start:stop], cells[start:stop], []
    for start, stop, batch in steps:
        if step is not None and whole is None and w_hr is None:  # all rows: the state is the last
            multiply(h, fresh)
            step(start, batch, c, start)
            h, c = out[start:stop], cells[start:stop]
            continue
        if step is not None:
            multiply(h[:batch], fresh[:batch])
            before = c if whole is None else whole
            if w_hr is None:
                step(start, batch, before, start)
                h[:batch] = out[start:stop]
            else:
                step(start, batch, before, 0)
                h[:batch] = _product(room[:batch], w_hr.T, out[start:stop])
            if whole is None:
                c = cells[start:stop]
            else:
                whole[:batch] = cells[start:stop]
            continue
        z, cell, row, spare = gates[start:stop], cells[start:stop], out[start:stop], room[:batch]
        np.subtract(z, _product(h[:batch], turned, fresh[:batch]), z)
        new = z[:, 2 * size : third]
        np.tanh(new, spare)
        _logistic(z)  # of all four: what is no gate is written over
        new[...] = spare
        np.multiply(z[:, size : 2 * size], c if whole is None else whole[:batch], cell)
        np.subtract(cell, np.multiply(z[:, :size], spare, spare), cell)
        np.tanh(cell, spare)
        if w_hr is None:
            np.multiply(z[:, third:], spare, row)
        else:
            _product(np.multiply(z[:, third:], spare, spare), w_hr.T, row)
        h[:batch] = row
        if whole is None:
            c = cell
        else:
            whole[:batch] = cell
    if step is None:
        np.negative(gates[:, 2 * size : third], gates[:, 2 * size : third])
    if h.base is not None:  # a part of the output
        h = h.copy()
    return _shape_rows(out, x), h, c.copy() if whole is None else whole, gates, cells


def lstm_backward(
    g_out: Array | None,
    g_hy: Array | None,
    g_cy: Array | None,
    x: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array,
    b_hh: Array,
    w_hr: Array | None,
    out: Array,
    gates: Array,
    cells: Array,
    sizes: Shape | None,
    reverse: bool,
    need: Sequence[bool],
) -> list[Any]:
    """The gradients of `lstm` for x, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr."""
    steps = spans(x, sizes, reverse)
    size = cx.shape[1]
    count = gates.shape[0]
    if w_hr is None and _asks_kernel(gates, hx):
        found = _lstm_backward_by_kernel(g_out, g_hy, g_cy, hx, cx, w_hh, gates, cells, steps)
        if found is not None:
            dz, dh, dc = found
            before = _previous(_flat(out), hx, steps)
            return _lstm_ends(dz, x, before, w_ih, dh, dc, b_ih is not None, need, None)
    enter, forget, new, o = np.split(gates, 4, 1)
    squashed = np.tanh(cells)
    # What doesn't wait for the later steps, for all rows at once: the gates' slopes, times what
    # each gate multiplies; and how the cell state changes the output.
    dz = np.empty_like(gates)
    np.subtract(1, gates, dz)
    np.multiply(dz, gates, dz)
    dz[:, :size] *= new
    dz[:, size : 2 * size] *= _previous(cells, cx, steps)
    dz[:, 3 * size :] *= squashed
    slope = np.multiply(new, new, dz[:, 2 * size : 3 * size])
    np.subtract(1, slope, slope)
    slope *= enter
    hidden = None if w_hr is None else o * squashed
    through = np.multiply(squashed, squashed, squashed)
    np.subtract(1, through, through)
    np.multiply(through, o, through)

    given = None if g_out is None else _flat(g_out)
    dh = np.zeros_like(hx) if g_hy is None else g_hy.astype(hx.dtype)
    dc = np.zeros_like(cx) if g_cy is None else g_cy.astype(cx.dtype)
    projected = None if w_hr is None else np.empty((count, hx.shape[1]), gates.dtype)
    cube = dz.reshape(count, 4, size)
    for start, stop, batch in reversed(steps):
        now, cell = dh[:batch], dc[:batch]
        if given is not None:
            np.add(now, given[start:stop], now)
        inner = now
        if projected is not None:
            projected[start:stop] = now
            inner = _product(now, w_hr)
        part = through[start:stop]
        np.add(cell, np.multiply(part, inner, part), cell)
        last = dz[start:stop, 3 * size :]
        np.multiply(last, inner, last)
        rest = cube[start:stop, :3]
        np.multiply(rest, cell[:, None], rest)
        np.multiply(cell, forget[start:stop], cell)
        _product(dz[start:stop], w_hh, now)
    before = _previous(_flat(out), hx, steps)
    d_hr = projected.T @ hidden if projected is not None and need[7] else None
    return _lstm_ends(dz, x, before, w_ih, dh, dc, b_ih is not None, need, d_hr)


def _lstm_ends(
    dz: Array,
    x: Array,
    before: Array,
    w_ih: Array,
    dh: Array,
    dc: Array,
    biased: bool,
    need: Sequence[bool],
    d_hr: object,
) -> list[Any]:
    """The gradients of `lstm` from those of all rows' gates."""
    found = _ends(dz, x, before, w_ih, dh, dz, biased, [need[0], need[1], *need[3:7]])
    return [*found[:2], dc if need[2] else None, *found[2:], d_hr]


def _lstm_backward_by_kernel(
    g_out: Any, g_hy: Any, g_cy: Any, hx: Array, cx: Array, w_hh: Array, gates: Array, cells: Array,
    steps: list[tuple[int, int, int]],
) -> tuple[Array, ...] | None:  # fmt: skip
    """The gradients of all rows' gates and of the first states; None where no kernel applies."""
    dh = np.zeros_like(hx) if g_hy is None else g_hy.astype(hx.dtype)
    dc = np.zeros_like(cx) if g_cy is None else g_cy.astype(cx.dtype)
    dz = np.empty_like(gates)
    before = _previous(cells, cx, steps)
    step = kernels.lstm_gru.lstm_backward(dh, dc, gates, cells, before, dz)
    if step is None:
        return None
    given = None if g_out is None else _flat(g_out)
    multiply = _multiplier(w_hh, hx.shape[0], step)
    if all(batch == len(cx) for _, _, batch in steps) and _has_native_steps(multiply, step):
        starts = _starts(steps[::-1])
        if kernels.lstm_gru.lstm_sequence_backward(
            multiply, starts, given, dh, dc, gates, cells, before, dz
        ):
            return dz, dh, dc
    for start, stop, batch in reversed(steps):
        now = dh[:batch]
        if given is not None:
            np.add(now, given[start:stop], now)
        step(start, batch)
        multiply(dz[start:stop], now)
    return dz, dh, dc


# ---- gated recurrent unit -----------------------------------------------------------------------


def gru(
    x: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    sizes: Shape | None,
    reverse: bool,
) -> tuple[Array, Array, Array, Array]:
    """All rows, the last state, and for the backward pass gates and the state's part of the new."""
    size = hx.shape[1]
    two = 2 * size
    gates = _input_part(x, w_ih, b_ih)
    turned = w_hh.T
    inner = np.empty((gates.shape[0], size), gates.dtype)
    out = np.empty_like(inner)
    h = hx.copy()
    fresh = np.empty((hx.shape[0], 3 * size), gates.dtype)
    step = None
    if _asks_kernel(gates, hx):
        step = kernels.lstm_gru.gru(gates, fresh, b_hh, inner, h, out)
    multiply = _multiplier(turned, hx.shape[0], step)
    steps = spans(x, sizes, reverse)
    if sizes is None and _has_native_steps(multiply, step):
        starts = _starts(steps)
        kernels.lstm_gru.gru_sequence(multiply, starts, h, gates, fresh, b_hh, inner, out)
        start, stop, _ = steps[-1]
        return _shape_rows(out, x), out[start:stop].copy(), gates, inner
    if step is None:  # see Note [Gates with the other sign]
        np.negative(gates[:, :two], gates[:, :two])
    for start, stop, batch in steps:
        if step is not None:
            multiply(h[:batch], fresh[:batch])
            step(start, batch)
            h[:batch] = out[start:stop]
            continue
        z, part, row, now = gates[start:stop], fresh[:batch], out[start:stop], h[:batch]
        _product(now, turned, part)
        if b_hh is not None:
            np.add(part, b_hh, part)
        low, last, kept = z[:, :two], z[:, two:], inner[start:stop]
        np.subtract(low, part[:, :two], low)
        _logistic(low)
        kept[...] = part[:, two:]
        np.add(last, np.multiply(z[:, :size], kept, row), last)
        np.tanh(last, last)
        np.subtract(now, last, row)
        np.multiply(row, z[:, size:two], row)
        np.add(row, last, row)
        now[...] = row
    return _shape_rows(out, x), h, gates, inner


def gru_backward(
    g_out: Array | None,
    g_hy: Array | None,
    x: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    out: Array,
    gates: Array,
    inner: Array,
    sizes: Shape | None,
    reverse: bool,
    need: list[bool],
) -> list[Any]:
    """The gradients of `gru` for x, hx, w_ih, w_hh, b_ih, b_hh."""
    steps = spans(x, sizes, reverse)
    size = hx.shape[1]
    two = 2 * size
    count = gates.shape[0]
    before = _previous(_flat(out), hx, steps)
    given = None if g_out is None else _flat(g_out)
    dh = np.zeros_like(hx) if g_hy is None else g_hy.astype(hx.dtype)
    if sizes is None and _asks_kernel(gates, hx):
        found = _gru_backward_by_kernel(given, dh, w_hh, gates, inner, before, steps)
        if found is not None:
            return _ends(found[0], x, before, w_ih, dh, found[1], b_ih is not None, need)
    reset, update, new = np.split(gates, 3, 1)
    # The slopes of all rows at once, as in `lstm_backward`: reset, update, and the state's part.
    dz = np.empty_like(gates)
    slopes = np.subtract(1, gates[:, :two], dz[:, :two])
    direct = slopes[:, size:] * (1 - new * new)
    np.multiply(slopes, gates[:, :two], slopes)
    slopes[:, size:] *= before - new
    slopes[:, :size] *= direct
    slopes[:, :size] *= inner
    np.multiply(direct, reset, dz[:, two:])

    cube = dz.reshape(count, 3, size)
    fresh = np.empty_like(dh)
    for start, stop, batch in reversed(steps):
        now, add = dh[:batch], fresh[:batch]
        if given is not None:
            np.add(now, given[start:stop], now)
        part, straight = cube[start:stop], direct[start:stop]
        np.multiply(part, now[:, None], part)
        np.multiply(straight, now, straight)
        np.multiply(now, update[start:stop], now)
        np.add(now, _product(dz[start:stop], w_hh, add), now)
    wide = dz.copy()
    wide[:, two:] = direct
    return _ends(wide, x, before, w_ih, dh, dz, b_ih is not None, need)


def _gru_backward_by_kernel(
    given: Array | None, dh: Array, w_hh: Array, gates: Array, inner: Array, before: Array,
    steps: list[tuple[int, int, int]],
) -> tuple[Array, Array] | None:  # fmt: skip
    """The gradients of all rows' gates, by the input and by the state, and over `dh` that of the
    first state; None where no kernel applies."""
    if not kernels.lstm_gru.takes_gru_backward(dh, gates, inner, before):
        return None
    multiply = kernels.repeated_gemm.by_matrix(w_hh, len(dh))
    if multiply is None:
        return None
    starts = _starts(steps[::-1])
    dz, wide = np.empty_like(gates), np.empty_like(gates)
    done = kernels.lstm_gru.gru_sequence_backward(
        multiply, starts, given, dh, gates, inner, before, dz, wide
    )
    return (wide, dz) if done else None
