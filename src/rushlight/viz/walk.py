"""The functions that backward would run from a tensor, as plain data that a drawing can be made of.

Only what every tensor and every function shows in public is read: `grad_fn`, `requires_grad`,
`shape`, `next_functions`, `name()` and, on the functions that end in a leaf, `variable`. Nothing
here holds or imports an array.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Kind = Literal["function", "leaf", "more"]


class GraphNode(Protocol):
    """What is asked of a `grad_fn`; its `variable`, where it has one, is the leaf that it fills."""

    @property
    def next_functions(self) -> Sequence[tuple[GraphNode | None, int]]: ...

    def name(self) -> str: ...


class GraphTensor(Protocol):
    """What is asked of a tensor."""

    @property
    def grad_fn(self) -> GraphNode | None: ...

    @property
    def requires_grad(self) -> bool: ...

    @property
    def shape(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Vertex:
    """One function of the graph, one leaf, or a mark that stands for functions left out."""

    kind: Kind
    name: str
    detail: str = ""
    """A second line: the shape of a leaf, or what a function has saved."""
    tooltip: str = ""


@dataclass(slots=True)
class Walk:
    """A graph as lists; an edge is two places in `vertices`, the root first, and an output."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    """From, to, and which output of the function that is led to."""
    functions: int = 0
    """How many functions the whole graph has, leaves not counted, drawn or not."""
    leaves: int = 0
    """How many leaves the whole graph has, drawn or not."""
    shown: int = 0
    """How many of both are among `vertices`."""

    @property
    def is_cut(self) -> bool:
        return self.shown < self.functions + self.leaves


def walk(
    root: GraphTensor,
    params: Mapping[str, GraphTensor] | None = None,
    max_nodes: int = 300,
    saved: bool = False,
) -> Walk:
    """What is reachable from `root.grad_fn`, nearest first; `max_nodes` of it become vertices.

    The whole graph is counted even when it is cut. Nothing recurses, so its depth doesn't matter.

    Raises: ValueError when `root` has no history to draw or `max_nodes` is below 1.
    """
    if max_nodes < 1:
        raise ValueError(f"max_nodes must be at least 1, got {max_nodes}")
    # By identity: comparing tensors with == would compare their elements.
    names = {id(tensor): name for name, tensor in (params or {}).items()}
    start = root.grad_fn
    if start is None:
        if not root.requires_grad:
            raise ValueError(
                "this tensor has no graph to draw: it does not require grad and has no grad_fn"
            )
        return Walk([_leaf(root, names)], [], functions=0, leaves=1, shown=1)

    # Some implementations make a node's Python object on demand, and ids of dead objects are given
    # again; `order` keeps every node alive, and so every id unique, until the walk is over.
    order: list[GraphNode] = [start]
    position: dict[int, int] = {id(start): 0}
    pending: deque[GraphNode] = deque(order)
    graph = Walk()
    missing: dict[int, int] = {}
    while pending:
        node = pending.popleft()
        here = position[id(node)]
        variable = _variable(node)
        if variable is None:
            graph.functions += 1
        else:
            graph.leaves += 1
        if here < max_nodes:
            graph.vertices.append(
                _function(node, saved) if variable is None else _leaf(variable, names)
            )
        for following, number in node.next_functions:
            if following is None:
                continue
            there = position.get(id(following))
            if there is None:
                there = position[id(following)] = len(order)
                order.append(following)
                pending.append(following)
            if here >= max_nodes:
                continue
            if there < max_nodes:
                graph.edges.append((here, there, number))
            else:
                missing[here] = missing.get(here, 0) + 1
    graph.shown = len(graph.vertices)
    for here, count in missing.items():
        noun = "input is" if count == 1 else "inputs are"
        graph.edges.append((here, len(graph.vertices), 0))
        graph.vertices.append(Vertex("more", "…", "", f"{count} {noun} not drawn"))
    return graph


def shape_text(shape: Sequence[int]) -> str:
    """A shape as a tuple is written, `()` for a single number."""
    return str(tuple(int(length) for length in shape))


def _variable(node: GraphNode) -> GraphTensor | None:
    """The leaf that `node` fills, if any; a user's function may call anything `variable`."""
    if not node.name().endswith("AccumulateGrad"):
        return None
    return getattr(node, "variable", None)


def _leaf(variable: GraphTensor, names: Mapping[int, str]) -> Vertex:
    shape = shape_text(variable.shape)
    name = names.get(id(variable), "")
    return Vertex(
        "leaf", name or "leaf", shape, f"{name or 'a leaf without a name'}, shape {shape}"
    )


def _function(node: GraphNode, saved: bool) -> Vertex:
    name = node.name()
    if not saved:
        return Vertex("function", name, "", name)
    lines, tensors = [name], []
    for attribute in sorted(name for name in dir(node) if name.startswith("_saved_")):
        label = attribute.removeprefix("_saved_")
        text, is_tensor = _describe_saved(node, attribute)
        lines.append(f"saved {label}: {text}")
        if is_tensor:
            tensors.append(label)
    detail = f"saves {', '.join(tensors)}" if tensors else ""
    return Vertex("function", name, detail, "\n".join(lines))


def _describe_saved(node: GraphNode, attribute: str) -> tuple[str, bool]:
    """A saved value in words, the shape for a tensor, and whether it is one."""
    try:
        value = getattr(node, attribute)
    except RuntimeError:
        # After a backward without retain_graph the values are gone.
        return "freed", True
    shape = getattr(value, "shape", None)
    return (repr(value), False) if shape is None else (shape_text(shape), True)
