"""Calling an operation in place: checks, the write, the version, the new history."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from .._array import types as T
from .._array.memory.out_of_memory import refusal
from .._array.types import ndarray as _ndarray, ufunc as _ufunc
from .._base import dtypes as D, errors
from . import slow
from .casts import check_cast
from .copyslices import plain_copy, rebase
from .hooks import carry_retained
from .interposers import NOT_HANDLED, WRITE
from .mode import Mode, ready
from .node import operation_name
from .op import (
    OUT,
    PROMOTE_NONE,
    SHARED_FIRST,
    SHARED_LAST,
    SHARED_PARTLY,
    Op,
)
from .plain_writes import write_at_once, write_at_places, write_plainly, writes_at_once
from .run import ANOMALY, DERIVATIVES, TRANSFORMS
from .saved import pack_outputs
from .storage import DEFAULT, TensorBase, bump, version_of
from .views import current_node, refuse_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._array.annotations import Array
    from .._base.annotations import AnyCallable, Arguments

ndarray: Final = _ndarray
ufunc: Final = _ufunc


def apply_inplace(op: Op, args: Arguments, writer: AnyCallable | None = None) -> Any:
    """Runs `op` on `args` and writes the result into `args[0]`, which is returned.

    A `writer` takes the raw arguments and writes itself, where computing a whole result first would
    be a waste; it raises before it has written anything.

    Raises:
        RuntimeError: for a leaf that requires grad, a view that may not be written, and a result of
            another shape or of a type that can't be cast; nothing is written then. Also for an
            inference tensor outside of inference mode, which is written all the same, as in
            PyTorch.
    """
    me: TensorBase = args[0]
    if writer is None and op.broadcasts:
        if type(op.raw) is ufunc and len(args) == 2:
            if write_at_once(op, me, args):
                return me
        elif write_plainly(op, me, args):
            return me
    elif writer is None and op.into is not None and write_at_places(op, me, args):
        return me
    mode = ready()
    layered = any_layered(args)
    if (
        mode.interposed
        or layered
        or (mode.forward_grad and slow.TANGENTS.carry is not None and any_tangent(args))
    ):
        for interposer in WRITE:
            handled = interposer.write(op, args, writer, mode, layered)
            if handled is not NOT_HANDLED:
                return handled
    live = 0
    recorded: Op | None = op if op.written is None else op.written(args)
    if (
        recorded is not None
        and mode.grad
        and not mode.inference
        and not (me._inference and slow.only_inference(op, args))
    ):
        view = me._view
        if me._requires_grad or (view is not None and view.tracked and view.base._requires_grad):
            check_writable(me)
            live = slow.live_mask(recorded, args)
        else:
            live = slow.live_mask(recorded, args)
            if live:
                if TRANSFORMS.get():
                    refuse_captured(op, me)
                check_writable(me)
    raws = [slow.to_raw(arg) for arg in args]
    if mode.recorder is not None:
        raws = mode.recorder.bare(raws)
    array = raws[0]
    promoted: D.dtype | None = None
    if op.promote != PROMOTE_NONE:
        promoted = slow.promote(op, args, raws, True)
        if promoted is T.from_raw(array.dtype) and not (live and _mixes_types(args, array)):
            promoted = None
    if 0 in array.strides and (writer is None or op.expanded is not None):
        refuse_or_warn(op, args, array)
    if op.shared == SHARED_FIRST and -max(array.ndim, 1) <= raws[1] < max(array.ndim, 1):
        refuse_memory_of(array, raws)
    if writer is None and op.shared == SHARED_PARTLY:
        for other in raws[1:]:
            if type(other) is ndarray and other is not array:
                T.refuse_shared(array, other)
    if writer is not None:
        if promoted is not None:
            check_cast(promoted, array)
        write(me, args, raws, None, recorded or op, live, mode, promoted, writer)
        if mode.recorder is not None:
            mode.recorder.wrote(op, args, raws, me, writer)
        return me
    if (
        op.into is not None
        and promoted is None
        and mode.recorder is None
        and array.flags.forc  # each element has its own memory
        and array.flags.writeable
    ):
        into = None
        try:
            if op.shared == SHARED_LAST:
                refuse_memory_of(array, raws)
            into = op.into(*raws)
        except errors.REFUSALS:
            pass  # the plain way explains
        if into is not None:
            write(me, args, raws, None, recorded or op, live, mode, None, into)
            return me
    try:
        if op.fits is not None:
            op.fits(raws)
        if op.check is not None:
            op.check(args, raws)
        plain = mode.recorder is not None and not (live or mode.saved_hooks)
        if plain and raws[0] is array and writes_at_once(op, raws):
            count_write(me, mode)
            mode.recorder.wrote(op, args, raws, me, None)
            return me
        try:
            result = slow.forward(op, raws)
        except (MemoryError, ValueError) as error:
            raise refusal(error, raws) from None
        if op.wide and T.is_half(array.dtype):
            result = T.narrow_result(result, T.from_raw(array.dtype))
    except Exception as error:
        if (  # these come last
            errors.says_not_implemented(error)
            or (op.names_c_type and T.from_raw(array.dtype).category < D.FLOAT)
            or error.args == ("ZeroDivisionError",)
        ):
            refuse_shapes(op, array, raws)
            if promoted is not None and not op.gives_bool:
                check_cast(promoted, array, op)
        if slow.ERRORS.explain is None:
            raise
        better = slow.ERRORS.explain(op, args, error, True)
        if better is None:
            raise
        try:
            raise better from None
        finally:
            del better  # its traceback holds this frame
    if T.shape_of(result) != array.shape:
        raise RuntimeError(errors.output_shape(array.shape, T.shape_of(result)))
    if result.dtype is not array.dtype:
        # A comparison of an integer with 1.5 fits, their sum doesn't.
        found = T.from_raw(result.dtype)
        if op.wide and promoted is not None and not op.gives_bool:
            found = promoted  # of a half, what was computed in float32
        check_cast(found, array, op)
        if loses_imaginary_part(raws, array):
            warnings.warn(errors.COMPLEX_TO_REAL, UserWarning, stacklevel=4)
    if op.shared == SHARED_LAST:
        refuse_memory_of(array, raws)
    write(me, args, raws, result, recorded or op, live, mode, promoted)
    if mode.recorder is not None:
        mode.recorder.wrote(op, args, raws, me, None)
    return me


def loses_imaginary_part(operands: Iterable[object], target: Array) -> bool:
    """Whether PyTorch says so of a comparison that is written into `target`.

    It brings the result to the operands' common type first.
    """
    if not target.size or target.dtype.kind in "bcW":
        return False
    return any(
        type(x) is complex or (isinstance(x, ndarray) and x.dtype.kind in "cW") for x in operands
    )


def refuse_memory_of(array: Array, raws: Arguments) -> None:
    """Refuses operands that lie in the memory of an array that is about to be written.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    for other in raws[1:]:
        if other is array:  # without elements, too
            raise RuntimeError(errors.SHARED_WITH_WRITTEN)
        if type(other) is ndarray:
            T.refuse_shared(array, other, True)


def _mixes_types(args: Arguments, array: Array) -> bool:
    """Whether a tensor among the operands has another type than the one that is written."""
    for other in args:
        if isinstance(other, TensorBase) and other._raw.dtype != array.dtype:
            return True
    return False


def refuse_or_warn(op: Op, args: Arguments, array: Array) -> None:
    """Refuses to write an expanded tensor, or warns where PyTorch still allows it.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    try:
        T.refuse_overlap(array)
    except RuntimeError:
        if op.expanded is None:
            raise
        for text in op.expanded(args):
            warn_expanded(text)


def warn_expanded(text: str) -> None:
    """Warns of a write to an expanded tensor."""
    warnings.warn(text, UserWarning, stacklevel=4)


def any_tangent(args: Arguments) -> bool:
    """Whether some argument carries a tangent."""
    for arg in args:
        if isinstance(arg, TensorBase):
            if slow.may_have_tangent(arg):
                return True
        elif type(arg) is list or type(arg) is tuple:
            for item in arg:
                if isinstance(item, TensorBase) and slow.may_have_tangent(item):
                    return True
    return False


def refuse_shapes(op: Op, array: Array, raws: Arguments) -> None:
    """Refuses operands whose shapes don't come to that of the array which is written.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if not op.broadcasts:
        return
    whole: Any = array.shape
    for other in raws[1:]:
        if type(other) is ndarray:
            problem = errors.broadcast(whole, other.shape)
            if problem is not None:
                raise RuntimeError(problem)
            whole = T.broadcast_shape(whole, other.shape)
    if whole != array.shape:
        raise RuntimeError(errors.output_shape(array.shape, whole))


def any_layered(args: Arguments) -> bool:
    """Whether some argument is a subclass with rules of its own or a transform's wrapper."""
    for arg in args:
        if isinstance(arg, TensorBase) and arg._layered:
            return True
    return False


def write(
    me: TensorBase,
    args: Arguments,
    raws: Arguments,
    result: Any,
    op: Op,
    live: int,
    mode: Mode,
    promoted: D.dtype | None,
    writer: AnyCallable | None = None,
) -> None:
    """Writes a finished result into `me`, counts the write, and records it where `live`."""
    if mode.saved_hooks:
        announce_write(me, mode)
    if not live:
        if writer is None:
            write_result(op, me._raw, result)
        else:
            writer(*raws)
        count_write(me, mode)
        return
    current_node(me)
    needs_value = False
    for k, entry in enumerate(op.entries):
        if entry[0] != OUT and entry[1] == 0 and op.masks[k] & live:
            needs_value = True
    before = list(args)
    if needs_value:
        before[0] = plain_copy(me)
        if mode.recorder is not None:
            mode.recorder.note_copy(before[0], me)
        if mode.dual:
            slow.TANGENTS.copy(before[0], me)
    raws[0] = me._raw
    node = slow.make_node(op, before, raws, [me], live, mode, promoted)
    if writer is None:
        write_result(op, me._raw, result)
    else:
        writer(*raws)
    count_write(me, mode)
    if op.saves_out:
        versions = list(node.versions) if node.versions is not None else [0] * len(op.entries)
        for k, entry in enumerate(op.entries):
            if entry[0] == OUT:
                versions[k] = version_of(me)
        node.versions = tuple(versions)
        view = me._view
        holder = me if view is None else view.base
        cell = holder._cell
        node.out_cells = {0: cell}
    set_history(me, node)
    if op.saves_out and mode.saved_hooks and not mode.saved_hooks_off:
        pack_outputs(node, [me], mode.saved_hooks[-1])
    if op.saves_out and me._view is not None and me._view.tracked:
        # Where the saved result is found to have been written, messages name the view's own node,
        # as long as that is there.
        alive: Any = set()  # nodes can't be referred to weakly, so this stands for the view's own
        own: Any = me._node
        own.meta = {"alive": alive} if own.meta is None else {**own.meta, "alive": alive}
        note = {"view": (operation_name(own), ref(alive))}
        node.meta = note if node.meta is None else {**node.meta, **note}
    if mode.anomaly and ANOMALY.trace is not None:
        ANOMALY.trace(node)


def write_result(op: Op, array: Array, result: Any) -> None:
    """Writes a finished result; where elements share memory, only those that have changed."""
    if 0 in array.strides and op.expanded is not None:
        T.write_changed(array, result)
    else:
        T.write_into(array, result)


def set_history(me: TensorBase, node: Any) -> None:
    """Makes `node` the history of a tensor that has just been written in place."""
    view = me._view
    old = me._node
    old_nr = me._nr - 1 if me._nr else 0
    if view is not None and view.tracked:
        base = view.base
        old_base = base._node
        old_base_nr = base._nr - 1 if base._nr else 0
        rebase(me, node)
        if old_base is not None and base._node is not None:
            carry_retained(base, old_base, old_base_nr, base._node, 0)
    else:
        me._node = node
        me._nr = 0
        me._requires_grad = True
    if old is not None and me._node is not None:
        carry_retained(me, old, old_nr, me._node, 0)


def announce_write(me: TensorBase, mode: Mode) -> None:
    """Tells contexts that keep what is overwritten (their pair of hooks has a third) of a write."""
    for hooks in mode.saved_hooks:
        if len(hooks) > 2:
            hooks[2](me)


def count_write(me: TensorBase, mode: Mode) -> None:
    """Notes that `me` has been written; inference tensors don't count.

    Raises:
        RuntimeError: for an inference tensor outside of inference mode. As in PyTorch that is found
            out here: it has been written.
    """
    if not me._inference or me._cell is not None:  # `detach` gives an inference tensor a version
        bump(me)
    elif not mode.inference:
        raise RuntimeError(errors.INFERENCE_INPLACE)


def refuse_captured(op: Op, me: TensorBase) -> None:
    """Refuses to write what a derivative tracks into a tensor from outside of its function.

    Raises:
        RuntimeError: where the function names the tensor.
    """
    base = me if me._view is None else me._view.base
    for derivative in DERIVATIVES.get():
        for t in derivative.captured:
            if t is me or t is base:
                dot = f".{op.row.overload}" if op.row.overload else ""
                raise RuntimeError(
                    "During a grad (vjp, jvp, grad, etc) transform, the function provided "
                    f"attempted to call in-place operation (aten::{op.name.strip('_')}_{dot}) that "
                    "would mutate a captured Tensor. This is not supported; please rewrite the "
                    "function being transformed to explicitly accept the mutated Tensor(s) as "
                    "inputs."
                )


def check_writable(me: TensorBase) -> None:
    """Refuses a recorded write to a leaf, or to a view whose history can't be rebased.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    view = me._view
    wants = me._requires_grad
    if view is not None and view.tracked:
        if view.creation != DEFAULT:
            refuse_view(me, False)
        base = view.base
        wants = wants or base._requires_grad
        if wants and base._node is None:
            raise RuntimeError(errors.LEAF_VIEW_INPLACE)
    if wants and current_node(me) is None:
        raise RuntimeError(errors.LEAF_INPLACE)
