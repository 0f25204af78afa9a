"""`backward` and `grad`: checking roots and gradients, and starting the engine."""

from __future__ import annotations

import contextvars
import operator
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from .._array import types as T
from .._array.memory import meta as meta_arrays
from .._base import errors
from .._base.device import META
from .._core import engine
from .._core.former_data import NOTED, find_unused
from .._core.hooks import SPARSE, unwrap_gradient, wrap_gradient
from .._core.mode import CURRENT, derive, ready
from .._core.node import Vertex
from .._core.run import RUNNING, inside_transform
from .._core.storage import TensorBase, new_tensor
from .._core.views import current_node
from .._table.rows import meta as _meta
from .._tensor.of_values import TensorOfValues
from .._tensor.public_functions import make_asking_function
from .._tensor.settings import is_warn_always_enabled
from .._tensor.tensor import Tensor, zeros_of
from .._tensor.torch_function import torch_dispatch
from .edges import GradientEdge, core_of, place_of
from .hooks import retain_grad
from .output_metadata import outputs_of

if TYPE_CHECKING:
    from .._base.annotations import Arguments, TensorLike
    from .annotations import Gradients, TensorsOrEdges

# A backward inside a backward deepens the Python stack; every so many levels a fresh thread takes
# over.
LEVELS_PER_THREAD: Final = 16


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (TensorBase, GradientEdge)):
        return (value,)
    return tuple(value)


def _grads_tuple(value: object, count: int) -> tuple[object, ...]:
    if value is None:
        return (None,) * count
    return _as_tuple(value)


def root_of(t: Any, position: int) -> tuple[Vertex, int]:
    """Where a run from `t` starts.

    Raises:
        RuntimeError: where `t` has no history and doesn't require grad.
    """
    if isinstance(t, GradientEdge):
        vertex = core_of(t.node)
        return vertex, t.output_nr + 1 if getattr(vertex, "out_meta", None) is not None else 0
    node = current_node(t)
    if t._requires_grad:
        return (t, 0) if node is None else (node, t._nr)
    raise RuntimeError(errors.no_grad_fn(position))


def root_gradient(t: Any, g: Any, position: int, traced: bool, batched: bool = False) -> Any:
    """The gradient that a run from `t` starts with: the one given, or one for a single element.

    Raises:
        RuntimeError: where none is given and `t` has several elements; where shapes or kinds
            differ.
        TypeError: where it isn't a tensor.
    """
    if isinstance(t, GradientEdge):
        return edge_gradient(t, g, position, traced)
    if not isinstance(t, TensorBase):
        raise AssertionError("Expected output to be a torch.Tensor")
    if g is None:
        if t.requires_grad:  # type: ignore[attr-defined]
            if t._raw.size != 1:
                raise RuntimeError(errors.SCALAR_ONLY)
            if T.is_discrete(t._raw.dtype) or t._raw.dtype.kind == "c":
                raise RuntimeError(errors.real_scalar_only(T.from_raw(t._raw.dtype)))
        kind: Any = type(t)
        if not t._plain and kind._dispatches:
            return torch_dispatch().start_gradient(t)
        one = T.ones_like(t._raw) if t._plain else meta_arrays.ones_like(t._raw)
        recorder = ready().recorder
        if recorder is not None:
            recorder.constant(one)
        return _start(one) if traced else one
    if not isinstance(g, TensorBase):
        raise TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)
    shape = g._raw.shape
    if batched:
        if not shape or shape[1:] != t._raw.shape:
            raise RuntimeError(errors.mismatch_in_batch(position, shape[2:], t._raw.shape))
        traced = True
    elif shape != t._raw.shape:
        raise RuntimeError(errors.mismatch_in_shape(position, shape, t._raw.shape))
    if (g._raw.dtype.kind == "c") != (t._raw.dtype.kind == "c"):
        raise RuntimeError(
            errors.mismatch_in_kind(position, T.from_raw(g._raw.dtype), T.from_raw(t._raw.dtype))
        )
    if g._raw.dtype != t._raw.dtype:
        wanted = T.from_raw(t._raw.dtype)
        g = g.to(wanted) if traced else new_tensor(g._raw.astype(t._raw.dtype))  # type: ignore[attr-defined]
    return g if type(g)._dispatches else unwrap_gradient(g, traced)


def edge_gradient(edge: GradientEdge, g: Any, position: int, traced: bool) -> Any:
    """The gradient that a run from an edge starts with: checked where the node knows its output.

    Raises:
        RuntimeError: where none is given and the output has several elements, or isn't known;
            where shapes or kinds differ.
        TypeError: where it isn't a tensor.
    """
    known = outputs_of(core_of(edge.node))
    if g is not None and not isinstance(g, TensorBase):
        raise TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)
    if known is None or not 0 <= edge.output_nr < len(known):
        if g is None:
            raise RuntimeError(errors.SCALAR_ONLY)
        return g if traced else g._raw
    shape, raw_type = known[edge.output_nr]
    stand_in = new_tensor(T.empty(shape, raw_type))
    stand_in._requires_grad = True
    return root_gradient(stand_in, g, position, traced)


def is_sparse(t: object) -> bool:
    """Whether a tensor stores only some elements: gradients flow through these."""
    return isinstance(t, SPARSE.kind)


def _of_values(t: Any, g: Any) -> tuple[Any, Any]:
    """The values that a tensor shows the history of, and the gradient that they have."""
    if not isinstance(t, TensorOfValues):
        return t, g
    return t.held, None if g is None else t._gradient_of_values(g)


def start(
    tensors: Sequence[object], grads: Sequence[object], traced: bool, batched: bool = False
) -> tuple[list[Vertex], list[int], list[Any]]:
    """The engine's roots for tensors (or gradient edges), and the gradients they start with."""
    if any(isinstance(t, TensorOfValues) for t in tensors):  # their values are what has a graph
        pairs = [_of_values(t, g) for t, g in zip(tensors, grads, strict=True)]
        tensors, grads = [t for t, _ in pairs], [g for _, g in pairs]
    values = [
        root_gradient(t, g, i, traced, batched) for i, (t, g) in enumerate(zip(tensors, grads))
    ]
    if len(values) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(values)} gradients")
    places = [root_of(t, i) for i, t in enumerate(tensors)]
    return [p[0] for p in places], [p[1] for p in places], values


def _start_switched(
    tensors: Sequence[object],
    grads: Sequence[object],
    keep: SupportsIndex,
    traced: SupportsIndex,
    batched: bool = False,
) -> tuple[list[Vertex], list[int], list[Any], bool, bool]:
    """What `start` gives, and the switches of a run, which aren't both True or False, as such.

    Gradients are looked at first, then the switches, then whether there is a graph at all.

    Raises:
        TypeError, OverflowError: for a switch that can't stand for a byte.
    """
    problem: Exception | None = None
    switches = [False, False]
    try:
        switches = [_byte(keep) != 0, _byte(traced) != 0]
    except Exception as error:
        problem = error
    try:
        roots, nrs, values = start(tensors, grads, switches[1], batched)
    except RuntimeError as error:
        if problem is None or "does not require grad and does not have" not in str(error):
            raise
        raise problem from None
    if problem is not None:
        raise problem
    return roots, nrs, values, switches[0], switches[1]


def _byte(value: SupportsIndex) -> int:
    """What C makes of a switch: any number of a byte."""
    number = operator.index(value)
    if not -_LONGEST <= number < _LONGEST:
        raise OverflowError("Python int too large to convert to C long")
    if number < 0:
        raise OverflowError("unsigned byte integer is less than minimum")
    if number > 255:
        raise OverflowError("unsigned byte integer is greater than maximum")
    return number


_LONGEST: Final = 2**63


def run(roots: list[Vertex], nrs: list[int], values: Arguments, keep: bool, traced: bool,
        places: list[tuple[Vertex, int]] | None, accumulate: bool,
        given: Sequence[object] = ()) -> list[Any]:  # fmt: skip
    """Runs the engine, on a thread of its own where backward is nested deeply.

    `given` are the tensors whose arrays `values` are: what hooks see of these.
    """
    mode = ready()
    if not traced and any(type(v) is meta_arrays.MetaArray for v in values):
        with META:
            return _run_watched(roots, nrs, values, keep, places, accumulate)
    watched: Any = mode.profiler is not None or mode.recorder is not None or mode.dispatch
    watched = watched or _meta.LIVE
    if watched and not traced:
        return _run_watched(roots, nrs, values, keep, places, accumulate)
    outer = RUNNING.get()
    if outer is None or outer.depth % LEVELS_PER_THREAD != LEVELS_PER_THREAD - 1:
        return engine.backward(roots, nrs, values, keep, traced, places, accumulate, given)
    results: list[Any] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.extend(
                engine.backward(roots, nrs, values, keep, traced, places, accumulate, given)
            )
        except BaseException as error:
            failures.append(error)

    from threading import Thread

    thread = Thread(target=contextvars.copy_context().run, args=(work,))
    thread.start()
    thread.join()
    if failures:
        raise failures.pop()
    return results


def _start(g: TensorLike) -> Tensor:
    """A gradient that a run starts with as a Tensor."""
    if type(g) is meta_arrays.MetaArray:
        return _meta.without_data(g)
    return wrap_gradient(g, False)


def _run_watched(
    roots: list[Vertex],
    nrs: list[int],
    values: Arguments,
    keep: bool,
    places: list[tuple[Vertex, int]] | None,
    accumulate: bool,
) -> list[object]:
    """A run on Tensors, not recorded, so that modes see the operations of formulas."""
    before = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), carrying=True))
        started = [_start(g) for g in values]
        return run(roots, nrs, started, keep, True, places, accumulate)
    finally:
        CURRENT.set(before)


def backward(
    tensors: TensorsOrEdges,
    grad_tensors: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Gradients = None,
    inputs: TensorsOrEdges | None = None,
) -> None:
    """Accumulates the gradients of `tensors` into the leaves of their graph (or into `inputs`).

    Raises:
        RuntimeError: for a root without history, a root of several elements without a gradient, a
            gradient of another shape, a graph whose saved values have been freed.

    Parameters:
        tensors: the roots, one or several.
        grad_tensors: the gradient of each root; 1 for roots of one element.
        retain_graph: whether the graph stays for another backward; as `create_graph` by default.
        create_graph: whether the gradients' own computation is recorded.
        grad_variables: deprecated: say `grad_tensors`.
        inputs: the leaves whose gradients are accumulated; all by default.
    Shapes: each gradient as its root.
    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward((x**2).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _as_tuple(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    grads = _grads_tuple(grad_tensors, len(tensors))
    keep = create_graph if retain_graph is None else retain_graph
    if type(keep) is bool and type(create_graph) is bool:
        roots, nrs, values = start(tensors, grads, create_graph)
    else:
        roots, nrs, values, keep, create_graph = _start_switched(tensors, grads, keep, create_graph)
    places = None
    if wanted is not None:
        for x in wanted:
            if isinstance(x, TensorBase):
                retain_grad(x)
        places = _places(wanted, roots)
    if create_graph:
        warn_of_cycles()
    run(roots, nrs, values, keep, create_graph, places, True, grads)


class _Warned:
    """What this process has been warned of already."""

    cycles = False


def warn_of_cycles() -> None:
    """Warns, once in a process, of what `create_graph` leaves behind."""
    if not _Warned.cycles or is_warn_always_enabled():
        _Warned.cycles = True
        warnings.warn(errors.CREATE_GRAPH_CYCLE, UserWarning, stacklevel=3)


def grad(
    outputs: TensorsOrEdges,
    inputs: TensorsOrEdges,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `.grad`.

    Raises:
        RuntimeError: as `backward`; and for an input that the outputs don't depend on, unless
            `allow_unused`.

    Parameters:
        outputs: what is differentiated, one tensor or several.
        inputs: what it is differentiated by.
        grad_outputs: the gradient of each output; 1 for outputs of one element.
        retain_graph: whether the graph stays for another backward; as `create_graph` by default.
        create_graph: whether the gradients' own computation is recorded.
        only_inputs: True: the gradients of nothing else are accumulated.
        allow_unused: whether an input that isn't part of the graph gets None, not an error.
        is_grads_batched: whether `grad_outputs` have a first dimension that is mapped over.
        materialize_grads: whether zeros come instead of None.
    Shapes: each gradient as its input.
    Returns: a tuple of gradients, one for each input.
    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.grad((x**2).sum(), x)
        (tensor([2., 4.]),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    mode = ready()
    if (mode.dual or mode.layers) and not create_graph:
        # Tangents and batches go through Tensors only: like a run with a graph, but unrecorded.
        before = CURRENT.get()
        try:
            CURRENT.set(derive(ready(), carrying=True))
            return grad(outputs, inputs, grad_outputs, bool(retain_graph), True, only_inputs,
                        allow_unused, is_grads_batched, materialize_grads)  # fmt: skip
        finally:
            CURRENT.set(before)
    allowed = materialize_grads if allow_unused is None else allow_unused
    tensors = _as_tuple(outputs)
    wanted = _as_tuple(inputs)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads = _grads_tuple(grad_outputs, len(tensors))
    keep = create_graph if retain_graph is None else retain_graph
    if type(keep) is bool and type(create_graph) is bool:
        roots, nrs, values = start(tensors, grads, create_graph, is_grads_batched)
    else:
        roots, nrs, values, keep, create_graph = _start_switched(
            tensors, grads, keep, create_graph, is_grads_batched
        )
    showing = {i: x for i, x in enumerate(wanted) if isinstance(x, TensorOfValues)}
    places = _places([showing[i].held if i in showing else x for i, x in enumerate(wanted)], roots)
    if is_grads_batched:
        found = _run_batched(roots, nrs, values, keep, create_graph, places)
    else:
        found = _gradients(roots, nrs, values, keep, create_graph, places, grads)
        if not create_graph:  # a gradient that has passed through unchanged is the tensor given
            given = {
                id(v): g for g, v in zip(grads, values) if isinstance(g, TensorBase) and g._raw is v
            }
            found = [given.get(id(g._raw), g) if isinstance(g, TensorBase) else None for g in found]
    results: list[Any] = []
    for i, (x, g) in enumerate(zip(wanted, found)):
        if g is None:
            if materialize_grads:
                if isinstance(x, GradientEdge):
                    raise RuntimeError(
                        "materialize_grads cannot be used when the given input is a GradientEdge"
                    )
                g = zeros_of(x)
                g._requires_grad = create_graph
            elif not allowed:
                raise RuntimeError(errors.unused_input(i))
        elif i in showing:
            g = showing[i]._gradient(g)
        results.append(g)
    return tuple(results)


def _places(
    wanted: Sequence[Tensor | GradientEdge], roots: list[Vertex]
) -> list[tuple[Vertex, int]]:
    """The places that gradients are wanted for; nowhere for a leaf that is another one since."""
    places = [place_of(x) for x in wanted]
    if NOTED.any:
        unused = find_unused([vertex for vertex, _ in places], roots)
        for i, (vertex, _) in enumerate(places):
            if isinstance(wanted[i], TensorBase) and id(vertex) in unused:
                places[i] = (Vertex(), 0)
    return places


def _gradients(roots: list[Vertex], nrs: list[int], values: Arguments, keep: bool, traced: bool,
               places: list[tuple[Vertex, int]],
               given: Sequence[object] = ()) -> list[Any]:  # fmt: skip
    distinct = list(dict.fromkeys(places))
    found = dict(zip(distinct, run(roots, nrs, values, keep, traced, distinct, False, given)))
    shown = {place: wrap_gradient(g, traced) for place, g in found.items()}
    return [shown[place] for place in places]


def _run_batched(roots: list[Vertex], nrs: list[int], values: Arguments, keep: bool, traced: bool,
             places: list[tuple[Vertex, int]]) -> list[Any]:  # fmt: skip
    """One run on whole batches, whose entries are along the gradients' first dimension."""
    from .._tensor.batching import Batching, unwrap, wrap

    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), carrying=not traced))
        sizes = [int(g._raw.shape[0]) for g in values]
        if any(n != sizes[0] for n in sizes):
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got "
                f"sizes {sizes} for the mapped dimension"
            )
        with Batching(sizes[0], "unsupported") as layer:
            inside = [wrap(g, 0, layer) for g in values]
            found = _gradients(roots, nrs, inside, keep, True, places)
        return [None if g is None else unwrap(g, layer) for g in found]
    finally:
        CURRENT.set(former_mode)


def _tensor_backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Accumulates this tensor's gradient into the leaves of its graph; see `autograd.backward`.

    Parameters:
        gradient: the gradient of what is sought by this tensor; ones for a tensor with one element.
        retain_graph: whether the graph can be used again; None: where `create_graph` is true.
        create_graph: whether the gradients can be differentiated in their turn.
        inputs: the tensors whose `.grad` is wanted; None: all leaves.
    Shapes: `gradient` has this tensor's.
    Raises: RuntimeError: where nothing requires gradients, where a tensor of several elements comes
        without `gradient`, where its shape is another one, and for a graph that has been freed.
    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> x.square().sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """
    if inside_transform():
        raise RuntimeError(errors.BACKWARD_INSIDE_TRANSFORM)
    if inputs is None and create_graph is False:
        keep = False if retain_graph is None else retain_graph
        if type(keep) is bool and engine.backward_from(self, gradient, keep):
            return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_tensor_backward.__name__ = "backward"
_tensor_backward.__qualname__ = "Tensor.backward"
Tensor.backward = make_asking_function(_tensor_backward, "backward")  # type: ignore[method-assign]

__all__ = ["backward", "grad"]
