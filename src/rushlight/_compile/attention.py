"""Attention as commands: for each head the scores, their softmax in place, and the products.

Heads are small enough for the caches, and threads share them. The scores aren't kept: the backward
command computes them anew from the logarithms of the denominators.

Note [Rows that see the same keys]
Of causal attention, blocks of rows leave out the keys that none of them sees. Backwards the last
block comes first: it reaches all keys, and the others add to what it has written.
"""

from __future__ import annotations

from typing import Any, Final

from .._array.kernels import formulas
from .._codegen import group as G
from .commands import Call, Command
from .products import Matrix, blocks_of, turned
from .program import Instruction, Value
from .symbols import FLOATS, in_order, size_of

_ROWS: Final = 64  # of a block of causal attention
_HEADS: Final = 1024  # at most
_LONGEST: Final = 1024  # rows and keys


def _row_dot(x: Any, y: Any) -> Any:
    return G.row_sum(x * y)


class Heads:
    """A value (..., L, E) as matrices, one for each place of the leading dimensions."""

    def __init__(self, v: Value) -> None:
        self.value = v
        self.size = v.dtype.itemsize
        self.rows, self.columns = v.shape[-2:]
        self.down = v.strides[-2] // self.size
        self.right = v.strides[-1] // self.size
        self.offsets = [0]
        for n, s in zip(v.shape[:-2], v.strides[:-2]):
            self.offsets = [o + k * s for o in self.offsets for k in range(n)]

    def part(self, head: int, first: int, last: int) -> Matrix:
        """Rows of one head."""
        offset = self.offsets[head] + first * self.down * self.size
        return Matrix(self.value, last - first, self.columns, self.down, self.right, offset)


def _fits(values: list[Any]) -> bool:
    q = values[0]
    if any(type(v) is not Value for v in values) or len(q.shape) < 3:
        return False
    size = q.dtype.itemsize
    return all(
        v.dtype == q.dtype and v.dtype.name in FLOATS and 0 not in v.shape
        and v.shape[:-2] == q.shape[:-2] and not any(s % size for s in v.strides)
        and v.strides[-1] == size
        for v in values
    )  # fmt: skip


def _takes(q: Any, k: Any, v: Any) -> bool:
    if not _fits([q, k, v]) or size_of(q.shape[:-2]) > _HEADS:
        return False
    rows, size = q.shape[-2:]
    keys = k.shape[-2]
    return bool(
        k.shape[-1] == size and v.shape[-2] == keys and v.shape[-1] == size
        and rows <= _LONGEST and keys <= _LONGEST and size <= 512
        and blocks_of(rows, keys, size) is not None and blocks_of(rows, size, keys) is not None
        and keys >= 8
    )  # fmt: skip


def _dense(v: Value | None) -> bool:
    """Whether the elements fill a room of their own, in any order of dimensions."""
    if v is None or v.view or 0 in v.shape:
        return False
    step = v.dtype.itemsize
    for s, n in sorted((s, n) for n, s in zip(v.shape, v.strides) if n != 1):
        if s != step:
            return False
        step *= n
    return True


class Problem:
    """The sizes, and the blocks of rows with the keys that they see."""

    def __init__(self, q: Value, k: Value, causal: bool, scale: Any) -> None:
        self.heads = size_of(q.shape[:-2])
        self.rows, self.size = q.shape[-2:]
        self.keys = k.shape[-2]
        self.causal = causal
        self.scale = float(self.size**-0.5 if scale is None else scale)
        step = _ROWS if causal and self.rows == self.keys else self.rows
        self.blocks = [
            (r, min(r + step, self.rows), min(r + step, self.keys) if causal else self.keys)
            for r in range(0, self.rows, step)
        ]
        if causal and self.rows != self.keys:
            self.blocks = [(0, self.rows, self.keys)]
        group = max(1, q.shape[-3])
        self.groups = [range(g, min(g + group, self.heads)) for g in range(0, self.heads, group)]


def _square(v: Value, index: int, rows: int, columns: int, room: int) -> Matrix:
    """A matrix in the room with a number."""
    return Matrix(v, rows, columns, columns, 1, index * room * v.dtype.itemsize)


def _across(machine: Any, room: Value, index: int, keys: Matrix) -> tuple[Call, Matrix]:
    """A head's keys, one to a column."""
    offset = index * keys.rows * keys.columns * room.dtype.itemsize
    call, made = machine.turn(room, turned(keys), offset, whole=True)
    return call, made


def _left(m: Matrix, columns: int) -> Matrix:
    """The first columns of a matrix."""
    return Matrix(m.value, m.rows, columns, m.down, m.right, m.offset)


def attention(i: Instruction, plan: Any) -> Command | None:
    """The command for scaled dot-product attention without a mask or dropout."""
    q, k, v, dropout, causal, mask, scale = i.inputs
    out, logs = i.outputs
    if dropout or mask is not None or not _takes(q, k, v) or out is None or logs is None:
        return None
    if not _dense(out) or not _dense(logs) or not in_order(logs) or out.root in plan.kept:
        return None
    if out.shape != q.shape or out.strides[-1] != out.dtype.itemsize:
        return None
    p = Problem(q, k, bool(causal), scale)
    room = min(p.rows, _ROWS if p.causal and p.rows == p.keys else p.rows) * p.keys
    scores = plan.scratch(out, (len(p.groups), room))
    keys = plan.scratch(out, (len(p.groups), p.size * p.keys))

    def write(machine: Any) -> list[Call]:
        size = q.dtype.itemsize
        visible = machine.numbers(list(range(p.rows)))
        factor = machine.scalar(q.dtype, p.scale)
        places = [Heads(x) for x in (q, k, v, out)]
        found = []
        for n, group in enumerate(p.groups):
            calls = []
            for h in group:
                call, across = _across(machine, keys, n, places[1].part(h, 0, p.keys))
                calls.append(call)
                for first, last, seen in p.blocks:
                    s = _square(scores, n, last - first, seen, room)
                    calls.append(machine.gemm(
                        places[0].part(h, first, last), _left(across, seen), s, whole=True,
                    ))  # fmt: skip
                    spot = (scores, s.offset, seen)
                    log = (logs, (h * p.rows + first) * size, 1)
                    seen_by = [(visible, first * 8, 1)] if p.causal else []
                    calls.append(machine.rows(
                        formulas.causal_weights if p.causal else formulas.attention_weights,
                        ("f", "r i64", "s") if p.causal else ("f", "s"),
                        q.dtype, last - first, seen,
                        [spot, *seen_by, (factor, 0, 0)], [spot, log],
                    ))  # fmt: skip
                    calls.append(machine.gemm(
                        s, places[2].part(h, 0, seen), places[3].part(h, first, last), whole=True
                    ))  # fmt: skip
            found.append(calls)
        return [machine.chain(found)]

    return Command([q, k, v], [out, logs, scores, keys], write)


def attention_backward(i: Instruction, plan: Any) -> Command | None:
    """The command for the gradients of attention."""
    g, q, k, v, out, logs, mask, causal, scale = i.inputs
    if mask is not None or not _takes(q, k, v) or not _fits([q, g, out]):
        return None
    grads: list[Any] = list(i.outputs)
    if type(logs) is not Value or not in_order(logs) or logs.dtype != q.dtype or len(grads) != 3:
        return None
    if any(not _dense(d) or not in_order(d) for d in grads) or g.shape != q.shape:
        return None
    p = Problem(q, k, bool(causal), scale)
    high = min(p.rows, _ROWS if p.causal and p.rows == p.keys else p.rows)
    room = high * p.keys
    groups = len(p.groups)
    weights = plan.scratch(grads[0], (groups, room))
    slopes = plan.scratch(grads[0], (groups, room))
    inner = plan.scratch(grads[0], (groups, high))
    keys_turned = plan.scratch(grads[0], (groups, p.size * p.keys))
    values_turned = plan.scratch(grads[0], (groups, p.size * p.keys))

    def write(machine: Any) -> list[Call]:
        size = q.dtype.itemsize
        visible = machine.numbers(list(range(p.rows)))
        factor = machine.scalar(q.dtype, p.scale)
        of_g, of_q, of_k, of_v, of_out, dq, dk, dv = (Heads(x) for x in (g, q, k, v, out, *grads))
        found = []
        for n, group in enumerate(p.groups):
            calls = []
            for h in group:
                call, across = _across(machine, keys_turned, n, of_k.part(h, 0, p.keys))
                other, over = _across(machine, values_turned, n, of_v.part(h, 0, p.keys))
                calls += [call, other]
                for first, last, seen in reversed(p.blocks):
                    count = last - first
                    beta = 0.0 if last == p.rows else 1.0
                    s, d = (_square(x, n, count, seen, room) for x in (weights, slopes))
                    go, mine = of_g.part(h, first, last), of_q.part(h, first, last)
                    keys = of_k.part(h, 0, seen)
                    calls.append(machine.gemm(mine, _left(across, seen), s, whole=True))
                    calls.append(machine.gemm(go, _left(over, seen), d, whole=True))
                    result = of_out.part(h, first, last)
                    along = (inner, n * high * size, 1)
                    calls.append(machine.rows(
                        _row_dot, ("f", "f"), q.dtype, count, p.size,
                        [(g, go.offset, go.down), (out, result.offset, result.down)], [along],
                    ))  # fmt: skip
                    ends = [(weights, s.offset, seen), (slopes, d.offset, seen)]
                    log = (logs, (h * p.rows + first) * size, 1)
                    seen_by = [(visible, first * 8, 1)] if p.causal else []
                    calls.append(machine.rows(
                        formulas.causal_weights_backward if p.causal
                        else formulas.attention_weights_backward,
                        ("f", "f", "r i64", "r", "r", "s") if p.causal
                        else ("f", "f", "r", "r", "s"),
                        q.dtype, count, seen, [*ends, *seen_by, log, along, (factor, 0, 0)], ends,
                    ))  # fmt: skip
                    calls.append(machine.gemm(
                        turned(s), go, dv.part(h, 0, seen), beta=beta, whole=True
                    ))  # fmt: skip
                    calls.append(machine.gemm(d, keys, dq.part(h, first, last), whole=True))
                    calls.append(machine.gemm(
                        turned(d), mine, dk.part(h, 0, seen), beta=beta, whole=True
                    ))  # fmt: skip
            found.append(calls)
        return [machine.chain(found)]

    outputs = [*grads, weights, slopes, inner, keys_turned, values_turned]
    return Command([g, q, k, v, out, logs], outputs, write)


MAKERS: Final = {
    "_scaled_dot_product_flash_attention_for_cpu": attention,
    "attention_backward": attention_backward,
}
