"""Convolutions as commands: the calls that an eager one makes, with their frames among others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._array.kernels import convolution
from ..._array.kernels.convolution import pair
from ..._array.kernels.launch import guard_launch
from ..._array.kernels.launches import Form
from ..._array.memory.parallel import get_num_threads
from ..ir.iteration_values import FLOATS, in_order
from ..ir.program import Instruction, Value
from .commands import Call, Command, is_own, room_of, write_launches

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._array.kernels.convolution import Ways
    from ..._base.annotations import Shape
    from ..assembly.lower import ExecutablePlan
    from ..assembly.plan import Plan
    from .commands import Maker


def _form(v: Value) -> Form:
    """How a value lies, over two dimensions."""
    if len(v.shape) == 4:
        return Form(v.shape, v.strides, v.dtype)
    shape, strides = v.shape, v.strides
    return Form((*shape[:2], 1, shape[2]), (*strides[:2], 0, strides[2]), v.dtype)


def _readable(x: Value) -> bool:
    """Whether columns lie side by side, and all begins at whole elements."""
    size = x.dtype.itemsize
    return x.strides[-1] == size and not any(s % size for s in x.strides)


def _has_whole_planes(y: Value) -> bool:
    """Whether each plane lies in one piece."""
    return _readable(y) and (len(y.shape) < 4 or y.strides[2] == y.shape[3] * y.dtype.itemsize)


def unreadable(i: Instruction) -> list[Value]:
    """The operands that have to be copied into order before."""
    x, other = i.inputs[:2]
    if type(x) is not Value or type(other) is not Value or 0 in (*x.shape, *other.shape):
        return []
    fits = _has_whole_planes(other) if i.rule == "conv_weight" else in_order(other)
    return [v for v, fine in ((x, _readable(x)), (other, fits)) if not fine]


def each_of(x: Value, sizes: Shape) -> Shape:
    """Strides, say, for each dimension, where one may stand for all."""
    return tuple(sizes) * (len(x.shape) - 2 if len(sizes) == 1 else 1)


def _steps(i: Instruction, first: int) -> tuple[Shape, Shape, Shape, int]:
    """Stride, padding, dilation and groups, from an operand on."""
    stride, pad, dilation = (each_of(i.inputs[0], s) for s in i.inputs[first : first + 3])
    return pair(stride), pair(pad, 0), pair(dilation), i.inputs[-1]


@guard_launch
def _ask(make: Callable[..., Ways], *arguments: object) -> Ways | None:
    return make(*arguments, get_num_threads())


def _lower_output(i: Instruction, plan: Plan) -> Command | None:
    """convolution(x, w, bias, stride, pad, dilation, transposed, output_pad, groups), or
    conv_output and conv_input(x, w, size, stride, pad, dilation, groups)."""
    whole = i.rule == "convolution"
    x, w, out = i.inputs[0], i.inputs[1], i.outputs[0]
    bias = i.inputs[2] if whole else None
    if not _suits(x, w, out) or out is None or not in_order(w) or (whole and i.inputs[6]):
        return None
    if bias is not None and (type(bias) is not Value or not in_order(bias)):
        return None
    steps = _steps(i, 3)
    if i.rule == "conv_input":
        ways = _ask(convolution.input_ways, _form(x), _form(w), _form(out), *steps)
    else:
        forms = _form(x), _form(w), _form(out)
        ways = _ask(convolution.output_ways, *forms, bias is not None, *steps)
    return _command(plan, ways, [x, w, bias, out])


def _lower_weight(i: Instruction, plan: Plan) -> Command | None:
    """conv_weight(x, y, k, stride, pad, dilation, groups)."""
    x, y, k = i.inputs[:3]
    out = i.outputs[0]
    if not _suits(x, y, out) or not _has_whole_planes(y):
        return None
    k = pair(each_of(x, k))
    ways = _ask(convolution.weight_ways, _form(x), _form(y), k, *_steps(i, 3))
    return _command(plan, ways, [x, y, out])


def _suits(x: object, w: object, out: Value | None) -> bool:
    if type(x) is not Value or type(w) is not Value or not is_own(out) or out is None:
        return False
    if not x.dtype == w.dtype == out.dtype or x.dtype.name not in FLOATS:
        return False
    return len(x.shape) in (3, 4) and 0 not in (*x.shape, *w.shape) and _readable(x)


def _command(plan: Plan, ways: Ways | None, values: list[Value | None]) -> Command | None:
    """The command that makes the last value."""
    out = values[-1]
    if ways is None or out is None:
        return None
    tries = [one for one in (ways.first, ways.last) if one is not None]
    rooms = [room_of(plan, one, out) for one in tries]

    def write(machine: ExecutablePlan) -> list[Call]:
        made = [write_launches(machine, one, [room, *values]) for one, room in zip(tries, rooms)]
        if ways.first is None:
            return made[0]
        at, size = ways.first.checks or (0, 0)
        again = machine.branch(True, (rooms[0], at), size, made[1])
        done = len(ways.first.zeros) + ways.first.asked
        if not ways.first.asked:
            return [*made[0], again]
        rest = machine.branch(False, (rooms[0], at), size, made[0][done:])
        return [*made[0][:done], rest, again]

    return Command([v for v in values[:-1] if v is not None], [out, *rooms], write)


MAKERS: Final[dict[str, Maker]] = {
    "convolution": _lower_output, "conv_output": _lower_output, "conv_input": _lower_output,
    "conv_weight": _lower_weight,
}  # fmt: skip
