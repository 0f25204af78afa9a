"""Batch norms, in training and in evaluation, and group norms as steps that kernels know.

The row's formulas are done in a world of their own, whose values write instructions. Statistics
of rows are sums down columns, those of planes are sums of planes first (see `split_reductions`):
what comes before joins the first of them, what follows the norm joins its last step, and running
statistics are written by the kernels, too.

Note [Differences are made again]
Differences from the mean are wanted for the variance and for the result, each over all elements. To
subtract again is cheaper than to write them to memory and to read them: each use is an instruction
of its own.
"""

from __future__ import annotations

from typing import Any

from ..._formula.words import row_sum, sqrt
from ..._table.nn.normalization import channel_gradients, normalise, unbiased_variance
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value, row_major
from .layout import copy_to, like
from .terms import Steps, Term


class _Difference(Term):
    """x - mean. See Note [Differences are made again]."""

    __slots__ = ("mean", "x")

    def __init__(self, x: Term, mean: Term) -> None:
        self.steps, self.x, self.mean = x.steps, x, mean

    @property
    def value(self) -> Value:  # type: ignore[override]
        """The difference, made where it is asked for."""
        found = (self.x - self.mean).value
        self.steps.found[-1].late = True
        return found


def _usable(x: Value, vectors: tuple[object, ...]) -> bool:
    """Whether it is in order, and every vector is one number a channel."""
    if type(x) is not Value or len(x.shape) < 2 or not in_order(x) or 0 in x.shape:
        return False
    return x.dtype.name in FLOATS and all(
        v is None or (type(v) is Value and v.dtype == x.dtype and v.shape == x.shape[1:2]
                      and in_order(v))
        for v in vectors
    )  # fmt: skip


def _along(x: Value, training: bool) -> tuple[int, ...]:
    """The dimensions of a channel in training; none where its sums have no native form."""
    several = x.shape[0] > 1 or size_of(x.shape[2:]) > 1
    return (0, *range(2, len(x.shape))) if several and training is True else ()


def _forward(program: Program, i: Instruction) -> list[Instruction] | None:
    """native_batch_norm(x, weight, bias, mean, variance, training, momentum, eps)."""
    x, weight, bias, running_mean, running_var, training, momentum, eps = i.inputs
    if not _usable(x, (weight, bias, running_mean, running_var)) or len(i.outputs) != 3:
        return None
    if (weight is None) != (bias is None) or (running_mean is None) != (running_var is None):
        return None
    if training is False:
        return _evaluate(program, i)
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    dims = _along(x, training)
    if None in i.outputs or type(momentum) is not float or not dims:
        return None
    steps, count = Steps(program, i), size_of(x.shape) // x.shape[1]
    x, weight, bias = map(steps.term, (x, weight, bias))
    results: Any = normalise(x, weight, bias, float(eps), dims, 1 / count)
    if len(dims) > 1:
        _, mean, inverse = results
        scale = inverse if weight is None else inverse * weight
        out = _Difference(x, mean) * scale
        results = (out if bias is None else out + bias, mean, inverse)
    if running_mean is not None:
        steps.move(running_mean, results[1], momentum)
        variance = unbiased_variance(results[2], float(eps), count)
        steps.move(running_var, variance, momentum)
    return steps.giving(results)


def _evaluate(program: Program, i: Instruction) -> list[Instruction] | None:
    """The norm by the running statistics; nobody may read the two empty results beside it."""
    read = {v.number for j in program.instructions for v in j.reads()}
    read |= {v.number for v in program.outputs_values()}
    out, *rest = i.outputs
    if out is None or out.view or not in_order(out) or any(o and o.number in read for o in rest):
        return None
    steps = Steps(program, i)
    x, weight, bias, mean, variance = map(steps.term, i.inputs[:5])
    scale = 1 / sqrt(variance + float(i.inputs[7]))
    result = (x - mean) * (scale if weight is None else scale * weight)
    return steps.giving([result if bias is None else result + bias])


def _backward(program: Program, i: Instruction) -> list[Instruction] | None:
    """batch_norm_backward(g, x, weight, mean, variance, mean, inverse, training, eps, need)."""
    g, x, weight, _, _, mean, inverse, training = i.inputs[:8]
    if not _usable(x, (weight, mean, inverse)) or mean is None or inverse is None:
        return None
    dims = _along(x, training)
    if not dims:
        return None
    if type(g) is not Value or g.shape != x.shape or g.dtype != x.dtype:
        return None
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    steps, count = Steps(program, i), size_of(x.shape) // x.shape[1]
    g, x, weight, mean, inverse = map(steps.term, (g, x, weight, mean, inverse))
    moved: Any = _Difference(x, mean) if len(dims) > 1 else x - mean
    return steps.giving(channel_gradients(g, moved, inverse, weight, dims, 1 / count))


# ---- groups of channels --------------------------------------------------------------------------
class _Groups:
    """Sums over groups of channels, of which each sample has its own."""

    def __init__(self, steps: Steps, x: Value, groups: int) -> None:
        self.steps = steps
        self.dims = tuple(range(2, len(x.shape)))
        self.samples, self.channels, self.groups = x.shape[0], x.shape[1], groups
        self.each = (x.shape[0], groups, x.shape[1] // groups)
        self.part = 1 / (size_of(x.shape) // (x.shape[0] * groups))

    def mean(self, planes: Term) -> Term:
        """Of sums over each plane, the means of groups."""
        return _show_as(row_sum(_show_as(planes, *self.each), (2,)), *self.each[:2]) * self.part

    def expand(self, x: Term) -> Term:
        """One number for each group, again for each of its channels."""
        made = like(self.steps.program, x.value, self.each)
        copied = copy_to(_show_as(x, *self.each[:2], 1).value, made)
        copied.part = self.steps.origin.part
        self.steps.found.append(copied)
        return _show_as(Term(self.steps, made), self.samples, self.channels)

    def planes(self, x: Term) -> Term:
        """The sum of each plane."""
        return row_sum(x, self.dims)

    def column(self, x: Term) -> Term:
        """One number for each plane, to be used with all of it."""
        return _show_as(x, self.samples, self.channels, *(1 for _ in self.dims))


def _show_as(x: Term, *shape: int) -> Term:
    return x.show_as(shape, tuple(row_major(shape, x.value.dtype.itemsize)))


def _has_planes(i: Instruction, x: Value) -> bool:
    """Whether sums over planes have a native form, and results lie as they are made."""
    planes = len(x.shape) > 2 and size_of(x.shape[2:]) > 1
    return planes and not any(o is not None and (o.view or not in_order(o)) for o in i.outputs)


def _group_forward(program: Program, i: Instruction) -> list[Instruction] | None:
    """native_group_norm(x, weight, bias, groups, eps)."""
    x, weight, bias, groups, eps = i.inputs
    if not _usable(x, (weight, bias)) or not _has_planes(i, x):
        return None
    steps = Steps(program, i)
    over = _Groups(steps, x, groups)
    x, weight, bias = map(steps.term, (x, weight, bias))
    mean = over.mean(over.planes(x))
    moved = _Difference(x, over.column(over.expand(mean)))
    inverse = 1 / sqrt(over.mean(over.planes(moved * moved)) + float(eps))
    scale = over.expand(inverse)
    out = moved * over.column(scale if weight is None else scale * weight)
    return steps.giving((out if bias is None else out + bias, mean, inverse))


def _group_backward(program: Program, i: Instruction) -> list[Instruction] | None:
    """group_norm_backward(g, x, groups, mean, inverse, weight, eps, need)."""
    g, x, groups, mean, inverse, weight = i.inputs[:6]
    if not _usable(x, (weight,)) or not _has_planes(i, x):
        return None
    if any(type(v) is not Value or v.dtype != x.dtype or not in_order(v) for v in (mean, inverse)):
        return None
    if (
        g.shape != x.shape
        or mean.shape != inverse.shape
        or size_of(mean.shape) != (x.shape[0] * groups)
    ):
        return None
    steps = Steps(program, i)
    over = _Groups(steps, x, groups)
    g, x, weight, mean, inverse = map(steps.term, (g, x, weight, mean, inverse))
    moved = _Difference(x, over.column(over.expand(mean)))
    sums, along = over.planes(g), over.planes(g * moved)
    by_channel = over.expand(inverse)
    # r (g w - mean(g w) - d r² mean(g w d)), d = x - mean.
    level, slope = (v if weight is None else v * weight for v in (sums, along))
    level = over.expand(over.mean(level) * inverse)
    slope = over.expand(over.mean(slope) * (inverse * inverse * inverse))
    scale = by_channel if weight is None else by_channel * weight
    out = g * over.column(scale) - over.column(level) - moved * over.column(slope)
    return steps.giving((out, row_sum(along * by_channel, (0,)), row_sum(sums, (0,))))


FORMS = {
    "batch_norm": _forward, "batch_norm_backward": _backward,
    "group_norm": _group_forward, "group_norm_backward": _group_backward,
}  # fmt: skip
