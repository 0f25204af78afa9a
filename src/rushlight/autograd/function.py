"""`Function`: operations with a forward and a backward of the user's own."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

from .._array import types as T
from .._core import engine, slow
from .._core.copyslices import custom_op, rebase
from .._core.hooks import carry_retained
from .._core.mode import CURRENT, Mode, ready, replaced, unrecorded
from .._core.node import Vertex, new_node
from .._core.storage import (
    IN_CUSTOM_FUNCTION,
    MULTI_OUTPUT,
    TensorBase,
    View,
    bump,
    new_tensor,
    version_of,
)
from .._core.views import view_target
from . import forward_ad
from .context import BackwardCFunction, FunctionCtx, FunctionNode


class Transforms:
    """How a `Function` is applied under a transform such as vmap; handed in by that layer."""

    __slots__ = ("apply",)

    apply: Any  # (function class, args) -> result, or slow.NOT_HANDLED

    def __init__(self) -> None:
        self.apply = None


TRANSFORMS: Final = Transforms()


class Function:
    """The base of operations with a forward and a backward of the user's own; use `apply`."""

    _backward_cls: Any = BackwardCFunction
    _core_op: Any = None
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function "
            "will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: call `apply` of the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__name__ + "Backward"
        cls._backward_cls = type(name, (BackwardCFunction,), {"_forward_cls": cls})
        op = custom_op(cls.__name__, type(name, (FunctionNode,), {"__slots__": ()}))
        op.n_out = -1
        op.saves_out = True
        op.runs_on_none = True
        cls._core_op = op

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the outputs: `forward(ctx, *args)`, or no `ctx` beside a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Notes in `ctx` what the other methods need; goes with a `forward` without `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Computes one gradient for each argument of `forward` (None where it has none)."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to "
            "use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Computes the tangent of each output from those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward "
            "mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Computes a batch at once; returns the outputs and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _backward_method(cls) -> Callable[..., Any]:
        """The user's backward: the method `backward`, or `vjp`, which is another name for it."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs `forward` unrecorded and records this function as one node."""
        mode = ready()
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:
            args, kwargs = _positional(cls, separate, args, kwargs)
        if TRANSFORMS.apply is not None and (mode.layers or _any_layered(args)):
            handled = TRANSFORMS.apply(cls, args)
            if handled is not slow.NOT_HANDLED:
                return handled
        node, executable = _opened(cls, args, mode)
        ctx = node.shown()
        token = CURRENT.set(unrecorded(mode))
        try:
            if separate:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args, **kwargs)
        finally:
            CURRENT.reset(token)
        return _closed(node, args, result, executable, mode)


def _positional(cls: Any, separate: bool, args: tuple[Any, ...],
                kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """Arguments by keyword, and defaults, put where `forward` has them by position."""
    signature = inspect.signature(cls.forward)
    lead = () if separate else (None,)
    bound = signature.bind(*lead, *args, **kwargs)
    bound.apply_defaults()
    return bound.args[len(lead) :], bound.kwargs


def _any_layered(args: tuple[Any, ...]) -> bool:
    return any(isinstance(a, TensorBase) and a._layered for a in args)


def _opened(cls: Any, args: tuple[Any, ...], mode: Mode) -> tuple[FunctionNode, bool]:
    """The node of a call about to happen, with its edges, and whether the call is recorded."""
    targets: list[Vertex | None] = []
    nrs: list[int] = []
    places: list[int] = []
    shapes: list[Any] = []
    needs: list[bool] = []
    for i, a in enumerate(args):
        if isinstance(a, TensorBase):
            targets.append(view_target(a))
            nrs.append(a._nr)
            places.append(i)
            shapes.append((a._raw.shape, a._raw.dtype))
            needs.append(a._requires_grad)
        else:
            needs.append(False)
    if cls._core_op is None:
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )
    executable = mode.grad and any(needs)
    node = new_node(cls._core_op, tuple(targets) if executable else (), ())
    assert isinstance(node, FunctionNode)
    if any(nrs):
        node.nrs = tuple(nrs)
    node.function = cls
    node.attributes = {}
    node.face = None
    node.needs = tuple(needs)
    node.places = tuple(places)
    node.shapes = tuple(shapes)
    node.kept = []
    node.freed = False
    node.materialize = True
    node.forward_kept = None
    return node, executable


def _closed(node: FunctionNode, args: tuple[Any, ...], result: Any, executable: bool,
            mode: Mode) -> Any:  # fmt: skip
    """The outputs of a finished forward, tied to the node; does what `ctx` was asked for."""
    notes = node.attributes
    to_save = notes.pop("to_save", ())
    dirty = notes.pop("dirty_tensors", ())
    if dirty:
        _check_tensors(dirty, "mark_dirty")
    plain = notes.pop("non_differentiable", ())
    if plain:
        _check_tensors(plain, "mark_non_differentiable")
    node.materialize = bool(notes.get("materialize_grads", True))
    outputs = list(result) if type(result) is tuple else [result]
    tensors = [o for o in outputs if isinstance(o, TensorBase)]
    if dirty and any(not any(d is o for o in tensors) for d in dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    inputs = {id(a) for a in args if isinstance(a, TensorBase)}
    written = {id(d) for d in dirty}
    without = {id(p) for p in plain}
    for d in dirty:
        bump(d)
    node.out_meta = tuple(
        [(o._raw.shape, o._raw.dtype) if isinstance(o, TensorBase) else None for o in outputs]
    )
    several = len(tensors) > 1
    ready_outputs: list[Any] = []
    for number, o in enumerate(outputs):
        if not isinstance(o, TensorBase):
            ready_outputs.append(o)
            continue
        differentiable = executable and id(o) not in without and not T.is_discrete(o._raw.dtype)
        mine = id(o) in inputs
        if not differentiable:
            if o._requires_grad and id(o) not in written:
                o = o.detach() if mine else _cut(o)  # type: ignore[attr-defined]
            ready_outputs.append(o)
        elif id(o) in written:
            ready_outputs.append(_rewritten(o, node, number, mine, len(outputs)))
        else:
            ready_outputs.append(_tied(_alias(o) if mine else o, node, number, several))
    if mode.forward_grad and forward_ad.level_is_open():
        _carry_tangents(node, args, ready_outputs, notes, to_save)
    notes.pop("saved_for_forward", None)
    if executable:
        node.keep(to_save, mode)
        if mode.anomaly and slow.HANDLERS.trace is not None:
            slow.HANDLERS.trace(node)
    return tuple(ready_outputs) if type(result) is tuple else ready_outputs[0]


def _check_tensors(values: Any, method: str) -> None:
    for i, v in enumerate(values):
        if not isinstance(v, TensorBase):
            raise TypeError(
                f"{method} only accepts variable arguments, but got {type(v).__name__}"
                if method == "mark_non_differentiable"
                else f"mark_dirty can only accept variables, but argument {i} is of type "
                f"{type(v).__name__}"
            )


def _cut(o: TensorBase) -> TensorBase:
    """An output that is declared to have no gradient, without its history."""
    o._node = None
    o._nr = 0
    o._requires_grad = False
    return o


def _alias(o: TensorBase) -> TensorBase:
    """A view of all of an input that was returned as it is."""
    again = new_tensor(o._raw)
    parent = o._view
    base = o if parent is None else parent.base
    steps = None if parent is None else parent.replay
    again._view = View(base, steps, IN_CUSTOM_FUNCTION, version_of(base))
    if o._inference:
        again._inference = True
        again._plain = False
    return again


def _tied(o: TensorBase, node: FunctionNode, number: int, several: bool) -> TensorBase:
    """An output with its history set."""
    o._node = node
    o._nr = number + 1
    o._requires_grad = True
    view = o._view
    if view is not None and view.tracked:
        # One that the in-place machinery can't rebase: it would go around the user's backward.
        view.creation = MULTI_OUTPUT if several else IN_CUSTOM_FUNCTION
        view.stamp = version_of(view.base)
    if o._cell is not None:
        if node.out_cells is None:
            node.out_cells = {}
        node.out_cells[number] = o._cell
    return o


def _rewritten(
    o: TensorBase, node: FunctionNode, number: int, mine: bool, count: int
) -> TensorBase:
    """An input that forward has written in place: its history is now this node."""
    if o._node is None and o._requires_grad:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not mine:
        warnings.warn(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, "
            "there "
            "is no need to pass it to mark_dirty().",
            UserWarning,
            stacklevel=4,
        )
    view = o._view
    if view is not None and view.tracked and mine:
        if count > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() "
                "for example) or make your Function only return one Tensor (potentially splitting "
                "it "
                "into two Functions: one doing the inplace that returns a single Tensor and a "
                "second "
                "one that does the other operations). You can ask on the forum "
                "https://discuss.pytorch.org/ if you need help to do this change."
            )
        rebase(o, node)
        return o
    old, old_nr = o._node, o._nr - 1 if o._nr else 0
    o._node = node
    o._nr = number + 1
    o._requires_grad = True
    o._grad = None
    carry_retained(o, old, old_nr, node, number)
    if o._cell is not None:
        if node.out_cells is None:
            node.out_cells = {}
        node.out_cells[number] = o._cell
    return o


def _carry_tangents(
    node: FunctionNode,
    args: tuple[Any, ...],
    outputs: list[Any],
    notes: dict[str, Any],
    to_save: Any,
) -> None:
    """Forward mode: the user's `jvp` on the arguments' tangents, where some argument has one.

    Raises:
        RuntimeError: where it returns another number of tangents than there are outputs.
    """
    tangents = [forward_ad.tangent_of(a) if isinstance(a, TensorBase) else None for a in args]
    if all(t is None for t in tangents):
        return
    if node.materialize:
        tangents = [
            new_tensor(engine.WORLDS.raw.zeros(a._raw.shape, a._raw.dtype))
            if t is None and isinstance(a, TensorBase)
            else t
            for t, a in zip(tangents, args)
        ]
    node.forward_kept = tuple(notes.get("saved_for_forward", to_save))
    token = CURRENT.set(replaced(ready(), forward_grad=False))
    try:
        found = node.function.jvp(node.shown(), *tangents)
    finally:
        CURRENT.reset(token)
        node.forward_kept = None
    found = found if type(found) is tuple else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(
            f"{node.function.__name__}'s jvp returned {len(found)} tangents for {len(outputs)} "
            "outputs"
        )
    for o, t in zip(outputs, found):
        if isinstance(o, TensorBase) and t is not None:
            forward_ad.set_tangent(o, t)


# ---- what refuses a second derivative ------------------------------------------------------------


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A `backward` whose results can't be differentiated again: trying to raises an error."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        mode = ready()
        token = CURRENT.set(replaced(mode, grad=False))
        try:
            outputs = fn(ctx, *args)
        finally:
            CURRENT.reset(token)
        if not mode.grad:
            return outputs
        if not any(isinstance(a, TensorBase) and a._requires_grad for a in args):
            return outputs
        group = outputs if isinstance(outputs, tuple) else (outputs,)
        guarded = tuple(_guarded(o) if isinstance(o, TensorBase) else o for o in group)
        return guarded if isinstance(outputs, tuple) else guarded[0]

    return wrapper


def _guarded(o: Any) -> Any:
    start = new_tensor(o._raw)
    start._requires_grad = not T.is_discrete(o._raw.dtype)
    return Error.apply(start)


class Error(Function):
    """The identity, with a backward that refuses."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


Error._backward_cls.__name__ = Error._core_op.node_class.__name__ = "Error"


class InplaceFunction(Function):
    """A `Function` that may be asked to work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


__all__ = [
    "TRANSFORMS",
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "InplaceFunction",
    "once_differentiable",
]  # fmt: skip
