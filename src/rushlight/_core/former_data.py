"""Shapes that gradients are expected to have where a tensor was given other data since.

Note [The shape that a vertex was recorded with]
PyTorch settles the shape of a tensor's gradient when the tensor is first used: `x.data = y` changes
the tensor, but not the shape that the graph expects. Our nodes don't note the shapes of their
inputs, which would cost every recorded operation. So the setter of `data` notes what the tensor was
before, and the number that the next node gets. For an older node the edge leads to that former
tensor. In PyTorch a leaf keeps the former shape for newer nodes as well, while older ones still
lead to it; here it does so where both are part of one run. A leaf of another type is another leaf.
"""

from __future__ import annotations

import weakref
from collections import deque
from functools import partial
from itertools import pairwise
from typing import Any, Final

from .node import CHECKED, FIX, GENERAL, OUTPUT, Node, Vertex, note_output, sequence
from .run import Run
from .storage import TensorBase

REPLACED: Final = "replaced"  # the key in a node's `meta` for a result with other data
_KEPT: Final = 8  # how many former shapes of a leaf
#: The former shapes of leaves, by identity, with a reference that clears the entry. Not in their
#: hooks: a leaf without hooks takes faster ways, and `module.double()` gives all of them new data.
_LEAVES: Final[dict[int, Any]] = {}


class Noted:
    """Whether any tensor of a graph has been given data of another shape or type."""

    __slots__ = ("any",)

    any: bool

    def __init__(self) -> None:
        self.any = False


NOTED: Final = Noted()


def note_former(t: TensorBase, memory: bool = False) -> None:
    """Notes the shape and type of a tensor that is part of a graph, before it gets other data.

    `memory` says that its memory is set, so that it is another leaf in any case.
    """
    node = t._node
    if node is None:
        key = id(t)
        if key not in _LEAVES:
            _LEAVES[key] = weakref.ref(t, partial(_forget, key)), deque(maxlen=_KEPT)
        _LEAVES[key][1].append((next(sequence), t._raw.shape, t._raw.dtype, memory))
    else:
        note_output(node, t._raw)
        if node.meta is None:
            node.meta = {}
        node.meta[REPLACED] = True
    NOTED.any = True


def _forget(key: int, reference: object) -> None:
    _LEAVES.pop(key, None)


def expect_former_shapes(order: list[Node], run: Run) -> None:
    """Marks the edges of nodes that lead to what has been given other data since."""
    # What a leaf was for the oldest node that leads to it, in a period, or None.
    leaves: dict[tuple[Vertex, int], Any] = {}
    noted = {leaf for leaf in run.leaves if id(leaf) in _LEAVES}
    for node in reversed(order):  # the oldest first
        for i, child in enumerate(node.next):
            former: Any = None
            if isinstance(child, Node):
                if child.meta is not None and REPLACED in child.meta:
                    nr = 0 if node.nrs is None else node.nrs[i]
                    outputs = child.out_meta
                    former = child.meta.get(OUTPUT) if outputs is None else outputs[nr - 1]
            elif child in noted:
                period = _period(child, node)
                if (child, period) not in leaves:
                    leaves[child, period] = _former(child, node)
                former = leaves[child, period]
            if former is not None:
                _expect(node, i, former)


def _former(leaf: Any, node: Node) -> Any:
    """The shape and type that a leaf had when a node was made, or None where it has them yet."""
    for number, shape, dtype, _ in _LEAVES[id(leaf)][1]:
        if node.seq < number:
            return shape, dtype
    return None


def _period(leaf: Vertex, node: Node) -> int:
    """How often it has become another leaf since a node was made: no shape is kept beyond that."""
    return sum(node.seq < number for number in _renewals(leaf))


def _renewals(leaf: Vertex) -> list[int]:
    """The numbers of the nodes from which on a tensor is another leaf."""
    notes = _LEAVES[id(leaf)][1]
    assert isinstance(leaf, TensorBase)
    types = [dtype for _, _, dtype, _ in notes] + [leaf._raw.dtype]
    changed = [a != b for a, b in pairwise(types)]
    return [note[0] for note, other in zip(notes, changed, strict=True) if other or note[3]]


def find_unused(vertices: list[Vertex], roots: list[Vertex]) -> set[int]:
    """The identities of vertices to which `roots` lead only as to the leaves that they were before.

    One walk for all of them, over the nodes that are younger than the oldest renewal.
    """
    since = {id(v): max(_renewals(v), default=-1) for v in vertices if id(v) in _LEAVES}
    since = {key: number for key, number in since.items() if number >= 0}
    for root in roots:
        since.pop(id(root), None)
    oldest = min(since.values(), default=0)
    seen: set[Vertex] = set(roots)
    waiting = list(roots)
    while waiting and since:
        node = waiting.pop()
        if not isinstance(node, Node) or node.seq < oldest:  # all it leads to is older
            continue
        for child in node.next:
            if child is None:
                continue
            if node.seq >= since.get(id(child), node.seq + 1):
                del since[id(child)]
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return set(since)


def _expect(node: Node, i: int, former: Any) -> None:
    fixes = [None] * len(node.next) if node.fix is None else list(node.fix)
    fixes[i] = former
    node.fix = tuple(fixes)
    node.special |= FIX | GENERAL | CHECKED
