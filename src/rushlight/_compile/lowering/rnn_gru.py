"""Layers of plain and gated recurrent units as commands, as `lstm` has those of LSTMs.

One product for the inputs of all places, then a chain of steps, forwards or from the end. Gates
keep the order of the weights (reset, update, new). The gates of a GRU are only seen by the backward
command: a layer has both, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._formula import ir as G, recurrent_cells as cells_of
from ..ir.iteration_values import FLOATS, in_order
from ..ir.program import Instruction, Value
from .commands import Call, Command, chain_rows, copy_strided
from .gemm import Matrix, transpose

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, Shape, TensorLike
    from ..._formula.ir import Symbol
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan


def _unit(r: Symbol, z: Symbol, n: Symbol, hr: Symbol, hz: Symbol, hn: Symbol, h: Symbol) -> Any:
    """Gates from both parts, in place; the state's part of the new one; the output."""
    gates, out = cells_of.gru(r, z, n, hr, hz, hn, h)
    return *map(G.into, (r, z, n), gates), hn, out


def _unit_back(dh: Symbol, *rest: Symbol) -> Any:
    """Slopes of the inputs' part and of the state's part, and what goes straight to the state."""
    return _unit_slopes(dh, dh, rest)


def _unit_back_both(dh: Symbol, more: Symbol, *rest: Symbol) -> tuple[Symbol, ...]:
    """`_unit_back` for a state whose gradient comes in two parts."""
    return _unit_slopes(dh, dh + more, rest)


def _unit_slopes(dh: Symbol, whole: Symbol, rest: tuple[Symbol, ...]) -> Any:
    (reset, update, new), inner, state = cells_of.gru_backward(whole, *rest)
    return reset, update, new, reset, update, inner, G.into(dh, state)


def _tanh(z: Symbol) -> Any:
    return G.into(z, cells_of.plain(z, False))


def _relu(z: Any) -> Any:
    return G.into(z, cells_of.plain(z, True))


def _tanh_back(dh: Symbol, out: Symbol) -> Any:
    return cells_of.plain_backward(dh, out, False)


def _relu_back(dh: Any, out: Any) -> Any:
    return cells_of.plain_backward(dh, out, True)


def _tanh_back_both(dh: Symbol, more: Symbol, out: Symbol) -> Any:
    return _tanh_back(dh + more, out)


def _relu_back_both(dh: Symbol, more: Any, out: Any) -> Symbol:
    return _relu_back(dh + more, out)


def _add(x: TensorLike, y: TensorLike) -> Symbol:
    return x + y


def _sums(x: Symbol) -> Symbol:
    return G.column_sum(x)


class Layer:
    """The sizes of a layer, its operands, and the order of its places."""

    def __init__(self, operands: Arguments, gates: int, reverse: bool) -> None:
        self.x, self.hx, self.w_ih, self.w_hh, self.b_ih, self.b_hh = operands
        self.places, self.batch, self.features = self.x.shape
        self.size = self.hx.shape[1]
        self.wide = gates * self.size
        self.item = self.x.dtype.itemsize
        self.count = self.places * self.batch
        self.reverse = reverse
        self.order = list(range(self.places))[:: -1 if reverse else 1]

    def rows(self, v: Value, first: int, count: int, width: int) -> Matrix:
        """Some rows of all places' rows."""
        return Matrix(v, count, width, width, 1, first * width * self.item)

    def before(self, k: int) -> int | None:
        """The place before the k-th one in order; None for the first."""
        return self.order[k - 1] if k else None

    def state(
        self, out: Value, place: int | None, top: int = 0, count: int | None = None
    ) -> Matrix:
        """The state that a place leaves, or the first one; some of its rows."""
        v, first = (self.hx, 0) if place is None else (out, place * self.batch)
        return self.rows(v, first + top, self.batch if count is None else count, self.size)

    def spot(self, v: Value, row: int, part: int, width: int) -> tuple[Value, int, int]:
        """A part of the columns, from a row of all places' rows on."""
        return v, (row * width + part * self.size) * self.item, width

    def inputs(
        self, machine: ExecutablePlan, to: Value, other: Value, bias: Value | None
    ) -> list[Call]:
        """The inputs' part of all places."""
        ours = transpose(Matrix(self.w_ih, self.wide, self.features, self.features, 1))
        call, ours = machine.turn(other, ours)
        every = self.rows(self.x, 0, self.count, self.features)
        into = self.rows(to, 0, self.count, self.wide)
        return [call, machine.gemm(every, ours, into, bias=bias)]

    def ends(self, machine: ExecutablePlan, out: Value, slopes: Value, inner: Value, dh: Value,
             grads: list[Any]) -> list[Call]:  # fmt: skip
        """Gradients of inputs, first state, weights and biases from all places' slopes.

        `slopes` are of the inputs' part, `inner` of the state's part.
        """
        d_x, d_h, d_ih, d_hh, db_ih, db_hh = grads
        wide, size, batch, count = self.wide, self.size, self.batch, self.count
        calls: list[Any] = []
        every = self.rows(slopes, 0, count, wide)
        if d_ih is not None:
            into = Matrix(d_ih, wide, self.features, self.features, 1)
            inputs = self.rows(self.x, 0, count, self.features)
            calls.append(machine.gemm(transpose(every), inputs, into))
        if d_hh is not None:
            into = Matrix(d_hh, wide, size, size, 1)
            first = self.order[0]
            calls.append(machine.gemm(transpose(self.rows(inner, first * batch, batch, wide)),
                                      self.state(out, None), into))  # fmt: skip
            if self.places > 1:
                later, earlier = (0, batch) if self.reverse else (batch, 0)
                calls.append(machine.gemm(
                    transpose(self.rows(inner, later, count - batch, wide)),
                    self.rows(out, earlier, count - batch, size), into, beta=1.0,
                ))  # fmt: skip
        for bias, source in ((db_ih, slopes), (db_hh, inner)):
            if bias is not None:
                calls.append(machine.rows(_sums, ("f",), out.dtype, count, wide,
                                          [(source, 0, wide)], [(bias, 0, 0)]))  # fmt: skip
        if d_x is not None:
            into = self.rows(d_x, 0, count, self.features)
            calls.append(machine.gemm(every, Matrix(self.w_ih, wide, self.features, self.features,
                                                    1), into))  # fmt: skip
        if d_h is not None:
            room = (batch * size,)
            calls.append(copy_strided(machine, d_h, dh, room, (self.item,), (self.item,)))
        return calls


def _layer(operands: Arguments, gates: int, sizes: Shape | None, reverse: bool) -> Layer | None:
    x, hx, w_ih, w_hh, b_ih, b_hh = operands
    given = [v for v in operands if v is not None]
    if any(type(v) is not Value or v.dtype != x.dtype or not in_order(v) for v in given):
        return None
    if x.dtype.name not in FLOATS or len(x.shape) != 3 or 0 in x.shape or x.shape[0] > 512:
        return None
    if sizes is not None or (b_ih is None) != (b_hh is None) or len(hx.shape) != 2:
        return None
    size = hx.shape[1]
    if size < 8 or size > 1000 or x.shape[1] > 1000:
        return None
    if w_ih.shape != (gates * size, x.shape[2]) or w_hh.shape != (gates * size, size):
        return None
    return Layer(operands, gates, bool(reverse))


def _fits(values: Any) -> bool:
    return all(o is None or (not o.view and in_order(o)) for o in values)


def _is_wanted(v: Value, plan: Plan) -> bool:
    return v is not None and (v.root in plan.kept or v.root in plan.count)


def _begin_chain(machine: ExecutablePlan, layer: Layer, dh: Value, g_hy: Value) -> list[Call]:
    """The gradient of the last state, where the chain begins."""
    batch, size, item = layer.batch, layer.size, layer.item
    if g_hy is None:
        return [machine.call("fill", [dh, batch * size * item])]
    call = copy_strided(machine, dh, g_hy, (batch, size), (size * item, item), g_hy.strides)
    return [call]  # type: ignore[list-item]


def _in_rows(machine: ExecutablePlan, layer: Layer, to: Value, given: Value) -> list[Call]:
    batch, size, item = layer.batch, layer.size, layer.item
    lines = (batch * size * item, size * item, item)
    return [copy_strided(machine, to, given, given.shape, lines, given.strides)]  # type: ignore[list-item]


# ---- gated units ---------------------------------------------------------------------------------


def _back_of(i: Instruction) -> Layer | None:
    """The layer of a backward call; None where it has no native form."""
    if i.rule == "gru_backward":
        sizes, reverse = i.inputs[11:13]
        gates = 3
    else:
        sizes, reverse = i.inputs[10:12]
        gates = 1
    layer = _layer(list(i.inputs[2:8]), gates, sizes, reverse)
    if layer is None or not _fits(i.outputs):
        return None
    for g in i.inputs[:2]:
        if g is not None and (type(g) is not Value or g.dtype != layer.x.dtype):
            return None
    return layer


def gru(i: Instruction, plan: Plan) -> Command | None:
    """The command for a layer of gated units, forward."""
    layer = _layer(list(i.inputs[:6]), 3, *i.inputs[6:8])
    outs: list[Any] = list(i.outputs)
    if layer is None or not _fits(outs) or outs[0] is None:
        return None
    out, hy, gates, inner = outs
    seen = [v.root for v in (gates, inner) if v is not None]
    readers = [j for j in plan.program.instructions if any(v.root in seen for v in j.reads())]
    if any(root in plan.kept for root in seen) or len(readers) > 1:
        return None
    if readers and (readers[0].name != "gru_backward" or id(readers[0]) in plan.refused
                    or _back_of(readers[0]) is None):  # fmt: skip
        return None
    count, size, wide, batch = layer.count, layer.size, layer.wide, layer.batch
    gates = gates or plan.scratch(out, (count, wide))
    inner = inner or plan.scratch(out, (count, size))
    weights = plan.scratch(out, (size, wide))
    others = plan.scratch(out, (layer.features, wide))
    fresh = plan.scratch(out, (batch, wide))

    def write(machine: ExecutablePlan) -> list[Call]:
        calls: list[Any] = layer.inputs(machine, gates, others, layer.b_ih)
        call, across = machine.turn(weights, transpose(Matrix(layer.w_hh, wide, size, size, 1)))
        calls.append(call)

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            part = [layer.spot(fresh, top, n, wide) for n in range(3)]
            for k, t in enumerate(layer.order):
                first = t * batch + top
                state = layer.state(out, layer.before(k), top, rows)
                steps.append(machine.gemm(state, across, layer.rows(fresh, top, rows, wide),
                                          bias=layer.b_hh, whole=True))  # fmt: skip
                z = [layer.spot(gates, first, n, wide) for n in range(3)]
                before = (state.value, state.offset, size)
                ends = [layer.spot(inner, first, 0, size), layer.spot(out, first, 0, size)]
                steps.append(machine.rows(_unit, ("f",) * 7, out.dtype, rows, size,
                                          [*z, *part, before], [*z, *ends]))  # fmt: skip
            return steps

        calls.append(chain_rows(machine, steps_of, batch, count * size * wide))
        return calls + _last(machine, layer, out, hy, plan)

    reads = [v for v in i.inputs[:6] if v is not None]
    outputs = [v for v in (out, hy, gates, inner, weights, others, fresh) if v is not None]
    return Command(reads, outputs, write)


def _last(machine: ExecutablePlan, layer: Layer, out: Value, hy: Value, plan: Plan) -> list[Call]:
    """The last state, from where the last place has left it."""
    if not _is_wanted(hy, plan):
        return []
    room, item = (layer.batch * layer.size,), (layer.item,)
    first = layer.order[-1] * layer.batch * layer.size * layer.item
    return [copy_strided(machine, hy, out, room, item, item, 0, first)]  # type: ignore[list-item]


def gru_backward(i: Instruction, plan: Plan) -> Command | None:
    """The command for the gradients of a layer of gated units."""
    layer = _back_of(i)
    if layer is None:
        return None
    g_out, g_hy = i.inputs[:2]
    out, gates, inner = i.inputs[8:11]
    made = plan.when.get(gates.root)
    if made is None or not isinstance(plan.items[made], Command):
        return None
    count, size, wide, batch = layer.count, layer.size, layer.wide, layer.batch
    slopes, states = plan.scratch(out, (count, wide)), plan.scratch(out, (count, wide))
    dh = plan.scratch(out, (batch, size))
    copied = g_out is not None and not in_order(g_out)
    given_out = plan.scratch(out, (count, size)) if copied else g_out

    def write(machine: ExecutablePlan) -> list[Call]:
        calls: list[Any] = _begin_chain(machine, layer, dh, g_hy)
        if copied:
            calls += _in_rows(machine, layer, given_out, g_out)
        back = Matrix(layer.w_hh, wide, size, size, 1)

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            own = layer.rows(dh, top, rows, size)
            line = (dh, own.offset, size)
            for k in reversed(range(layer.places)):
                first = layer.order[k] * batch + top
                state = layer.state(out, layer.before(k), top, rows)
                z = [layer.spot(gates, first, n, wide) for n in range(3)]
                d = [layer.spot(v, first, n, wide) for v in (slopes, states) for n in range(3)]
                given = [layer.spot(given_out, first, 0, size)] if g_out is not None else []
                steps.append(machine.rows(
                    _unit_back_both if given else _unit_back, ("f",) * (6 + len(given)),
                    out.dtype, rows, size, [line, *given, *z, layer.spot(inner, first, 0, size),
                                            (state.value, state.offset, size)],
                    [*d, line],
                ))  # fmt: skip
                steps.append(machine.gemm(layer.rows(states, first, rows, wide), back, own,
                                          beta=1.0, whole=True))  # fmt: skip
            return steps

        calls.append(chain_rows(machine, steps_of, batch, count * size * wide))
        return calls + layer.ends(machine, out, slopes, states, dh, list(i.outputs))

    return _backward(i, plan, [slopes, states, dh], given_out if copied else None, write)


def _backward(
    i: Instruction, plan: Plan, rooms: list[Value], copy: Value | None, write: AnyCallable
) -> Command:
    reads = [v for v in i.inputs if type(v) is Value]
    outputs = [v for v in i.outputs if v is not None]
    return Command(reads, [*outputs, *rooms, *([copy] if copy is not None else [])], write)


# ---- plain units ---------------------------------------------------------------------------------


def rnn(i: Instruction, plan: Plan) -> Command | None:
    """The command for a layer of plain units, forward."""
    layer = _layer(list(i.inputs[:6]), 1, *i.inputs[7:9])
    outs: list[Any] = list(i.outputs)
    if layer is None or not _fits(outs) or outs[0] is None:
        return None
    out, hy = outs
    form = _relu if i.inputs[6] else _tanh
    size, batch = layer.size, layer.batch
    weights = plan.scratch(out, (size, size))
    others = plan.scratch(out, (layer.features, size))
    bias = plan.scratch(out, (size,))

    def write(machine: ExecutablePlan) -> list[Call]:
        calls: list[Any] = []
        if layer.b_ih is not None:
            calls.append(machine.flat(_add, ("f", "f"), out.dtype, size,
                                      [layer.b_ih, layer.b_hh], [bias]))  # fmt: skip
        calls += layer.inputs(machine, out, others, None if layer.b_ih is None else bias)
        call, across = machine.turn(weights, transpose(Matrix(layer.w_hh, size, size, size, 1)))
        calls.append(call)

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            for k, t in enumerate(layer.order):
                first = t * batch + top
                state = layer.state(out, layer.before(k), top, rows)
                steps.append(machine.gemm(state, across, layer.rows(out, first, rows, size),
                                          beta=1.0, whole=True))  # fmt: skip
                z = layer.spot(out, first, 0, size)
                steps.append(machine.rows(form, ("f",), out.dtype, rows, size, [z], [z]))
            return steps

        calls.append(chain_rows(machine, steps_of, batch, layer.count * size * size))
        return calls + _last(machine, layer, out, hy, plan)

    reads = [v for v in i.inputs[:6] if v is not None]
    outputs = [v for v in (out, hy, weights, others, bias) if v is not None]
    return Command(reads, outputs, write)


def rnn_backward(i: Instruction, plan: Plan) -> Command | None:
    """The command for the gradients of a layer of plain units."""
    layer = _back_of(i)
    out = i.inputs[9]
    if layer is None or type(out) is not Value or not in_order(out):
        return None
    g_out, g_hy = i.inputs[:2]
    forms = (_relu_back, _relu_back_both) if i.inputs[8] else (_tanh_back, _tanh_back_both)
    size, batch = layer.size, layer.batch
    slopes = plan.scratch(out, (layer.count, size))
    dh = plan.scratch(out, (batch, size))
    copied = g_out is not None and not in_order(g_out)
    given_out = plan.scratch(out, (layer.count, size)) if copied else g_out

    def write(machine: ExecutablePlan) -> list[Call]:
        calls: list[Any] = _begin_chain(machine, layer, dh, g_hy)
        if copied:
            calls += _in_rows(machine, layer, given_out, g_out)
        back = Matrix(layer.w_hh, size, size, size, 1)

        def steps_of(top: int, rows: int) -> list[Call]:
            steps: list[Any] = []
            own = layer.rows(dh, top, rows, size)
            for k in reversed(range(layer.places)):
                first = layer.order[k] * batch + top
                given = [layer.spot(given_out, first, 0, size)] if g_out is not None else []
                steps.append(machine.rows(
                    forms[bool(given)], ("f",) * (2 + len(given)), out.dtype, rows, size,
                    [(dh, own.offset, size), *given, layer.spot(out, first, 0, size)],
                    [layer.spot(slopes, first, 0, size)],
                ))  # fmt: skip
                steps.append(machine.gemm(layer.rows(slopes, first, rows, size), back, own,
                                          whole=True))  # fmt: skip
            return steps

        calls.append(chain_rows(machine, steps_of, batch, layer.count * size * size))
        return calls + layer.ends(machine, out, slopes, slopes, dh, list(i.outputs))

    return _backward(i, plan, [slopes, dh], given_out if copied else None, write)


#: The formulas on rows, with their operands.
FORMS: Final = (
    (_add, ("f", "f")), (_sums, ("f",)), (_unit, ("f",) * 7), (_unit_back, ("f",) * 6),
    (_unit_back_both, ("f",) * 7), (_tanh, ("f",)), (_relu, ("f",)),
    *((form, ("f",) * 2) for form in (_tanh_back, _relu_back)),
    *((form, ("f",) * 3) for form in (_tanh_back_both, _relu_back_both)),
)  # fmt: skip
MAKERS: Final = {
    "gru": gru, "gru_backward": gru_backward, "rnn": rnn,
    "rnn_backward": rnn_backward,
}  # fmt: skip
