"""How a tensor is printed in a function that is transformed: with the transforms around it."""

from __future__ import annotations

from typing import Any

from .._core.node import Vertex
from .._core.run import DERIVATIVES
from .._core.storage import TensorBase, new_tensor
from .._core.views import view_target


def reaches(t: TensorBase, ends: set[Vertex]) -> bool:
    """Whether the graph behind a tensor leads to one of some vertices."""
    start = view_target(t)
    stack, seen = [start], {start}
    while stack:
        vertex = stack.pop()
        if vertex is None:
            continue
        if vertex in ends:
            return True
        if isinstance(vertex, TensorBase):
            continue
        node: Any = vertex
        for child in node.next:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return False


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
