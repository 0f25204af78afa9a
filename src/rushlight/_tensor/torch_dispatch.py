"""Subclasses of `Tensor` with a `__torch_dispatch__`: they say what operations do below autograd.

Note [Dispatching subclasses]
`__torch_dispatch__(func, types, args, kwargs)` of a class is called for each operation that gets an
instance, with the operator (`torch.ops.aten.mul.Tensor`); what it returns is the result, and is
recorded like any other. Dispatch modes that are on come first (see `watching`).

`Tensor._make_wrapper_subclass` makes an instance that has a shape, strides and an element type but
no memory: its class keeps the data in attributes. It lies over a `Wrapped` array, whose elements
nobody may read. As formulas run on arrays where nobody watches, backwards run on Tensors as long as
an instance of such a class lives.

This module is loaded when the first such class is declared. Functions ask from when a program has
declared one, or an instance of one of the library's own lives: a program that imports `DTensor`
and never makes one has no slower calls.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory.meta import Wrapped, meta_array, with_strides
from .._array.shape.create import full
from .._base.device import CPU, device as _device
from .._base.dtypes import get_default_dtype
from .._core import slow
from .._core.inplace import check_writable, write
from .._core.interposers import NOT_HANDLED, Interposer, interpose
from .._core.mode import CURRENT, Mode, ask_class, current, derive, ready
from .._core.op import OUT, PROMOTE_NONE, Op
from .._core.slow import TANGENTS
from .._core.storage import TensorBase, init_tensor, new_tensor, version_of
from .._table.names.aten import find_overload as _operator
from .._table.names.aten_forms import classify_call, parts_of
from .._table.rows import meta as _meta
from . import dispatch_modes as watching
from .copies import attributes_of, set_attributes
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import Arguments, DeviceLike, Positional, Shape
    from .._base.dtypes import dtype
    from .._base.memory_format import layout, memory_format
    from .._core.node import Node

NO_STORAGE: Final = (
    "Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using "
    "torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. "
    "To fix this, please wrap the custom kernel into an opaque custom op. Please see the following "
    "for details: https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
)


def make_wrapper_subclass(
    cls: type[object],
    size: Shape,
    strides: Shape | None = None,
    storage_offset: object = None,
    memory_format: memory_format | None = None,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: object = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    storage_size: object = None,
) -> Tensor:
    """An instance of `cls` of that size and type, without memory.

    Raises: TypeError for what is no class of tensors with a `__torch_dispatch__`.
    """
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not cls._dispatches:
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    raw = T.to_raw(get_default_dtype() if dtype is None else dtype)
    shape = tuple(int(n) for n in size)
    array = meta_array(shape, raw) if strides is None else with_strides(shape, tuple(strides), raw)
    made = TensorBase.__new__(cls)
    init_tensor(made, array.view(Wrapped))
    place = CPU if device is None else _device(device)
    if place.type == "meta":
        made._raw = array
    elif place.type != "cpu":
        raise RuntimeError(f"Rushlight has no device {place}: a wrapper is on the CPU or on meta")
    made._requires_grad = bool(requires_grad)
    return note(_meta.mark_without_data(made))


def note(made: Tensor) -> Tensor:
    """The instance of a dispatching class, which is now known to live."""
    ask_class(Tensor)
    key = id(made)
    _meta.LIVE[key] = weakref.ref(made, lambda _: _meta.LIVE.pop(key, None))
    return made


def _again(t: Any) -> Any:
    """A tensor of the class, over the memory and with the attributes of `t`, without history."""
    made = TensorBase.__new__(type(t))
    init_tensor(made, t._raw)
    set_attributes(made, attributes_of(t))
    if type(t)._dispatches:
        note(_meta.mark_without_data(made))
    return made


def instances(values: Any) -> list[Any]:
    """Instances of dispatching classes among arguments, one of each class, derived ones first."""
    found: list[Any] = []
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if not isinstance(item, TensorBase) or item._plain or not type(item)._dispatches:  # type: ignore[attr-defined]
                continue
            if any(type(item) is type(other) for other in found):
                continue
            place = next((i for i, o in enumerate(found) if isinstance(item, type(o))), len(found))
            found.insert(place, item)
    return found


def ask_classes(
    mode: Mode,
    found: Arguments,
    function: object,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Any:
    """What the classes of `found` make of a call, outside of autograd.

    Raises: TypeError where all of them give NotImplemented.
    """
    types = tuple(type(item) for item in found)
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, grad=False, forward_grad=False, saved_hooks=()))
        for cls in types:
            result = cls.__torch_dispatch__(function, types, args, kwargs)
            if result is not NotImplemented:
                return result
    finally:
        CURRENT.set(before)
    lines = "".join(f"  - tensor subclass {cls}\n" for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for 'torch._ops.{function}'; all __torch_dispatch__ handlers "
        f"returned NotImplemented:\n\n{lines}\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )


def _own(value: object, args: list[object]) -> Any:
    """A result as a tensor that can be given a place in the graph.

    Raises: RuntimeError where the class returned something else.
    """
    if not isinstance(value, TensorBase):
        raise RuntimeError(f"Unable to cast {value!r} to Tensor")
    fresh = value._node is None and not value._requires_grad and value._view is None
    if fresh and not any(value is arg for arg in args):
        return value
    return _again(value) if type(value) is not Tensor else new_tensor(value._raw)


def call(op: Op, args: list[object]) -> Any:
    """The result of an operation that gets an instance of a dispatching class."""
    found = instances(args)
    if not found:
        return NOT_HANDLED
    parts = parts_of(op)
    if parts is not None:
        return parts(*args)
    mode = ready()
    function, given, named, index = classify_call(op, args, False)
    result = ask_classes(mode, found, function, given, named)
    if index >= 0:
        result = result[index]
    values = [result] if op.n_out == 1 else list(result)
    outs = [_own(value, args) for value in values]
    live = slow.live_mask(op, args) if mode.grad and not mode.inference else 0
    if live:
        raws = [slow.to_raw(arg) for arg in args]
        promoted = slow.promote(op, args, raws) if op.promote != PROMOTE_NONE else None
        slow.record(op, args, raws, outs, live, mode, promoted)
        for out in outs:
            if out._node is not None:
                keep_outputs(out._node, outs)
                break
    if mode.forward_grad and TANGENTS.carry is not None:
        TANGENTS.carry(op, args, outs)
    if op.n_out == 1:
        return outs[0]
    return tuple(outs) if op.returns is None else op.returns(outs)


def keep_outputs(node: Node, outs: list[TensorBase]) -> None:
    """Has a node that saves results save tensors of their class: their arrays hold nothing."""
    for k, entry in enumerate(node.op.entries):
        if entry[0] != OUT:
            continue
        out: Any = outs[entry[1]]
        if not type(out)._dispatches or node.saved[k] is None:
            continue
        kept = _again(out)
        kept._node, kept._nr, kept._requires_grad = node, out._nr, True
        saved = list(node.saved)
        saved[k] = kept
        node.saved = tuple(saved)


def call_inplace(op: Op, args: list[object], writer: Callable[..., object]) -> object:
    """The tensor written by an operation that gets an instance of a dispatching class."""
    found = instances(args)
    if not found:
        return NOT_HANDLED
    me: Any = args[0]
    mode = ready()
    live = 0
    if mode.grad and not mode.inference:
        live = slow.live_mask(op, args)
        if live or me._requires_grad:
            check_writable(me)
    raws = [slow.to_raw(arg) for arg in args]
    function, given, named, _ = classify_call(op, args, True)

    def restore_version(*_: object) -> None:
        before = version_of(me)
        ask_classes(mode, found, function, given, named)
        cell = me._cell if me._view is None else me._view.base._cell
        if cell is not None:  # the write is counted once
            cell.n = before

    write(me, args, raws, None, op, live, mode, None, restore_version)
    return me


def receive_gradient(leaf: TensorBase, g: Tensor) -> bool:
    """Gives a leaf a gradient of a dispatching class; False where it is of none."""
    old = leaf._grad
    if not (type(g)._dispatches or (old is not None and type(old)._dispatches)):
        return False
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), grad=False))
        leaf._grad = _own(g, [g]) if old is None else old + g
    finally:
        CURRENT.set(former_mode)
    return True


def ask_class_of_first(
    function: Callable[..., object] | None, name: str, args: tuple[Tensor, ...], kwargs: Any
) -> Any:
    """A call that isn't one of a row, as the class of its first argument has it done."""
    stem, _, overload = name.partition(".")
    if stem in ("detach", "_local_scalar_dense"):
        given, named = args, dict(kwargs)
    else:
        given, named = watching._as_seen(name, args, kwargs)
        if not named.get("pin_memory"):
            named["pin_memory"] = False
    wants = bool(named.pop("requires_grad", False))
    result = ask_classes(current(), instances(args), _operator(stem, overload), given, named)
    if isinstance(result, TensorBase):
        result = _own(result, list(args))
        result._requires_grad = wants
    return result


def start_gradient(t: Tensor) -> Any:
    """The gradient of ones that a backward from an instance of a dispatching class starts with."""
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), grad=False))
        return ask_class_of_first(None, "ones_like.default", (t,), {})
    finally:
        CURRENT.set(former_mode)


def answer(name: str, args: tuple[Tensor, ...]) -> object:
    """What the class of a tensor among the arguments answers, or NOT_HANDLED where none is asked.

    Where the class answers a name that isn't an operator of one overload, it isn't asked.
    """
    found = instances(args)
    if not found:
        return NOT_HANDLED
    return ask_classes(ready(), found, _operator(name, "default"), args, {})


def read(t: Any) -> Any:
    """The array to read where a class keeps the data; NOT_HANDLED: the tensor's own.

    Raises: RuntimeError where there are several elements, or no data.
    """
    if not type(t)._dispatches:
        return NOT_HANDLED
    if t._raw.size != 1:
        if type(t._raw) is Wrapped:
            raise RuntimeError(NO_STORAGE)
        return NOT_HANDLED
    number = ask_classes(ready(), [t], _operator("_local_scalar_dense", "default"), (t,), {})
    return full((), number, T.from_raw(t._raw.dtype))


class _Classes(Interposer):
    """Classes with a `__torch_dispatch__`."""

    def call(self, op: Op, args: list[object], mode: Mode, layered: bool) -> object:
        """An operation, as the classes of its arguments do it."""
        return call(op, args) if layered else NOT_HANDLED

    def write(self, op: Op, args: list[object], writer: Any, mode: Mode, layered: bool) -> object:
        """A write, likewise."""
        return call_inplace(op, args, writer) if layered else NOT_HANDLED

    def make(self, function: Any, name: str, args: Any, kwargs: object, mode: Mode) -> object:
        """What is made like an instance, or of it."""
        if args and getattr(type(args[0]), "_dispatches", False):
            return ask_class_of_first(function, name, args, kwargs)
        return NOT_HANDLED

    def call_kind(
        self, kind: str, name: str, function: object, args: Any, kwargs: object
    ) -> object:
        """What a formula makes like an instance: there no public function asks the class."""
        if kind == "like" and type(args[0])._dispatches:
            return ask_class_of_first(None, f"{name}.default", args, kwargs)
        return NOT_HANDLED

    def look(self, name: str, args: Positional) -> object:
        """What the class says of an instance."""
        return answer(name, args)

    def read(self, t: TensorBase) -> object:
        """The elements, which the class has."""
        return read(t)

    def receive(self, leaf: TensorBase, g: Tensor) -> object:
        """A gradient of such a class."""
        return leaf if receive_gradient(leaf, g) else NOT_HANDLED


interpose("classes", _Classes())
