"""Attributes of tensors that few programs touch: `grad_dtype`, `_grad_fn`, `volatile`."""

from __future__ import annotations

import warnings

from .._array import types as T
from .._base import dtypes as D
from .._core.hooks import GRAD_DTYPE, hooks_of
from .._core.storage import TensorBase
from .._tensor.tensor import Tensor


def _get_grad_dtype(self: TensorBase) -> D.dtype | None:
    """The element type of this leaf's gradient: its own, the one set, or None for any.

    Raises:
        RuntimeError: for a tensor that isn't a leaf.

    Example:
        >>> w = torch.ones(1, requires_grad=True)
        >>> w.grad_dtype
        torch.float32
    """
    if not self.is_leaf:  # type: ignore[attr-defined]
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    if self.hooks is not None and GRAD_DTYPE in self.hooks.extra:
        raw_type = self.hooks.extra[GRAD_DTYPE]
        return None if raw_type is None else T.from_raw(raw_type)
    return T.from_raw(self._raw.dtype)


def _set_grad_dtype(self: TensorBase, value: object) -> None:
    """Has gradients of this leaf come in another element type; None: in whichever they come.

    Raises:
        RuntimeError: for a tensor that isn't a leaf; where there is a gradient of another type.
    """
    if not self.is_leaf:  # type: ignore[attr-defined]
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if value is not None and not isinstance(value, D.dtype):
        kind = type(value).__name__
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {kind}")
    old = self._grad
    if value is not None and old is not None and T.from_raw(old._raw.dtype) is not value:
        has = D.c_name(T.from_raw(old._raw.dtype))
        raise RuntimeError(
            f"Cannot set grad_dtype to '{D.scalar_name(value)}' because there is already a "
            f"gradient with dtype '{has}'. Please clear the gradient (.grad = None) before "
            "changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's "
            "dtype."
        )
    if value is T.from_raw(self._raw.dtype):
        if self.hooks is not None:
            self.hooks.extra.pop(GRAD_DTYPE, None)
    else:
        hooks_of(self).extra[GRAD_DTYPE] = None if value is None else T.to_raw(value)


def _set_node(self: Tensor, value: None) -> None:
    """Forgets the history where it is set to None.

    Raises:
        RuntimeError: for any other value.
    """
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _keep_node(self: Tensor) -> None:
    """Never returns.

    Raises:
        RuntimeError: always: a history can't be deleted.
    """
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


def _get_volatile(self: Tensor) -> bool:
    """Always False, with a warning.

    Example:
        >>> torch.ones(1).volatile
        False
    """
    warnings.warn(
        "volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2
    )
    return False


def _set_volatile(self: Tensor, value: object) -> None:
    """Does nothing but warn."""
    warnings.warn(
        "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
        UserWarning,
        stacklevel=2,
    )


def _use_count(self: Tensor) -> int:
    """How many hold this tensor inside: its Python object, and the graph where it is a leaf of it.

    The graph's edges count once, however many they are, as PyTorch's one `AccumulateGrad` does.
    """
    return 1 + int(edges_reach(self))


def edges_reach(leaf: TensorBase) -> bool:
    """Whether a node that is alive sends its gradient to `leaf`: found among what refers to it."""
    from .._base.referrers import find_referrers
    from .._core.node import Node

    for holder in find_referrers([leaf]):
        if isinstance(holder, tuple):
            for owner in find_referrers([holder]):
                if isinstance(owner, Node) and owner.next is holder:
                    return True
        elif isinstance(holder, Node):
            return True
    return False


Tensor.grad_dtype = property(_get_grad_dtype, _set_grad_dtype)  # type: ignore[assignment]
Tensor._grad_fn = property(lambda t: t.grad_fn, _set_node, _keep_node)
Tensor.volatile = property(_get_volatile, _set_volatile)  # type: ignore[assignment]
Tensor._use_count = _use_count  # type: ignore[method-assign, assignment]

__all__ = ["edges_reach"]
