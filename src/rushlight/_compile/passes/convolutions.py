"""Convolutions as what they are made of: products of matrices, sums with a bias.

A kernel of one element makes a product for each sample of what lies there already; so does one as
large as its input for all of them. A transposed convolution is a gradient's formula and a bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array.linalg.matmul import matrix_product
from ..._array.nn import convolution as raw
from ..._array.reduce import reduce
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value, row_major
from ..lowering.convolutions import each_of
from .layout import like
from .terms import Steps, Term

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape

#: Stride, padding, dilation and groups.
_Rest = tuple["Shape", "Shape", "Shape", int]


def multiply_in_shape(a: Array, b: Array, shape: Shape) -> Array:
    """A product of matrices, or of stacks of them, in a shape with as many elements."""
    found: Array = matrix_product(a, b)
    return found.reshape(shape)


def _swap(x: Array) -> Array:
    return x.swapaxes(-1, -2)


def _transpose(x: Term) -> Term:
    """The transposed matrix."""
    v = x.value
    shape, strides = v.shape, v.strides
    return x.view(_swap, "transpose", (v,), (*shape[:-2], *shape[:-3:-1]),
                  (*strides[:-2], *strides[:-3:-1]))  # fmt: skip


def _as(x: Term, *shape: int) -> Term:
    """Elements in order in another shape."""
    return x.show_as(shape, tuple(row_major(shape, x.value.dtype.itemsize)))


def _product(steps: Steps, a: Term, b: Term, like_: Value) -> Term:
    return steps.call(multiply_in_shape, "shaped_product", (a.value, b.value, like_.shape), like_)


def _usable(*values: object) -> bool:
    """Whether all are in order and of one type."""
    first = values[0]
    return all(
        type(v) is Value and v.dtype == first.dtype and in_order(v) and 0 not in v.shape  # type: ignore[attr-defined]
        for v in values
    ) and first.dtype.name in FLOATS  # type: ignore[attr-defined]  # fmt: skip


def _of_points(k: Shape, stride: Shape, pad: Shape) -> bool:
    """Whether each output meets the one input at its own place."""
    return all(n == 1 for n in (*k, *stride)) and not any(pad)


def _of_all(size: Shape, k: Shape, out: Shape, pad: Shape, dilation: Shape) -> bool:
    """Whether there is one output, whose window is the whole input."""
    whole = tuple(size) == tuple(k) and size_of(tuple(out)) == 1
    return whole and not any(pad) and all(n == 1 for n in dilation)


def _output(steps: Steps, x: Term, w: Term, out: Value, rest: _Rest) -> Term | None:
    """The convolution as a product; None where it is none."""
    stride, pad, dilation, groups = rest
    count, channels, *size = x.value.shape
    rows, _, *k = w.value.shape
    if groups != 1:
        return None
    if _of_points(k, stride, pad):
        planes = _as(x, count, channels, size_of(tuple(size)))
        return _product(steps, _as(w, rows, channels), planes, out)
    if _of_all(size, k, out.shape[2:], pad, dilation):
        some = channels * size_of(tuple(k))
        return _product(steps, _as(x, count, some), _transpose(_as(w, rows, some)), out)
    return None


def _input(steps: Steps, y: Term, w: Term, out: Value, rest: _Rest) -> Term | None:
    """Its gradient for the input as a product; None where it is none."""
    stride, pad, dilation, groups = rest
    count, rows, *size = y.value.shape
    _, channels, *k = w.value.shape
    if groups != 1:
        return None
    if _of_points(k, stride, pad):
        planes = _as(y, count, rows, size_of(tuple(size)))
        return _product(steps, _transpose(_as(w, rows, channels)), planes, out)
    if _of_all(out.shape[2:], k, size, pad, dilation):
        weights = _as(w, rows, channels * size_of(tuple(k)))
        return _product(steps, _as(y, count, rows), weights, out)
    return None


def _forward(program: Program, i: Instruction) -> list[Instruction] | None:
    """convolution(x, w, bias, stride, pad, dilation, transposed, output_pad, groups)."""
    x, w, bias, stride, pad, dilation, transposed, _, groups = i.inputs
    out = i.outputs[0]
    if out is None or out.view or not _usable(x, w, out, *([] if bias is None else [bias])):
        return None
    steps = Steps(program, i)
    rest = each_of(x, stride), each_of(x, pad), each_of(x, dilation), groups
    made = (_input if transposed else _output)(steps, steps.term(x), steps.term(w), out, rest)
    if made is None and transposed:
        inputs = (x, w, out.shape[2:], *rest)
        made = steps.call(raw.conv_input, "conv_input", inputs, out)
    if made is None:
        return None
    return steps.giving([made if bias is None else made + steps.term(bias)])


def _one(program: Program, i: Instruction) -> list[Instruction] | None:
    """conv_output and conv_input(x, w, size, stride, pad, dilation, groups)."""
    x, w, _, *rest = i.inputs
    out = i.outputs[0]
    if out is None or out.view or not _usable(x, w, out):
        return None
    steps = Steps(program, i)
    make = _output if i.rule == "conv_output" else _input
    made = make(steps, steps.term(x), steps.term(w), out, (rest[0], rest[1], rest[2], rest[3]))
    return None if made is None else steps.giving([made])


def _weight(program: Program, i: Instruction) -> list[Instruction] | None:
    """conv_weight(x, y, k, stride, pad, dilation, groups)."""
    x, y, k, stride, pad, dilation, groups = i.inputs
    out = i.outputs[0]
    if out is None or out.view or not _usable(x, y, out) or groups != 1:
        return None
    steps = Steps(program, i)
    x, y = steps.term(x), steps.term(y)
    count, channels, *size = x.value.shape
    rows, area = y.value.shape[1], size_of(tuple(size))
    if _of_points(k, stride, pad):
        planes = _transpose(_as(x, count, channels, area))
        slopes = _as(y, count, rows, area)
        if count == 1:
            return steps.giving([_product(steps, slopes, planes, out)])
        each = _product(steps, slopes, planes, like(program, out, (count, *out.shape)))
        total = steps.call(reduce.sum, "sum", (each.value, (0,), False, None), out)
        return steps.giving([total])
    if _of_all(size, k, y.value.shape[2:], pad, dilation):
        some = channels * area
        turned = _transpose(_as(y, count, rows))
        return steps.giving([_product(steps, turned, _as(x, count, some), out)])
    return None


FORMS = {
    "convolution": _forward, "conv_output": _one, "conv_input": _one, "conv_weight": _weight,
}  # fmt: skip
