"""Calling an operation on several tensors, taken as they are, and further arguments.

The fast paths of `apply_n` for other than one tensor: what doesn't fit them goes through `slow.py`,
before anything is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.memory.dense_layout import order_like
from .._array.types import FLOAT32, FLOAT64, as_array, is_narrow, ndarray as _ndarray
from .._base.errors import REFUSALS
from . import slow
from .mode import Mode, current
from .node import FIX, Vertex, new_node
from .op import ARG, OUT, PROMOTE_NONE, SHAPE, Op, run_small
from .storage import TensorBase, new_tensor, version_of
from .views import follows, view_target

if TYPE_CHECKING:
    from .._base.annotations import Arguments

ndarray: Final = _ndarray
F32: Final[Any] = FLOAT32
F64: Final[Any] = FLOAT64


def apply_several(op: Op, args: Arguments) -> Any:
    """The result of an operation on some tensors, taken as they are, and further arguments."""
    mode: Mode = current()
    if mode.slow:
        return slow.apply(op, args)
    raws = args[:]
    live = 0
    dtype: Any = None
    frozen: Any = None  # the type of those that want no gradient
    even = True
    for pos in op.tensors:
        t = args[pos]
        if t is None:
            continue
        if not isinstance(t, TensorBase) or not t._plain:
            return slow.apply(op, args)
        array = t._raw
        raws[pos] = array
        if t._requires_grad or (mode.grad and t._view is not None and follows(t)):
            if dtype is None:
                dtype = array.dtype
                if dtype is not F32 and dtype is not F64:
                    return slow.apply(op, args)
            elif array.dtype is not dtype:
                return slow.apply(op, args)
            live |= 1 << pos
        elif frozen is None:
            frozen = array.dtype
        elif array.dtype is not frozen:
            even = False
    for pos in op.constants:
        t = args[pos]
        if t is None:
            continue
        if not isinstance(t, TensorBase) or not t._plain:
            return slow.apply(op, args)
        raws[pos] = t._raw
    if op.promote_at and not _are_common(op, raws, frozen if dtype is None else dtype):
        return slow.apply(op, args)
    if frozen is not None and frozen is not F32 and frozen is not F64 and is_narrow(frozen):
        return slow.apply(op, args)
    try:
        if op.check is not None:
            op.check(args, raws)
        result = run_small(op, raws)
    except REFUSALS:
        return slow.apply(op, args)  # explains
    if type(result) is not ndarray:
        result = as_array(result)
    out = new_tensor(result)
    if mode.grad:
        live &= op.diff_mask
        if live:
            if result.dtype is dtype and even and (frozen is None or frozen is dtype):
                _record_several(op, args, raws, result, out, live)
            else:
                slow.record(op, args, raws, [out], live, mode, None)
    return out


def _record_several(
    op: Op, args: Arguments, raws: Arguments, result: Any, out: TensorBase, live: int
) -> None:
    """Makes the node of a call of `apply_several`."""
    goals: list[Vertex | None] = []
    several = False
    for pos in op.tensors:
        goal: Vertex | None = None
        if live >> pos & 1:
            t: TensorBase = args[pos]
            if t._view is not None:
                goal = view_target(t)
            else:
                goal = t._node
                if goal is None:
                    goal = t
            if t._nr:
                several = True
        goals.append(goal)
    saved: list[Any] = []
    versioned = False
    masks = op.masks
    k = 0
    for entry in op.entries:
        value: Any = None
        if masks[k] & live:
            kind, pos, _ = entry
            if kind == ARG:
                value = args[pos]
                if isinstance(value, TensorBase):
                    cell = value._cell if value._view is None else value._view.base._cell
                    if cell is not None and cell.n:
                        versioned = True
                elif type(value) is list:
                    value = tuple(value)
            elif kind == OUT:
                value = result
            elif kind == SHAPE:
                array = raws[pos]
                if array is not None:
                    value = array.shape
            else:
                value = slow.dtype_of_argument(args[pos])
        saved.append(value)
        k += 1
    node = new_node(op, tuple(goals), tuple(saved))
    if several:
        node.nrs = tuple([args[pos]._nr if live >> pos & 1 else 0 for pos in op.tensors])
    if versioned:
        node.versions = tuple([version_of(v) if isinstance(v, TensorBase) else 0 for v in saved])
    out._node = node
    out._requires_grad = True


def _are_common(op: Op, raws: Arguments, dtype: Any) -> bool:
    """Whether operands that are promoted have a type already; whole numbers become floats."""
    for pos in op.promote_at:
        value = raws[pos]
        kind = type(value)
        if kind is ndarray:
            if value.dtype is not dtype:
                return False
        elif kind is int:
            raws[pos] = float(value)
        elif kind is not float and value is not None:
            return False
    return dtype is F32 or dtype is F64


def apply_mixed(op: Op, args: Arguments) -> Any:
    """The result of a broadcasting operation on float tensors of one type and numbers."""
    mode: Mode = current()
    if mode.slow:
        return slow.apply(op, args)
    raws = args[:]
    live = 0
    dtype: Any = None
    for pos in op.tensors:
        t = args[pos]
        if isinstance(t, TensorBase):
            if not t._plain:
                return slow.apply(op, args)
            array = t._raw
            if dtype is None:
                dtype = array.dtype
                if dtype is not F32 and dtype is not F64:
                    return slow.apply(op, args)
            elif array.dtype is not dtype:
                return slow.apply(op, args)
            raws[pos] = array
            if t._requires_grad or (mode.grad and t._view is not None and follows(t)):
                live |= 1 << pos
    for pos in op.constants:
        t = args[pos]
        if isinstance(t, TensorBase):
            if not t._plain:
                return slow.apply(op, args)
            raws[pos] = t._raw
    if not _are_common(op, raws, dtype):
        return slow.apply(op, args)
    try:
        if op.check is not None:
            op.check(args, raws)
        result = run_small(op, raws)
    except REFUSALS:
        return slow.apply(op, args)  # explains
    if type(result) is not ndarray:
        result = as_array(result)
    elif op.ordered and result.ndim > 1:
        for value in raws:
            if type(value) is ndarray and not value.flags.c_contiguous:
                result = order_like(result, raws[:: op.ordered])
                break
    out = new_tensor(result)
    if mode.grad:
        live &= op.diff_mask
        if live:
            if result.dtype is dtype:
                _record_several(op, args, raws, result, out, live)
                _note_uneven(op, out._node, raws, result.shape)
            else:
                slow.record(op, args, raws, [out], live, mode, None)
    return out


def _note_uneven(op: Op, node: Any, raws: Arguments, shape: Any) -> None:
    """Notes which operands have been broadcast: their gradients are summed back."""
    fixes: list[Any] = []
    needed = False
    goals = node.next
    k = 0
    for pos in op.tensors:
        fix: Any = None
        if goals[k] is not None:
            own = raws[pos].shape
            if own != shape:
                fix = (own, None)
                needed = True
        fixes.append(fix)
        k += 1
    if needed:
        node.special |= FIX
        node.fix = tuple(fixes)


def apply_outputs(op: Op, args: Arguments) -> Any:
    """The results of an operation with several fresh outputs, on tensors taken as they are."""
    mode: Mode = current()
    if mode.slow or op.promote != PROMOTE_NONE:
        return slow.apply(op, args)
    raws = args[:]
    live = 0
    dtype: Any = None
    for pos in op.tensors:
        t = args[pos]
        if t is None:
            continue
        if not isinstance(t, TensorBase) or not t._plain:
            return slow.apply(op, args)
        array = t._raw
        dtype = array.dtype
        raws[pos] = array
        if t._requires_grad or (mode.grad and t._view is not None and follows(t)):
            live |= 1 << pos
    for pos in op.constants:
        t = args[pos]
        if t is None:
            continue
        if not isinstance(t, TensorBase) or not t._plain:
            return slow.apply(op, args)
        raws[pos] = t._raw
    if dtype is not None and dtype is not F32 and dtype is not F64 and is_narrow(dtype):
        return slow.apply(op, args)
    try:
        if op.check is not None:
            op.check(args, raws)
        results = run_small(op, raws)
    except REFUSALS:
        return slow.apply(op, args)  # explains
    outs: list[TensorBase] = []
    for array in results:
        if type(array) is not ndarray:
            array = as_array(array)
        outs.append(new_tensor(array))
    if mode.grad:
        live &= op.diff_mask
        if live:
            slow.record(op, args, raws, outs, live, mode, None)
    return tuple(outs) if op.returns is None else op.returns(outs)
