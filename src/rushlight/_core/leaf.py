"""Leaves: how a finished gradient becomes, or joins, `.grad`.

Note [Stealing a gradient]
A leaf without a gradient takes the incoming array itself if nobody else can see it (`owned`: it was made
for this leaf by a formula or by adding) and if it is laid out like the leaf; otherwise a copy. A leaf
with a gradient is added to in place, so that views and aliases of `.grad` follow, unless the backward is
itself recorded (`create_graph`): then `.grad` becomes a new tensor.
"""

from __future__ import annotations

from typing import Any

from .._array import types as T
from .mode import CURRENT, ready, replaced
from .storage import TensorBase, bump, new_tensor


def receive(leaf: TensorBase, g: Any, owned: bool, traced: bool) -> None:
    """Accumulates `g` (an array, or a Tensor where `traced`) into `leaf._grad`."""
    if leaf._node is not None and leaf.hooks is None:
        pass
    old = leaf._grad
    if traced:
        _receive_traced(leaf, g, old)
    elif old is None:
        if not (owned and T.owns(g, leaf._raw)):
            g = T.copy_like(g, leaf._raw)
        leaf._grad = new_tensor(g)
    else:
        T.add_into(old._raw, g)
        bump(old)
    hooks = leaf.hooks
    if hooks is not None and hooks.accumulated:
        mode = ready()
        token = CURRENT.set(mode if mode.grad is traced else replaced(mode, grad=traced))
        try:
            for hook in list(hooks.accumulated.values()):
                hook(leaf)
        finally:
            CURRENT.reset(token)


def _receive_traced(leaf: TensorBase, g: TensorBase, old: Any) -> None:
    if old is None:
        leaf._grad = g
    else:
        leaf._grad = old + g
