"""LSTM layers as commands: one product for the inputs of all places, then a chain of steps.

Gates keep the order of the weights (input, forget, cell, output). They are only seen by the
backward command: a layer has both, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._formula import ir as G, recurrent_cells as cells_of
from ..ir.iteration_values import FLOATS, in_order
from ..ir.program import Instruction, Value
from .commands import Call, Command, chain_rows, copy_strided
from .gemm import Matrix, transpose

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._formula.ir import Symbol
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan


def _cell(i: Symbol, f: Symbol, u: Symbol, o: Symbol, c: Symbol) -> Any:
    """Gates from their sums, in place; the new cell state, and the output."""
    gates, cell, out = cells_of.lstm(i, f, u, o, c)
    return *map(G.into, (i, f, u, o), gates), cell, out


def _cell_back(dh: Any, dc: Any, *rest: Any) -> Any:
    """The gradients of the gates' sums; that of the old cell state is written over `dc`."""
    sums, before = cells_of.lstm_backward(dh, dc, *rest)
    return *sums, G.into(dc, before)


def _cell_back_both(dh: Any, more: Any, *rest: Any) -> Any:
    """`_cell_back` for a state whose gradient comes in two parts."""
    return _cell_back(dh + more, *rest)


def _sums(x: Symbol) -> Symbol:
    return G.column_sum(x)


class Layer:
    """The sizes of a layer, and its operands."""

    def __init__(self, x: Value, hx: Value, cx: Value, weights: list[Any]) -> None:
        self.x, self.hx, self.cx = x, hx, cx
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = weights
        self.places, self.batch, self.features = x.shape
        self.size = cx.shape[1]
        self.item = x.dtype.itemsize

    def rows(self, v: Value, first: int, count: int, width: int) -> Matrix:
        """Some rows of all places' rows."""
        return Matrix(v, count, width, width, 1, first * width * self.item)


def _layer(operands: Arguments) -> Layer | None:
    x, hx, cx, *weights = operands
    given = [v for v in operands if v is not None]
    if any(type(v) is not Value or v.dtype != x.dtype or not in_order(v) for v in given):
        return None
    if x.dtype.name not in FLOATS or len(x.shape) != 3 or 0 in x.shape or x.shape[0] > 512:
        return None
    if (weights[2] is None) != (weights[3] is None) or hx.shape != cx.shape:
        return None
    size = cx.shape[1]
    if size < 8 or size > 1000 or x.shape[1] > 1000:
        return None
    if weights[0].shape != (4 * size, x.shape[2]) or weights[1].shape != (4 * size, size):
        return None
    return Layer(x, hx, cx, weights)


def _partner(i: Instruction, plan: Plan) -> Instruction | None:
    """The backward of a layer, if it alone sees the gates; the layer itself, if nobody does."""
    gates, cells = i.outputs[3:5]
    seen = [v.root for v in (gates, cells) if v is not None]
    if any(root in plan.kept for root in seen):
        return None
    readers = [j for j in plan.program.instructions if any(v.root in seen for v in j.reads())]
    if not readers:
        return i
    one = readers[0]
    fits = len(readers) == 1 and one.rule == "lstm_backward" and one.kind == "call"
    return one if fits and id(one) not in plan.refused and _back_layer(one) is not None else None


def lstm(i: Instruction, plan: Plan) -> Command | None:
    """The command for a layer, forward."""
    layer = _layer(list(i.inputs[:7]))
    if layer is None or any(y is not None and y is not False for y in i.inputs[7:]):
        return None
    outs: list[Any] = list(i.outputs)
    if any(o is not None and (o.view or not in_order(o)) for o in outs) or outs[0] is None:
        return None
    partner = _partner(i, plan)
    if partner is None:
        return None
    out, hy, cy, gates, cells = outs
    count = layer.places * layer.batch
    size, item = layer.size, layer.item
    gates = gates or plan.scratch(out, (count, 4 * size))
    cells = cells or plan.scratch(out, (count, size))
    weights = plan.scratch(out, (size, 4 * size))  # of the state, turned
    others = plan.scratch(out, (layer.features, 4 * size))  # of the input, turned
    bias = plan.scratch(out, (4 * size,))

    def write(machine: ExecutablePlan) -> list[Call]:
        wide = 4 * size
        calls: list[Any] = []
        shift = None
        if layer.b_ih is not None:
            calls.append(machine.flat(_add, ("f", "f"), out.dtype, wide,
                                      [layer.b_ih, layer.b_hh], [bias]))  # fmt: skip
            shift = bias
        state = Matrix(layer.w_hh, wide, size, size, 1)
        call, across = machine.turn(weights, transpose(state))
        calls.append(call)
        inputs = layer.rows(layer.x, 0, count, layer.features)
        ours = transpose(Matrix(layer.w_ih, wide, layer.features, layer.features, 1))
        call, ours = machine.turn(others, ours)
        calls.append(call)
        calls.append(machine.gemm(inputs, ours, layer.rows(gates, 0, count, wide),
                                  bias=shift))  # fmt: skip

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            for t in range(layer.places):
                first = t * layer.batch + top
                state = (layer.rows(out, first - layer.batch, rows, size) if t
                         else layer.rows(layer.hx, top, rows, size))  # fmt: skip
                here = layer.rows(gates, first, rows, wide)
                steps.append(machine.gemm(state, across, here, beta=1.0, whole=True))
                z = [(gates, here.offset + k * size * item, wide) for k in range(4)]
                before = (
                    (cells, (first - layer.batch) * size * item, size) if t
                    else (layer.cx, top * size * item, size)
                )  # fmt: skip
                ends = [(cells, first * size * item, size), (out, first * size * item, size)]
                steps.append(machine.rows(_cell, ("f",) * 5, out.dtype, rows, size,
                                          [*z, before], [*z, *ends]))  # fmt: skip
            return steps

        calls.append(chain_rows(machine, steps_of, layer.batch, count * size * wide))
        last = (count - layer.batch) * size * item
        for end, source in ((hy, out), (cy, cells)):
            if end is not None and (end.root in plan.kept or end.root in plan.count):
                calls.append(copy_strided(machine, end, source, (layer.batch * size,), (item,),
                                          (item,), 0, last))  # fmt: skip
        return calls

    reads = [v for v in i.inputs[:7] if v is not None]
    outputs = [v for v in (out, hy, cy, gates, cells, weights, others, bias) if v is not None]
    return Command(reads, outputs, write)


def _add(x: Symbol, y: Symbol) -> Symbol:
    return x + y


def _back_layer(i: Instruction) -> Layer | None:
    g_out, g_hy, g_cy, x, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr = i.inputs[:11]
    sizes, reverse = i.inputs[14:16]
    layer = _layer([x, hx, cx, w_ih, w_hh, b_ih, b_hh])
    if layer is None or w_hr is not None or sizes is not None or reverse:
        return None
    for g in (g_out, g_hy, g_cy):
        if g is not None and (type(g) is not Value or g.dtype != x.dtype):
            return None
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    return layer


def lstm_backward(i: Instruction, plan: Plan) -> Command | None:
    """The command for a layer's gradients."""
    layer = _back_layer(i)
    if layer is None:
        return None
    g_out, g_hy, g_cy = i.inputs[:3]
    out, gates, cells = i.inputs[11:14]
    made = plan.when.get(gates.root)
    if made is None or not isinstance(plan.items[made], Command):
        return None
    d_x, d_h, d_c, d_ih, d_hh, db_ih, db_hh, _ = i.outputs
    count = layer.places * layer.batch
    size, item, batch = layer.size, layer.item, layer.batch
    wide = 4 * size
    dz = plan.scratch(out, (count, wide))
    dh = plan.scratch(out, (batch, size))
    dc = plan.scratch(out, (batch, size))
    expanded = g_out is not None and not in_order(g_out)
    given_out = plan.scratch(out, (count, size)) if expanded else g_out

    def write(machine: Any) -> list[Call]:
        calls: list[Any] = []
        room = batch * size * item
        for to, given in ((dh, g_hy), (dc, g_cy)):
            if given is None:
                calls.append(machine.call("fill", [to, room]))
            else:
                calls.append(copy_strided(machine, to, given, (batch, size), (size * item, item),
                                     given.strides))  # fmt: skip
        if expanded:
            lines = (batch * size * item, size * item, item)
            calls.append(copy_strided(machine, given_out, g_out, g_out.shape, lines, g_out.strides))
        back = Matrix(layer.w_hh, wide, size, size, 1)

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            state = layer.rows(dh, top, rows, size)
            own = [(v, state.offset, size) for v in (dh, dc)]
            for t in reversed(range(layer.places)):
                first = t * batch + top
                line = first * size * item
                z = [(gates, (first * wide + k * size) * item, wide) for k in range(4)]
                d = [(dz, (first * wide + k * size) * item, wide) for k in range(4)]
                before = (cells, line - room, size) if t else (layer.cx, state.offset, size)
                given = [(given_out, line, size)] if g_out is not None else []
                steps.append(machine.rows(
                    _cell_back_both if given else _cell_back, ("f",) * (8 + len(given)),
                    out.dtype, rows, size, [*given, *own, *z, (cells, line, size), before],
                    [*d, own[1]],
                ))  # fmt: skip
                if t or d_h is not None:
                    steps.append(machine.gemm(layer.rows(dz, first, rows, wide), back, state,
                                              whole=True))  # fmt: skip
            return steps

        calls.append(chain_rows(machine, steps_of, batch, count * size * wide))
        slopes = layer.rows(dz, 0, count, wide)
        if d_ih is not None:
            into = Matrix(d_ih, wide, layer.features, layer.features, 1)
            inputs = layer.rows(layer.x, 0, count, layer.features)
            calls.append(machine.gemm(transpose(slopes), inputs, into))
        if d_hh is not None:
            into = Matrix(d_hh, wide, size, size, 1)
            calls.append(machine.gemm(transpose(layer.rows(dz, 0, batch, wide)),
                                      layer.rows(layer.hx, 0, batch, size), into))  # fmt: skip
            if layer.places > 1:
                calls.append(machine.gemm(
                    transpose(layer.rows(dz, batch, count - batch, wide)),
                    layer.rows(out, 0, count - batch, size), into, beta=1.0,
                ))  # fmt: skip
        biases = [b for b in (db_ih, db_hh) if b is not None]
        if biases:
            calls.append(machine.rows(_sums, ("f",), out.dtype, count, wide,
                                      [(dz, 0, wide)], [(biases[0], 0, 0)]))  # fmt: skip
            for other in biases[1:]:
                calls.append(copy_strided(machine, other, biases[0], (wide,), (item,), (item,)))
        if d_x is not None:
            into = layer.rows(d_x, 0, count, layer.features)
            ours = Matrix(layer.w_ih, wide, layer.features, layer.features, 1)
            calls.append(machine.gemm(slopes, ours, into))
        for end, source in ((d_h, dh), (d_c, dc)):
            if end is not None:
                calls.append(copy_strided(machine, end, source, (batch * size,), (item,), (item,)))
        return calls

    reads = [v for v in i.inputs[:14] if type(v) is Value]
    outputs = [v for v in i.outputs if v is not None]
    rooms = [dz, dh, dc, *([given_out] if expanded else [])]
    return Command(reads, [*outputs, *rooms], write)


#: The formulas on rows, with their operands.
FORMS: Final = (
    (_add, ("f", "f")), (_sums, ("f",)), (_cell, ("f",) * 5), (_cell_back, ("f",) * 8),
    (_cell_back_both, ("f",) * 9),
)  # fmt: skip
MAKERS: Final = {"lstm": lstm, "lstm_backward": lstm_backward}
