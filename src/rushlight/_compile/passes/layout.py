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
from ..ir.program import Instruction, Program, Value, replace_in, row_major, values_in
from ..lowering.convolutions import MAKERS as CONVOLUTIONS, unreadable
from ..lowering.gemm import matrix_of
from ..lowering.lowering_rule import LoopFormula
from ..lowering.lowering_rules import element_value
from ..lowering.optimizer_sweeps import SWEPT

#: Commands that take operands in order only: from which to which.
NEEDED: Final = {
    "lstm": (0, 3), "gru": (0, 2), "rnn": (0, 2), "lstm_backward": (3, 6),
    "gru_backward": (2, 4), "rnn_backward": (2, 4), "placed_along": (0, 2), "gather": (0, 3),
    "cumsum": (0, 1), "reverse_cumsum": (0, 1), "index": (0, 2), "index_select": (0, 3),
    "index_backward": (0, 3), "index_select_backward": (0, 4), "index_add": (2, 4),
    "scatter_add": (2, 4), "scatter": (2, 4), "embedding": (0, 2), "embedding_gradient": (0, 2),
    "place_in_planes": (0, 1), "logsumexp_self_gradient": (0, 1),
}  # fmt: skip


#: A value to copy, and the shape and order of dimensions of the copy.
_Wanted = tuple[Value, tuple[int, ...], tuple[int, ...] | None]


def copy_unordered(program: Program) -> None:
    """Puts copies before the instructions whose operands lie in no order that a kernel reads."""
    copies: dict[Any, Value] = {}
    kept: list[Instruction] = []
    for i in program.instructions:
        for v, shape, order in _unread(i):
            key = (v.number, shape, order)
            if key not in copies:
                copies[key] = made = like(program, v, shape, order)
                kept.append(copy_to(v, made))
            i = _with_operands(i, {v.number: copies[key]})
        kept.append(i)
        for root in i.writes():
            copies = {k: c for k, c in copies.items() if program.values[k[0]].root != root}
    program.instructions[:] = kept


def is_read(m: LoopFormula) -> bool:
    """Whether a kernel reads the operands of a formula where they lie."""
    return any(m.layouts(*space) is not None for space in m.spaces())


def _unread(i: Instruction) -> list[_Wanted]:
    """The operands to copy; none where that wouldn't help."""
    if i.kind == "step" and type(i.holder) in SWEPT:  # gradients are read as one line each
        grads = [g for g in values_in(i.inputs[1:]) if g.shape and 0 not in g.shape]
        return [(g, g.shape, None) for g in dict.fromkeys(grads) if not in_order(g)]
    if i.kind != "call":
        return []
    if i.rule in ("linear", "matmul"):
        return _of_product(i)
    if i.rule in CONVOLUTIONS and i.outputs[0] is not None and in_order(i.outputs[0]):
        return [(v, v.shape, None) for v in unreadable(i)]
    if i.rule in NEEDED:
        first = NEEDED[i.rule]
        values = values_in(i.inputs[first[0] : first[1]])
        return [(v, v.shape, None) for v in dict.fromkeys(values)
                if v.shape and 0 not in v.shape and not in_order(v)]  # fmt: skip
    m = element_value(i)
    if m is None or is_read(m):
        return []
    order, shape = m.order, m.shape
    if order is not None:
        shape = i.outputs[0].shape  # type: ignore[union-attr]
    wrong = [v for v in m.reads if v.number not in m.whole and not _in(v, order)]
    found = [(v, v.shape, order) for v in wrong if order is None or v.shape == shape]
    if found and _fits(i, found):
        return found
    grown = [(v, shape, order) for v in m.reads
             if v.number not in m.whole and size_of(v.shape) > 1 and len(v.shape) <= len(shape)
             and (v.shape != shape or not _in(v, order))]  # fmt: skip
    return grown if grown and _fits(i, grown) else []


def _in(v: Value, order: tuple[int, ...] | None) -> bool:
    """Whether a value lies in memory in an order of dimensions, or its own."""
    if order is None:
        return in_order(v)
    return len(v.shape) == len(order) and v.strides == _strides(v, v.shape, order)


def _fits(i: Instruction, copies: list[_Wanted]) -> bool:
    """Whether a kernel takes the instruction with these copies."""
    by = {v.number: _make_ordered(v, shape, v.number, order) for v, shape, order in copies}
    m = element_value(_with_operands(i, by))
    return m is not None and is_read(m)


def _of_product(i: Instruction) -> list[_Wanted]:
    """The rows of a product, where they don't follow one another evenly."""
    x, w = i.inputs[:2]
    if type(x) is not Value or type(w) is not Value or len(w.shape) != 2 or len(x.shape) < 3:
        return []
    if matrix_of(x, flat=True) is not None or 0 in x.shape or in_order(x):
        return []
    return [(x, x.shape, None)]


def _strides(v: Value, shape: tuple[int, ...], order: tuple[int, ...] | None) -> tuple[int, ...]:
    """Strides without gaps: in C order, or with the dimensions in another."""
    if order is None:
        return tuple(row_major(shape, v.dtype.itemsize))
    turned = row_major(tuple(shape[d] for d in order), v.dtype.itemsize)
    return tuple(turned[order.index(d)] for d in range(len(shape)))


def _make_ordered(
    v: Value, shape: tuple[int, ...], number: int, order: tuple[int, ...] | None = None
) -> Value:
    """A value like another in C order, or another order."""
    strides = _strides(v, shape, order)
    return v.like(number, kind="result", root=number, shape=shape, strides=strides, view=False,
                  offset=0, holder=None)  # fmt: skip


def like(
    program: Program, v: Value, shape: tuple[int, ...], order: tuple[int, ...] | None = None
) -> Value:
    """A new value of a program in C order, or another order, of the type of another."""
    made = _make_ordered(v, shape, len(program.values), order)
    program.values.append(made)
    return made


def copy_to(v: Value, made: Value) -> Instruction:
    """The copy of a value into another's shape and order."""
    name = "in_order" if made.shape == v.shape else "broadcast_to"
    inputs = (v, made.shape, made.strides)
    return Instruction("call", A.copy_in_strides, name, inputs, (made,), pure=True)


def _with_operands(i: Instruction, by: dict[int, Value]) -> Instruction:
    """The instruction with other operands."""
    made = Instruction(
        i.kind, i.function, i.name, replace_in(i.inputs, by), i.outputs, op=i.op, where=i.where,
        pure=i.pure, holder=i.holder, several=i.several,
    )  # fmt: skip
    made.part = i.part
    return made
