"""Leaves: how a finished gradient becomes, or joins, `.grad`.

Note [Stealing a gradient]
A leaf without a gradient takes the incoming array itself if that is laid out like the leaf and if
nobody else can see it (`owned`): a formula, a sum, or a hook that hasn't kept it made it for this
leaf. Otherwise it takes a copy.
A leaf with a gradient is added to in place, so that views and aliases of `.grad` follow, unless the
backward is itself recorded (`create_graph`): then `.grad` becomes a new tensor.
"""

from __future__ import annotations

from typing import Any, Final

from .._array import types as T
from .._array.types import ndarray as _ndarray
from .._base.fork_locks import lock as make_lock
from .hooks import SPARSE, Hooks, check_hook_result
from .interposers import receive_gradient
from .mode import CURRENT, current, derive, ready, with_grad
from .storage import TensorBase, bump, new_tensor

# Adding large arrays lets other threads run, so two threads that accumulate into one leaf must take
# turns. A few locks shared by all leaves cost no memory per leaf; reentrant, because adding Tensors
# may run code of a subclass.
ndarray: Final = _ndarray
STRIPES: Final = tuple([make_lock() for _ in range(16)])


def receive(leaf: TensorBase, g: Any, owned: bool, traced: bool) -> None:
    """Accumulates `g` (an array, or a Tensor where `traced`) into `leaf._grad`.

    Raises:
        RuntimeError: where the tensor has got a history since it was used as a leaf, or a hook
            returns something else than None (or the leaf).
    """
    if leaf._node is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    if not leaf._requires_grad:
        return
    recorder: Any = None
    alone = owned and leaf.hooks is None
    if traced and current().carrying:  # on Tensors, but not recorded
        traced = False
        owned = False
        if not g._plain and receive_gradient(leaf, g):
            return
        g = g._raw
        recorder = current().recorder
    lock = STRIPES[(id(leaf) >> 6) & 15]
    lock.acquire()
    try:
        old: TensorBase | None = leaf._grad
        if recorder is not None and (old is None or old._plain) and not hasattr(g, "held"):
            recorder.receive(leaf, g, alone)
        elif traced:
            _receive_traced(leaf, g, old)
        elif old is None:
            if type(g) is not ndarray and hasattr(g, "held"):  # else a NumPy number
                SPARSE.received(leaf, g, None)
            # Without a call of a function that isn't compiled: this runs for every leaf.
            elif not (
                owned and type(g) is ndarray and g.base is None and g.strides == leaf._raw.strides
            ):
                if g.shape != leaf._raw.shape:  # it has been given other data since
                    g = T.broadcast_like(g, leaf._raw, owned)
                fresh = new_tensor(T.copy_like(g, leaf._raw))
                bump(fresh)  # PyTorch counts the copying as a write
                leaf._grad = fresh
            else:
                leaf._grad = new_tensor(g)
        elif old._requires_grad or not old._plain:
            _receive_beside(leaf, g, old)
        else:
            T.add_into(old._raw, g)
            bump(old)
    finally:
        lock.release()
    hooks: Hooks | None = leaf.hooks
    if hooks is not None and hooks.accumulated:
        before = CURRENT.get()
        try:
            CURRENT.set(with_grad(ready(), traced))
            for hook in list(hooks.accumulated.values()):
                result = hook(leaf)
                if result is not None and check_hook_result(hook, result, leaf) is not leaf:
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        finally:
            CURRENT.set(before)


def _receive_beside(leaf: TensorBase, g: Any, old: Any) -> None:
    """Adds to a gradient that is itself part of a graph: in place too, but not recorded."""
    if old._layered and (hasattr(g, "held") or old.is_sparse):
        SPARSE.received(leaf, g, old)
        return
    mode = ready()
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(mode, grad=False))
        old += new_tensor(g)
        leaf._grad = old
    finally:
        CURRENT.set(former_mode)


def _receive_traced(leaf: TensorBase, g: Any, old: Any) -> None:
    if old is None:
        # A copy: the tensor that arrived may be in other hands too.
        fresh: Any = new_tensor(T.empty_like(leaf._raw, g._raw.dtype))
        leaf._grad = fresh.copy_(g)
    elif old._layered and not g._layered:  # a sparse one can't take a dense one up
        leaf._grad = g + old
    else:
        leaf._grad = old + g
