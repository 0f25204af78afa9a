"""Examples: what a batch looks like to code that sees one example of it.

An `Example` has the shape, the strides and the type of one example, and refuses to be read: there
is a whole batch of values behind it. Whatever would read its elements raises `BatchRead`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

#: Functions that use the form of their argument only, not its elements.
FORM_ONLY = frozenset({np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.shape, np.ndim})


class BatchRead(RuntimeError):
    """Code under vmap has tried to read the elements of a batch as if it were one example."""


CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)


def _refuse(*args: object, **kwargs: object) -> NoReturn:
    raise BatchRead(CONTROL_FLOW)


ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)


def _no_item(*args: object, **kwargs: object) -> NoReturn:
    raise BatchRead(ITEM)


class Example(np.ndarray[Any, Any]):
    """The shape, strides and type of one example of a batch; its elements can't be read."""

    __array_ufunc__ = _refuse

    def __array_function__(self, func: Any, types: object, args: Any, kwargs: Any) -> Any:
        if func not in FORM_ONLY:
            return _refuse()
        plain = [a.view(np.ndarray) if isinstance(a, Example) else a for a in args]
        return func(*plain, **kwargs)


for _name in (
    "__getitem__", "__setitem__", "__bool__", "__float__", "__int__", "__index__", "__complex__",
    "__iter__", "__contains__", "__copy__", "__deepcopy__", "__reduce__", "all", "any", "argmax",
    "argmin", "astype", "copy", "cumsum", "dot", "fill", "flatten", "max", "mean", "min",
    "nonzero", "prod", "ravel", "repeat", "reshape", "round", "sort", "sum", "swapaxes", "take",
    "tobytes", "transpose",
):  # fmt: skip
    setattr(Example, _name, _refuse)


for _name in ("item", "tolist", "__float__", "__int__", "__complex__", "__index__"):
    setattr(Example, _name, _no_item)


def example_of(raw: Array, axis: int) -> Array:
    """One example of the batch `raw`, whose examples lie along `axis`."""
    if raw.shape[axis]:
        key: Any = (*(slice(None),) * axis, 0, ...)
        first: Any = np.ndarray.__getitem__(raw, key)
    else:
        shape = raw.shape[:axis] + raw.shape[axis + 1 :]
        first = np.broadcast_to(np.empty((), raw.dtype), shape)
    return first.view(Example)


def is_example(raw: Array) -> bool:
    """Whether an array only stands for one example of a batch."""
    return isinstance(raw, Example)
