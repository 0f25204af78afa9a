"""Calling an operation in place: checks, the write, the version, the new history."""

from __future__ import annotations

from typing import Any, Final

from .. import dtypes as D
from .. import errors
from .._array import types as T
from .._array.types import ndarray as _ndarray
from . import slow
from .copyslices import plain_copy, rebase
from .hooks import carry_retained
from .mode import Mode, ready
from .op import OUT, PROMOTE_NONE, Op
from .storage import DEFAULT, TensorBase, bump, version_of
from .views import current_node, refuse_view

ndarray: Final = _ndarray


def apply_inplace(op: Op, args: list[Any], writer: Any = None) -> Any:
    """Runs `op` on `args` and writes the result into `args[0]`, which is returned.

    A `writer` takes the raw arguments and writes itself, where computing a whole result first would
    be a waste; it raises before it has written anything.

    Raises:
        RuntimeError: for a leaf that requires grad, a view that may not be written, an inference
            tensor, a result of another shape or of a type that can't be cast; nothing is written.
    """
    me: TensorBase = args[0]
    mode = ready()
    if (mode.functions or mode.layers or me._layered) or any_layered(args):
        handled = slow.NOT_HANDLED
        if slow.HANDLERS.override is not None:
            handled = slow.HANDLERS.override(op, args, True, writer)
        if handled is slow.NOT_HANDLED and slow.HANDLERS.layer is not None:
            handled = slow.HANDLERS.layer(op, args)
        if handled is not slow.NOT_HANDLED:
            return handled
    if mode.forward_grad and slow.HANDLERS.tangent_inplace is not None and any_tangent(args):
        return slow.HANDLERS.tangent_inplace(op, args)
    if me._inference and not mode.inference:
        raise RuntimeError(errors.INFERENCE_INPLACE)
    live = 0
    if mode.grad:
        view = me._view
        if me._requires_grad or (view is not None and view.tracked and view.base._requires_grad):
            check_writable(me)
            live = slow.live_mask(op, args)
        else:
            live = slow.live_mask(op, args)
            if live:
                check_writable(me)
    raws = [slow.to_raw(arg) for arg in args]
    array = raws[0]
    promoted: D.dtype | None = None
    if op.promote != PROMOTE_NONE:
        promoted = slow.promote(op, args, raws)
        if promoted is T.from_raw(array.dtype):
            promoted = None
    if writer is None:
        if 0 in array.strides:
            T.refuse_overlap(array)
        for other in raws[1:]:
            if (
                type(other) is ndarray
                and other is not array
                and (other.base is not None or array.base is not None)
            ):
                T.refuse_shared(array, other)
    else:
        if promoted is not None:
            check_cast(promoted, array)
        write(me, args, raws, None, op, live, mode, promoted, writer)
        return me
    try:
        if op.check is not None:
            op.check(args, raws)
        result = op.raw(*raws)
    except Exception as error:
        if promoted is not None and isinstance(error, NotImplementedError):
            check_cast(promoted, array)
        if slow.HANDLERS.explain is None:
            raise
        better = slow.HANDLERS.explain(op, args, error)
        if better is None:
            raise
        raise better from None
    if op.promote != PROMOTE_NONE:  # a comparison of an integer with 1.5 fits, their sum doesn't
        check_cast(T.from_raw(result.dtype), array)
    if T.shape_of(result) != array.shape:
        raise RuntimeError(errors.output_shape(array.shape, T.shape_of(result)))
    write(me, args, raws, result, op, live, mode, promoted)
    return me


def any_tangent(args: list[Any]) -> bool:
    """Whether some argument carries a tangent."""
    for arg in args:
        if isinstance(arg, TensorBase) and arg._tangent is not None:
            return True
    return False


def check_cast(found: D.dtype, array: Any) -> None:
    """Refuses a result whose category the tensor's type can't hold.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    wanted = T.from_raw(array.dtype)
    if not D.can_cast(found, wanted):
        raise RuntimeError(errors.cannot_cast(D.scalar_name(found), D.scalar_name(wanted)))


def any_layered(args: list[Any]) -> bool:
    """Whether some argument is a subclass with rules of its own or a transform's wrapper."""
    for arg in args:
        if isinstance(arg, TensorBase) and arg._layered:
            return True
    return False


def write(
    me: TensorBase,
    args: list[Any],
    raws: list[Any],
    result: Any,
    op: Op,
    live: int,
    mode: Mode,
    promoted: D.dtype | None,
    writer: Any = None,
) -> None:
    """Writes a finished result into `me`, counts the write, and records it where `live`."""
    if not live:
        if writer is None:
            T.write_into(me._raw, result)
        else:
            writer(*raws)
        bump(me)
        return
    current_node(me)
    needs_value = False
    for k, entry in enumerate(op.entries):
        if entry[0] != OUT and entry[1] == 0 and op.masks[k] & live:
            needs_value = True
    before = list(args)
    if needs_value:
        before[0] = plain_copy(me)
    raws[0] = me._raw
    node = slow.make_node(op, before, raws, [me], live, mode, promoted)
    if writer is None:
        T.write_into(me._raw, result)
    else:
        writer(*raws)
    bump(me)
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
    if mode.anomaly and slow.HANDLERS.trace is not None:
        slow.HANDLERS.trace(node)


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
    if wants and me._node is None:
        raise RuntimeError(errors.LEAF_INPLACE)
