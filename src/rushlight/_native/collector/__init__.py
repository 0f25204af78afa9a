"""What the collector of garbage has to do with graphs, where a C compiler built it.

Python's collector walks through every container that may be part of a cycle, and through the old
ones again each time that there are a quarter more: in a graph of 10⁵ nodes and more that takes
longer than recording it. So a plain node, with the tuples that it has for itself, is taken from the
collector's lists (`PyObject_GC_UnTrack`) when the first collection after its making begins. It is
freed when nobody refers to it any more, as before.

A cycle through such a node is never found. What a program makes of a graph (`x.cached = y` for a
leaf `x` from which `y` was computed, a gradient that was recorded and lies in `x.grad`, a write
into a saved tensor of what was computed from it) stays until it is undone, as in PyTorch, whose
nodes the collector doesn't see either. So a node is plain only if it leads to nothing but plain
tensors, other nodes and values that lead nowhere. Others stay in the lists: those with hooks,
contexts of custom functions, and nodes of tensors with a layer or a tangent, which save their
results and so make cycles by recording. Who gives hooks to a node later has it seen again
(`track`). Nodes that send a gradient to a leaf stay, too: `autograd/attributes.py` asks who refers
to a leaf.

The interpreted core and free-threaded Python leave all nodes to the collector.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from ..._base.lazy import load

if TYPE_CHECKING:
    from collections.abc import Callable


def leave_out(node: type, tensor: type, operation: type) -> Callable[[object], None] | None:
    """From now on plain nodes are left out of collections; what has one seen again, or None.

    `node`, `tensor` and `operation` are the classes that nodes, tensors and operations inherit.
    """
    try:
        untracking = load("_native.collector.untracking")
    except ImportError:
        return None
    untracking.set_classes(node, tensor, operation)
    gc.callbacks.append(untracking.prepare)
    track: Callable[[object], None] = untracking.track
    return track
