"""The connectionist temporal classification loss: the probability of all alignments of a text.

Source: A. Graves et al., Connectionist temporal classification (2006), equations 6 to 16. States
are the target's labels with blanks before, between and after them; both recursions run over time,
all samples and states at once, in logarithms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .. import kernels

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_SOME: Final = 1 << 16  # labels of all targets of which the states are remembered


def _labels(targets: Array, lengths: Array, blank: int) -> Array:
    """The labels of the states: (N, 2 S + 1), with S the longest target; blanks after the end."""
    count, longest = len(lengths), int(lengths.max(initial=0))
    states = np.full((count, 2 * longest + 1), blank, np.int64)
    if targets.ndim == 2:
        places = targets[:, :longest]
        kept = np.arange(longest) < lengths[:, None]
        states[:, 1::2] = np.where(kept, places, blank)
    else:
        start = 0
        for n, length in enumerate(lengths.tolist()):
            states[n, 1 : 2 * length : 2] = targets[start : start + length]
            start += length
    return states


class _Lattice(NamedTuple):
    """The states of samples, all as (N, 2 S + 1): their labels, and where one can't be reached from
    the last but one, in the direction of time and against it: 0 where it can, else -inf."""

    labels: Array
    ahead: Array
    back: Array

    def places(self, shape: tuple[int, ...]) -> Array:
        """Where the labels lie in the flat log-probabilities: (T, N, 2 S + 1)."""
        times, count, classes = shape
        rows = np.arange(0, times * count * classes, classes).reshape(times, count, 1)
        return rows + self.labels


def _lattice(targets: Array, lengths: Array, blank: int, classes: int, dtype: RawType) -> _Lattice:
    """The states of samples with these targets.

    Raises: IndexError for a label that isn't one of the classes.
    """
    key = targets.tobytes(), targets.shape, lengths.tobytes(), blank, classes, dtype
    return (_remember_lattice if targets.size <= _SOME else _remember_lattice.__wrapped__)(*key)


@lru_cache(maxsize=4)
def _remember_lattice(
    targets: bytes, shape: tuple[int, ...], lengths: bytes, blank: int, classes: int, dtype: RawType
) -> _Lattice:
    """`_lattice`: the way back asks for what the way forward has made."""
    given = np.frombuffer(targets, np.int64).reshape(shape)
    states = _labels(given, np.frombuffer(lengths, np.int64), blank)
    if states.max(initial=0) >= classes or states.min(initial=0) < -classes:
        raise IndexError("a label is out of range")
    ahead, back = np.full((2, *states.shape), -np.inf, dtype)
    ahead[:, 2:][states[:, 2:] != states[:, :-2]] = 0
    back[:, :-2] = ahead[:, 2:]
    # NumPy's remainder counts negative ones from the end.
    found = _Lattice(states % classes, ahead, back)
    for array in found:
        array.flags.writeable = False
    return found


class _Sum:
    """log(exp(a) + exp(b) + exp(c)) of arrays of one shape, without fresh memory."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.top = np.empty(shape, dtype)
        self.total = np.empty(shape, dtype)
        self.part = np.empty(shape, dtype)
        self.lowest = np.finfo(dtype).min

    def __call__(self, a: Array, b: Array, c: Any) -> Array:
        top, total, part = self.top, self.total, self.part
        np.maximum(a, b, out=top)
        np.maximum(top, c, out=top)
        np.maximum(top, self.lowest, out=top)
        np.subtract(a, top, out=total)
        np.exp(total, out=total)
        for other in (b, c):
            np.subtract(other, top, out=part)
            np.exp(part, out=part)
            total += part
        np.log(total, out=total)
        total += top
        return total


def _advance(states: Array, emitted: Array, barrier: Array, times: range, before: int) -> None:
    """Fills the states at some times, each from those `before` times further on.

    Where that is back in time a state is reached from those in front of it, else from those behind.
    """
    own, near, far = (2, 1, 0) if before < 0 else (0, 1, 2)
    width = barrier.shape[1]
    if (
        barrier.size
        and kernels.pay(len(times) * barrier.size, len(times))
        and kernels.alignments.advance(states, emitted, barrier, times, before, (own, near, far))
    ):
        return
    add, skipped = _Sum(barrier.shape, barrier.dtype), np.empty_like(barrier)
    for t in times:
        a, b, c = (states[t + before, :, k : k + width] for k in (own, near, far))
        np.add(c, barrier, out=skipped)
        np.add(add(a, b, skipped), emitted[t], out=states[t, :, own : own + width])


def ctc_loss(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int
) -> tuple[Array, Array]:
    """Minus the log-probability of each sample's target, and the forward variables (N, T, 2S+1)."""
    times, count, _ = log_probs.shape
    dtype = log_probs.dtype
    lattice = _lattice(targets, target_lengths, blank, log_probs.shape[2], dtype)
    width = lattice.labels.shape[1]
    emitted = log_probs.reshape(-1).take(lattice.places(log_probs.shape))
    alpha = np.full((times, count, width + 2), -np.inf, dtype)  # two states of padding in front
    if times:
        alpha[0, :, 2:4] = emitted[0, :, :2]
        if width > 1:
            alpha[0, target_lengths == 0, 3] = -np.inf
    _advance(alpha, emitted, lattice.ahead, range(1, times), -1)
    alpha = np.ascontiguousarray(alpha[:, :, 2:].swapaxes(0, 1))
    rows = np.arange(count)
    ends = alpha[rows, np.maximum(input_lengths - 1, 0)]
    last = ends[rows, 2 * target_lengths]
    other = np.where(target_lengths > 0, ends[rows, np.maximum(2 * target_lengths - 1, 0)], -np.inf)
    loss = -np.logaddexp(last, other)
    none = input_lengths == 0
    if none.any():
        loss[none] = np.where(target_lengths[none] == 0, -0.0, np.inf)
    return loss.astype(dtype, copy=False), alpha


def ctc_loss_backward(
    g: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    loss: Array,
    alpha: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """The gradient for `log_probs`: probabilities minus the share of each label in the alignments.

    Source: Graves et al. (2006), equation 16, for probabilities that add up to one.
    """
    times, count, classes = log_probs.shape
    dtype = log_probs.dtype
    lattice = _lattice(targets, target_lengths, blank, classes, dtype)
    width = lattice.labels.shape[1]
    at = lattice.places(log_probs.shape)
    emitted = log_probs.reshape(-1).take(at)
    beta = np.full((times, count, width + 2), -np.inf, dtype)  # two states of padding behind
    begins: dict[int, list[int]] = {}
    for n, length in enumerate(input_lengths.tolist()):
        begins.setdefault(length - 1, []).append(n)
    last = times - 1  # whose states are there, so far
    for t in sorted([t for t in begins if 0 <= t < times], reverse=True):
        _advance(beta, emitted, lattice.back, range(last - 1, t - 1, -1), 1)
        last = t
        for n in begins[t]:
            end = 2 * int(target_lengths[n])
            beta[t, n] = -np.inf
            low = max(end - 1, 0)
            beta[t, n, low : end + 1] = emitted[t, n, low : end + 1]
    _advance(beta, emitted, lattice.back, range(last - 1, -1, -1), 1)
    share = alpha.swapaxes(0, 1) + beta[:, :, :-2]
    share -= emitted
    share += loss[:, None]
    np.exp(share, share)
    by_label = np.bincount(at.ravel(), share.ravel(), times * count * classes)
    grad = np.exp(log_probs)
    grad -= by_label.reshape(log_probs.shape).astype(dtype, copy=False)
    impossible = np.isinf(loss)
    if impossible.any():
        grad[:, impossible] = 0 if zero_infinity else np.nan
    grad *= g[:, None]
    if zero_infinity and impossible.any():
        grad[:, impossible] = 0
    if (input_lengths < times).any():
        grad[np.arange(times)[:, None] >= input_lengths] = 0
    return grad
