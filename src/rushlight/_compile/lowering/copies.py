"""Moves as commands: copies between layouts, padding, sums along a dimension, places by index.

Their native functions work on elements of 1, 4 or 8 bytes, whatever these mean, but for sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory.aliasing import copy_in_strides
from ..._native.emitted import places
from ..._native.llvm import loader as engine
from ..._native.llvm.emit import F32, F64, I8, I32, I64, PTR, Module, Type
from ..ir.iteration_values import in_order, size_of
from ..ir.program import Instruction, Value, row_major
from .commands import Call, Command, merge_dimensions

if TYPE_CHECKING:
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan

_BITS: Final = {1: I8, 4: I32, 8: I64}
_SUMS: Final = {"float32": F32, "float64": F64, "int64": I64}
_RANK: Final = 6

Maker = Callable[[Instruction, Any], Command | None]


# ---- native functions ----------------------------------------------------------------------------


@cache
def addresses() -> dict[str, int]:
    """The native functions by name."""
    module = Module("program_moves")
    for size, bits in _BITS.items():
        _move(module, f"move_{size}", bits)
    for name, type in _SUMS.items():
        _scan(module, f"scan_{name}", type)
    return engine.load(module)


def _function(module: Module, name: str, pointers: int, words: int) -> tuple[Any, list[Any]]:
    f = module.function(name, [("frame", PTR), ("chunk", I64)])
    frame = f.params[0]
    found = [f.load(f.at(frame, n, I64), PTR if n < pointers else I64) for n in range(words)]
    return f, found


def _move(module: Module, name: str, type: Type) -> None:
    """Elements with strides; words: to, from, sizes, steps of `to`, steps of `from` in bytes."""
    f, words = _function(module, name, 2, 2 + 3 * _RANK)
    to, source, *rest = words
    sizes, there, here = rest[:_RANK], rest[_RANK : 2 * _RANK], rest[2 * _RANK :]

    def over(k: int, to: Value, source: Value) -> None:
        if k == _RANK - 1:
            dense = there[k].eq(type.size) & here[k].eq(type.size)
            with f.when(dense):
                f.copy(to, source, sizes[k] * type.size)
            with f.when(~dense), f.loop(0, sizes[k]) as loop:
                x = f.load(f.at_bytes(source, loop.index * here[k]), type)
                f.store(f.at_bytes(to, loop.index * there[k]), x)
            return
        with f.loop(0, sizes[k]) as loop:
            over(k + 1, f.at_bytes(to, loop.index * there[k]),
                 f.at_bytes(source, loop.index * here[k]))  # fmt: skip

    over(0, to, source)
    f.ret()


def _scan(module: Module, name: str, type: Type) -> None:
    """Sums of the elements so far; words: to, from, outer, length, inner, whether from the end."""
    f, (to, source, outer, length, inner, back) = _function(module, name, 2, 6)
    step = f.select(back.ne(0), -inner, inner)
    with f.loop(0, outer) as o, f.loop(0, inner) as i:
        base = o.index * length * inner + i.index
        start = base + f.select(back.ne(0), (length - 1) * inner, f.constant(I64, 0))
        first = f.load(f.at(source, start, type), type)
        f.store(f.at(to, start, type), first)
        with f.loop(1, length, carried=[first]) as loop:
            place = start + loop.index * step
            total = loop.carried[0] + f.load(f.at(source, place, type), type)
            f.store(f.at(to, place, type), total)
            loop.next(total)
    f.ret()


# ---- copies --------------------------------------------------------------------------------------


def _few(
    shape: tuple[int, ...], to: list[int], source: list[int]
) -> list[tuple[int, int, int]] | None:
    """The merged dimensions; None for too many."""
    found = merge_dimensions(shape, to, source)
    return found if len(found) <= _RANK else None


def move(machine: ExecutablePlan, to: Value, source: Value, dims: list[tuple[int, int, int]],
         offset: int = 0, other: int = 0) -> Call:  # fmt: skip
    """The call for a copy of merged dimensions."""
    size = to.dtype.itemsize
    dims = [(1, 0, 0)] * (_RANK - len(dims)) + dims if dims else [(1, 0, 0)] * (_RANK - 1) + [
        (1, size, size)
    ]  # fmt: skip
    words: list[Any] = [(to, offset), (source, other)]
    for place in range(3):
        words += [d[place] for d in dims]
    return addresses()[f"move_{size}"], machine.words_of(words), 1


def _alike(x: object, out: Value | None) -> bool:
    return bool(
        type(x) is Value and out is not None and not out.view and x.dtype == out.dtype
        and 0 not in out.shape and 0 not in x.shape and x.dtype.itemsize in _BITS
    )  # fmt: skip


def _command(out: Value, x: Value, shape: tuple[int, ...], to: list[int], source: list[int],
             offset: int = 0, other: int = 0, cleared: bool = False) -> Command | None:  # fmt: skip
    dims = _few(shape, to, source)
    if dims is None:
        return None

    def write(machine: ExecutablePlan) -> list[Call]:
        found = [move(machine, out, x, dims, offset, other)]
        return [_clear(machine, out), *found] if cleared else found

    return Command([x], [out], write)


def _clear(machine: ExecutablePlan, out: Value) -> Call:
    return machine.call("fill", [out, size_of(out.shape) * out.dtype.itemsize])


def copy(i: Instruction, plan: Plan) -> Command | None:
    """A copy in another layout, or of other dimensions in the same order."""
    x, out = i.inputs[0], i.outputs[0]
    if not _alike(x, out) or out is None:
        return None
    if i.function is copy_in_strides and x.dtype.name == "int64":
        # Made by a pass: nobody but its readers knows it, and so nobody writes to it.
        plan.copied[out.number] = x
        if x.number in plan.places:
            plan.places[out.number] = plan.places[x.number]
    if x.shape == out.shape:
        return _command(out, x, x.shape, list(out.strides), list(x.strides))
    if size_of(x.shape) != size_of(out.shape) or not in_order(out):
        return None
    return _command(out, x, x.shape, row_major(x.shape, x.dtype.itemsize), list(x.strides))


def expand(i: Instruction, plan: object) -> Command | None:
    """A copy of a value for each place of dimensions that it lacks."""
    x, out = i.inputs[0], i.outputs[0]
    if not _alike(x, out) or out is None or len(x.shape) > len(out.shape):
        return None
    missing = len(out.shape) - len(x.shape)
    steps = [0] * missing
    for n, m, s in zip(x.shape, out.shape[missing:], x.strides):
        if n not in (1, m):
            return None
        steps.append(0 if n == 1 else s)
    return _command(out, x, out.shape, list(out.strides), steps)


def _lower_repeat(i: Instruction, plan: Plan) -> Command | None:
    """repeat(x, counts)."""
    x, counts = i.inputs[:2]
    out = i.outputs[0]
    if not _alike(x, out) or out is None or not in_order(out) or len(counts) != len(out.shape):
        return None
    missing = len(counts) - len(x.shape)
    shape: list[int] = []
    source: list[int] = []
    for k, times in enumerate(counts):
        n = 1 if k < missing else x.shape[k - missing]
        shape += [times, n]
        source += [0, 0 if k < missing else x.strides[k - missing]]
    if size_of(tuple(shape)) != size_of(out.shape):
        return None
    return _command(out, x, tuple(shape), row_major(tuple(shape), x.dtype.itemsize), source)


def _lower_flip(i: Instruction, plan: Plan) -> Command | None:
    """flip(x, dims)."""
    x, dims = i.inputs[:2]
    out = i.outputs[0]
    if not _alike(x, out) or out is None or x.shape != out.shape or not x.shape:
        return None
    steps, first = list(x.strides), 0
    for d in {d % len(x.shape) for d in ((dims,) if isinstance(dims, int) else dims)}:
        first += (x.shape[d] - 1) * steps[d]
        steps[d] = -steps[d]
    return _command(out, x, x.shape, list(out.strides), steps, other=first)


def _lower_pad(i: Instruction, plan: Plan) -> Command | None:
    """constant_pad_nd(x, pads, 0): negative pads leave out."""
    x, pads, value = (*i.inputs, 0)[:3]
    out = i.outputs[0]
    if not _alike(x, out) or out is None or not in_order(out) or value != 0 or type(value) is Value:
        return None
    rank, to = len(x.shape), row_major(out.shape, x.dtype.itemsize)
    shape, offset, other = list(x.shape), 0, 0
    for k in range(len(pads) // 2):
        d = rank - 1 - k
        before, after = pads[2 * k : 2 * k + 2]
        shape[d] += min(before, 0) + min(after, 0)
        offset += max(before, 0) * to[d]
        other += max(-before, 0) * x.strides[d]
    if any(n < 1 for n in shape) or repr(value).startswith("-"):
        return None
    grown = size_of(tuple(shape)) != size_of(out.shape)
    return _command(out, x, tuple(shape), to, list(x.strides), offset, other, cleared=grown)


def _slice_back(i: Instruction, plan: Plan) -> Command | None:
    """slice_backward(g, shape, dim, start, end, step)."""
    g, shape, dim, start, _, step = i.inputs
    out = i.outputs[0]
    if not _alike(g, out) or out is None or not in_order(out) or tuple(shape) != out.shape:
        return None
    dim %= len(shape)
    start = 0 if start is None else start
    start = max(0, start + shape[dim]) if start < 0 else start
    to = row_major(out.shape, g.dtype.itemsize)
    offset = start * to[dim]
    to[dim] *= step
    if start + (g.shape[dim] - 1) * step >= shape[dim]:
        return None
    return _command(out, g, g.shape, to, list(g.strides), offset, cleared=True)


# ---- sums so far ---------------------------------------------------------------------------------


def _lower_scan(i: Instruction, plan: Plan) -> Command | None:
    """cumsum(x, dim, dtype), reverse_cumsum(x, dim)."""
    x, dim = i.inputs[:2]
    out = i.outputs[0]
    if not _alike(x, out) or out is None or not in_order(x) or not in_order(out) or not x.shape:
        return None
    if any(y is not None for y in i.inputs[2:]) or x.dtype.name not in _SUMS:
        return None
    dim %= len(x.shape)
    outer, inner = size_of(x.shape[:dim]), size_of(x.shape[dim + 1 :])
    words = [out, x, outer, x.shape[dim], inner, int(i.rule == "reverse_cumsum")]
    name = f"scan_{x.dtype.name}"
    return Command([x], [out], lambda machine: [(addresses()[name], machine.words_of(words), 1)])


# ---- by index ------------------------------------------------------------------------------------


def _fits(x: tuple[int, ...], index: Value, dim: int) -> bool:
    """Whether indices name places along a dimension for all places of the others."""
    if type(index) is not Value or index.dtype.name != "int64" or not in_order(index):
        return False
    if len(index.shape) != len(x) or 0 in index.shape or not x:
        return False
    return all(n == m for d, (n, m) in enumerate(zip(x, index.shape)) if d != dim)


def _at_places(
    machine: ExecutablePlan, name: str, to: Value, source: Value, index: Value,
    sizes: tuple[int, int, int, int],
) -> Call:  # fmt: skip
    """The call of one of `places`; `sizes` are outer, count, inner, length. Indices are checked."""
    rows, grain, chunks = places.chunks(*sizes[:3])
    words = [to, source, index, 0, *sizes, rows, grain]
    return places.load()[name], machine.words_of(words), chunks


def _sizes(x: tuple[int, ...], count: int, dim: int) -> tuple[int, int, int, int]:
    return size_of(x[:dim]), count, size_of(x[dim + 1 :]), x[dim]


def _lower_gather(i: Instruction, plan: Plan) -> Command | None:
    """gather(x, dim, index, ...)."""
    x, dim, index = i.inputs[:3]
    out = i.outputs[0]
    if not _alike(x, out) or out is None or not in_order(x) or not in_order(out):
        return None
    if type(dim) is not int or x.dtype.itemsize not in (4, 8) or not x.shape:
        return None
    dim %= len(x.shape)
    if not _fits(x.shape, index, dim) or not plan.check(index, x.shape[dim]):
        return None
    name, sizes = f"pick_{x.dtype.itemsize}", _sizes(x.shape, index.shape[dim], dim)
    return Command(
        [x, index], [out], lambda machine: [_at_places(machine, name, out, x, index, sizes)]
    )


def _lower_scatter(i: Instruction, plan: Plan) -> Command | None:
    """scatter_add(x, dim, index, source), and scatter without adding."""
    if len(i.inputs) != 4:
        return None
    x, dim, index, source = i.inputs
    out = i.outputs[0]
    added = i.rule == "scatter_add"
    if not _alike(x, out) or not _alike(source, out) or out is None or x.shape != out.shape:
        return None
    if type(dim) is not int or not in_order(out) or not in_order(source) or not x.shape:
        return None
    dim %= len(x.shape)
    kind = out.dtype.name if added else out.dtype.itemsize
    if kind not in _SUMS and kind not in (4, 8):
        return None
    if not _fits(x.shape, index, dim) or index.shape != source.shape:
        return None
    dims = _few(x.shape, row_major(x.shape, x.dtype.itemsize), list(x.strides))
    if dims is None or not plan.check(index, x.shape[dim]):
        return None
    name = f"add_{kind}" if added else f"put_{kind}"
    sizes = _sizes(x.shape, index.shape[dim], dim)

    def write(machine: ExecutablePlan) -> list[Call]:
        last = _at_places(machine, name, out, source, index, sizes)
        return [move(machine, out, x, dims), last]

    return Command([x, index, source], [out], write)


def _lower_placing(i: Instruction, plan: Plan) -> Command | None:
    """placed_along(g, places, dim, keepdim, shape): zeros but for one place along a dimension."""
    g, index, dim, _, shape = i.inputs
    out = i.outputs[0]
    if not _alike(g, out) or out is None or not in_order(out) or not in_order(g) or not shape:
        return None
    if type(index) is not Value or index.dtype.name != "int64" or not in_order(index):
        return None
    if type(dim) is not int or g.dtype.itemsize not in (4, 8) or g.shape != index.shape:
        return None
    dim %= len(shape)
    sizes, name = _sizes(tuple(shape), 1, dim), f"put_{g.dtype.itemsize}"
    if size_of(g.shape) != sizes[0] * sizes[2] or not plan.check(index, shape[dim]):
        return None

    def write(machine: ExecutablePlan) -> list[Call]:
        return [_clear(machine, out), _at_places(machine, name, out, g, index, sizes)]

    return Command([g, index], [out], write)


#: Places of the dimensions before an indexed one, each of which is a call.
_BEFORE: Final = 64


def _lone(i: Instruction, place: int, rank: int) -> tuple[int, Value] | None:
    """The dimension and the index of an instruction that indexes by one."""
    given, dim = i.inputs[place], 0
    if type(given) in (list, tuple):
        there = [d for d, one in enumerate(given) if one is not None]
        if len(there) != 1:
            return None
        dim = there[0]
        given = given[dim]
    else:
        dim = i.inputs[place - 1]
    if type(given) is not Value or given.dtype.name != "int64" or not in_order(given):
        return None
    if type(dim) is not int or not -rank <= dim < rank or not given.shape or 0 in given.shape:
        return None
    return dim % rank, given


def _lower_take(i: Instruction, plan: Plan) -> Command | None:
    """index(x, [None, index]), index_select(x, dim, index): rows of one dimension."""
    x, out = i.inputs[0], i.outputs[0]
    if not _alike(x, out) or out is None or not in_order(x) or not in_order(out):
        return None
    found = _lone(i, 2 if i.rule == "index_select" else 1, len(x.shape))
    if found is None:
        return None
    dim, index = found
    before, after, count = size_of(x.shape[:dim]), x.shape[dim + 1 :], size_of(index.shape)
    if out.shape != x.shape[:dim] + index.shape + after or before > _BEFORE:
        return None
    if not plan.check(index, x.shape[dim]):
        return None
    width = size_of(after) * x.dtype.itemsize
    one, many = x.shape[dim] * width, count * width  # bytes of a place before

    def write(machine: ExecutablePlan) -> list[Call]:
        return [
            machine.call("gather", [(x, k * one), index, (out, k * many), count, width])
            for k in range(before)
        ]

    return Command([x, index], [out], write)


def _lower_row_sum(i: Instruction, plan: Plan) -> Command | None:
    """Rows added along one dimension, of zeros or of a copy.

    index_backward(g, shape, (None, index)), index_select_backward(g, shape, dim, index),
    index_add(x, dim, index, source, 1).
    """
    out = i.outputs[0]
    if out is None or out.view or not in_order(out) or out.dtype.name not in ("float32", "float64"):
        return None
    x: Any = None
    rank = len(out.shape)
    if i.rule == "index_add":
        x, _, _, g, alpha = i.inputs
        lone = _lone(i, 2, rank)
        if type(alpha) is not int or alpha != 1 or not _alike(x, out) or x.shape != out.shape:
            return None
    else:
        g, lone = i.inputs[0], _lone(i, 3 if i.rule == "index_select_backward" else 2, rank)
    if lone is None or not _alike(g, out) or not in_order(g):
        return None
    dim, index = lone
    before, after, count = size_of(out.shape[:dim]), out.shape[dim + 1 :], size_of(index.shape)
    if g.shape != out.shape[:dim] + index.shape + after or before > _BEFORE:
        return None
    if not plan.check(index, out.shape[dim]):
        return None
    width = size_of(after)
    one, many = (n * width * out.dtype.itemsize for n in (out.shape[dim], count))
    dims = None if x is None else _few(
        x.shape, row_major(x.shape, x.dtype.itemsize), list(x.strides)
    )  # fmt: skip
    if x is not None and dims is None:
        return None

    def write(machine: ExecutablePlan) -> list[Call]:
        first = _clear(machine, out) if dims is None else move(machine, out, x, dims)
        return [first] + [
            machine.add_rows((out, k * one), index, (g, k * many), count, width)
            for k in range(before)
        ]

    return Command([g, index] if x is None else [x, g, index], [out], write)


MAKERS: Final[dict[str, Maker]] = {
    "in_order": copy, "clone": copy, "contiguous": copy,
    "copy": copy, "reshape": copy, "in_layout": copy, "filled": copy,
    "ordered_like": copy, "broadcast_to": expand, "expand_reduced": expand,
    "repeat": _lower_repeat, "flip": _lower_flip,
    "constant_pad_nd": _lower_pad, "slice_backward": _slice_back, "cumsum": _lower_scan,
    "reverse_cumsum": _lower_scan, "gather": _lower_gather, "scatter_add": _lower_scatter,
    "scatter": _lower_scatter, "placed_along": _lower_placing, "index": _lower_take,
    "index_select": _lower_take, "index_backward": _lower_row_sum,
    "index_select_backward": _lower_row_sum, "index_add": _lower_row_sum,
}  # fmt: skip
