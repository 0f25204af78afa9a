"""The cells of recurrent networks: what is computed at one place of a sequence, in the vocabulary.

A step takes the sums before the gates and the earlier state, and gives the gates, the new states
and the output. Its backward step takes the gradients of output and cell state, the gates and the
states, and gives the gradients of the sums, and what goes straight on to the earlier state.
"""

from __future__ import annotations

from typing import Any

from .words import relu as relu_of, sigmoid, tanh, where


def plain(z: Any, relu: bool) -> Any:
    """The output of a plain cell."""
    return relu_of(z) if relu else tanh(z)


def plain_backward(dh: Any, h: Any, relu: bool) -> Any:
    """The gradient of the sum."""
    return where(h > 0, dh, 0.0) if relu else dh * (1 - h * h)


def lstm(i: Any, f: Any, u: Any, o: Any, c: Any) -> tuple[tuple[Any, ...], Any, Any]:
    """The gates (input, forget, cell, output), the cell state and the output."""
    enter, keep, new, out = sigmoid(i), sigmoid(f), tanh(u), sigmoid(o)
    cell = keep * c + enter * new
    return (enter, keep, new, out), cell, out * tanh(cell)


def lstm_backward(
    dh: Any, dc: Any, i: Any, f: Any, u: Any, o: Any, c: Any, before: Any
) -> tuple[tuple[Any, ...], Any]:
    """The gradients of the four sums and of the old cell state, `before`; `c` is the new one."""
    t = tanh(c)
    d = dc + dh * o * (1 - t * t)
    return (
        d * u * i * (1 - i), d * before * f * (1 - f), d * i * (1 - u * u), dh * t * o * (1 - o),
    ), d * f  # fmt: skip


def gru(r: Any, z: Any, n: Any, hr: Any, hz: Any, hn: Any, h: Any) -> tuple[tuple[Any, ...], Any]:
    """The gates (reset, update, new) and the output; the sums come as the parts of input and
    state."""
    reset, update = sigmoid(r + hr), sigmoid(z + hz)
    new = tanh(n + reset * hn)
    return (reset, update, new), new + update * (h - new)


def gru_backward(
    dh: Any, r: Any, z: Any, n: Any, hn: Any, before: Any
) -> tuple[tuple[Any, ...], Any, Any]:
    """The gradients of the input's parts, of the state's part of the new, and of the state."""
    new = dh * (1 - z) * (1 - n * n)
    update = dh * (before - n) * z * (1 - z)
    return (new * hn * r * (1 - r), update, new), new * r, dh * z
