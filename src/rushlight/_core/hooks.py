"""Hooks on vertices, and the order in which the engine runs them.

Before a node runs: the hooks of its output tensors, in the order in which they were registered;
then `retain_grad`; then the node's pre-hooks. After it: the node's post-hooks. A leaf: its tensor
hooks, the pre-hooks of its `AccumulateGrad`, the accumulation, its post-accumulate hooks, the
post-hooks of its `AccumulateGrad`. `Vertex.hooks` is None until a hook is there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.types import ndarray as _ndarray
from .._base import errors
from .mode import CURRENT, ready, with_grad
from .node import Node, Vertex
from .run import RUNNING, Run
from .storage import TensorBase, new_tensor

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

ndarray: Final = _ndarray

GRAD_DTYPE: Final = 1  # the key in a leaf's `Hooks.extra` for the type its gradient is to have


class Hooks:
    """The hooks of one vertex, by handle id; they run in the order of registration."""

    __slots__ = ("accumulated", "extra", "post", "pre", "retain", "tensor")

    tensor: dict[int, dict[int, Any]]  # by output number: {handle id: function of the gradient}
    retain: dict[
        int, Any
    ]  # by output number: a weak reference to the tensor that keeps its gradient
    pre: dict[int, Any]
    post: dict[int, Any]
    accumulated: dict[int, Any]
    extra: dict[int, Any]

    def __init__(self) -> None:
        # OrderedDict: handles hold these weakly, which plain dictionaries don't allow.
        self.tensor = {}
        self.retain = {}
        self.pre = OrderedDict()
        self.post = OrderedDict()
        self.accumulated = OrderedDict()
        self.extra = {}


class Collector:
    """Python's collector of garbage: `track` has it see a node again (see `_native.collector`)."""

    __slots__ = ("track",)

    track: Any

    def __init__(self) -> None:
        self.track = None


COLLECTOR: Final = Collector()


def show_to_collector(vertex: Vertex) -> None:
    """To be called before a node gets something that may lead back to it."""
    if COLLECTOR.track is not None:
        COLLECTOR.track(vertex)


def hooks_of(vertex: Vertex) -> Hooks:
    """The hooks of a vertex, made now if it had none."""
    if vertex.hooks is None:
        show_to_collector(vertex)
        vertex.hooks = Hooks()
    return vertex.hooks


def carry_retained(t: Any, old: Vertex | None, old_nr: int, new: Vertex, new_nr: int) -> None:
    """Lets a tensor that retains its gradient do so at its new node; other hooks stay behind."""
    if old is None or old.hooks is None:
        return
    ref = old.hooks.retain.get(old_nr)
    if ref is not None and ref() is t:
        del old.hooks.retain[old_nr]
        hooks_of(new).retain[new_nr] = ref


# ---- running them: rare, so each step wraps and unwraps Tensors
# --------------------------------------


class Sparse:
    """What is done with gradients of which only some rows are stored, handed in from above."""

    __slots__ = ("array", "kind", "received", "tensor")

    tensor: Any  # (sparse gradient of the engine) -> the tensor that users see
    array: Any  # (tensor) -> the gradient that the engine carries for it
    received: Any  # (leaf, gradient, what it has) -> None: one of the two is sparse
    kind: Any  # the class of sparse tensors, once there are any

    def __init__(self) -> None:
        self.kind = ()
        self.tensor = None
        self.array = None
        self.received = None


SPARSE: Final = Sparse()


def wrap_gradient(g: Any, traced: bool) -> Any:
    """A gradient as hooks see it."""
    if g is None or traced or isinstance(g, TensorBase):
        return g
    if type(g) is ndarray:
        run = RUNNING.get()
        if run is not None:
            for t in run.given:
                if isinstance(t, TensorBase) and t._raw is g:
                    return t
        return new_tensor(g)
    if hasattr(g, "held"):
        return SPARSE.tensor(g)
    return new_tensor(T.as_array(g))


def unwrap_gradient(g: Any, traced: bool) -> Any:
    """A gradient from a hook as the engine carries it."""
    if traced or not isinstance(g, TensorBase):
        return g
    return SPARSE.array(g) if g._layered else g._raw


def enter(traced: bool) -> Any:
    """Puts in force the grad mode in which user code runs during a backward."""
    mode = ready()
    return CURRENT.set(with_grad(mode, traced and not mode.carrying))


def run_tensor_hooks(vertex: Vertex, nr: int, g: Any, run: Run) -> Any:
    """Runs the hooks of one output tensor on its gradient."""
    hooks = vertex.hooks.tensor.get(nr)
    if not hooks:
        return g
    former = CURRENT.get()
    try:
        enter(run.traced)
        t = wrap_gradient(g, run.traced)
        for hook in list(hooks.values()):
            result = hook(t)
            if result is not None:
                t = check_hook_result(hook, result, t)
        return unwrap_gradient(t, run.traced)
    finally:
        CURRENT.set(former)


def hook_name(hook: AnyCallable) -> str:
    """A hook as messages call it."""
    return f"hook '{getattr(hook, '__name__', '<unknown>')}'"


def check_hook_result(hook: AnyCallable, result: Any, before_: Any) -> Any:
    """A hook's replacement of a gradient.

    Raises:
        TypeError: where it isn't a tensor.
        RuntimeError: where its size or type differs, or where there was no gradient.
    """
    if not isinstance(result, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{errors.type_name(result)}'")
    if before_ is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if result._raw.shape != before_._raw.shape:
        raise RuntimeError(f"{hook_name(hook)} has changed the size of value")
    if result._raw.dtype != before_._raw.dtype or (
        isinstance(result, SPARSE.kind) is not isinstance(before_, SPARSE.kind)
    ):
        was, got = _type_name(before_), _type_name(result)
        raise RuntimeError(f"{hook_name(hook)} has changed the type of value (was {was} got {got})")
    return result


def _type_name(t: TensorBase) -> str:
    name = T.internal_type_name(t._raw.dtype)
    return name.replace("torch.", "torch.sparse.") if isinstance(t, SPARSE.kind) else name


def before(node: Node, g: Any, run: Run) -> Any:
    """Tensor hooks, kept gradients and node pre-hooks, in this order, and captures.

    What is captured of a node that goes on is what has arrived, as in PyTorch, which calls the
    tensor hooks later; of one that only ends there it is what the hooks have made of it.
    """
    hooks = node.hooks
    if hooks is not None:
        run.node = node
    traced = run.traced
    captures = run.captures
    several = node.op.n_out != 1 and node.out_meta is not None
    if several:
        count_ = len(node.out_meta or ())
        parts: list[Any] = list(g) if g is not None else [None] * count_
    else:
        parts = [g]
    for nr in range(len(parts)):
        arrived = parts[nr]
        if hooks is not None:
            if hooks.tensor.get(nr):
                parts[nr] = run_tensor_hooks(node, nr, parts[nr], run)
            retain(hooks, nr, parts[nr], traced)
        if captures is not None:
            position = captures.get((node, nr))
            if position is not None:
                run.results[position] = parts[nr] if node in run.ends else arrived
    if hooks is not None and hooks.pre and node not in run.ends:
        known = run_pre_hooks(hooks, select_known(node, parts), traced)
        if len(known) == len(parts):
            parts = known
        else:
            flags = node.op.differentiable_out
            parts = [known.pop(0) if flags[nr] else None for nr in range(len(parts))]
    if several:
        for p in parts:
            if p is not None:
                return parts
        return None
    return parts[0]


def select_known(node: Node, grads: list[Any]) -> list[Any]:
    """The gradients of a node's outputs that PyTorch's node knows of: those that have any."""
    flags = node.op.differentiable_out
    if len(flags) != len(grads):
        return grads
    return [g for g, flag in zip(grads, flags) if flag]


def retain(hooks: Hooks, nr: int, g: Any, traced: bool) -> None:
    """Hands the gradient of an output to the tensor that retains it, if there is one."""
    ref = hooks.retain.get(nr)
    keeper = None if ref is None or g is None else ref()
    if keeper is None:
        return
    former = CURRENT.get()
    try:
        enter(traced)
        keep_gradient(keeper, g, traced)
    finally:
        CURRENT.set(former)


def keep_gradient(keeper: TensorBase, g: Any, traced: bool) -> None:
    """Adds a gradient to a tensor that asked to retain it."""
    shown = wrap_gradient(g, traced)
    old = keeper._grad
    if old is None or (old._layered and _is_over(old)):
        keeper._grad = shown.clone() if traced else new_tensor(T.copy(shown._raw))
    else:
        keeper._grad = old + shown


def _is_over(t: object) -> bool:
    """Whether a tensor is a batch of a vmap that has returned: nothing can be added to it."""
    layer = getattr(t, "_layer", None)
    return layer is not None and getattr(layer, "over", False)


def run_pre_hooks(hooks: Hooks, grads: list[Any], traced: bool) -> list[Any]:
    """Runs pre-hooks on the gradients of a vertex's outputs; what they return replaces them."""
    former = CURRENT.get()
    try:
        enter(traced)
        shown = tuple([wrap_gradient(p, traced) for p in grads])
        for hook in list(hooks.pre.values()):
            result = hook(shown)
            if result is not None:
                shown = check_hook_results(hook, result, shown)
        return [unwrap_gradient(p, traced) for p in shown]
    finally:
        CURRENT.set(former)


def run_post_hooks(hooks: Hooks, grads: list[Any], outs: list[Any], traced: bool) -> list[Any]:
    """Runs post-hooks on (gradients of inputs, gradients of outputs)."""
    former = CURRENT.get()
    try:
        enter(traced)
        shown_outs = tuple([wrap_gradient(x, traced) for x in outs])
        shown = tuple([wrap_gradient(x, traced) for x in grads])
        for hook in list(hooks.post.values()):
            result = hook(shown, shown_outs)
            if result is not None:
                shown = check_hook_results(hook, result, shown)
        return [unwrap_gradient(x, traced) for x in shown]
    finally:
        CURRENT.set(former)


def check_hook_results(
    hook: AnyCallable, results: Any, before_: tuple[Any, ...]
) -> tuple[Any, ...]:
    """A node hook's replacement of several gradients.

    Raises:
        TypeError: where it isn't a tuple of tensors.
        RuntimeError: where their number, sizes or types differ.
    """
    if type(results) is not tuple:
        raise TypeError(f"expected tuple, but hook returned '{errors.type_name(results)}'")
    if len(results) != len(before_):
        raise RuntimeError(
            f"{hook_name(hook)} has returned an incorrect number of values (got {len(results)}, "
            f"but expected {len(before_)})"
        )
    return tuple(
        [
            None if r is None else check_hook_result(hook, r, before_[i])
            for i, r in enumerate(results)
        ]
    )
