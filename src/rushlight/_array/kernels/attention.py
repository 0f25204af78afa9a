"""Attention by kernels between products: the weights of a block of scores in one pass, in place.

Operands are stacks of matrices of one group each, as in `attention._Problem`: queries (G, r L, E),
keys (G, S, E), values (G, S, V). Of causal attention the blocks leave out keys that none of their
queries sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import formulas
from .gemm import matrix_product
from .launch import Kernel, floating, ready

if TYPE_CHECKING:
    from ..annotations import Array

_WEIGHTS = Kernel(formulas.attention_weights, "f", "s")
_CAUSAL = Kernel(formulas.causal_weights, "f", "r i64", "s")
_MASKED = Kernel(formulas.masked_weights, "f")
_WEIGHTS_BACK = Kernel(formulas.attention_weights_backward, "f", "f", "r", "r", "s")
_CAUSAL_BACK = Kernel(formulas.causal_weights_backward, "f", "f", "r i64", "r", "r", "s")

# The scores in flight: two arrays of them fit the second-level caches of two cores.
_BLOCK: Final = 1 << 18
# Rows of causal attention that share the keys they don't see.
_ROWS: Final = 64


def _blocks(
    groups: int, rows: int, keys: int, causal: bool, length: int
) -> Iterator[tuple[slice, slice, int]]:
    """Parts of (groups, rows), and how many keys they see."""
    step = rows
    if causal and rows == length and rows >= 2 * _ROWS:
        step = _ROWS
    elif rows * keys > _BLOCK:
        step = max(16, _BLOCK // keys)
    for r in range(0, rows, step):
        end = min(r + step, rows)
        seen = min(end, keys) if causal and rows == length else keys
        several = max(1, _BLOCK // ((end - r) * max(seen, 1)))
        for g in range(0, groups, several):
            yield slice(g, g + several), slice(r, end), seen


def _takes(q: Array, k: Array, *others: Array) -> bool:
    """Whether kernels apply: views with any strides, too, since products read and write them."""
    dtype = q.dtype
    return (
        floating(dtype)
        and all(x.dtype is dtype for x in (k, *others))
        and all(x.size for x in (q, k, *others))
        and _CAUSAL.takes(k.shape[1])
        and ready()
    )


def _visible(rows: slice, length: int, groups: int) -> Array:
    """The last key that each query of a block sees."""
    at = np.arange(rows.start, rows.stop, dtype=np.int64) % length
    return np.broadcast_to(at, (groups, at.size)).copy()


def attention(
    q: Array, k: Array, v: Array, causal: bool, scale: float, length: int, result: Array
) -> Array | None:
    """The logarithms of the denominators, with the results in `result`; None, and what lies there
    doesn't count, where no kernel applies."""
    if not _takes(q, k, v, result):
        return None
    groups, rows, _ = q.shape
    keys, dtype = k.shape[1], q.dtype
    logs = np.empty((groups, rows), dtype)
    turned = k.swapaxes(1, 2)
    for group, part, seen in _blocks(groups, rows, keys, causal, length):
        s = matrix_product(q[group, part], turned[group, :, :seen])
        count = s.shape[0] * s.shape[1]
        log = np.empty(s.shape[:2], dtype)
        if causal:
            visible = _visible(part, length, s.shape[0])
            done = _CAUSAL.rows(dtype, count, seen, (s, visible, scale), (s, log))
        else:
            done = _WEIGHTS.rows(dtype, count, seen, (s, scale), (s, log))
        if not done:
            return None
        logs[group, part] = log
        matrix_product(s, v[group, :seen], out=result[group, part])
    return logs


def attention_backward(
    g: Array,
    q: Array,
    k: Array,
    v: Array,
    along: Array,
    logs: Array,
    causal: bool,
    scale: float,
    length: int,
) -> tuple[Array, ...] | None:
    """The gradients for q, k and v; `along` are the inner products of `g` with the results."""
    if not _takes(q, k, v, g, along, logs):
        return None
    groups, rows, _ = q.shape
    keys = k.shape[1]
    dtype = q.dtype
    blocks = list(_blocks(groups, rows, keys, causal, length))
    # The first rows of each group begin the sums over rows, where they see all keys.
    begins = all(seen == keys for _, part, seen in blocks if not part.start)
    make = np.empty_like if begins else np.zeros_like
    dq, dk, dv = np.empty_like(q), make(k), make(v)
    turned, values = k.swapaxes(1, 2), v.swapaxes(1, 2)
    for group, part, seen in blocks:
        queries, go = q[group, part], g[group, part]
        s = matrix_product(queries, turned[group, :, :seen])
        d = matrix_product(go, values[group, :, :seen])
        count = s.shape[0] * s.shape[1]
        log, inner = np.ascontiguousarray(logs[group, part]), np.ascontiguousarray(
            along[group, part]
        )  # fmt: skip
        if causal:
            visible = _visible(part, length, s.shape[0])
            given = (s, d, visible, log, inner, scale)
            done = _CAUSAL_BACK.rows(dtype, count, seen, given, (s, d))
        else:
            done = _WEIGHTS_BACK.rows(dtype, count, seen, (s, d, log, inner, scale), (s, d))
        if not done:
            return None
        matrix_product(d, k[group, :seen], out=dq[group, part])
        if begins and not part.start:
            matrix_product(s.swapaxes(1, 2), go, out=dv[group])
            matrix_product(d.swapaxes(1, 2), queries, out=dk[group])
        else:
            dv[group, :seen] += matrix_product(s.swapaxes(1, 2), go)
            dk[group, :seen] += matrix_product(d.swapaxes(1, 2), queries)
    return dq, dk, dv


def weights(s: Array) -> Any:
    """The weights of masked scores, written over them, and the logarithms of the denominators
    (inf for rows without any key); None, and nothing is written, where no kernel applies."""
    dtype = s.dtype
    if not floating(dtype) or not _MASKED.takes(s.shape[-1]) or not ready():
        return None
    logs = np.empty(s.shape[:-1], dtype)
    return logs if _MASKED.rows(dtype, logs.size, s.shape[-1], (s,), (s, logs)) else None


def weights_backward(s: Array, d: Array, logs: Array, along: Array) -> bool:
    """Whether the weights were written over the scores, and the scores' gradient over `d`."""
    dtype = s.dtype
    if not floating(dtype) or not _WEIGHTS_BACK.takes(s.shape[-1]) or not ready():
        return False
    given = (s, d, np.ascontiguousarray(logs), np.ascontiguousarray(along), 1.0)
    return _WEIGHTS_BACK.rows(dtype, logs.size, s.shape[-1], given, (s, d))
