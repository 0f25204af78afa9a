"""`Function`: operations with a forward and a backward of the user's own.

Note [The context]
The `ctx` that the user's methods get is, as in PyTorch, what `grad_fn` shows. It is not the core's node
itself: users set attributes on it freely, and those must not collide with the engine's. So the node
keeps the user's attributes in a dictionary, and the context is a thin object around node and
dictionary, made when somebody looks and the same as long as somebody holds it. The context holds the
node; the node holds the context only weakly: no cycle.

Note [Saved outputs]
A node that held one of its own output tensors would be a cycle. So of an output it keeps the raw array
and the version cell, and makes the tensor anew when asked.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from typing import Any, Callable, Final

from .. import errors
from .._array import types as T
from .._core import engine, slow
from .._core.copyslices import custom_op, rebase
from .._core.hooks import carry_retained
from .._core.mode import CURRENT, Mode, ready, replaced
from .._core.node import Node as CoreNode
from .._core.node import Vertex, new_node
from .._core.saved import Packed, _packed, _unpack_packed, operation_name, output_tensor
from .._core.storage import (
    IN_CUSTOM_FUNCTION,
    MULTI_OUTPUT,
    TensorBase,
    Version,
    View,
    bump,
    new_tensor,
    version_cell,
    version_of,
)
from .._core.views import view_target
from . import forward_ad
from .edges import _NodeFace


class FunctionCtx:
    """What `forward`, `setup_context` and `backward` get as `ctx`: a place for notes, and requests."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (or None) for `backward`, which reads them as `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors for `jvp`, which reads them as `saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Tells that `forward` wrote to these inputs, which it must also return."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing: shared memory is tracked anyway."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args: Any) -> None:
        """Tells that these outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs that nobody used."""
        self.materialize_grads = value


class BackwardCFunction(_NodeFace, FunctionCtx):
    """The context of one call. See Note [The context]."""

    __slots__ = ("_core", "__dict__", "__weakref__")

    _core: FunctionNode
    _forward_cls: Any = None

    def _vertex(self) -> Vertex:
        return self._core

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given.

        Raises:
            RuntimeError: where backward has freed it, or a tensor has been written since.
        """
        return self._core.saved_tensors()

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `apply`, whether a gradient of it can be asked for."""
        return self._core.needs

    @needs_input_grad.setter
    def needs_input_grad(self, value: tuple[bool, ...]) -> None:
        self._core.needs = value

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"


class _Output:
    """A saved output. See Note [Saved outputs]."""

    __slots__ = ("array", "number", "version")

    def __init__(self, array: Any, number: int, version: int) -> None:
        self.array = array
        self.number = number
        self.version = version


class FunctionNode(CoreNode):
    """The node of one call of a `Function`."""

    __slots__ = ("function", "attributes", "face", "needs", "places", "shapes", "kept", "freed",
                 "materialize", "forward_kept")  # fmt: skip

    function: Any
    attributes: dict[str, Any]
    face: Any  # a weak reference to the context
    needs: tuple[bool, ...]
    places: tuple[int, ...]  # for each edge, the position of its argument
    shapes: tuple[Any, ...]  # for each edge, (shape, dtype) of its argument
    kept: list[Any]
    freed: bool
    materialize: bool
    forward_kept: tuple[Any, ...] | None  # what save_for_forward was given, while jvp runs

    def shown(self) -> Any:
        """The context of this call."""
        found = None if self.face is None else self.face()
        if found is None:
            kind = self.function._backward_cls
            found = kind.__new__(kind)
            found._core = self
            found.__dict__ = self.attributes
            self.face = weakref.ref(found)
        return found

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> Any:
        """The user's `backward` on gradients of the outputs, checked and brought to the inputs' shapes."""
        metas = self.out_meta or ()
        if len(grads) != len(metas):
            grads = [None] * len(metas)
        token = engine.enter(traced)
        try:
            shown: list[Any] = []
            for g, meta in zip(grads, metas):
                if g is None and self.materialize and meta is not None:
                    shown.append(new_tensor(engine.WORLDS.raw.zeros(meta[0], meta[1])))
                else:
                    shown.append(engine.wrapped(g, traced))
            result = _backward_of(self.function)(self.shown(), *shown)
            return self._checked(result, need, traced)
        finally:
            CURRENT.reset(token)

    def _checked(self, result: Any, need: list[bool], traced: bool) -> list[Any]:
        """What the user's `backward` returned, one gradient for each edge.

        Raises:
            RuntimeError: for a wrong number of gradients, something that isn't a tensor, a gradient
                of an argument that isn't a tensor, a shape that doesn't fit.
        """
        name = type(self).__name__
        grads = result if type(result) is tuple else (result,)
        wanted = len(self.needs)
        if len(grads) > wanted and all(g is None for g in grads[wanted:]):
            grads = grads[:wanted]
        if len(grads) != wanted:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {wanted}, got "
                f"{len(grads)})"
            )
        for i, g in enumerate(grads):
            if g is None:
                continue
            if i not in self.places:
                raise RuntimeError(
                    f"function {name} returned a gradient different from None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
            if not isinstance(g, TensorBase):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
        found: list[Any] = []
        for edge, position in enumerate(self.places):
            g = grads[position]
            if g is None or not need[edge]:
                found.append(None)
            else:
                fitted = self._fitted(g, edge)
                found.append(fitted if traced else fitted._raw)
        return found

    def _fitted(self, g: Any, edge: int) -> Any:
        shape, dtype = self.shapes[edge]
        have = g._raw.shape
        if have != shape:
            if not _expandable(shape, have):
                raise RuntimeError(
                    f"Function {type(self).__name__} returned an invalid gradient at index {edge} - got "
                    f"{errors.shape_text(have)} but expected shape compatible with "
                    f"{errors.shape_text(shape)}"
                )
            g = engine.WORLDS.traced.sum_to(g, shape)
        if g._raw.dtype != dtype:
            if g._raw.dtype.kind == "c" and dtype.kind != "c":
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false.  (Could this error message be "
                    "improved?  If so, please report an enhancement request to PyTorch.)"
                )
            g = engine.WORLDS.traced.to_dtype(g, dtype)
        return g

    # ---- saved tensors ------------------------------------------------------------------------

    def keep(self, tensors: Any, mode: Mode) -> None:
        """Saves what `save_for_backward` was given; outputs have got their node already.

        Raises:
            TypeError: for something that is neither a tensor nor None.
        """
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        kept: list[Any] = []
        hooks = mode.saved_hooks[-1] if mode.saved_hooks else None
        for t in tensors:
            if t is None:
                kept.append(None)
            elif t._node is self:
                number = t._nr - 1
                if hooks is not None:
                    kept.append(_packed(new_tensor(t._raw), hooks, number, None))
                    continue
                if t._cell is not None or t._view is not None:
                    if self.out_cells is None:
                        self.out_cells = {}
                    self.out_cells[number] = version_cell(t)
                kept.append(_Output(t._raw, number, version_of(t)))
            elif hooks is not None:
                slow.check_saved(t)
                kept.append(_packed(t, hooks, -1, t))
            else:
                kept.append((t, slow.check_saved(t)))
        self.kept = kept

    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, after a check that they haven't been written."""
        if self.forward_kept is not None:
            return self.forward_kept
        if self.freed:
            raise RuntimeError(errors.BACKWARD_TWICE)
        return tuple(self._unpacked(entry) for entry in self.kept)

    def _unpacked(self, entry: Any) -> Any:
        if entry is None:
            return None
        if type(entry) is Packed:
            return _unpack_packed(self, entry, True)
        if type(entry) is _Output:
            cell: Version | None = None if self.out_cells is None else self.out_cells.get(entry.number)
            now = 0 if cell is None else cell.n
            if now != entry.version:
                raise RuntimeError(_modified(entry.array, entry.number, self, now, entry.version))
            return output_tensor(self, entry.number, entry.array)
        t, version = entry
        now = version_of(t)
        if now != version:
            raise RuntimeError(
                _modified(t._raw, t._nr - 1 if t._nr else 0, t._node, now, version)
            )
        return t

    def release(self) -> None:
        """Lets go of what was saved: the engine has run this node and need not keep it."""
        self.freed = True
        self.kept = []


def _modified(array: Any, number: int, node: Any, now: int, expected: int) -> str:
    producer = "" if node is None else f"{number} of {operation_name(node)}"
    anomaly = ready().anomaly
    return errors.modified(T.type_name(array.dtype), array.shape, producer, now, expected, anomaly)


def _expandable(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of `shape` broadcasts to `target`."""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))


def _backward_of(function: Any) -> Callable[..., Any]:
    """The user's backward: the method `backward`, or `vjp`, which is another name for it."""
    both = function.backward is not Function.backward and function.vjp is not Function.vjp
    if both:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
            "only implement one of them."
        )
    chosen: Callable[..., Any] = (
        function.vjp if function.vjp is not Function.vjp else function.backward
    )
    return chosen


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
            "static, so you should invoke them on the class itself. Instantiating an autograd function "
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
        """Computes the outputs: `forward(ctx, *args)`, or without `ctx` beside a `setup_context`."""
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
            "You must implement either the backward or vjp method for your custom autograd.Function to "
            "use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Computes the tangent of each output from those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward "
            "mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Computes a batch at once; returns the outputs and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

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
        inside = replaced(mode, grad=False, forward_grad=False)
        token = CURRENT.set(inside)
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
    dirty = _tensors(notes.pop("dirty_tensors", ()), "mark_dirty")
    plain = _tensors(notes.pop("non_differentiable", ()), "mark_non_differentiable")
    node.materialize = bool(notes.get("materialize_grads", True))
    outputs = list(result) if type(result) is tuple else [result]
    tensors = [o for o in outputs if isinstance(o, TensorBase)]
    if any(not any(d is o for o in tensors) for d in dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The "
            "inputs that are modified inplace must all be outputs of the Function."
        )
    inputs = {id(a) for a in args if isinstance(a, TensorBase)}
    written = {id(d) for d in dirty}
    without = {id(p) for p in plain}
    for d in dirty:
        bump(d)
    node.out_meta = tuple(
        (o._raw.shape, o._raw.dtype) if isinstance(o, TensorBase) else None for o in outputs
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
    if mode.forward_grad:
        _carry_tangents(node, args, ready_outputs, notes, to_save, mode)
    notes.pop("saved_for_forward", None)
    if executable:
        node.keep(to_save, mode)
        if mode.anomaly and slow.HANDLERS.trace is not None:
            slow.HANDLERS.trace(node)
    return tuple(ready_outputs) if type(result) is tuple else ready_outputs[0]


def _tensors(values: Any, method: str) -> tuple[Any, ...]:
    for i, v in enumerate(values):
        if not isinstance(v, TensorBase):
            raise TypeError(
                f"{method} only accepts variable arguments, but got {type(v).__name__}"
                if method == "mark_non_differentiable"
                else f"mark_dirty can only accept variables, but argument {i} is of type "
                f"{type(v).__name__}"
            )
    return tuple(values)


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


def _rewritten(o: TensorBase, node: FunctionNode, number: int, mine: bool, count: int) -> TensorBase:
    """An input that forward has written in place: its history is now this node."""
    if o._node is None and o._requires_grad:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not mine:
        warnings.warn(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there "
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
                "autograd engine. You should either make sure the input is not a view (using .clone() "
                "for example) or make your Function only return one Tensor (potentially splitting it "
                "into two Functions: one doing the inplace that returns a single Tensor and a second "
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


def _carry_tangents(node: FunctionNode, args: tuple[Any, ...], outputs: list[Any], notes: dict[str, Any],
                    to_save: Any, mode: Mode) -> None:  # fmt: skip
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
    try:
        found = node.function.jvp(node.shown(), *tangents)
    finally:
        node.forward_kept = None
    found = found if type(found) is tuple else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(
            f"{node.function.__name__}'s jvp returned {len(found)} tangents for {len(outputs)} outputs"
        )
    for o, t in zip(outputs, found):
        if isinstance(o, TensorBase) and t is not None:
            forward_ad.set_tangent(o, t)
    _ = mode


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


__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "TRANSFORMS",
           "once_differentiable"]  # fmt: skip
