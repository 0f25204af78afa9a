"""`Run`: one run over a graph, and what code inside it may ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from .arrivals import in_order
from .mode import Mode, current, ready
from .node import Node, Vertex, sequence

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

runs: Final = count(1)

#: The living instances of classes with a `__torch_dispatch__`, by identity: weak references.
LIVE: Final[dict[int, Any]] = {}

#: How many derivatives of functions (`func.grad` and the like) are being computed in this context.
TRANSFORMS: Final[ContextVar[int]] = ContextVar("rushlight_transforms", default=0)

#: How many of them go forward, as `func.jvp` does.
FORWARD: Final[ContextVar[int]] = ContextVar("rushlight_forward_transforms", default=0)


class Derivative:
    """A derivative of a function that is being computed."""

    __slots__ = ("captured", "ends", "forward", "layers", "over")

    def __init__(self, layers: int, forward: bool, captured: list[Any]) -> None:
        self.layers = layers  # how many vmaps ran when it began
        self.forward = forward
        #: Tensors that were there before it and that its function knows by name.
        self.captured = captured
        #: The age of nodes that are made after it; 0 while it runs.
        self.over = 0
        #: Where gradients end: what the arguments' aliases hang on in the graph.
        self.ends: set[Any] = set()

    def end(self) -> None:
        """Lets go of tensors, and notes when that was."""
        self.captured, self.ends = [], set()
        self.over = next(sequence)


#: The derivatives that are being computed in this context, the innermost last.
DERIVATIVES: Final[ContextVar[tuple[Derivative, ...]]] = ContextVar(
    "rushlight_derivatives", default=()
)


def inside_transform() -> bool:
    """Whether a function transform is running: a derivative of a function, or a vmap of one."""
    layers = current().layers
    return TRANSFORMS.get() > 0 or bool(layers and layers[-1].randomness != "unsupported")


class Run:
    """One run over a graph."""

    __slots__ = (
        "accumulate",
        "anomaly",
        "callbacks",
        "captures",
        "check_nan",
        "depth",
        "ends",
        "given",
        "keep",
        "leaves",
        "mode",
        "node",
        "number",
        "order",
        "outer",
        "profiler",
        "results",
        "start",
        "table",
        "traced",
    )

    number: int
    table: dict[Any, Vertex] | None  # scratch of our own, where another run holds the slots
    keep: bool
    traced: bool
    captures: dict[Any, int] | None  # (vertex, output number) -> position among the inputs
    results: list[Any]
    accumulate: bool
    start: Vertex | None  # the only root
    leaves: list[Vertex]
    callbacks: list[Any]
    given: Sequence[object]  # tensors that it began with: hooks see just these
    ends: set[Any]  # nodes whose output gradients are wanted but which need not run
    mode: Mode  # what was switched on when it began
    anomaly: bool
    check_nan: bool
    profiler: Any  # what is told of each node, while a profile is taken
    order: list[Node]  # the nodes, in the order in which they run
    # What runs now, where somebody may ask: a node with hooks, one with code of its own (or any, in
    # anomaly mode), a leaf with hooks.
    node: Vertex | None
    outer: Run | None  # the run that this one is nested in
    depth: int  # how many runs this one is nested in

    def __init__(self, keep: bool, traced: bool) -> None:
        self.number = next(runs)
        self.table = None
        self.keep = keep
        self.traced = traced
        self.captures = None
        self.results = []
        self.accumulate = True
        self.start = None
        self.leaves = []
        self.callbacks = []
        self.ends = set()
        self.given = ()
        mode = self.mode = ready()
        self.anomaly = mode.anomaly
        self.check_nan = mode.check_nan
        self.profiler = mode.profiler
        self.order = []
        self.node = None
        outer: Run | None = RUNNING.get()
        self.outer = outer
        self.depth = 0 if outer is None else outer.depth + 1


# The innermost run of this context: hooks ask it what will run, and queue callbacks there.
RUNNING: Final[ContextVar[Any]] = ContextVar("rushlight_run", default=None)


class Anomaly:
    """What anomaly mode does with nodes; handed in by the layers above."""

    __slots__ = ("explain", "trace")

    explain: Any  # (node) -> None: warns where a node was made whose backward has failed
    trace: Any  # (node) -> None: notes where the node was made

    def __init__(self) -> None:
        self.explain = None
        self.trace = None


ANOMALY: Final = Anomaly()


def queue_callback(callback: AnyCallable) -> None:
    """Has `callback()` called when the run that is in progress has finished.

    Raises:
        RuntimeError: outside a run.
    """
    run: Any = RUNNING.get()
    if run is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    run.callbacks.append(callback)


def will_run(vertex: Vertex) -> bool:
    """Whether the run in progress sends a gradient through `vertex` (or has done so)."""
    run: Run | None = RUNNING.get()
    if run is None:
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    # The node that a run starts from is nobody's neighbour: PyTorch doesn't count it.
    runs_ = will_be_marked(vertex, run) and vertex is not run.start
    if runs_ and not run.accumulate and not isinstance(vertex, Node):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return runs_


def execution_order() -> list[Vertex]:
    """What the run in progress runs, first to last; a leaf comes as soon as it is complete.

    Raises:
        RuntimeError: outside a run, and where several threads may run it.
    """
    run: Run | None = RUNNING.get()
    if run is None:
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass"
        )
    if ready().multithreaded:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running:\n\n>>> with "
            "torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n"
        )
    waiting: dict[Vertex, int] = {}
    for node in run.order:
        for child in node.next:
            if child is not None and not isinstance(child, Node):
                waiting[child] = waiting.get(child, 0) + 1
    found: list[Vertex] = []
    for node in run.order:
        found.append(node)
        complete: list[Vertex] = []
        for child in node.next:
            if child is not None and not isinstance(child, Node):
                waiting[child] -= 1
                if not waiting[child] and will_be_marked(child, run):
                    complete.append(child)
        found += in_order(node, complete)
    return found


def will_be_marked(vertex: Vertex, run: Run) -> bool:
    """Whether `run` has marked a vertex as one that a gradient is sent through."""
    notes = vertex if run.table is None else run.table.get(vertex)
    return notes is not None and notes.run == run.number
