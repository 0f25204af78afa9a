"""`Function`: operations with a forward and a backward of the user's own."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._base import errors
from .._core.copyslices import custom_op, rebase
from .._core.hooks import carry_retained
from .._core.interposers import NOT_HANDLED
from .._core.mode import CURRENT, Mode, derive, derive_unrecorded, ready
from .._core.node import Vertex, new_node
from .._core.run import ANOMALY
from .._core.storage import (
    DEFAULT,
    IN_CUSTOM_FUNCTION,
    IN_NO_GRAD,
    MULTI_OUTPUT,
    TensorBase,
    View,
    bump,
    new_tensor,
    version_of,
)
from .._core.views import follows, refuse_view, view_target
from .context import Awaited, BackwardCFunction, FunctionCtx, FunctionNode, refuse_others
from .custom_tangents import carry_tangents
from .delayed_error import DelayedError
from .duals import level_is_open

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor


class Transforms:
    """How a `Function` is applied under a transform such as vmap; handed in by that layer."""

    __slots__ = ("apply", "depth")

    depth: Any  # a context variable: how many transforms are running
    apply: Any  # (function class, args) -> result, or NOT_HANDLED

    def __init__(self) -> None:
        self.apply = None
        self.depth = None


TRANSFORMS: Final = Transforms()


class FunctionMeta(type):
    """The type of function classes: gives each a context class and a node class of its own."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, object]) -> None:
        seen = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        op = custom_op(name, type(name + "Backward", (FunctionNode,), {"__slots__": ()}))
        op.n_out = -1
        op.saves_out = True
        op.runs_on_none = True
        cls._backward_cls: Any = seen
        cls._core_op: Any = op
        super().__init__(name, bases, attrs)


class _SingleLevelFunction(FunctionCtx, metaclass=FunctionMeta):
    """What a function class may define; each method says how it is missed."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> object:
        """Computes the outputs: `forward(ctx, *args)`, or no `ctx` beside a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[object, ...], output: object) -> object:
        """Notes in `ctx` what the other methods need; goes with a `forward` without `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> object:
        """Computes one gradient for each argument of `forward` (None where it has none)."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> object:
        """Computes the tangent of each output from those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def _backward_method(cls) -> Callable[..., object]:
        """The user's backward: the method `backward`, or `vjp`, which is another name for it."""
        if cls.vjp is _SingleLevelFunction.vjp:
            return cls.backward
        if cls.backward is not _SingleLevelFunction.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Runs `forward` and records this function, whatever derivatives are being computed.

        Raises:
            NotImplementedError: under vmap, whose batches have graphs of their own.
        """
        mode = ready()
        if mode.layers and _any_layered(args):
            raise NotImplementedError(
                f"{cls.__name__}: a function of a single level can't be recorded under vmap; "
                "derive it from torch.autograd.Function"
            )
        separate = _is_setup_context_defined(cls.setup_context)
        if separate or kwargs:
            args = _positional(cls.forward, separate, args, kwargs)
        return cls._record(args, mode, separate)

    @classmethod
    def _record(cls, args: tuple[object, ...], mode: Mode, separate: bool) -> Any:
        """Runs `forward` unrecorded and records this function as one node."""
        node, executable = _open(cls, args, mode)
        ctx = node.shown()
        before = CURRENT.get()
        try:
            CURRENT.set(derive_unrecorded(mode))
            if separate:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        finally:
            CURRENT.set(before)
        return _close(node, args, result, executable, separate, mode)


class Function(_SingleLevelFunction):
    """The base of operations with a forward and a backward of the user's own; use `apply`.

    A subclass has static methods: `forward(ctx, *args)`, which computes, and notes on `ctx` what
        the
    gradient needs (`ctx.save_for_backward`), and `backward(ctx, *grads)`, which takes a gradient
    for each output and gives one for each argument of `forward`, None where there is none. With
    `setup_context(ctx, inputs, output)` the notes are taken there and `forward` has no `ctx`, which
    the transforms of `func` need; `jvp` and `vmap` say how it behaves in forward mode and in
    batches.

    Parameters:
        args: nothing is made of them: instances aren't needed.
    Raises: nothing; an instance warns that it is deprecated.
    Example:
        >>> class Cube(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x**3
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (x,) = ctx.saved_tensors
        ...         return 3 * x**2 * g
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> Cube.apply(x).backward()
        >>> x.grad
        tensor(12.)
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: object) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Refused: call `apply` of the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def vmap(info: object, in_dims: object, *args: object) -> Any:
        """Computes a batch at once; returns the outputs and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Runs `forward` unrecorded and records this function as one node."""
        mode = ready()
        if mode.profiler is not None and mode.profiler.opens(cls.__name__):
            try:
                return cls.apply(*args, **kwargs)
            finally:
                mode.profiler.closes()
        separate = _is_setup_context_defined(cls.setup_context)
        if separate or kwargs:
            args = _positional(cls.forward, separate, args, kwargs)
        if TRANSFORMS.apply is not None and (
            mode.layers or _any_layered(args) or TRANSFORMS.depth.get()
        ):
            handled = TRANSFORMS.apply(cls, args)
            if handled is not NOT_HANDLED:
                return handled
        return cls._record(args, mode, separate)


def _is_setup_context_defined(fn: Callable[..., object]) -> bool:
    return fn is not _SingleLevelFunction.setup_context


def _positional(forward: Callable[..., object], separate: bool, args: tuple[object, ...],
                kwargs: dict[str, object]) -> tuple[object, ...]:  # fmt: skip
    """Arguments by keyword put where `forward` has them by position.

    The separate style gets its defaults filled in too, so that `setup_context` sees them.

    Raises:
        TypeError: where they don't fit the signature, or can only be given by keyword.
    """
    signature = inspect.signature(forward)
    if separate:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
        for name in kwargs:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        return args
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [p for p in signature.parameters.values() if p.kind in by_place][1:]
    names = [p.name for p in places]
    last = len(args)
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        last = max(last, names.index(name) + 1)
    filled = list(args)
    for i in range(len(args), last):
        default = kwargs.get(names[i], places[i].default)
        if default is inspect.Parameter.empty:
            raise TypeError(f"forward() missing required argument: '{names[i]}' (position {i})")
        filled.append(default)
    return tuple(filled)


def _any_layered(args: tuple[object, ...]) -> bool:
    return any(isinstance(a, TensorBase) and a._layered for a in args)


def _wants(t: TensorBase) -> bool:
    """Whether a tensor requires grad: a view made without recording does where its base does."""
    return t._requires_grad or (t._view is not None and follows(t))


def _open(cls: type[Any], args: tuple[object, ...], mode: Mode) -> tuple[FunctionNode, bool]:
    """The node of a call about to happen, with its edges, and whether the call is recorded."""
    targets: list[Vertex | None] = []
    nrs: list[int] = []
    places: list[int] = []
    shapes: list[Any] = []
    needs: list[bool] = []
    awaited = None
    for i, a in enumerate(args):
        if isinstance(a, TensorBase):
            if not a._plain and type(a)._dispatches:  # type: ignore[attr-defined]
                awaited = Awaited()
            targets.append(view_target(a))
            nrs.append(a._nr)
            places.append(i)
            shapes.append((a._raw.shape, a._raw.dtype))
            needs.append(_wants(a))
        else:
            needs.append(False)
    executable = mode.grad and any(needs)
    node = new_node(cls._core_op, tuple(targets) if executable else (), ())
    assert isinstance(node, FunctionNode)
    if any(nrs):
        node.nrs = tuple(nrs)
    node.function = cls
    node.attributes = {}
    node.awaited = awaited
    node.face = None
    node.needs = tuple(needs)
    node.places = tuple(places)
    node.shapes = tuple(shapes)
    node.kept = []
    node.freed = False
    node.materialize = True
    node.forward_kept = None
    node.taken_once = False
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    return node, executable


def _close(node: FunctionNode, args: tuple[object, ...], result: object, executable: bool,
            separate: bool, mode: Mode) -> object:  # fmt: skip
    """The outputs of a finished forward, tied to the node; does what `ctx` was asked for."""
    outputs = list(result) if isinstance(result, tuple) else [result]
    to_save: Any = node.to_save
    if to_save is not None:
        to_save = node.take("to_save", None)
        if executable:
            refuse_others(to_save)
    plain: Any = node.non_differentiable
    if plain is not None:
        plain = node.take("non_differentiable", NON_DIFFERENTIABLE)
    dirty: Any = node.dirty_tensors
    if dirty is not None:
        dirty = node.take("dirty_tensors", DIRTY)
    inputs = {id(a) for a in args if isinstance(a, TensorBase)}
    if node.attributes.get("_is_pure_view") and (len(inputs) > 1 or len(outputs) > 1):
        raise RuntimeError(
            "Pure view custom Function can only have one input Tensor and one output Tensor. Open "
            "an issue if you need to support more."
        )
    written: Any = ()
    if dirty:
        written = {id(d) for d in dirty}
        for d in dirty:
            bump(d)
    missing = bool(dirty) and any(not any(d is o for o in outputs) for d in dirty)
    without = {id(p) for p in plain} if plain else ()
    saved: set[int] = set()
    if separate:
        saved.update([id(t) for t in to_save or ()])
        saved.update([id(t) for t in node.saved_for_forward or ()])
    node.out_meta = tuple(
        [(o._raw.shape, o._raw.dtype) if isinstance(o, TensorBase) else None for o in outputs]
    )
    ready_outputs: list[Any] = []
    live: list[int] = []  # the numbers of the outputs that can have a tangent
    tied: list[TensorBase] = []
    for number, o in enumerate(outputs):
        if not isinstance(o, TensorBase):
            ready_outputs.append(o)
            continue
        differentiable = id(o) not in without and not T.is_discrete(o._raw.dtype)
        mine = id(o) in inputs
        dirt = id(o) in written
        if differentiable:
            live.append(number)
        recorded = executable and differentiable
        # One that requires grad and comes out unrecorded is detached, which may be saved.
        if mine and not dirt and id(o) in saved and (recorded or not _wants(o)):
            raise RuntimeError(INPUT_SAVED)
        if missing:
            continue
        if not recorded:
            o = _untie(o, mine, dirt, mode)
        elif dirt:
            o = _rewrite(o, node, number, mine, len(outputs))
        else:
            if mine:
                o = _alias(o)
            _tie(o, node, number)
        if recorded:
            tied.append(o)
        if not (mine and dirt) and o._view is not None and o._view.tracked:
            # One that the in-place machinery can't rebase: it would go around the user's backward.
            o._view.creation = IN_CUSTOM_FUNCTION
            o._view.stamp = version_of(o._view.base)
        ready_outputs.append(o)
    if len(tied) > 1:
        for o in tied:
            if o._view is not None and o._view.tracked:
                o._view.creation = MULTI_OUTPUT
    if missing:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    if mode.forward_grad and level_is_open():
        carry_tangents(node, args, ready_outputs, live, dirty or ())
    if executable:
        node.keep(to_save or (), mode)
        if mode.anomaly and ANOMALY.trace is not None:
            ANOMALY.trace(node)
    return tuple(ready_outputs) if isinstance(result, tuple) else ready_outputs[0]


# PyTorch's texts end here: the place and the type are left out.
DIRTY: Final = "mark_dirty can only accept variables, but argument "
NON_DIFFERENTIABLE: Final = "mark_non_differentiable only accepts variable arguments, but got "
INPUT_SAVED: Final = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)


def _untie(o: TensorBase, mine: bool, dirt: bool, mode: Mode) -> TensorBase:
    """An output without a gradient: an input comes out as an alias, anything else as it is."""
    if not _wants(o):
        return _alias(o) if mine and not dirt else o
    if mine:
        return o.detach()  # type: ignore[attr-defined]
    if o._view is None or not o._view.tracked:
        o._node = None
        o._nr = 0
        o._requires_grad = False
    return o


def _alias(o: TensorBase) -> TensorBase:
    """A view of all of an input that was returned as it is; its class is asked for it."""
    if o._layered and type(o)._overrides:  # type: ignore[attr-defined]
        made: TensorBase = o.view_as(o)  # type: ignore[attr-defined]
        return made
    again = new_tensor(o._raw)
    parent = o._view
    base = o if parent is None else parent.base
    steps = None if parent is None else parent.replay
    again._view = View(base, steps, IN_CUSTOM_FUNCTION, version_of(base))
    if o._inference:
        again._inference = True
        again._plain = False
    return again


def _tie(o: TensorBase, node: FunctionNode, number: int) -> None:
    """Sets the history of an output."""
    o._node = node
    o._nr = number + 1
    o._requires_grad = True
    if o._cell is not None:
        if node.out_cells is None:
            node.out_cells = {}
        node.out_cells[number] = o._cell


def _rewrite(o: TensorBase, node: FunctionNode, number: int, mine: bool, count: int) -> TensorBase:
    """An input that forward has written in place: its history is now this node."""
    view = o._view
    unrecorded = view is not None and view.creation == IN_NO_GRAD and view.base._requires_grad
    if o._node is None and (o._requires_grad or unrecorded):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not mine:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=4,
        )
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
        if view.creation != DEFAULT:
            refuse_view(o, False)
        if view.base._node is None and view.base._requires_grad:
            raise RuntimeError(errors.LEAF_VIEW_INPLACE)
        rebase(o, node)
        return o
    old, old_nr = o._node, o._nr - 1 if o._nr else 0
    _tie(o, node, number)
    o._grad = None
    carry_retained(o, old, old_nr, node, number)
    return o


# ---- what refuses a second derivative ------------------------------------------------------------

DIFFERENTIATED_TWICE: Final = (
    "trying to differentiate twice a function that was marked with @once_differentiable"
)


def once_differentiable(fn: Callable[..., object]) -> AnyCallable:
    """A `backward` whose results can't be differentiated again: trying to raises an error."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: object) -> Any:
        mode = ready()
        before = CURRENT.get()
        try:
            CURRENT.set(derive(mode, grad=False))
            outputs = fn(ctx, *args)
        finally:
            CURRENT.set(before)
        if not mode.grad:
            return outputs
        if not any(isinstance(a, TensorBase) and a._requires_grad for a in args):
            return outputs
        group = outputs if isinstance(outputs, tuple) else (outputs,)
        guarded = DelayedError(DIFFERENTIATED_TWICE, len(group))(*[_start(o) for o in group])
        return (guarded,) if isinstance(outputs, tuple) and len(group) == 1 else guarded

    return wrapper


def _start(o: Tensor) -> TensorBase:
    """A gradient as a leaf that asks for gradients; anything else as it is."""
    if not isinstance(o, TensorBase):
        return o
    start = new_tensor(o._raw)
    start._requires_grad = not T.is_discrete(o._raw.dtype)
    return start


# ---- functions that keep a state -----------------------------------------------------------------


class InplaceFunction(Function):
    """A `Function` that may be asked to work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A `Function` of the old style, over nested inputs and outputs; kept for its name."""

    def forward(self, *args: object) -> Any:  # type: ignore[override]
        """Computes the outputs from nested inputs, by `forward_extended`."""
        result = self.forward_extended(*args)
        self._nested_output = result
        return result

    def backward(self, *gradients: object) -> Any:  # type: ignore[override]
        """Computes the gradients of nested inputs, by `backward_extended`."""
        return self.backward_extended(*gradients)

    def forward_extended(self, *args: object) -> object:
        """The forward of the user's own."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: object) -> object:
        """The backward of the user's own."""
        raise NotImplementedError


__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]
