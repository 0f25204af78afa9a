"""Scaled dot-product attention of arrays, and its gradients, a block of scores at a time.

Source: T. Dao et al., FlashAttention (2022): the scores are never kept; the backward pass computes
them anew from the logarithms of the softmax's denominators.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import kernels
from ..linalg.matmul import matrix_product
from ..memory.dense_layout import empty_like

if TYPE_CHECKING:
    from ..annotations import Array

_FEW: Final = 1024
# The scores in flight: what fits into a core's second-level cache.
_BLOCK: Final = 1 << 18


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _blocks(groups: int, rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    """Parts of (groups, rows) whose scores fill a block."""
    if rows * columns <= _BLOCK:
        step = max(1, _BLOCK // max(rows * columns, 1))
        for g in range(0, groups, step):
            yield slice(g, g + step), slice(0, rows)
        return
    step = max(16, _BLOCK // columns)
    for g in range(groups):
        for r in range(0, rows, step):
            yield slice(g, g + 1), slice(r, r + step)


class _Problem:
    """The operands as stacks of matrices of one group each: (G, r L, E), (G, S, E), (G, S, V)."""

    def __init__(
        self, q: Array, k: Array, v: Array, mask: Array | None, causal: bool, scale: float | None
    ) -> None:
        self.shape = q.shape
        self.heads = q.shape[:-2]
        self.length, self.size = q.shape[-2:]
        self.keys = k.shape[-2]
        groups = 1
        for n in k.shape[:-2]:
            groups *= n
        self.groups = groups
        count = 1
        for n in self.heads:
            count *= n
        self.shared = count // groups if groups else 1  # heads of queries for one of keys
        self.scale = self.size**-0.5 if scale is None and self.size else scale or 0.0
        self.causal = causal
        self.q = self.queries(q)
        self.k = _wide(k).reshape(groups, self.keys, self.size)
        self.v = _wide(v).reshape(groups, self.keys, v.shape[-1])
        self.mask = mask
        self.common: Any = None  # the mask, where all heads have the same
        if mask is not None:
            if mask.dtype.itemsize == 2:
                mask = mask.astype(np.float32)
            places = (self.length, self.keys)
            if self.shared == 1 and mask.shape[-2:] == places and mask.size == prod(places):
                self.common = mask.reshape(places)
            full = (*self.heads, self.length, self.keys)
            self.mask = np.broadcast_to(mask, full) if mask.shape != full else mask

    def queries(self, x: Array) -> Array:
        """An array shaped like the queries as (G, r L, …): heads that share keys in one."""
        return _wide(x).reshape(self.groups, self.shared * self.length, x.shape[-1])

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """The parts of (groups, rows)."""
        return _blocks(self.groups, self.shared * self.length, self.keys)

    def scores(self, group: slice, rows: slice) -> Array:
        """The scaled and masked scores of a part."""
        s = matrix_product(self.q[group, rows] * self.scale, self.k[group].swapaxes(-1, -2))
        if self.mask is not None or self.causal:
            self._hide(s, group, rows)
        return s

    def _hide(self, s: Array, group: slice, rows: slice) -> None:
        if self.common is not None and not self.causal and s.shape[1] == self.length:
            if self.common.dtype == np.bool_:
                np.copyto(s, -np.inf, where=~self.common)
            else:
                s += self.common
            return
        at = np.arange(self.shared * self.length)[rows]
        if self.causal:
            hidden = np.arange(self.keys) > (at % self.length)[:, None]
            np.copyto(s, -np.inf, where=hidden)
        if self.mask is None:
            return
        if s.shape[1] == self.shared * self.length and self._hide_whole(s, group):
            return
        for j, g in enumerate(range(*group.indices(self.groups))):
            first, last = int(at[0]) // self.length, int(at[-1]) // self.length
            for head in range(first, last + 1):
                index = np.unravel_index(g * self.shared + head, self.heads) if self.heads else ()
                low = max(int(at[0]), head * self.length)
                high = min(int(at[-1]) + 1, (head + 1) * self.length)
                part = self.mask[index][low - head * self.length : high - head * self.length]
                target = s[j, low - int(at[0]) : high - int(at[0])]
                if part.dtype == np.bool_:
                    np.copyto(target, -np.inf, where=~part)
                else:
                    target += part

    def _hide_whole(self, s: Array, group: slice) -> bool:
        """Whether the mask was added to all rows of some groups at once: it broadcasts over them,
        where these are all of one outer dimension, or several of it."""
        if self.mask is None or not s.flags.c_contiguous:
            return False
        inner = prod(self.heads[1:]) // self.shared
        start, stop, _ = group.indices(self.groups)
        part = self.mask
        if start or stop < self.groups:
            if not inner or start % inner or stop % inner:
                return False
            part = part[start // inner : stop // inner]
        target = s.reshape(part.shape)
        if part.dtype == np.bool_:
            np.copyto(target, -np.inf, where=~part)
        else:
            target += part
        return True


def _attend_few(q: Array, k: Array, v: Array, scale: float | None) -> tuple[Array, Array] | None:
    """`attention` of few elements in order, in the same steps without what several blocks need."""
    dtype = q.dtype
    heads = q.shape[:-2]
    if (
        k.size > _FEW or v.size > _FEW or not (q.size and k.size and v.size)
        or k.shape[:-2] != heads or v.shape[:-2] != heads or not q.flags.c_contiguous
        or not k.flags.c_contiguous or not v.flags.c_contiguous
        or dtype.char not in "fd" or k.dtype is not dtype or v.dtype is not dtype
    ):  # fmt: skip
        return None
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    s = matrix_product(q * factor, k.swapaxes(-1, -2))
    if s.size >= kernels.LEAST:
        return None
    top = np.maximum.reduce(s, -1, keepdims=True)
    s -= top
    np.exp(s, s)
    total = np.add.reduce(s, -1, keepdims=True)
    y = matrix_product(s, v)
    y /= total
    logs = np.log(total, total)
    logs += top
    return y, logs[..., 0]


def attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    causal: bool,
    scale: float | None,
    like_queries: bool = True,
) -> tuple[Array, Array]:
    """softmax(scale q kᵀ + mask) v, and the logarithms of the softmax's denominators.

    Rows without any key to look at become zero. Leading dimensions of `q` and `k` are equal, but
    the last of them may be a multiple in `q`. The result is laid out like `q`, or in C order.
    """
    if mask is None and not causal and q.size <= _FEW:
        found = _attend_few(q, k, v, scale)
        if found is not None:
            return found
    p = _Problem(q, k, v, mask, causal, scale)
    if like_queries and v.shape[-1] == q.shape[-1]:
        out = empty_like(q, q.dtype)
    else:
        out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
    kind = p.q.dtype
    rows_of = p.shared * p.length
    result = out.reshape(p.groups, rows_of, v.shape[-1])  # a view, where the sizes merge
    if result.dtype is not kind:
        result = np.empty(result.shape, kind)
    if mask is None and p.groups * rows_of * p.keys >= kernels.LEAST:
        found = kernels.attention.attention(p.q, p.k, p.v, causal, p.scale, p.length, result)
        if found is not None:
            return _write_result(result, out), found.reshape(q.shape[:-1])
    logs = np.empty((p.groups, rows_of), kind)
    for group, rows in p.blocks():
        s = p.scores(group, rows)
        if not p.keys:
            result[group, rows] = 0
            logs[group, rows] = -np.inf
            continue
        if s.size >= kernels.LEAST:
            found = kernels.attention.weights(s)
            if found is not None:
                logs[group, rows] = found
                matrix_product(s, p.v[group], out=result[group, rows])
                continue
        top = s.max(-1, keepdims=True)
        if mask is not None:
            np.maximum(top, np.finfo(kind).min, out=top)
        s -= top
        np.exp(s, s)
        total = s.sum(-1, keepdims=True)
        y = matrix_product(s, p.v[group])
        if mask is not None:
            alive = total != 0
            total = np.where(alive, total, 1)
            y /= total
            # A row without keys: exp(s - inf) is zero in the backward pass.
            logs[group, rows] = np.where(alive, np.log(total) + top, np.inf)[..., 0]
        else:
            y /= total
            logs[group, rows] = (np.log(total) + top)[..., 0]
        result[group, rows] = y
    return _write_result(result, out), logs.reshape(q.shape[:-1])


def _write_result(result: Array, out: Array) -> Array:
    """`result` in the layout of `out`."""
    shaped = result.reshape(out.shape)
    if shaped.dtype == out.dtype and shaped.strides == out.strides:
        return shaped
    out[...] = shaped
    return out


def attention_backward(
    g: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    logs: Array,
    mask: Array | None,
    causal: bool,
    scale: float | None,
) -> tuple[Array, Array, Array]:
    """The gradients of `attention` for `q`, `k` and `v`."""
    p = _Problem(q, k, v, mask, causal, scale)
    of_out, result = p.queries(g), p.queries(out)
    inner = np.einsum("gre,gre->gr", of_out, result)
    lse = logs.reshape(p.groups, p.shared * p.length)
    if mask is None and lse.size * p.keys >= kernels.LEAST:
        found = kernels.attention.attention_backward(
            of_out, p.q, p.k, p.v, inner, lse, causal, p.scale, p.length
        )
        if found is not None:
            dq, dk, dv = found
            return (
                dq.reshape(q.shape).astype(q.dtype, copy=False),
                dk.reshape(k.shape).astype(k.dtype, copy=False),
                dv.reshape(v.shape).astype(v.dtype, copy=False),
            )
    dq = np.empty_like(p.q)
    dk, dv = np.zeros_like(p.k), np.zeros_like(p.v)
    for group, rows in p.blocks():
        s = p.scores(group, rows)
        go = of_out[group, rows]
        d = matrix_product(go, p.v[group].swapaxes(-1, -2))
        if s.size < kernels.LEAST or not kernels.attention.weights_backward(
            s, d, lse[group, rows], inner[group, rows]
        ):
            s -= lse[group, rows, None]
            np.exp(s, s)
            d -= inner[group, rows, None]
            d *= s
        dv[group] += matrix_product(s.swapaxes(-1, -2), go)
        dq[group, rows] = matrix_product(d, p.k[group])
        dk[group] += matrix_product(d.swapaxes(-1, -2), p.q[group, rows])
    dq *= p.scale
    dk *= p.scale
    return (
        dq.reshape(q.shape).astype(q.dtype, copy=False),
        dk.reshape(k.shape).astype(k.dtype, copy=False),
        dv.reshape(v.shape).astype(v.dtype, copy=False),
    )


def causal_mask(rows: int, columns: int) -> Array:
    """True where a key isn't after its query."""
    return np.tri(rows, columns, dtype=np.bool_)
