"""`Tensor`: the class users see. Operations are attached from the table by `_methods.py`."""

from __future__ import annotations

from typing import Any, Callable

from . import dtypes as D
from . import errors
from ._array import types as T
from ._core.hooks import hooks_of
from ._core.mode import current
from ._core.storage import (
    CLASSES,
    DEFAULT,
    TensorBase,
    bump,
    init_tensor,
    new_tensor,
    version_cell,
    version_of,
)
from ._core.views import current_node
from .device import CPU, device
from .size import Size


class Tensor(TensorBase):
    """A multi-dimensional array of one element type that remembers how it was computed."""

    __slots__ = ("__dict__", "__weakref__")

    # ---- what it is ---------------------------------------------------------------------------
    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return Size(self._raw.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._raw.ndim)

    @property
    def dtype(self) -> D.dtype:
        """The type of the elements."""
        return T.from_raw(self._raw.dtype)

    @property
    def device(self) -> device:
        """Where the elements are."""
        return CPU

    # ---- its place in the graph ---------------------------------------------------------------
    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded. Only leaves may be changed."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        set_requires_grad(self, value)

    @property
    def is_leaf(self) -> bool:
        """Whether the user made it: it has no `grad_fn`."""
        return self._node is None

    @property
    def grad_fn(self) -> Any:
        """The node that computed it; None for a leaf."""
        return current_node(self)

    @property
    def output_nr(self) -> int:
        """Which output of its `grad_fn` it is."""
        return self._nr - 1 if self._nr else 0

    @property
    def grad(self) -> Any:
        """The gradient accumulated by backward; None before."""
        if self._grad is None and self._node is not None and not self.retains_grad:
            _warn_non_leaf_grad(self)
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        set_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether a non-leaf keeps its gradient, as `retain_grad` asks."""
        node = self._node
        if node is None or node.hooks is None:
            return False
        ref = node.hooks.retain.get(self._nr - 1 if self._nr else 0)
        return ref is not None and ref() is self

    @property
    def _version(self) -> int:
        if self._inference:
            raise RuntimeError(errors.INFERENCE_VERSION)
        return version_of(self)

    @property
    def _base(self) -> Any:
        view = self._view
        return view.base if view is not None and view.tracked else None

    def _is_view(self) -> bool:
        return self._view is not None and self._view.tracked

    def _bump_version(self) -> None:
        """Notes a write that was made to the array directly."""
        bump(self)

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return self._inference

    # ---- leaving the graph --------------------------------------------------------------------
    def detach(self) -> Tensor:
        """The same elements without history; shares memory and version."""
        out = alias_of(self)
        out._cell = version_cell(self)
        if self._inference:
            out._inference = True
            out._plain = False
        return out

    def detach_(self) -> Tensor:
        """Forgets its history, in place.

        Raises:
            RuntimeError: for a view, whose base would keep the history.
        """
        if self._view is not None and self._view.tracked and self._node is not None:
            raise RuntimeError(errors.DETACH_VIEW)
        version_cell(self)
        self._node = None
        self._nr = 0
        self._requires_grad = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history and with a version of its own."""
        return alias_of(self)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        self._raw = value._raw

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switches recording on (or off) for a leaf, in place."""
        set_requires_grad(self, requires_grad)
        return self


def alias_of(t: TensorBase) -> Tensor:
    """A fresh leaf over the same array."""
    out: Tensor = new_tensor(t._raw)  # type: ignore[assignment]
    return out


def set_requires_grad(t: TensorBase, value: bool) -> None:
    """Switches recording for a leaf.

    Raises:
        RuntimeError: for a non-leaf, an element type without gradients, an inference tensor.
    """
    value = bool(value)
    if t._node is not None:
        if not value:
            raise RuntimeError(errors.CHANGE_NON_LEAF)
        return
    if value and T.is_discrete(t._raw.dtype):
        raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("Tensors", "Tensors"))
    if value and t._inference and not current().inference:
        raise RuntimeError(errors.INFERENCE_REQUIRES_GRAD)
    t._requires_grad = value


def set_grad(t: TensorBase, value: Any) -> None:
    """Assigns `.grad`.

    Raises:
        TypeError: where the value is neither a tensor nor None.
        RuntimeError: where its shape or dtype differs from the tensor's.
    """
    if value is None:
        t._grad = None
        return
    if not isinstance(value, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value._raw.dtype != t._raw.dtype:
        raise RuntimeError(errors.assigned_grad_dtype(T.type_name(t._raw.dtype), T.type_name(value._raw.dtype)))
    if value._raw.shape != t._raw.shape:
        raise RuntimeError(errors.assigned_grad_shape(t._raw.shape, value._raw.shape))
    t._grad = value


def _warn_non_leaf_grad(t: TensorBase) -> None:
    import warnings

    warnings.warn(errors.NON_LEAF_GRAD, UserWarning, stacklevel=3)


CLASSES.tensor = Tensor

__all__ = ["Tensor", "alias_of", "hooks_of", "init_tensor", "set_grad", "set_requires_grad", "DEFAULT",
           "Callable"]  # fmt: skip
