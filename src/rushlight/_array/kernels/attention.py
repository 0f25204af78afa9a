"""Attention by kernels between products: the weights of a block of scores in one pass, in place.

Operands are stacks of stacks of matrices, as in `attention._Problem`: queries (N, H, r L, E), keys
(N, H, S, E), values (N, H, S, V). Of causal attention the blocks leave out keys that none of their
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

Part = tuple[slice, slice, slice]  # of (N, H, rows)


def split_stacks(outer: int, inner: int, several: int) -> Iterator[tuple[slice, slice]]:
    """Parts of some stacks of so many matrices each, with `several` matrices, or a little fewer."""
    if several >= inner:
        step = several // max(inner, 1)
        for n in range(0, outer, step):
            yield slice(n, n + step), slice(0, inner)
        return
    for n in range(outer):
        for h in range(0, inner, several):
            yield slice(n, n + 1), slice(h, h + several)


def _blocks(q: Array, keys: int, causal: bool, length: int) -> Iterator[tuple[Part, int]]:
    """Parts of (N, H, rows), and how many keys they see."""
    outer, inner, rows, _ = q.shape
    step = rows
    if causal and rows == length and rows >= 2 * _ROWS:
        step = _ROWS
    elif rows * keys > _BLOCK:
        step = max(16, _BLOCK // keys)
    for r in range(0, rows, step):
        end = min(r + step, rows)
        seen = min(end, keys) if causal and rows == length else keys
        several = max(1, _BLOCK // ((end - r) * max(seen, 1)))
        for part in split_stacks(outer, inner, several):
            yield (*part, slice(r, end)), seen


def _takes(q: Array, k: Array, *others: Array) -> bool:
    """Whether kernels apply: views with any strides, too, since products read and write them."""
    dtype = q.dtype
    return (
        floating(dtype)
        and all(x.dtype is dtype for x in (k, *others))
        and all(x.size for x in (q, k, *others))
        and _CAUSAL.takes(k.shape[2])
        and ready()
    )


def _visible(rows: slice, length: int, groups: tuple[int, ...]) -> Array:
    """The last key that each query of a block sees."""
    at = np.arange(rows.start, rows.stop, dtype=np.int64) % length
    return np.broadcast_to(at, (*groups, at.size)).copy()


def attention(
    q: Array, k: Array, v: Array, causal: bool, scale: float, length: int, result: Array
) -> Array | None:
    """The logarithms of the denominators, with the results in `result`; None, and what lies there
    doesn't count, where no kernel applies."""
    if not _takes(q, k, v, result):
        return None
    dtype = q.dtype
    logs = np.empty(q.shape[:3], dtype)
    turned = k.swapaxes(2, 3)
    for part, seen in _blocks(q, k.shape[2], causal, length):
        group, rows = part[:2], part[2]
        s = matrix_product(q[part], turned[group][..., :seen])
        count = s.size // seen
        log = np.empty(s.shape[:3], dtype)
        if causal:
            visible = _visible(rows, length, s.shape[:2])
            done = _CAUSAL.rows(dtype, count, seen, (s, visible, scale), (s, log))
        else:
            done = _WEIGHTS.rows(dtype, count, seen, (s, scale), (s, log))
        if not done:
            return None
        logs[part] = log
        matrix_product(s, v[group][:, :, :seen], out=result[part])
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
    keys, dtype = k.shape[2], q.dtype
    blocks = list(_blocks(q, keys, causal, length))
    # The first rows of each group begin the sums over rows, where they see all keys.
    begins = all(seen == keys for part, seen in blocks if not part[2].start)
    make = np.empty_like if begins else np.zeros_like
    dq, dk, dv = np.empty_like(q), make(k), make(v)
    turned, values = k.swapaxes(2, 3), v.swapaxes(2, 3)
    for part, seen in blocks:
        group, rows = part[:2], part[2]
        queries, go = q[part], g[part]
        s = matrix_product(queries, turned[group][..., :seen])
        d = matrix_product(go, values[group][..., :seen])
        count = s.size // seen
        log, inner = np.ascontiguousarray(logs[part]), np.ascontiguousarray(along[part])
        if causal:
            visible = _visible(rows, length, s.shape[:2])
            given = (s, d, visible, log, inner, scale)
            done = _CAUSAL_BACK.rows(dtype, count, seen, given, (s, d))
        else:
            done = _WEIGHTS_BACK.rows(dtype, count, seen, (s, d, log, inner, scale), (s, d))
        if not done:
            return None
        matrix_product(d, k[group][:, :, :seen], out=dq[part])
        if begins and not rows.start:
            matrix_product(s.swapaxes(2, 3), go, out=dv[group])
            matrix_product(d.swapaxes(2, 3), queries, out=dk[group])
        else:
            dv[group][:, :, :seen] += matrix_product(s.swapaxes(2, 3), go)
            dk[group][:, :, :seen] += matrix_product(d.swapaxes(2, 3), queries)
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
