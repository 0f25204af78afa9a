"""Tensors copied and pickled by Python's own means: `copy.copy`, `copy.deepcopy`, `pickle`."""

from __future__ import annotations

import copy
from typing import Any

from . import errors
from ._array import types as T
from ._core.storage import TensorBase, init_tensor


def copied(t: Any) -> Any:
    """A leaf over the same memory, of the same class and with the same attributes."""
    made = TensorBase.__new__(type(t))
    init_tensor(made, t._raw)
    made._requires_grad = t._requires_grad
    made._plain, made._layered, made._inference = t._plain, t._layered, t._inference
    made.__dict__.update(t.__dict__)
    return made


def reduced(t: Any) -> Any:
    """What a pickle keeps of a tensor: its memory, whether it requires grad, its attributes."""
    return rebuilt, (type(t), T.packed(t._raw), t._requires_grad, t.__dict__ or None)


def rebuilt(cls: Any, packed: Any, requires_grad: bool, attributes: Any = None) -> Any:
    """A tensor from what pickling kept of it."""
    t = TensorBase.__new__(cls)
    init_tensor(t, T.unpacked(packed))
    t._requires_grad = requires_grad
    if cls._overrides:
        t._plain = False
        t._layered = True
    if attributes:
        t.__dict__.update(attributes)
    return t


def deep_copied(t: Any, memo: dict[int, Any]) -> Any:
    """A copy of a leaf with memory, gradient and attributes of its own.

    Raises:
        RuntimeError: for a tensor with history.
    """
    if id(t) in memo:
        return memo[id(t)]
    if t._node is not None:
        raise RuntimeError(errors.DEEPCOPY_NON_LEAF)
    made = TensorBase.__new__(type(t))
    init_tensor(made, T.copied_with_storage(t._raw, memo))
    made._requires_grad = t._requires_grad
    made._plain, made._layered, made._inference = t._plain, t._layered, t._inference
    memo[id(t)] = made
    if t._grad is not None:
        made._grad = copy.deepcopy(t._grad, memo)
    if t.__dict__:
        made.__dict__.update(copy.deepcopy(t.__dict__, memo))
    return made
