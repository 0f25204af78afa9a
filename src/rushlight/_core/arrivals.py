"""Which of several leaves accumulates first, where one node has brought the last gradient of each.

PyTorch puts what is ready into a binary heap that compares ages. All leaves have the same age, so
they run in the order in which a heap gives equal elements; `heapq` gives them in the same one. Only
what the node itself leads to is put into ours, not what else waits in PyTorch's. A node that stands
for several of PyTorch's says in which order these would bring their gradients (`delivers`).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from .node import Node, Vertex


class Arrival:
    """A vertex that is ready; the youngest goes first, and leaves before all nodes."""

    __slots__ = ("vertex", "age")

    def __init__(self, vertex: Vertex) -> None:
        self.vertex = vertex
        self.age = vertex.seq if isinstance(vertex, Node) else -1

    def __lt__(self, other: Arrival) -> bool:
        if self.age < 0 or other.age < 0:
            return self.age < 0 and other.age >= 0
        return self.age > other.age


def in_order(node: Node, leaves: list[Vertex]) -> list[Vertex]:
    """Several leaves, given by the edges of the node that completed them, as they accumulate."""
    order = node.op.delivers
    found: list[Vertex] = []
    if order is not None:
        for i in order:
            child = node.next[i]
            for leaf in leaves:
                if leaf is child:
                    found.append(leaf)
        return found if len(found) == len(leaves) else last_of_each(found)
    if len(leaves) < 4:
        return leaves
    heap: list[Arrival] = []
    seen: set[int] = set()
    ready = {id(leaf) for leaf in leaves}
    for child in node.next:
        if child is None or id(child) in seen:
            continue
        if isinstance(child, Node) or id(child) in ready:
            seen.add(id(child))
            heappush(heap, Arrival(child))
    while heap:
        vertex = heappop(heap).vertex
        if not isinstance(vertex, Node):
            found.append(vertex)
    return found


class Renumbered:
    """Whether a program has given a node a number of its own."""

    __slots__ = ("any",)

    any: bool

    def __init__(self) -> None:
        self.any = False


RENUMBERED: Final = Renumbered()


def youngest_first(nodes: list[Node]) -> list[Node]:
    """The nodes of a run in the order of their numbers, but none before one that leads to it."""
    waiting: dict[Vertex, int] = {}
    for node in nodes:
        for child in node.next:
            if child is not None:
                waiting[child] = waiting.get(child, 0) + 1
    heap = [Arrival(node) for node in nodes if node not in waiting]
    heapify(heap)
    found: list[Node] = []
    while heap:
        youngest = heappop(heap).vertex
        assert isinstance(youngest, Node)
        found.append(youngest)
        for child in youngest.next:
            if isinstance(child, Node):
                waiting[child] -= 1
                if not waiting[child]:
                    heappush(heap, Arrival(child))
    return found


def last_of_each(leaves: list[Vertex]) -> list[Vertex]:
    """Leaves that stand in several places, at the last one."""
    found: list[Vertex] = []
    seen: set[int] = set()
    for leaf in reversed(leaves):
        if id(leaf) not in seen:
            seen.add(id(leaf))
            found.append(leaf)
    found.reverse()
    return found
