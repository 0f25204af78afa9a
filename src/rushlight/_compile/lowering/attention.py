"""Attention as commands: for each head the scores, their softmax in place, and the products.

Heads are small enough for the caches, and threads share them. The scores aren't kept: the backward
command computes them anew from the logarithms of the denominators.

Note [Rows that see the same keys]
Of causal attention, blocks of rows leave out the keys that none of them sees. Backwards the last
block comes first: it reaches all keys, and the others add to what it has written.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, Final

from ..._array.kernels import formulas
from ..._formula import ir as G
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Value
from .commands import Call, Command
from .gemm import Matrix, blocks_of, transpose

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._formula.ir import Symbol
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan

_ROWS: Final = 64  # of a block of causal attention
_HEADS: Final = 1024  # at most
_LONGEST: Final = 1024  # rows and keys


def _row_dot(x: Symbol, y: Symbol) -> Any:
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


def _fits(values: Arguments) -> bool:
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


def _takes(q: Value, k: Value, v: Value) -> bool:
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


class Mask:
    """A mask in memory: where each head's rows lie. Of bools, or added to the scores."""

    def __init__(self, v: Value, heads: tuple[int, ...], rows: int, keys: int) -> None:
        self.value = v
        self.kind = "f b1" if v.dtype.name == "bool" else "f"
        shape = (1,) * (len(heads) + 2 - len(v.shape)) + v.shape
        steps = (0,) * (len(shape) - len(v.strides)) + v.strides
        self.step = steps[-2] // v.dtype.itemsize if shape[-2] != 1 else 0
        self.offsets = [0]
        for n, m, s in zip(heads, shape, steps):
            self.offsets = [o + (k * s if m != 1 else 0) for o in self.offsets for k in range(n)]

    def spot(self, head: int) -> tuple[Value, int, int]:
        """A head's rows."""
        return self.value, self.offsets[head], self.step


def _mask_of(mask: Value, q: Value, k: Value) -> Mask | None:
    """The mask, where kernels can read it."""
    rows, keys, heads = q.shape[-2], k.shape[-2], q.shape[:-2]
    if type(mask) is not Value or mask.dtype.name not in ("bool", q.dtype.name):
        return None
    shape = mask.shape
    if (
        len(shape) < 2
        or len(shape) > len(q.shape)
        or shape[-1] != keys
        or shape[-2] not in (1, rows)
    ):
        return None
    size = mask.dtype.itemsize
    if mask.strides[-1] != size or any(s % size or s < 0 for s in mask.strides):
        return None
    if any(m not in (1, n) for m, n in zip(shape[:-2][::-1], heads[::-1])):
        return None
    return Mask(mask, heads, rows, keys)


def _scores(s: Symbol, mask: Symbol, scale: Symbol) -> Symbol:
    x = s * scale
    return G.where(mask, x, -inf) if mask.dtype == "b1" else x + mask


def _mask(s: Symbol, mask: Symbol, scale: Symbol) -> tuple[Symbol, Symbol]:
    """The weights of masked scores, in place; rows that see nothing have no weights."""
    weights, logs = formulas.masked_weights(_scores(s, mask, scale))
    return G.into(s, weights.symbol), logs


def _back_through_mask(
    s: Symbol, d: Symbol, mask: Symbol, logs: Symbol, along: Symbol, scale: Symbol
) -> tuple[Symbol, ...]:
    w = G.exp(_scores(s, mask, scale) - logs)
    return G.into(s, w), G.into(d, w * (d - along) * scale)


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


def _across(machine: ExecutablePlan, room: Value, index: int, keys: Matrix) -> tuple[Call, Matrix]:
    """A head's keys, one to a column."""
    offset = index * keys.rows * keys.columns * room.dtype.itemsize
    call, made = machine.turn(room, transpose(keys), offset, whole=True)
    return call, made


def _first_columns(m: Matrix, columns: int) -> Matrix:
    """The first columns of a matrix."""
    return Matrix(m.value, m.rows, columns, m.down, m.right, m.offset)


def attention(i: Instruction, plan: Plan) -> Command | None:
    """The command for scaled dot-product attention without a mask or dropout."""
    q, k, v, dropout, causal, mask, scale = i.inputs
    out, logs = i.outputs
    if dropout or not _takes(q, k, v) or out is None or logs is None:
        return None
    seen_by_mask = None if mask is None else _mask_of(mask, q, k)
    if mask is not None and (seen_by_mask is None or causal):
        return None
    if not _dense(out) or not _dense(logs) or not in_order(logs) or out.root in plan.kept:
        return None
    if out.shape != q.shape or out.strides[-1] != out.dtype.itemsize:
        return None
    p = Problem(q, k, bool(causal), scale)
    room = min(p.rows, _ROWS if p.causal and p.rows == p.keys else p.rows) * p.keys
    scores = plan.scratch(out, (len(p.groups), room))
    keys = plan.scratch(out, (len(p.groups), p.size * p.keys))

    def write(machine: ExecutablePlan) -> list[Call]:
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
                        places[0].part(h, first, last), _first_columns(across, seen), s, whole=True,
                    ))  # fmt: skip
                    spot = (scores, s.offset, seen)
                    log = (logs, (h * p.rows + first) * size, 1)
                    seen_by: list[Any] = [(visible, first * 8, 1)] if p.causal else []
                    form: Any = formulas.causal_weights if p.causal else formulas.attention_weights
                    kinds: Any = ("f", "r i64", "s") if p.causal else ("f", "s")
                    if seen_by_mask is not None:
                        seen_by = [seen_by_mask.spot(h)]
                        form, kinds = _mask, ("f", seen_by_mask.kind, "s")
                    calls.append(machine.rows(
                        form, kinds,
                        q.dtype, last - first, seen,
                        [spot, *seen_by, (factor, 0, 0)], [spot, log],
                    ))  # fmt: skip
                    calls.append(machine.gemm(
                        s, places[2].part(h, 0, seen), places[3].part(h, first, last), whole=True
                    ))  # fmt: skip
            found.append(calls)
        return [machine.chain(found)]

    reads = [q, k, v] if mask is None else [q, k, v, mask]
    return Command(reads, [out, logs, scores, keys], write)


def attention_backward(i: Instruction, plan: Plan) -> Command | None:
    """The command for the gradients of attention."""
    g, q, k, v, out, logs, mask, causal, scale = i.inputs
    if not _takes(q, k, v) or not _fits([q, g, out]):
        return None
    seen_by_mask = None if mask is None else _mask_of(mask, q, k)
    if mask is not None and (seen_by_mask is None or causal):
        return None
    grads: list[Any] = list(i.outputs)
    if type(logs) is not Value or not in_order(logs) or logs.dtype != q.dtype or len(grads) != 3:
        return None
    if any(not _dense(d) for d in grads) or not _fits(grads) or g.shape != q.shape:
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

    def write(machine: ExecutablePlan) -> list[Call]:
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
                    calls.append(machine.gemm(mine, _first_columns(across, seen), s, whole=True))
                    calls.append(machine.gemm(go, _first_columns(over, seen), d, whole=True))
                    result = of_out.part(h, first, last)
                    along = (inner, n * high * size, 1)
                    calls.append(machine.rows(
                        _row_dot, ("f", "f"), q.dtype, count, p.size,
                        [(g, go.offset, go.down), (out, result.offset, result.down)], [along],
                    ))  # fmt: skip
                    ends = [(weights, s.offset, seen), (slopes, d.offset, seen)]
                    log = (logs, (h * p.rows + first) * size, 1)
                    seen_by: list[Any] = [(visible, first * 8, 1)] if p.causal else []
                    form: Any = (formulas.causal_weights_backward if p.causal
                                 else formulas.attention_weights_backward)  # fmt: skip
                    kinds: Any = (("f", "f", "r i64", "r", "r", "s") if p.causal
                                  else ("f", "f", "r", "r", "s"))  # fmt: skip
                    if seen_by_mask is not None:
                        seen_by = [seen_by_mask.spot(h)]
                        form = _back_through_mask
                        kinds = ("f", "f", seen_by_mask.kind, "r", "r", "s")
                    calls.append(machine.rows(
                        form, kinds,
                        q.dtype, count, seen, [*ends, *seen_by, log, along, (factor, 0, 0)], ends,
                    ))  # fmt: skip
                    calls.append(machine.gemm(
                        transpose(s), go, dv.part(h, 0, seen), beta=beta, whole=True
                    ))  # fmt: skip
                    calls.append(machine.gemm(d, keys, dq.part(h, first, last), whole=True))
                    calls.append(machine.gemm(
                        transpose(d), mine, dk.part(h, 0, seen), beta=beta, whole=True
                    ))  # fmt: skip
            found.append(calls)
        return [machine.chain(found)]

    outputs = [*grads, weights, slopes, inner, keys_turned, values_turned]
    reads = [g, q, k, v, out, logs] + ([] if mask is None else [mask])
    return Command(reads, outputs, write)


MAKERS: Final = {
    "attention": attention,
    "attention_backward": attention_backward,
}
