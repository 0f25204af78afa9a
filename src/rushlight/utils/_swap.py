"""`torch.utils.swap_tensors`: two tensors exchange all they are, for all who hold them."""

from __future__ import annotations

import weakref
from typing import Any, Final, NoReturn

from .._base import errors
from .._base.referrers import find_referrers
from .._core.hooks import hooks_of
from .._core.node import Node
from .._core.storage import TensorBase, new_tensor
from .._table.rows.meta import LIVE
from .._tensor.tensor import Tensor
from .._tensor.torch_function import torch_dispatch

__all__ = ["swap_tensors"]

_PARTS: Final = ("_raw", "_node", "_nr", "_requires_grad", "_grad", "_cell", "_view", "_plain",
                 "_inference", "_tangent", "_layered", "hooks")  # fmt: skip


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchanges elements, class, attributes, gradient and history of two tensors.

    What was computed from a leaf before has no way back to it: its backward is refused.

    Raises:
        RuntimeError: for a tensor that is weakly referred to, and for classes with other slots.

    Parameters:
        t1, t2: the tensors.
    Example:
        >>> x, y = torch.zeros(1), torch.ones(2)
        >>> torch.utils.swap_tensors(x, y)
        >>> x, y
        (tensor([1., 1.]), tensor([0.]))
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, TensorBase):
            raise AttributeError(f"'{errors.type_name(t)}' object has no attribute '_use_count'")
        if any(r is not LIVE.get(id(t)) for r in weakref.getweakrefs(t)):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = _slots(type(t1))
    if slots != _slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for t in (t1, t2):
        if t._node is None and t._requires_grad:
            _cut_off(t)
    held = [{name: getattr(t, name) for name in slots if hasattr(t, name)} for t in (t1, t2)]
    t1.__class__, t2.__class__ = type(t2), type(t1)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for name in slots:
        for t, values in ((t1, held[1]), (t2, held[0])):
            if name in values:
                setattr(t, name, values[name])
            elif hasattr(t, name):
                delattr(t, name)
    for name in _PARTS:
        first, second = getattr(t1, name), getattr(t2, name)
        setattr(t1, name, second)
        setattr(t2, name, first)
    for t in (t1, t2):
        LIVE.pop(id(t), None)
        if type(t)._dispatches:
            torch_dispatch().note(t)


def _slots(cls: type) -> set[str]:
    """The slots that subclasses of Tensor have added."""
    found: set[str] = set()
    for base in cls.__mro__:
        if issubclass(base, Tensor) and base is not Tensor:
            own = base.__dict__.get("__slots__", ())
            found.update((own,) if isinstance(own, str) else own)
    return found - {"__dict__", "__weakref__"}


def _cut_off(leaf: TensorBase) -> None:
    """Has the graphs that lead to a leaf end in another one, which refuses what arrives."""
    end = new_tensor(leaf._raw)
    end._requires_grad = True
    hooks_of(end).pre[0] = _refuse
    for holder in find_referrers([x for x in find_referrers([leaf]) if type(x) is tuple]):
        if isinstance(holder, Node):
            holder.next = tuple([end if goal is leaf else goal for goal in holder.next])


def _refuse(*grads: object) -> NoReturn:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen "
        "when you try to run backward on a tensor that was swapped. For a module m with "
        "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the "
        "device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and "
        "backward. To resolve this, please only change the device/dtype before running forward (or "
        "after both forward and backward)."
    )
