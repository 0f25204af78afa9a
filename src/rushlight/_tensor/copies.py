"""Tensors copied and pickled by Python's own means: `copy.copy`, `copy.deepcopy`, `pickle`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from copyreg import _slotnames  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .._array import types as T
from .._array.memory import packed as P
from .._array.memory.meta import MetaArray, with_strides
from .._base import errors
from .._base.dtypes import BY_NAME
from .._core.mode import ask_class, current
from .._core.storage import CLASSES, TensorBase, init_tensor
from .._core.views import current_node

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .tensor import Tensor


#: What a program has set on a tensor, by name.
Attributes: TypeAlias = "dict[str, Any]"


def attributes_of(t: Tensor) -> Attributes:
    """What a program has set on a tensor: in its dictionary, and in slots of its class."""
    names = _slot_names(type(t))
    if not names:
        return t.__dict__
    return {**t.__dict__, **{name: getattr(t, name) for name in names if hasattr(t, name)}}


def set_attributes(t: Tensor, attributes: Attributes | None) -> None:
    """Sets what `attributes_of` another tensor of the class gave."""
    if not attributes:
        return
    names = _slot_names(type(t))
    if not names:
        t.__dict__.update(attributes)
        return
    for name, value in attributes.items():
        if name in names:
            setattr(t, name, value)
        else:
            t.__dict__[name] = value


def _slot_names(cls: type[object]) -> tuple[str, ...]:
    """The slots that subclasses of `Tensor` have declared."""
    own = CLASSES.tensor
    return () if cls is own else tuple(n for n in _slotnames(cls) if n not in _slotnames(own))


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warns of hooks on a tensor, which a copy or a pickle of it won't have."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                UserWarning,
                stacklevel=3,
            )


def copy_leaf(t: Tensor) -> Tensor:
    """A leaf over the same memory, of the same class and with the same attributes."""
    if t.hooks is not None:
        warn_if_has_hooks(t)
    made = TensorBase.__new__(type(t))
    init_tensor(made, t._raw)
    made._requires_grad = t._requires_grad
    take_kind(made, t)
    set_attributes(made, attributes_of(t))
    return made


def take_kind(made: Tensor, t: Tensor) -> None:
    """Gives a copy the marks of its class; an inference tensor is made by the mode of now only."""
    made._inference = current().inference
    made._layered = t._layered
    made._plain = not (made._layered or made._inference)


def reduce_leaf(t: Tensor) -> object:
    """What a pickle keeps of a tensor: its memory, whether it requires grad, its attributes."""
    if t.hooks is not None:
        warn_if_has_hooks(t)
    if type(t._raw) is MetaArray:
        steps = (tuple(t._raw.shape), T.byte_strides(t._raw), T.from_raw(t._raw.dtype).name)
        return rebuild_on_meta, (type(t), steps, t._requires_grad, attributes_of(t) or None)
    return rebuilt, (type(t), P.pack(t._raw), t._requires_grad, attributes_of(t) or None)


#: How plain pickles hold tensors and storages: this package's way, or PyTorch's where `torch` is
#: this package.
PICKLED: Final[dict[str, Callable[[Any], Any]]] = {"tensor": reduce_leaf}


def rebuilt(
    cls: type[object], packed: Any, requires_grad: bool, attributes: Attributes | None = None
) -> Tensor:
    """A tensor from what pickling kept of it."""
    return rebuilt_over(cls, P.unpack(packed), requires_grad, attributes)


def rebuild_on_meta(
    cls: type, kept: Any, requires_grad: bool, attributes: Attributes | None = None
) -> Any:
    """A tensor without data from what pickling kept of it."""
    shape, steps, name = kept
    array = with_strides(shape, steps, T.to_raw(BY_NAME[name]))
    return rebuilt_over(cls, array, requires_grad, attributes)


def rebuilt_over(
    cls: type[Any], array: Array, requires_grad: bool, attributes: Attributes | None = None
) -> Tensor:
    """A tensor over an array, with what else pickling kept of it."""
    t = TensorBase.__new__(cls)
    init_tensor(t, array)
    t._requires_grad = requires_grad
    if cls._overrides or cls._dispatches or type(array) is MetaArray:
        t._plain = False
        t._layered = True
        if cls._dispatches:
            ask_class(CLASSES.tensor)
    set_attributes(t, attributes)
    return t


def deep_copied(t: Tensor, memo: dict[int, object]) -> Any:
    """A copy of a leaf with memory, gradient and attributes of its own.

    Raises:
        RuntimeError: for a tensor with history.
    """
    if id(t) in memo:
        return memo[id(t)]
    if current_node(t) is not None:
        raise RuntimeError(errors.DEEPCOPY_NON_LEAF)
    made = TensorBase.__new__(type(t))
    bare = type(t._raw) is MetaArray
    init_tensor(made, t._raw if bare else P.copy_with_storage(t._raw, memo))
    made._requires_grad = t.requires_grad
    take_kind(made, t)
    memo[id(t)] = made
    if t._grad is not None:
        made._grad = copy.deepcopy(t._grad, memo)
    attributes = attributes_of(t)
    if attributes:
        set_attributes(made, copy.deepcopy(attributes, memo))
    return made
