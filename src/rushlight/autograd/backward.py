"""`backward` and `grad`: checking roots and gradients, and starting the engine."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

from .. import errors
from .._array import types as T
from .._core import engine
from .._core.node import Node, Vertex
from .._core.storage import TensorBase, new_tensor
from .._core.views import current_node
from ..tensor import Tensor


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, TensorBase):
        return (value,)
    return tuple(value)


def root_of(t: TensorBase, position: int) -> tuple[Vertex, int]:
    """Where a run from `t` starts.

    Raises:
        RuntimeError: where `t` has no history and doesn't require grad.
    """
    node = current_node(t)
    if node is not None:
        return node, t._nr
    if t._requires_grad:
        return t, 0
    raise RuntimeError(errors.no_grad_fn(position))


def root_gradient(t: TensorBase, g: Any, position: int, traced: bool) -> Any:
    """The gradient that a run from `t` starts with: the one given, or one for a single element.

    Raises:
        RuntimeError: where none is given and `t` has several elements; where shapes or kinds differ.
        TypeError: where it isn't a tensor.
    """
    if g is None:
        if t._requires_grad:
            if t._raw.size != 1:
                raise RuntimeError(errors.SCALAR_ONLY)
            if T.is_discrete(t._raw.dtype) or t._raw.dtype.kind == "c":
                raise RuntimeError(errors.real_scalar_only(T.from_raw(t._raw.dtype)))
        one = T.ones_like(t._raw)
        return new_tensor(one) if traced else one
    if not isinstance(g, TensorBase):
        raise TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)
    if g._raw.shape != t._raw.shape:
        raise RuntimeError(errors.mismatch_in_shape(position, g._raw.shape, t._raw.shape))
    if (g._raw.dtype.kind == "c") != (t._raw.dtype.kind == "c"):
        raise RuntimeError(
            errors.mismatch_in_kind(position, T.from_raw(g._raw.dtype), T.from_raw(t._raw.dtype))
        )
    if g._raw.dtype != t._raw.dtype:
        g = new_tensor(g._raw.astype(t._raw.dtype)) if not traced else g.to(T.from_raw(t._raw.dtype))  # type: ignore[attr-defined]
    return g if traced else g._raw


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulates the gradients of `tensors` into the leaves of their graph (or into `inputs`).

    Raises:
        RuntimeError: for a root without history, a root of several elements without a gradient, a
            gradient of another shape, a graph whose saved values have been freed.
    """
    if inputs is not None and not isinstance(inputs, TensorBase) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    grads = _as_tuple(grad_tensors) or (None,) * len(tensors)
    roots, nrs, values = start(tensors, grads, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        engine.backward(roots, nrs, values, keep, create_graph, None, True)
        return
    wanted = list(_as_tuple(inputs))
    places = [_input_place(x) for x in wanted]
    results = engine.backward(roots, nrs, values, keep, create_graph, places, True)
    for x, where, g in zip(wanted, places, results):
        if isinstance(where[0], Node) and g is not None:
            engine.keep_gradient(x, g, create_graph)


def start(tensors: Sequence[Any], grads: Sequence[Any], traced: bool) -> tuple[list[Vertex], list[int], list[Any]]:  # fmt: skip
    """The engine's roots for tensors (or gradient edges) and their gradients."""
    roots: list[Vertex] = []
    nrs: list[int] = []
    values: list[Any] = []
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    for i, (t, g) in enumerate(zip(tensors, grads)):
        value = root_gradient(t, g, i, traced)
        root, nr = root_of(t, i)
        roots.append(root)
        nrs.append(nr)
        values.append(value)
    return roots, nrs, values


def _input_place(x: Any) -> tuple[Vertex, int]:
    if not x._requires_grad:
        raise RuntimeError(errors.INPUT_NO_GRAD)
    node = current_node(x)
    if node is None:
        return x, 0
    return node, x._nr - 1 if x._nr else 0


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `.grad`.

    Raises:
        RuntimeError: as `backward`; and for an input that the outputs don't depend on, unless
            `allow_unused`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    tensors = _as_tuple(outputs)
    wanted = list(_as_tuple(inputs))
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    grads = _as_tuple(grad_outputs) or (None,) * len(tensors)
    roots, nrs, values = start(tensors, grads, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    places = [_input_place(x) for x in wanted]
    distinct = list(dict.fromkeys(places))
    found = engine.backward(roots, nrs, values, keep, create_graph, distinct, False)
    by_place = dict(zip(distinct, found))
    results: list[Any] = []
    for x, place in zip(wanted, places):
        g = by_place[place]
        if g is None:
            if materialize_grads:
                g = new_tensor(T.zeros_like(x._raw))
            elif not allow_unused:
                raise RuntimeError(errors.UNUSED_INPUT)
        results.append(engine.wrapped(g, create_graph))
    return tuple(results)


def _tensor_backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulates this tensor's gradient into the leaves of its graph; see `autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = _tensor_backward  # type: ignore[attr-defined]
