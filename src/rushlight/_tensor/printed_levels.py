"""How a tensor is printed in a function that is transformed: with the transforms around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .._core.node import Vertex
from .._core.run import DERIVATIVES
from .._core.storage import TensorBase, new_tensor
from .._core.views import view_target

#: Where a leaf by which a derivative differentiates has that derivative, in its dictionary.
ENDS: Final = "_rushlight_ends"


def vertices_behind(t: TensorBase) -> Iterator[Vertex]:
    """The vertices of the graph behind a tensor, its own first."""
    start = view_target(t)
    stack, seen = [start], {start}
    while stack:
        vertex = stack.pop()
        if vertex is None:
            continue
        yield vertex
        if isinstance(vertex, TensorBase):
            continue
        node: Any = vertex
        for child in node.next:
            if child not in seen:
                seen.add(child)
                stack.append(child)


def reaches(t: TensorBase, ends: set[Vertex]) -> bool:
    """Whether the graph behind a tensor leads to one of some vertices."""
    return any(vertex in ends for vertex in vertices_behind(t))


def derivative_level(t: TensorBase) -> int:
    """The number of the innermost derivative that tracks a tensor; 0 where none does.

    -1 where the tensor was made in a derivative that is over.
    """
    derivatives = DERIVATIVES.get()
    for count in range(len(derivatives), 0, -1):
        if reaches(t, derivatives[count - 1].ends):
            return derivatives[count - 1].layers + count
    own: Any = None
    for vertex in vertices_behind(t):
        own = own or vertex
        if isinstance(vertex, TensorBase):
            derivative = vertex.__dict__.get(ENDS)
            if derivative is not None and (own is vertex or own.seq < derivative.over):
                return -1
    return 0


def levels_text(t: TensorBase) -> str | None:
    """A tensor with the transforms that it is tracked by; None where there are none.

    Transforms count from the outermost: a vmap after the derivatives that had begun before it.
    """
    derivatives = DERIVATIVES.get()
    around: dict[int, str] = {}
    batch: Any = t
    while hasattr(batch, "_layer"):
        level = batch._layer.level
        number = level + sum(d.layers < level for d in derivatives)
        around[number] = f"BatchedTensor(lvl={number}, bdim={batch._dim}, value="
        t = batch = batch._value
    tracked = False
    for count, derivative in enumerate(derivatives, 1):
        if (t._requires_grad or t._view is not None) and reaches(t, derivative.ends):
            tracked = True
            number = derivative.layers + count
            around[number] = f"GradTrackingTensor(lvl={number}, value="
    if not around:
        return None
    # What the transforms differentiate by is theirs to tell.
    written = repr(new_tensor(t._raw) if tracked else t)
    for number in sorted(around):
        inside = written.replace("\n", "\n    ")
        written = f"{around[number]}\n    {inside}\n)"
    return written
