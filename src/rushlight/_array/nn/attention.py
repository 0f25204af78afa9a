"""Scaled dot-product attention of arrays, and its gradients, a block of scores at a time.

Source: T. Dao et al., FlashAttention (2022): the scores are never kept; the backward pass computes
them anew from the logarithms of the softmax's denominators.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from .. import kernels
from ..linalg.matmul import matrix_product
from ..memory.dense_layout import empty_like

if TYPE_CHECKING:
    from ..annotations import Array

    Part = tuple[slice, slice, slice]  # of (N, H, rows)

_FEW: Final = 1024
# The scores in flight: what fits into a core's second-level cache.
_BLOCK: Final = 1 << 18


def _split_stacks(outer: int, inner: int, several: int) -> Iterator[tuple[slice, slice]]:
    """Parts of some stacks of so many matrices each, with `several` matrices, or a little fewer."""
    if several >= inner:
        step = several // max(inner, 1)
        for n in range(0, outer, step):
            yield slice(n, n + step), slice(0, inner)
        return
    for n in range(outer):
        for h in range(0, inner, several):
            yield slice(n, n + 1), slice(h, h + several)


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


class _Problem:
    """The operands as stacks of stacks of matrices: (N, H, r L, E), (N, H, S, E), (N, H, S, V).

    The last of the leading dimensions is H, what is before it N: mostly heads and batch, whose
    views aren't copied. `r` heads of queries share the keys of one group.
    """

    def __init__(
        self, q: Array, k: Array, v: Array, mask: Array | None, causal: bool, scale: float | None
    ) -> None:
        self.length, self.size = q.shape[-2:]
        self.keys = k.shape[-2]
        self.groups = prod(k.shape[:-3]), k.shape[-3] if k.ndim > 2 else 1
        self.shared = prod(q.shape[:-2]) // max(prod(self.groups), 1)
        self.rows = self.shared * self.length
        self.scale = scale_of(self.size, scale)
        self.causal = causal
        self.q, self.k, self.v = self.queries(q), self._stacks(k), self._stacks(v)
        self.mask: Array | None = None  # (N, H, r, L, S): what is added, or True at what is hidden
        if mask is not None:
            mask = ~mask if mask.dtype == np.bool_ else _wide(mask)
            places = (self.length, self.keys)
            full = np.broadcast_to(mask, (*q.shape[:-2], *places))
            self.mask = full.reshape(*self.groups, self.shared, *places)

    def _stacks(self, x: Array) -> Array:
        return _wide(x).reshape(*self.groups, *x.shape[-2:])

    def queries(self, x: Array) -> Array:
        """An array shaped like the queries as (N, H, r L, …): heads that share keys in one."""
        return _wide(x).reshape(*self.groups, self.rows, x.shape[-1])

    def blocks(self) -> Iterator[Part]:
        """Parts of (N, H, r L) whose scores fill a block."""
        several = max(1, _BLOCK // max(self.rows * self.keys, 1))
        step = self.rows
        if self.rows * self.keys > _BLOCK:
            step = max(16, _BLOCK // self.keys)
        for group in _split_stacks(*self.groups, several):
            for r in range(0, max(self.rows, 1), max(step, 1)):
                yield *group, slice(r, min(r + step, self.rows))

    def scores(self, part: Part) -> Array:
        """The scaled and masked scores of a part."""
        s = matrix_product(self.q[part] * self.scale, self.k[part[:2]].swapaxes(-1, -2))
        if self.mask is not None or self.causal:
            self._hide(s, part)
        return s

    def _hide(self, s: Array, part: Part) -> None:
        rows = part[2]
        if self.causal:
            at = np.arange(rows.start, rows.stop) % self.length
            np.copyto(s, -np.inf, where=np.arange(self.keys) > at[:, None])
        if self.mask is None:
            return
        mask = self.mask[part[:2]]
        for head in range(self.shared):
            begin = head * self.length
            low, high = max(rows.start, begin), min(rows.stop, begin + self.length)
            if low < high:
                over = mask[:, :, head, low - begin : high - begin]
                target = s[:, :, low - rows.start : high - rows.start]
                if over.dtype == np.bool_:
                    np.copyto(target, -np.inf, where=over)
                else:
                    target += over


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


def scale_of(size: int, scale: float | None) -> float:
    """What scores are multiplied by, for queries of some size; any number where that is 0."""
    return float(size**-0.5 if scale is None and size else scale or 0.0)


def _pays(q: Array, k: Array) -> bool:
    """Whether kernels are asked: for what NumPy takes dozens of calls for."""
    return bool(q.size and q.size // q.shape[-1] * k.shape[-2] >= kernels.LEAST >> 6)


def _attend_by_kernel(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    causal: bool,
    scale: float | None,
    like_queries: bool,
) -> tuple[Array, Array] | None:
    over = mask if mask is None else _wide(mask)
    arrays = _wide(q), _wide(k), _wide(v)
    found = kernels.attention.attention(
        *arrays, over, causal, scale_of(q.shape[-1], scale), like_queries
    )
    if found is None or found[0].dtype is q.dtype:
        return found
    out = empty_like(found[0], q.dtype)
    out[...] = found[0]
    return out, found[1]


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
    if _pays(q, k):
        found = _attend_by_kernel(q, k, v, mask, causal, scale, like_queries)
        if found is not None:
            return found
    if mask is None and not causal and q.size <= _FEW:
        few = _attend_few(q, k, v, scale)
        if few is not None:
            return few
    p = _Problem(q, k, v, mask, causal, scale)
    if like_queries and v.shape[-1] == q.shape[-1]:
        out = empty_like(q, q.dtype)
    else:
        out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
    kind = p.q.dtype
    if out.dtype is kind:
        result = out.reshape(*p.groups, p.rows, v.shape[-1])  # a view, where the sizes merge
    else:
        result = np.empty((*p.groups, p.rows, v.shape[-1]), kind)
    logs = np.empty((*p.groups, p.rows), kind)
    for part in p.blocks():
        s = p.scores(part)
        values = p.v[part[:2]]
        if not p.keys:
            result[part] = 0
            logs[part] = -np.inf
            continue
        top = s.max(-1, keepdims=True)
        if mask is not None:
            np.maximum(top, np.finfo(kind).min, out=top)
        s -= top
        np.exp(s, s)
        total = s.sum(-1, keepdims=True)
        y = matrix_product(s, values)
        if mask is not None:
            alive = total != 0
            total = np.where(alive, total, 1)
            y /= total
            # A row without keys: exp(s - inf) is zero in the backward pass.
            logs[part] = np.where(alive, np.log(total) + top, np.inf)[..., 0]
        else:
            y /= total
            logs[part] = (np.log(total) + top)[..., 0]
        result[part] = y
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
    if _pays(q, k):
        arrays = [_wide(x) for x in (g, q, k, v, out, logs)]
        over = mask if mask is None else _wide(mask)
        found = kernels.attention.attention_backward(
            *arrays, over, causal, scale_of(q.shape[-1], scale)
        )
        if found is not None:
            dq, dk, dv = (x.astype(q.dtype, copy=False) for x in found)
            return dq, dk, dv
    p = _Problem(q, k, v, mask, causal, scale)
    of_out, result = p.queries(g), p.queries(out)
    inner = np.einsum("nhre,nhre->nhr", of_out, result)
    lse = logs.reshape(inner.shape)
    dq = np.empty_like(p.q)
    dk, dv = np.zeros_like(p.k), np.zeros_like(p.v)
    for part in p.blocks():
        group = part[:2]
        s = p.scores(part)
        go = of_out[part]
        d = matrix_product(go, p.v[group].swapaxes(-1, -2))
        s -= lse[part][..., None]
        np.exp(s, s)
        d -= inner[part][..., None]
        d *= s
        dv[group] += matrix_product(s.swapaxes(-1, -2), go)
        dq[part] = matrix_product(d, p.k[group])
        dk[group] += matrix_product(d.swapaxes(-1, -2), p.q[part])
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
