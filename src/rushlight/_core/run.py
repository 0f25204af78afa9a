"""`Run`: one run over a graph, and what code inside it may ask of it."""

from __future__ import annotations

from contextvars import ContextVar
from itertools import count
from typing import Any, Final

from .mode import ready
from .node import Node, Vertex

runs: Final = count(1)


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
        "keep",
        "leaves",
        "node",
        "number",
        "results",
        "table",
        "traced",
    )  # fmt: skip

    number: int
    table: dict[Any, Vertex] | None  # scratch of our own, where another run holds the slots
    keep: bool
    traced: bool
    captures: dict[Any, int] | None  # (vertex, output number) -> position among the inputs
    results: list[Any]
    accumulate: bool
    leaves: list[Vertex]
    callbacks: list[Any]
    ends: set[Any]  # nodes whose output gradients are wanted but which need not run
    anomaly: bool
    check_nan: bool
    node: Node | None  # the node that runs now, in anomaly mode and for custom functions
    depth: int  # how many runs this one is nested in

    def __init__(self, keep: bool, traced: bool) -> None:
        self.number = next(runs)
        self.table = None
        self.keep = keep
        self.traced = traced
        self.captures = None
        self.results = []
        self.accumulate = True
        self.leaves = []
        self.callbacks = []
        self.ends = set()
        mode = ready()
        self.anomaly = mode.anomaly
        self.check_nan = mode.check_nan
        self.node = None
        outer: Any = RUNNING.get()
        self.depth = 0 if outer is None else outer.depth + 1


# The innermost run of this context: hooks ask it what will run, and queue callbacks there.
RUNNING: Final[ContextVar[Any]] = ContextVar("rushlight_run", default=None)


class Anomaly:
    """What anomaly mode does when a node fails; handed in by the layers above."""

    __slots__ = ("explain",)

    explain: Any  # (node) -> None: warns where the node was made

    def __init__(self) -> None:
        self.explain = None


ANOMALY: Final = Anomaly()


def queue_callback(callback: Any) -> None:
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
        raise RuntimeError("_get_graph_task: there is no backward in progress")
    table = run.table
    if table is None:
        return vertex.run == run.number
    notes = table.get(vertex)
    return notes is not None and notes.run == run.number
