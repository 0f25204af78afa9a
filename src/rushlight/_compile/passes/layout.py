"""Layout: operands that no kernel can read where they lie are copied into order, once.

Most need no copy: products read transposed matrices by their strides, and kernels read slices,
repeated and expanded values by the layout of their operands (see `iteration_space`). Other values,
such as heads of attention that are added to something in the order of the batch, are copied before
they are first read. Later readers share the copy until what it was made from is written.
"""

from __future__ import annotations

from typing import Any, Final

from ..._array.memory import aliasing as A
from ..ir.iteration_values import in_order, size_of
from ..ir.program import Instruction, Program, Value, replace_in, row_major
from ..lowering.gemm import matrix_of
from ..lowering.lowering_rules import element_value

#: Commands that take operands in order only: from which to which.
NEEDED: Final = {
    "lstm": (0, 3), "gru": (0, 2), "rnn": (0, 2), "lstm_backward": (3, 6),
    "gru_backward": (2, 4), "rnn_backward": (2, 4), "placed_along": (0, 2), "gather": (0, 1),
    "cumsum": (0, 1), "reverse_cumsum": (0, 1), "index": (0, 1), "index_select": (0, 1),
    "index_backward": (0, 1), "index_select_backward": (0, 1), "index_add": (3, 4),
    "scatter_add": (3, 4), "scatter": (3, 4), "embedding_gradient": (0, 1),
    "place_in_planes": (0, 1), "logsumexp_self_gradient": (0, 1),
}  # fmt: skip


def copy_unordered(program: Program) -> None:
    """Puts copies before the instructions whose operands lie in no order that a kernel reads."""
    copies: dict[Any, Value] = {}
    kept: list[Instruction] = []
    for i in program.instructions:
        for v, shape in _unread(i):
            key = (v.number, shape)
            if key not in copies:
                copies[key] = made = like(program, v, shape)
                kept.append(_copy(v, made))
            i = _with_operands(i, {v.number: copies[key]})
        kept.append(i)
        for root in i.writes():
            copies = {k: c for k, c in copies.items() if program.values[k[0]].root != root}
    program.instructions[:] = kept


def _unread(i: Instruction) -> list[tuple[Value, tuple[int, ...]]]:
    """The operands to copy, each with the shape of its copy; none where that wouldn't help."""
    if i.kind != "call":
        return []
    if i.rule in ("linear", "matmul"):
        return _of_product(i)
    if i.rule in NEEDED:
        first = NEEDED[i.rule]
        values = [x for x in i.inputs[first[0] : first[1]] if type(x) is Value]
        return [(v, v.shape) for v in dict.fromkeys(values)
                if v.shape and 0 not in v.shape and not in_order(v)]  # fmt: skip
    m = element_value(i)
    if m is None or m.order is not None:
        return []
    spaces = m.spaces()
    if any(m.layouts(*space) is not None for space in spaces):
        return []
    wrong = [v for v in m.reads if v.number not in m.whole and not in_order(v)]
    found = [(v, v.shape) for v in wrong]
    if found and _fits(i, found):
        return found
    grown = [(v, m.shape) for v in m.reads
             if v.number not in m.whole and size_of(v.shape) > 1 and len(v.shape) <= len(m.shape)
             and (v.shape != m.shape or not in_order(v))]  # fmt: skip
    return grown if grown and _fits(i, grown) else []


def _fits(i: Instruction, copies: list[tuple[Value, tuple[int, ...]]]) -> bool:
    """Whether a kernel takes the instruction with these copies."""
    by = {}
    for v, shape in copies:
        by[v.number] = _make_ordered(v, shape, v.number)
    m = element_value(_with_operands(i, by))
    return m is not None and any(m.layouts(*space) is not None for space in m.spaces())


def _of_product(i: Instruction) -> list[tuple[Value, tuple[int, ...]]]:
    """The rows of a product, where they don't follow one another evenly."""
    x, w = i.inputs[:2]
    if type(x) is not Value or type(w) is not Value or len(w.shape) != 2 or len(x.shape) < 3:
        return []
    if matrix_of(x, flat=True) is not None or 0 in x.shape or in_order(x):
        return []
    return [(x, x.shape)]


def _make_ordered(v: Value, shape: tuple[int, ...], number: int) -> Value:
    """A value like another in C order."""
    strides = tuple(row_major(shape, v.dtype.itemsize))
    return v.like(number, kind="result", root=number, shape=shape, strides=strides, view=False,
                  offset=0, holder=None)  # fmt: skip


def like(program: Program, v: Value, shape: tuple[int, ...]) -> Value:
    """A new value of a program in C order, of the type of another."""
    made = _make_ordered(v, shape, len(program.values))
    program.values.append(made)
    return made


def _copy(v: Value, made: Value) -> Instruction:
    if made.shape == v.shape:
        return Instruction("call", A.in_new_order, "in_order", (v,), (made,), pure=True)
    inputs = (v, made.shape)
    return Instruction("call", A.copy_expanded, "broadcast_to", inputs, (made,), pure=True)


def _with_operands(i: Instruction, by: dict[int, Value]) -> Instruction:
    """The instruction with other operands."""
    made = Instruction(
        i.kind, i.function, i.name, replace_in(i.inputs, by), i.outputs, op=i.op, where=i.where,
        pure=i.pure, holder=i.holder, several=i.several,
    )  # fmt: skip
    made.part = i.part
    return made
