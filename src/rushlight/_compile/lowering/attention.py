"""Attention as commands: the calls that an eager one makes, with their frames among others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array.kernels import attention as kernels
from ..._array.kernels.launch import guard_launch
from ..._array.kernels.launches import Form
from ..._array.memory.parallel import get_num_threads
from ..._array.nn.attention import scale_of
from ..ir.iteration_values import FLOATS, in_order
from ..ir.program import Instruction, Value
from .commands import Command, launch_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._array.kernels.launches import Launches
    from ..._base.annotations import Arguments
    from ..assembly.plan import Plan


def _form(v: Value) -> Form:
    return Form(v.shape, v.strides, v.dtype)


def _fits(values: Arguments) -> bool:
    """Whether all are of one dtype, with elements, and rows that lie side by side."""
    q = values[0]
    return all(
        type(v) is Value and v.dtype == q.dtype and v.dtype.name in FLOATS and 0 not in v.shape
        and v.strides[-1] == v.dtype.itemsize
        for v in values
    )  # fmt: skip


def _dense(v: Value) -> bool:
    """Whether the elements fill a room of their own, in any order of dimensions."""
    if v.view or 0 in v.shape:
        return False
    step = v.dtype.itemsize
    for s, n in sorted((s, n) for n, s in zip(v.shape, v.strides) if n != 1):
        if s != step:
            return False
        step *= n
    return True


def _mask_of(mask: Value, q: Value, k: Value) -> Form | None:
    """How the mask lies for all heads, where kernels can read it."""
    if type(mask) is not Value or mask.dtype.name not in ("bool", q.dtype.name):
        return None
    size, whole = mask.dtype.itemsize, (*q.shape[:-1], k.shape[-2])
    shape = (1,) * (len(whole) - len(mask.shape)) + mask.shape
    strides = (0,) * (len(whole) - len(mask.strides)) + mask.strides
    if len(shape) != len(whole) or shape[-1] != whole[-1] or strides[-1] != size:
        return None
    if any(m not in (1, n) for m, n in zip(shape, whole)):
        return None
    steps = tuple([0 if m == 1 else s for m, s in zip(shape[:-1], strides)])
    return Form(whole, (*steps, size), mask.dtype)


@guard_launch
def _ask(make: Callable[..., Launches | None], *arguments: object) -> Launches | None:
    return make(*arguments, get_num_threads())


def attention(i: Instruction, plan: Plan) -> Command | None:
    """The command for scaled dot-product attention without dropout."""
    q, k, v, dropout, causal, mask, scale = i.inputs
    out, logs = i.outputs
    if dropout or out is None or logs is None or not _fits([q, k, v, out]):
        return None
    form = None if mask is None else _mask_of(mask, q, k)
    if (mask is not None and form is None) or not _dense(out) or not _dense(logs):
        return None
    if not in_order(logs) or out.root in plan.kept:
        return None
    forms = _form(q), _form(k), _form(v), _form(out), form
    launches = _ask(kernels.forward_calls, *forms, bool(causal), scale_of(q.shape[-1], scale))
    reads = [q, k, v] if mask is None else [q, k, v, mask]
    return launch_command(plan, launches, [q, k, v, out, mask, logs], reads, [out, logs])


def attention_backward(i: Instruction, plan: Plan) -> Command | None:
    """The command for the gradients of attention."""
    g, q, k, v, out, logs, mask, causal, scale = i.inputs
    grads: list[Any] = list(i.outputs)
    if None in grads or not _fits([q, g, k, v, out, *grads]) or not all(map(_dense, grads)):
        return None
    form = None if mask is None else _mask_of(mask, q, k)
    if mask is not None and form is None:
        return None
    if type(logs) is not Value or not in_order(logs) or logs.dtype != q.dtype:
        return None
    forms = [_form(x) for x in (g, q, k, v, out, *grads)]
    launches = _ask(
        kernels.backward_calls, *forms, form, bool(causal), scale_of(q.shape[-1], scale)
    )
    reads = [g, q, k, v, out, logs] + ([] if mask is None else [mask])
    return launch_command(plan, launches, [g, q, k, v, out, *grads, mask, logs], reads, grads)


MAKERS: Final = {
    "attention": attention,
    "attention_backward": attention_backward,
}
