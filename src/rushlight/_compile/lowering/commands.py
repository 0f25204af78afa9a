"""Commands beside kernels and products: look-ups, copies, and networks' parts that have their own.

A command knows what it reads and makes (rooms that only it needs included), and writes its frames
and calls when the machine is laid out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory.parallel import get_num_threads
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Value, row_major
from .gemm import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.kernels.launches import Launches
    from ..._base.annotations import Shape
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan

Call = tuple[int, int, int]  # function, frame, chunks
#: Rows for which it pays to read the weights of a step once more.
_LEAST_ROWS: Final = 4


class Command:
    """Something native; see above."""

    def __init__(self, reads: list[Value], outputs: list[Value],
                 write: Callable[[Any], list[Call]]) -> None:  # fmt: skip
        self._reads = reads
        self.outputs = outputs
        self.write = write
        self.name = ""  # of the instruction
        self.source: Any = None  # that instruction
        self.plane: tuple[int, ...] = ()  # the size of the planes that its second output names

    def reads(self) -> list[Value]:
        """The values that it reads."""
        return self._reads


Maker = Callable[[Instruction, Any], Command | None]


def is_own(v: Value | None, ordered: bool = True) -> bool:
    """Whether a value is there, with elements, in memory of its own, in order."""
    return v is not None and not v.view and 0 not in v.shape and (not ordered or in_order(v))


def chain_rows(
    machine: ExecutablePlan, steps_of: Callable[[int, int], list[Call]], rows: int, work: int
) -> Call:
    """A chain of steps on the rows of a batch, cut among threads that never wait for each other.

    `steps_of(first, count)` has the steps for some rows; `work` is the multiplications of all.
    """
    parts = max(1, min(get_num_threads(), rows // _LEAST_ROWS)) if work >= SHARED else 1
    each = -(-rows // parts)
    return machine.chain(
        [steps_of(first, min(each, rows - first)) for first in range(0, rows, each)]
    )


def write_launches(
    machine: ExecutablePlan, launches: Launches, places: Sequence[Value | None]
) -> list[Call]:
    """The calls of launches, whose arrays have these places; the first is memory of their own."""
    found = [machine.call("fill", [(places[0], at), some]) for at, some in launches.zeros]
    for one in launches.calls:
        words: list[Any] = list(one.words)
        for word, (array, offset) in one.places:
            words[word] = (places[array], offset)
        frame = machine.words_of(words)
        if one.shared and one.chunks > 1:
            machine.threaded = True
            found.append((one.function, frame, one.chunks))
        elif one.chunks > 1:
            found.append(machine.in_turn(one.function, frame, one.chunks))
        else:
            found.append((one.function, frame, 1))
    return found


def room_of(plan: Plan, launches: Launches, like: Value) -> Value:
    """The memory that launches need."""
    return plan.scratch(like, (-(-launches.size // like.dtype.itemsize),))


def launch_command(
    plan: Plan, launches: Launches | None, places: list[Value | None], reads: list[Value],
    outputs: list[Value],
) -> Command | None:  # fmt: skip
    """The command that makes the calls of launches on some arrays."""
    if launches is None:
        return None
    room = room_of(plan, launches, outputs[0])

    def write(machine: ExecutablePlan) -> list[Call]:
        return write_launches(machine, launches, [room, *places])

    return Command(reads, [*outputs, room], write)


# ---- tables --------------------------------------------------------------------------------------


def _embedding(i: Instruction, plan: Plan) -> Command | None:
    table, index = i.inputs[:2]
    out = i.outputs[0]
    if type(table) is not Value or type(index) is not Value or not is_own(out) or out is None:
        return None
    if index.dtype.name != "int64" or not in_order(index) or not in_order(table):
        return None
    if len(table.shape) != 2 or not index.shape or not plan.check(index, table.shape[0]):
        return None
    width = table.shape[1] * table.dtype.itemsize

    def write(machine: ExecutablePlan) -> list[Call]:
        return [machine.call("gather", [table, index, out, size_of(index.shape), width])]

    return Command([table, index], [out], write)


def _embedding_back(i: Instruction, plan: Plan) -> Command | None:
    g, index, shape, padding, scaled = i.inputs
    out = i.outputs[0]
    if type(g) is not Value or type(index) is not Value or not is_own(out) or out is None:
        return None
    if index.dtype.name != "int64" or not in_order(index) or not in_order(g) or scaled:
        return None
    if padding >= 0 or g.dtype.name not in FLOATS or g.dtype != out.dtype or not index.shape:
        return None
    if not plan.check(index, shape[0]):
        return None
    width = out.shape[-1]

    def write(machine: ExecutablePlan) -> list[Call]:
        return [
            machine.call("fill", [out, size_of(out.shape) * out.dtype.itemsize]),
            machine.add_rows((out, 0), index, (g, 0), size_of(index.shape), width),
        ]

    return Command([g, index], [out], write)


# ---- copies --------------------------------------------------------------------------------------


def merge_dimensions(
    shape: tuple[int, ...], to: list[int], source: list[int]
) -> list[tuple[int, int, int]]:
    """Dimensions with both strides, those that go on from each other as one."""
    found: list[tuple[int, int, int]] = []
    for n, s, t in zip(shape, to, source):
        if n == 1:
            continue
        if found and found[-1][1] == n * s and found[-1][2] == n * t:
            found[-1] = (found[-1][0] * n, s, t)
        else:
            found.append((n, s, t))
    return found


def copy_strided(
    machine: ExecutablePlan,
    to: Value,
    source: Value,
    shape: tuple[int, ...],
    strides: Sequence[int],
    others: Shape,
    offset: int = 0,
    other: int = 0,
) -> Call | None:
    """A copy of elements with strides in bytes; None for too many dimensions."""
    size = to.dtype.itemsize
    dims = merge_dimensions(shape, list(strides), list(others))
    if not dims or dims[-1][1:] != (size, size):
        dims.append((1, size, size))
    if len(dims) > 5:
        return None
    while len(dims) < 5:
        dims.insert(0, (1, 0, 0))
    words: list[Any] = [(to, offset), (source, other)]
    words += [n for n, _, _ in dims[:4]] + [dims[4][0] * size]
    words += [s for _, s, _ in dims[:4]] + [t for _, _, t in dims[:4]]
    return machine.call("copy_f32" if size == 4 else "copy_f64", words)


def _lower_copy(i: Instruction, plan: Plan) -> Command | None:
    """A reshape that has to copy, or a copy in another order."""
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or not is_own(out) or x.dtype != out.dtype:
        return None
    if x.dtype.itemsize not in (4, 8) or size_of(x.shape) != size_of(out.shape) or not x.shape:
        return None
    if i.rule == "in_layout" and x.shape != out.shape:
        return None
    steps = row_major(x.shape, x.dtype.itemsize)
    if len(merge_dimensions(x.shape, steps, list(x.strides))) > 4:
        return None

    def write(machine: ExecutablePlan) -> list[Call]:
        return [copy_strided(machine, out, x, x.shape, steps, x.strides)]  # type: ignore[list-item]

    return Command([x], [out], write)


def _lower_join(i: Instruction, plan: Plan) -> Command | None:
    parts, axis = i.inputs[0], i.inputs[1]
    out = i.outputs[0]
    if type(parts) not in (list, tuple) or out is None or not is_own(out) or type(axis) is not int:
        return None
    axis %= len(out.shape)
    stacked = i.rule == "stack"
    if out.dtype.itemsize not in (4, 8):
        return None
    steps = row_major(out.shape, out.dtype.itemsize)
    inner = steps[:axis] + steps[axis + 1 :] if stacked else steps
    for p in parts:
        if type(p) is not Value or p.dtype != out.dtype or len(p.shape) != len(inner):
            return None
        if 0 in p.shape or len(merge_dimensions(p.shape, inner, list(p.strides))) > 4:
            return None

    def write(machine: ExecutablePlan) -> list[Call]:
        found, start = [], 0
        for p in parts:
            found.append(
                copy_strided(machine, out, p, p.shape, inner, p.strides, start * steps[axis])
            )
            start += 1 if stacked else p.shape[axis]
        return found  # type: ignore[return-value]

    return Command(list(parts), [out], write)


def _select_back(i: Instruction, plan: Plan) -> Command | None:
    g, shape, axis, index = i.inputs
    out = i.outputs[0]
    if type(g) is not Value or out is None or not is_own(out) or g.dtype.itemsize not in (4, 8):
        return None
    size = out.dtype.itemsize
    steps = row_major(out.shape, size)
    axis %= len(shape)
    index %= shape[axis]
    rest = steps[:axis] + steps[axis + 1 :]
    if len(merge_dimensions(g.shape, rest, list(g.strides))) > 4 or g.dtype != out.dtype:
        return None

    def write(machine: Any) -> list[Call]:
        return [
            machine.call("fill", [out, size_of(out.shape) * size]),
            copy_strided(machine, out, g, g.shape, rest, g.strides, index * steps[axis]),
        ]

    return Command([g], [out], write)


# ---- pooling -------------------------------------------------------------------------------------


def _pool(i: Instruction, plan: Plan) -> Command | None:
    x, k, stride, pad, dilation, _ = i.inputs
    out, where = i.outputs
    if type(x) is not Value or not in_order(x) or not is_own(out) or not is_own(where):
        return None
    if out is None or where is None or len(k) != 2 or any(pad) or any(d != 1 for d in dilation):
        return None
    stride = tuple(stride) or tuple(k)
    high, wide = x.shape[-2:]
    tall, broad = out.shape[-2:]
    if x.dtype.name not in FLOATS or len(stride) != 2 or k[0] * k[1] > 64:
        return None
    if (tall - 1) * stride[0] + k[0] > high or (broad - 1) * stride[1] + k[1] > wide:
        return None
    planes = size_of(x.shape[:-2])

    def write(machine: ExecutablePlan) -> list[Call]:
        return [machine.pooling(x, out, where, planes, (high, wide), (tall, broad), k, stride)]

    command = Command([x], [out, where], write)
    command.plane = (high, wide)
    return command


def _pool_back(i: Instruction, plan: Plan) -> Command | None:
    g, where, size = i.inputs
    out = i.outputs[0]
    if type(g) is not Value or type(where) is not Value or out is None or not is_own(out):
        return None
    if not in_order(g) or not in_order(where) or where.dtype.name != "int64" or len(size) != 2:
        return None
    if g.dtype.name not in FLOATS or g.dtype != out.dtype or g.shape != where.shape:
        return None
    made = plan.when.get(where.root)
    pool = None if made is None else plan.items[made]
    if (
        not isinstance(pool, Command)
        or pool.plane != tuple(size)
        or (where.root != pool.outputs[1].root)
    ):
        return None  # only places that the pooling here has named are known to be in the planes
    planes, inner, area = size_of(g.shape[:-2]), size_of(g.shape[-2:]), size[0] * size[1]

    def write(machine: ExecutablePlan) -> list[Call]:
        suffix = "f32" if g.dtype.name == "float32" else "f64"
        grain = max(1, min(planes, 32768 // area))
        words = [g, where, out, planes, inner, area, grain]
        return [machine.call(f"unpool_{suffix}", words, -(-planes // grain))]

    return Command([g, where], [out], write)


def _zeros(i: Instruction, plan: Plan) -> Command | None:
    out = i.outputs[0]
    if i.inputs or out is None or not is_own(out):
        return None
    size = size_of(out.shape) * out.dtype.itemsize
    return Command([], [out], lambda machine: [machine.call("fill", [out, size])])


MAKERS: Final[dict[str, Maker]] = {
    "embedding": _embedding, "embedding_gradient": _embedding_back, "reshape": _lower_copy,
    "clone": _lower_copy, "contiguous": _lower_copy, "in_layout": _lower_copy,
    "cat": _lower_join, "stack": _lower_join, "select_backward": _select_back, "max_pool": _pool,
    "place_in_planes": _pool_back, "zeros": _zeros, "zeros_like": _zeros,
}  # fmt: skip
