"""The context and the node of one call of a custom function.

Note [The context]
The `ctx` that the user's methods get is, as in PyTorch, what `grad_fn` shows. It is not the core's
node itself: users set attributes on it freely, and those must not collide with the engine's. So the
node keeps the user's attributes in a dictionary, and the context is a thin object around node and
dictionary, made when somebody looks and the same as long as somebody holds it. The context holds
the node; the node holds the context only weakly: no cycle.

Note [Saved outputs]
A node that held one of its own output tensors would be a cycle. So of an output it keeps the raw
array and the version cell, and makes the tensor anew when asked.
"""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from .._array import types as T
from .._base import errors
from .._core import engine, slow
from .._core.formulas import check_fits
from .._core.hooks import GRAD_DTYPE, enter, unwrap_gradient, wrap_gradient
from .._core.mode import CURRENT, Mode, ready
from .._core.node import Node as CoreNode, Vertex
from .._core.op import FREED
from .._core.run import LIVE
from .._core.saved import Packed, _pack, _unpack_packed, operation_name, output_tensor
from .._core.storage import TensorBase, Version, new_tensor, version_cell, version_of
from .._table.rows.node_classes import SavedTensor
from .edges import _NodeFace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array.annotations import Array
    from .._tensor.tensor import Tensor


class FunctionCtx:
    """What `forward`, `setup_context` and `backward` get as `ctx`: for notes and requests."""

    def save_for_backward(self, *tensors: object) -> None:
        """Keeps tensors (or None) for `backward`, which reads them as `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for `jvp`, which reads them as `saved_tensors`."""
        for t in tensors:
            assert isinstance(t, TensorBase) or t is None, (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors "
                "as attributes on ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: object) -> None:
        """Tells that `forward` wrote to these inputs, which it must also return."""
        self.dirty_tensors = args

    clear_saved_tensors_on_access = False

    def mark_shared_storage(self, *pairs: object) -> None:
        """Does nothing: shared memory is tracked anyway."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args: object) -> None:
        """Tells that these outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs that nobody used."""
        self.materialize_grads = value


def _request(name: str) -> property:
    """What the user asked for by a method of the context: kept by the node, None before."""

    def get(self: Any) -> tuple[Tensor, ...] | None:
        return getattr(self._core, name)

    def put(self: Any, value: object) -> None:
        setattr(self._core, name, value)

    def drop(self: Any) -> None:
        setattr(self._core, name, None)

    return property(get, put, drop)


def _fix(name: str, get: Any) -> property:
    """An attribute that can't be set, with PyTorch's words for it."""

    def refuse(self: Any, value: object) -> None:
        raise AttributeError(
            f"attribute '{name}' of 'torch._C._FunctionBase' objects is not writable"
        )

    return property(get, refuse, doc=get.__doc__)


def _saved_tensors(self: Any) -> tuple[object, ...]:
    """What `save_for_backward` was given.

    Raises:
        RuntimeError: where backward has freed it, or a tensor has been written since.
    """
    return self._core.saved_tensors()


class BackwardCFunction(_NodeFace, FunctionCtx):
    """The context of one call. See Note [The context]."""

    __slots__ = ("__dict__", "__weakref__", "_core")

    _core: FunctionNode
    _forward_cls: Any = None
    requires_grad = True

    def _vertex(self) -> Vertex:
        return self._core

    saved_tensors = _fix("saved_tensors", _saved_tensors)
    next_functions = _fix("next_functions", _NodeFace.next_functions.fget)
    metadata = _fix("metadata", _NodeFace.metadata.fget)
    to_save = _request("to_save")
    saved_for_forward = _request("saved_for_forward")
    dirty_tensors = _request("dirty_tensors")
    non_differentiable = _request("non_differentiable")

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The former name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return _saved_tensors(self)

    @property
    def materialize_grads(self) -> bool:
        """Can only be set, by `set_materialize_grads`."""
        raise AttributeError(
            "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable"
        )

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        if type(value) is not bool:
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self._core.materialize = value

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `apply`, whether a gradient of it can be asked for."""
        return self._core.needs

    @needs_input_grad.setter
    def needs_input_grad(self, value: tuple[bool, ...]) -> None:
        self._core.needs = value

    def maybe_clear_saved_tensors(self) -> None:
        """Lets go of the saved tensors where the class has `clear_saved_tensors_on_access`."""
        self._core.clear()

    @property
    def _raw_saved_tensors(self) -> tuple[object, ...]:
        return self._core.raw_saved()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"


class _Output:
    """A saved output. See Note [Saved outputs]."""

    __slots__ = ("array", "number", "version")

    def __init__(self, array: Array, number: int, version: int) -> None:
        self.array = array
        self.number = number
        self.version = version


class Awaited:
    """A place among the living instances for those that a backward will make of its own.

    A function that was given an instance of a class with a `__torch_dispatch__` makes such
    gradients, by which time no other instance may live.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        key = id(self)
        LIVE[key] = weakref.ref(self, lambda _: LIVE.pop(key, None))


class FunctionNode(CoreNode):
    """The node of one call of a `Function`."""

    __slots__ = (
        "attributes",
        "awaited",
        "dirty_tensors",
        "face",
        "forward_kept",
        "freed",
        "function",
        "kept",
        "materialize",
        "needs",
        "non_differentiable",
        "places",
        "saved_for_forward",
        "shapes",
        "taken_once",
        "to_save",
    )  # fmt: skip

    function: Any
    attributes: dict[str, Any]
    awaited: Awaited | None
    face: Any  # a weak reference to the context
    needs: tuple[bool, ...]
    places: tuple[int, ...]  # for each edge, the position of its argument
    shapes: tuple[Any, ...]  # for each edge, (shape, dtype) of its argument
    kept: list[Any]
    freed: bool
    materialize: bool
    forward_kept: tuple[Any, ...] | None  # what save_for_forward was given, while jvp runs
    to_save: Any  # these four: what the user asked for, None before and after
    saved_for_forward: Any
    dirty_tensors: Any
    non_differentiable: Any
    taken_once: bool  # the saved tensors were read, and may be only once

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

    def take(self, request: str, wrong: str | None) -> tuple[object, ...]:
        """What the user asked for, which is then forgotten; `wrong` is for other than tensors.

        Raises:
            RuntimeError: where it isn't a tuple, or (with `wrong`) not one of tensors.
        """
        found = getattr(self, request)
        if found is None:
            return ()
        setattr(self, request, None)
        if type(found) is not tuple:
            raise RuntimeError(
                f"autograd internal error: {request} attribute is expected to be a tuple but is "
            )
        if wrong is not None:
            for t in found:
                if not isinstance(t, TensorBase):
                    raise RuntimeError(wrong)
        return found

    def call(self, grads: list[object], need: list[bool], traced: bool) -> Any:
        """The user's `backward` on gradients of the outputs, checked and fitted to the inputs."""
        metas = self.out_meta or ()
        if len(grads) != len(metas):
            grads = [None] * len(metas)
        former = CURRENT.get()
        try:
            enter(traced)
            shown: list[Any] = []
            for g, meta in zip(grads, metas):
                if g is None and self.materialize and meta is not None:
                    shown.append(new_tensor(engine.WORLDS.raw.zeros(meta[0], meta[1])))
                else:
                    shown.append(wrap_gradient(g, traced))
            result = self.function._backward_method()(self.shown(), *shown)
            return self._check(result, need, traced)
        finally:
            CURRENT.set(former)

    def _check(self, result: object, need: list[bool], traced: bool) -> list[object]:
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
                f"function {name} returned an incorrect number of gradients (expected {wanted}, "
                "got "
                f"{len(grads)})"
            )
        for i, g in enumerate(grads):
            if g is None:
                continue
            if i not in self.places:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
            if not isinstance(g, TensorBase):
                raise RuntimeError(f"expected Variable or None (got {errors.type_name(g)})")
        heard = self.hooks is not None and bool(self.hooks.post)
        found: list[Any] = []
        for edge, position in enumerate(self.places):
            g = grads[position]
            if g is None or not need[edge]:
                if g is not None and self.next[edge] is not None:
                    check_fits(self, edge, g._raw.shape, self.shapes[edge][0])
                # Nobody takes it, but hooks hear of all that was returned.
                found.append(unwrap_gradient(g, traced) if heard else None)
            else:
                fitted = self._fit(g, edge)
                found.append(unwrap_gradient(fitted, traced))
        return found

    def _fit(self, g: Tensor, edge: int) -> Tensor:
        shape, dtype = self.shapes[edge]
        have = g._raw.shape
        if have != shape:
            check_fits(self, edge, have, shape)
            g = engine.WORLDS.traced.sum_to(g, shape)
        child = self.next[edge]
        if child is not None and child.hooks is not None and isinstance(child, TensorBase):
            dtype = child.hooks.extra.get(GRAD_DTYPE, dtype)
        if dtype is not None and g._raw.dtype != dtype:
            if g._raw.dtype.kind == "c" and dtype.kind != "c":
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false.  (Could this error message be "
                    "improved?  If so, please report an enhancement request to PyTorch.)"
                )
            g = engine.WORLDS.traced.to_dtype(g, dtype)
        return g

    # ---- saved tensors ------------------------------------------------------------------------

    def keep(self, tensors: Sequence[Tensor], mode: Mode) -> None:
        """Saves what `save_for_backward` was given; outputs have got their node already."""
        kept: list[Any] = []
        hooks = mode.saved_hooks[-1] if mode.saved_hooks else None
        for t in tensors:
            if t is None:
                kept.append(None)
            elif t._node is self:
                number = t._nr - 1
                if hooks is not None:
                    kept.append(_pack(new_tensor(t._raw), hooks, number, None))
                    continue
                if t._cell is not None or t._view is not None:
                    if self.out_cells is None:
                        self.out_cells = {}
                    self.out_cells[number] = version_cell(t)
                kept.append(_Output(t._raw, number, version_of(t)))
            elif hooks is not None:
                slow.check_saved(t)
                kept.append(_pack(t, hooks, -1, t))
            else:
                kept.append((t, slow.check_saved(t)))
        self.kept = kept

    def saved_tensors(self) -> tuple[object, ...]:
        """The saved tensors, after a check that they haven't been written."""
        if self.forward_kept is not None:
            return self.forward_kept
        if self.freed:
            raise RuntimeError(errors.BACKWARD_TWICE)
        if self.function.clear_saved_tensors_on_access:
            if self.taken_once:
                raise RuntimeError(CLEARED)
            found = tuple([self._unpack(entry) for entry in self.kept])
            self.clear()
            return found
        return tuple([self._unpack(entry) for entry in self.kept])

    def clear(self) -> None:
        """Lets go of the saved tensors where the function's class says so."""
        if self.function.clear_saved_tensors_on_access:
            self.taken_once = True
            self.kept = []

    def raw_saved(self) -> tuple[object, ...]:
        """The saved values as objects that can be given hooks."""
        if self.freed:
            raise RuntimeError(errors.BACKWARD_TWICE)
        return tuple(SavedValue(self, i) for i in range(len(self.kept)))

    def _unpack(self, entry: Any) -> Any:
        if entry is None:
            return None
        if type(entry) is Packed:
            return _unpack_packed(self, entry, True)
        if type(entry) is _Output:
            cell: Version | None = (
                None if self.out_cells is None else self.out_cells.get(entry.number)
            )
            now = 0 if cell is None else cell.n
            if now != entry.version:
                raise RuntimeError(
                    _explain_write(entry.array, entry.number, self, now, entry.version)
                )
            return output_tensor(self, entry.number, entry.array)
        t, version = entry
        now = version_of(t)
        if now != version:
            raise RuntimeError(
                _explain_write(t._raw, t._nr - 1 if t._nr else 0, t._node, now, version)
            )
        return t

    def release(self) -> None:
        """Lets go of what was saved: the engine has run this node and need not keep it."""
        self.freed = True
        self.kept = []


CLEARED: Final = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
    "autograd.Function. Either access saved_tensors only once, or set "
    "clear_saved_tensors_on_access=False."
)


def refuse_others(saved: Any) -> None:
    """Refuses what `save_for_backward` doesn't take.

    Raises:
        TypeError: for something that is neither a tensor nor None.
    """
    for i, t in enumerate(saved):
        if t is not None and not isinstance(t, TensorBase):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type "
                f"{errors.type_name(t)}"
            )


class SavedValue(SavedTensor):
    """One tensor that a custom function saved, as `grad_fn._raw_saved_tensors` shows it."""

    __slots__ = ()

    def __init__(self, node: FunctionNode, place: int) -> None:
        super().__init__(node, place, -1)

    def _value(self) -> Any:
        entry = FREED if self._node.freed else self._node.kept[self._entry]
        return entry[0] if type(entry) is tuple else entry

    def _pack(self, hooks: tuple[object, object]) -> None:
        value = self._value()
        if type(value) is _Output:
            packed = _pack(new_tensor(value.array), hooks, value.number, None)
        else:
            packed = _pack(value, hooks, -1, value)
        self._node.kept[self._entry] = packed

    @property
    def data(self) -> object:
        """What is held: the tensor, or what a pack hook made of it."""
        value = self._value()
        if type(value) is Packed:
            return value.value
        return new_tensor(value.array) if type(value) is _Output else value


def _explain_write(array: Array, number: int, node: Any, now: int, expected: int) -> str:
    producer = "" if node is None else f"{number} of {operation_name(node)}"
    anomaly = ready().anomaly
    name = T.internal_type_name(array.dtype)
    return errors.describe_modified(name, array.shape, producer, now, expected, anomaly)


__all__ = ["BackwardCFunction", "FunctionCtx", "FunctionNode"]
