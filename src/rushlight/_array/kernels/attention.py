"""Attention and its gradients by emitted code: see Note [Blocks of scores] in `_native`.

Queries are (…, heads, L, E), keys and values (…, heads, S, E or V); their heads may be fewer, each
for as many heads of queries that follow each other.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import attention as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..memory.dense_layout import empty_like
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import floating, guard_launch, ready
from .launches import Form, Launches, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Shape
    from ..annotations import Array, RawType

_THREADED: Final = 1 << 19  # multiplications from which threads are worth waking
_HEADS: Final = 8  # from which each is a chunk
_PART: Final = 128  # rows or keys of a part at least
_KEYS: Final = 256  # at a time, backwards
_SCORES: Final = 6144  # of a block of rows, about
_FORWARD: Final = 4  # arrays beside the mask and the logarithms
_CAUSAL: Final = 16  # rows that share the keys they don't see

Steps = tuple[int, int, int, int]  # elements: of outer and inner stacks, shared heads, rows


@cache
def _code(dtype: RawType) -> dict[str, int]:
    return code.load(F32 if dtype is FLOAT32 else F64)


class _Heads:
    """How heads of queries lie over those of keys: (outer, inner, shared)."""

    def __init__(self, q: Form, k: Form) -> None:
        self.inner = k.shape[-3] if k.ndim > 2 else 1
        self.outer = prod(k.shape[:-3])
        self.shared = prod(q.shape[:-2]) // max(1, self.outer * self.inner)
        self.count = self.outer * self.inner

    def steps(self, x: Form) -> Steps | None:
        """Of an array with rows side by side; None where its stacks don't lie evenly."""
        size = x.itemsize
        if any(step % size for step in x.strides) or (x.shape[-1] != 1 and x.strides[-1] != size):
            return None
        outer = 0
        sizes = [(n, step) for n, step in zip(x.shape[:-3], x.steps) if n != 1]
        for (_, step), (n, below) in pairwise(sizes):
            if step != n * below:
                return None
        if sizes:
            outer = sizes[-1][1]
        head = x.steps[-3] if x.ndim > 2 else 0
        shared = x.shape[-3] // self.inner if x.ndim > 2 else 1
        return outer, head * shared, head if shared > 1 else 0, x.steps[-2]


def _bits(number: float) -> int:
    return int(struct.unpack("q", struct.pack("d", number))[0])


def _line(columns: int, dtype: RawType) -> int:
    """The length of lines: an odd number of vectors, so that they lie apart in the caches."""
    return (-(-columns // (lanes := target.machine().width // dtype.itemsize)) | 1) * lanes


def _even(n: int) -> int:
    """Elements of whole vectors with so many elements."""
    return -(-n // 16) * 16


class _Launch:
    """What both directions put into their frames."""

    def __init__(self, q: Form, k: Form, v: Form, mask: Form | None, causal: bool, scale: float,
                 threads: int) -> None:  # fmt: skip
        self.heads = _Heads(q, k)
        self.rows, self.size = q.shape[-2:]
        self.keys, self.width = v.shape[-2:]
        self.causal, self.scale = causal, scale
        self.kind = 0 if mask is None else code.BOOLS if mask.itemsize == 1 else code.NUMBERS
        work = self.heads.count * self.heads.shared * self.rows * self.keys * self.size
        self.found = Launches(q.dtype, threads if work >= _THREADED else 1)

    def parts(self, heads: int, length: int) -> tuple[int, int]:
        """How many parts, and the length of one."""
        parts = max(1, min(_HEADS // max(1, heads), length // _PART))
        part = -(-length // parts // 64) * 64 if parts > 1 else length
        return -(-length // part), part

    def frame(self, arrays: list[tuple[int, Form | None]], logs: int, room: int, parts: int,
              part: int, block: int, line: int) -> list[object] | None:  # fmt: skip
        """The words that both begin with; None where an array doesn't lie evenly."""
        found, h = self.found, self.heads
        slot = -(-room // 32) * 32
        flags = found.room(8 * found.threads, True, 8)
        memory = found.room(found.threads * slot)
        steps: list[int] = []
        for _, form in arrays:
            own = (0, 0, 0, 0) if form is None else h.steps(form)
            if own is None:
                return None
            steps += own
        places = [Place(n) if form is not None else 0 for n, form in arrays]
        return [
            *places, Place(logs), flags, memory, slot, found.threads, h.inner, h.shared, self.rows,
            self.keys, self.size, self.width, _bits(self.scale), int(self.causal), self.kind,
            parts, part, block, line, *steps,
        ]  # fmt: skip


def forward_calls(
    q: Form, k: Form, v: Form, out: Form, mask: Form | None, causal: bool, scale: float,
    threads: int,
) -> Launches | None:  # fmt: skip
    """What writes attention to `out`, and its logarithms; arrays are q, k, v, out, mask, logs."""
    p = _Launch(q, k, v, mask, causal, scale, threads)
    heads = p.heads.count * p.heads.shared
    parts, part = p.parts(heads, p.rows)
    line = _line(p.keys, q.dtype)
    block = _CAUSAL if causal else min(60, max(12, _SCORES // line // 6 * 6))
    arrays = list(enumerate((q, k, v, out, mask), 1))
    room = (p.size + code.MOST) * line + p.keys * _even(p.width)
    words = p.frame(arrays, 6, room, parts, part, block, line)
    if words is None:
        return None
    p.found.add(_code(q.dtype)["attend"], words, heads * parts)
    return p.found


def backward_calls(
    g: Form, q: Form, k: Form, v: Form, out: Form, dq: Form, dk: Form, dv: Form,
    mask: Form | None, causal: bool, scale: float, threads: int,
) -> Launches | None:  # fmt: skip
    """What writes the gradients; arrays are g, q, k, v, out, dq, dk, dv, mask, logs."""
    p = _Launch(q, k, v, mask, causal, scale, threads)
    h = p.heads
    parts, part = p.parts(h.count, p.keys)
    several = min(part, _KEYS)
    line = _line(several, q.dtype)
    wide = _even(p.size)
    room = (p.size + p.width + 2 * code.MOST) * line + several * wide
    room += code.MOST * (wide + _even(p.width))
    steps = h.steps(dq)
    arrays: list[tuple[int, Form | None]] = list(enumerate((g, q, k, v, out, dq, dk, dv, mask), 1))
    share, partial = h.count * h.shared * p.rows * p.size, Place(6)
    if parts > 1:
        partial = p.found.room(parts * share)
        shape = (h.outer, h.inner * h.shared, p.rows, p.size)
        arrays[5] = 6, Form(shape, _in_order(shape, q.itemsize), q.dtype)
    words = p.frame(arrays, 10, room, parts, part, _CAUSAL if causal else 64, line)
    if words is None or steps is None:
        return None
    words[5] = partial
    addresses = _code(q.dtype)
    p.found.add(addresses["attend_back"], [*words, several, share], h.count * parts)
    if parts > 1:
        words = [partial, Place(6), parts, share, h.inner, h.shared, p.rows, p.size, *steps]
        p.found.add(addresses["join_parts"], words, h.count * h.shared)
    return p.found


def _in_order(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    found: list[int] = []
    for n in reversed(shape):
        found.insert(0, size)
        size *= n
    return tuple(found)


@lru_cache(maxsize=512)
def _calls_for(
    layouts: tuple[tuple[Shape, Shape], ...], mask: tuple[Shape, Shape, RawType] | None,
    dtype: RawType, causal: bool, scale: float, threads: int,
) -> Launches | None:  # fmt: skip
    """The calls for some arrays and a mask, by how they lie."""
    make: Any = forward_calls if len(layouts) == _FORWARD else backward_calls
    over = None if mask is None else Form(*mask)
    return make(*[Form(*one, dtype) for one in layouts], over, causal, scale, threads)


def _launch(arrays: list[Array], mask: Array | None, logs: Array, causal: bool,
            scale: float) -> bool:  # fmt: skip
    """Whether the calls were made."""
    layouts = tuple([(x.shape, x.strides) for x in arrays])
    over = None if mask is None else (mask.shape, mask.strides, mask.dtype)
    launches = _calls_for(layouts, over, logs.dtype, causal, scale, get_num_threads())
    return launches is not None and launches.run(*arrays, mask, logs)


def _takes(arrays: Sequence[Array], mask: Array | None) -> bool:
    dtype = arrays[0].dtype
    if not floating(dtype) or not (mask is None or mask.dtype is dtype or mask.dtype == np.bool_):
        return False
    for x in arrays:
        if x.dtype is not dtype or not x.size:
            return False
    return ready()


def _as_lines(x: Array) -> Array:
    """An array whose rows lie side by side: itself, or a copy."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


def _like(x: Array) -> Array:
    """An array that lies like another, but for rows side by side."""
    made = empty_like(x, x.dtype)
    return made if made.strides[-1] == made.itemsize else np.empty(x.shape, x.dtype)


def _mask_for(mask: Array | None, q: Array, keys: int) -> Array | None:
    if mask is None:
        return None
    if mask.shape[-1] != keys or mask.strides[-1] != mask.itemsize:
        mask = np.ascontiguousarray(np.broadcast_to(mask, (*mask.shape[:-1], keys)))
    return np.broadcast_to(mask, (*q.shape[:-1], keys))


@guard_launch
def attention(
    q: Array, k: Array, v: Array, mask: Array | None, causal: bool, scale: float,
    like_queries: bool,
) -> tuple[Array, Array] | None:  # fmt: skip
    """The results and the logarithms of the denominators; None where no kernel applies."""
    if not _takes((q, k, v), mask):
        return None
    q, k, v = _as_lines(q), _as_lines(k), _as_lines(v)
    mask = _mask_for(mask, q, k.shape[-2])
    shape = (*q.shape[:-1], v.shape[-1])
    out = _like(q) if like_queries and shape == q.shape else np.empty(shape, q.dtype)
    logs = np.empty(q.shape[:-1], q.dtype)
    return (out, logs) if _launch([q, k, v, out], mask, logs, causal, scale) else None


@guard_launch
def attention_backward(
    g: Array, q: Array, k: Array, v: Array, out: Array, logs: Array, mask: Array | None,
    causal: bool, scale: float,
) -> tuple[Array, Array, Array] | None:  # fmt: skip
    """The gradients for q, k and v; None where no kernel applies."""
    if not _takes((q, g, k, v, out, logs), mask):
        return None
    g, q, k, v, out = (_as_lines(x) for x in (g, q, k, v, out))
    mask = _mask_for(mask, q, k.shape[-2])
    logs = np.ascontiguousarray(logs)
    dq, dk, dv = (_like(x) for x in (q, k, v))
    done = _launch([g, q, k, v, out, dq, dk, dv], mask, logs, causal, scale)
    return (dq, dk, dv) if done else None
