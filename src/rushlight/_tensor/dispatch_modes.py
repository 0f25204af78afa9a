"""What happens to an operation while dispatch modes are on, or a profile is taken.

Dispatch modes stand below autograd: a mode gets the operation with the tensors as they are, what it
returns is the result, and the operation is recorded as if nothing had happened. The profiler stands
around both.

Note [Backward under a watch]
Formulas usually run on raw arrays, where nobody sees operations. While somebody watches, a backward
runs on Tensors instead, without being recorded (`Mode.carrying`): then each operation of a formula
passes through here like any other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _table as _ops
from .._base.device import CPU
from .._core import slow
from .._core.apply import apply_n
from .._core.inplace import apply_inplace, check_writable, write
from .._core.interposers import NOT_HANDLED, Interposer, interpose
from .._core.mode import CURRENT, Mode, derive
from .._core.op import OUT, PROMOTE_NONE, Op
from .._core.storage import TensorBase, new_tensor, version_of
from .._core.views import attach_view
from .._table.names import aten as _aten
from .._table.names.aten import FORMS
from .._table.names.aten_forms import classify_call, parts_of
from .._table.rows.out_argument import run_into
from .factories import FACTORIES, show_calls
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import AnyCallable, Arguments

ATEN: Any = _ops.aten()


def _watch(op: Op, args: list[object], mode: Mode) -> Any:
    """The result of an operation that somebody watches."""
    parts = parts_of(op)
    profiler = mode.profiler
    if profiler is None:
        return parts(*args) if parts is not None else dispatch(op, args, mode)
    event = profiler.enter(op, args, False)
    try:
        if parts is not None:
            return parts(*args)
        if mode.dispatch:
            return dispatch(op, args, mode)
        before = CURRENT.get()
        try:
            CURRENT.set(profiler.without(mode))
            result = slow.apply(op, args)
        finally:
            CURRENT.set(before)
        profiler.note_node(event, result)
        return result
    finally:
        profiler.leave(event)


def _watch_inplace(op: Op, args: list[object], writer: Callable[..., object], mode: Mode) -> object:
    """The same for an operation in place."""
    profiler = mode.profiler
    if profiler is None:
        return dispatch_inplace(op, args, writer, mode)
    event = profiler.enter(op, args, True)
    try:
        if mode.dispatch:
            return dispatch_inplace(op, args, writer, mode)
        former_mode = CURRENT.get()
        try:
            CURRENT.set(profiler.without(mode))
            return apply_inplace(op, args, writer)
        finally:
            CURRENT.set(former_mode)
    finally:
        profiler.leave(event)


def ask_mode(
    mode: Mode,
    function: Callable[..., object],
    types: tuple[object, ...],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Any:
    """What the innermost dispatch mode makes of a call; it runs outside of itself and of autograd.

    Raises:
        TypeError: where the mode gives NotImplemented.
    """
    top = mode.dispatch[-1]
    inner = derive(mode, grad=False, forward_grad=False, dispatch=mode.dispatch[:-1],
                     saved_hooks=())  # fmt: skip
    former_mode = CURRENT.get()
    try:
        CURRENT.set(inner)
        result = top.__torch_dispatch__(function, types, args, kwargs)
    finally:
        CURRENT.set(former_mode)
    if result is NotImplemented:
        raise TypeError(
            f"Multiple dispatch failed for 'torch._ops.{function}'; all __torch_dispatch__ "
            f"handlers returned NotImplemented:\n\n  - mode object {top!r}\n\n"
            "For more information, try re-running with TORCH_LOGS=not_implemented"
        )
    return result


def dispatch(op: Op, args: list[object], mode: Mode) -> Any:
    """The result that the innermost dispatch mode gives, recorded."""
    raws = [slow.to_raw(arg) for arg in args]
    promoted = slow.promote(op, args, raws) if op.promote != PROMOTE_NONE else None
    function, given, named, index = classify_call(op, args, False)
    result = ask_mode(mode, function, (), given, named)
    if index >= 0:
        result = result[index]
    values = [result] if op.n_out == 1 else list(result)
    outs = [_own(value, args, op, k) for k, value in enumerate(values)]
    live = slow.live_mask(op, args) if mode.grad and not mode.inference else 0
    if live:
        slow.record(op, args, raws, outs, live, mode, promoted)
        if op.saves_out:
            _note_saved(op, outs, live, mode)
    elif mode.inference and not op.is_view:
        for out in outs:
            out._inference = True
            out._plain = False
    if op.n_out == 1:
        return outs[0]
    return tuple(outs) if op.returns is None else op.returns(outs)


def _own(value: Any, args: Arguments, op: Op, k: int) -> Any:
    """A result of a mode as a tensor that can be given a place in the graph.

    Raises:
        RuntimeError: where the mode returned something else.
    """
    if not isinstance(value, TensorBase):
        raise RuntimeError(f"Unable to cast {value!r} to Tensor")
    if op.is_view:
        out = new_tensor(value._raw)
        attach_view(out, args[0], op, tuple(args[1:]), -1 if op.n_out == 1 else k)
        return out
    fresh = value._node is None and not value._requires_grad and value._view is None
    if fresh and not any(value is arg for arg in args):
        return value
    return new_tensor(value._raw)


def _note_saved(op: Op, outs: list[TensorBase], live: int, mode: Mode) -> None:
    """Shows the mode that a result is saved, which PyTorch does by detaching it."""
    for k, entry in enumerate(op.entries):
        out = outs[entry[1]] if entry[0] == OUT and op.masks[k] & live else None
        if out is not None and out._requires_grad:
            ask_mode(mode, _aten.find_overload("detach", "default"), (Tensor,), (out,), {})


def dispatch_inplace(op: Op, args: Arguments, writer: Callable[..., object], mode: Mode) -> object:
    """The tensor written, by whatever the innermost dispatch mode does; recorded."""
    me = args[0]
    live = 0
    if mode.grad and not mode.inference:
        live = slow.live_mask(op, args)
        if live or me._requires_grad:
            check_writable(me)
    raws = [slow.to_raw(arg) for arg in args]
    promoted = slow.promote(op, args, raws) if op.promote != PROMOTE_NONE else None
    function, given, named, _ = classify_call(op, args, True)

    def restore_version(*_: object) -> None:
        before = version_of(me)
        ask_mode(mode, function, (), given, named)
        cell = me._cell if me._view is None else me._view.base._cell
        if cell is not None:  # the write is counted once
            cell.n = before

    if promoted is not None and promoted.name == str(me._raw.dtype):
        promoted = None
    write(me, args, raws, None, op, live, mode, promoted, restore_version)
    if live and op.saves_out:
        _note_saved(op, [me], live, mode)
    return me


def _watch_out(row: Any, args: list[object], out: object, mode: Mode) -> object:
    """The tensor given as `out=`, written by whatever the innermost dispatch mode does."""
    name = _aten.out_name(row)
    packet = getattr(ATEN, row.schema.name.replace(".", "_"), None)
    if packet is None or name not in packet.overloads():
        run = partial(apply_n, row.op, args)
        return run_into(row.schema.name, run, args, out, rules=row.out_rules)
    _, given, named, _ = classify_call(row.op, args, False)
    return ask_mode(mode, getattr(packet, name), (), given, {**named, "out": out})


# ---- what does not go through rows --------------------------------------------------------------
def watch_factory(
    mode: Mode,
    function: Callable[..., object],
    name: str,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """A call that isn't one of a row, as those who watch see it."""
    profiler = mode.profiler
    event = (
        None if profiler is None else profiler.enter_named(f"aten::{name.partition('.')[0]}", args)
    )
    try:
        if not mode.dispatch:
            return function(*args, **kwargs)
        if name == "lift_fresh.default":  # the elements come from outside
            wants = bool(kwargs.pop("requires_grad", False))
            made = ask_mode(mode, _aten.find_overload("lift_fresh", "default"), (),
                         (function(*args, **kwargs),), {})  # fmt: skip
            made._requires_grad = wants
            return made
        if name.partition(".")[0] in ("detach", "_local_scalar_dense"):
            given, named = args, dict(kwargs)
        else:
            given, named = _as_seen(name, args, kwargs)
        stem, _, overload = name.partition(".")
        wants = bool(named.pop("requires_grad", False))
        result = ask_mode(mode, _aten.find_overload(stem, overload), (), given, named)
        if isinstance(result, TensorBase) and wants:
            result._requires_grad = True
        return result
    finally:
        if event is not None:
            profiler.leave(event)


def _without_place(function: AnyCallable) -> Callable[..., object]:
    """A factory that takes, and ignores, where the dispatcher wants the tensor to be."""

    def call(*args: object, **kwargs: object) -> object:
        for name in ("pin_memory", "device", "layout"):
            kwargs.pop(name, None)
        return function(*args, **kwargs)

    return call


def _as_seen(
    name: str, args: tuple[object, ...], kwargs: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a factory as the dispatcher hands them on: sizes in one list, a device."""
    named = {k: v for k, v in kwargs.items() if v is not None and k not in ("out", "size")}
    given = list(args)
    if "size" in kwargs:
        given.append(kwargs["size"])
    stem = name.partition(".")[0]
    sized = stem in ("zeros", "ones", "empty", "randn", "rand")
    if sized and given and isinstance(given[0], int):
        given = [list(given)]
    given = [list(a) if isinstance(a, tuple) else a for a in given]
    order = {k: named[k] for k in ("dtype", "layout") if k in named}
    if not stem.endswith("_like"):
        order["device"] = named.get("device", CPU)
    elif "device" in named:
        order["device"] = named["device"]
    order["pin_memory"] = named.get("pin_memory", False)
    order.update({k: v for k, v in named.items() if k not in order})
    return tuple(given), order


class _Modes(Interposer):
    """Dispatch modes and the profiler."""

    def call(self, op: Op, args: list[object], mode: Mode, layered: bool) -> object:
        """An operation that somebody watches."""
        if mode.profiler is None and not mode.dispatch:
            return NOT_HANDLED
        return _watch(op, args, mode)

    def write(self, op: Op, args: list[object], writer: Any, mode: Mode, layered: bool) -> object:
        """A write, likewise."""
        if mode.profiler is None and not mode.dispatch:
            return NOT_HANDLED
        return _watch_inplace(op, args, writer, mode)

    def write_out(self, row: object, args: list[object], out: object, mode: Mode) -> object:
        """A result that goes into a tensor, likewise."""
        return _watch_out(row, args, out, mode) if mode.dispatch else NOT_HANDLED

    def make(self, function: Any, name: str, args: Any, kwargs: Any, mode: Mode) -> object:
        """A tensor that is made of nothing, likewise."""
        if mode.profiler is None and not mode.dispatch:
            return NOT_HANDLED
        return watch_factory(mode, function, name, args, kwargs)


interpose("modes", _Modes())

for _name, _overload in FACTORIES.items():
    if _name != "tensor":
        _schema = f"{_overload.removesuffix('.default')}(Any size) -> Tensor"
        FORMS[_overload] = (_schema, _without_place(show_calls(_ops.PUBLIC["", _name], _overload)))
    ATEN.__dict__.pop(_overload.partition(".")[0], None)
