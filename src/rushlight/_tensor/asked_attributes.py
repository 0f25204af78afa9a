"""Attributes of tensors, about which the classes of programs are asked as about operations.

Note [Attributes are asked about in their class]
`x.shape` runs at every turn of a program, nearly always on a tensor whose class has no rules: to
look for one there would cost all of them. So a class with a `__torch_function__` of its own gets
these attributes itself, in a form that asks first. Its function is told `Tensor.shape.__get__`, a
write is `Tensor.grad.__set__`. What this package reads and writes itself isn't asked about, as what
PyTorch does in C++ isn't.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: What PyTorch asks about when it is read.
READ: Final = (
    "T", "H", "mT", "mH", "real", "imag", "shape", "dtype", "device", "grad", "grad_fn",
    "requires_grad", "is_leaf", "data", "ndim", "is_cpu", "is_meta", "output_nr", "_version",
    "_base", "_backward_hooks", "itemsize", "nbytes", "retains_grad", "_grad_fn",
    "_post_accumulate_grad_hooks", "grad_dtype",
)  # fmt: skip
#: What it asks about when it is written or deleted, too.
WRITTEN: Final = frozenset(("requires_grad", "grad", "data", "_backward_hooks", "grad_dtype"))
#: What stays of the class that it is.
KEPT: Final = ("grad", "_base")


class AskedAttribute:
    """An attribute of `Tensor` in a class that is asked about it."""

    __slots__ = ("ask", "name")

    def __init__(self, name: str, ask: Callable[..., object]) -> None:
        self.name = name
        self.ask = ask

    def __get__(self, x: object, owner: type | None = None) -> object:
        member = getattr(Tensor, self.name)
        if x is None:
            return member
        if _within(sys._getframe(1)):
            return member.__get__(x, owner)
        return self.ask(self.name, member.__get__, x, (x,))

    def __set__(self, x: object, value: object) -> None:
        member = getattr(Tensor, self.name)
        if self.name not in WRITTEN or _within(sys._getframe(1)):
            member.__set__(x, value)
        else:
            self.ask(self.name, member.__set__, x, (x, value))

    def __delete__(self, x: object) -> None:
        member = getattr(Tensor, self.name)
        if self.name not in WRITTEN or _within(sys._getframe(1)):
            member.__delete__(x)
        else:
            self.ask(self.name, member.__delete__, x, (x,))

    def __reduce__(self) -> tuple[object, ...]:
        """A class that is pickled with all it holds names the attribute, and finds it again."""
        return AskedAttribute, (self.name, self.ask)


def _within(frame: FrameType) -> bool:
    """Whether a frame is this package's."""
    return str(frame.f_globals.get("__name__")).startswith(_PREFIX)


_PREFIX: Final = __name__.partition(".")[0] + "."


def put_into(cls: type, ask: Callable[..., object]) -> None:
    """Lets a class be asked about what it has from `Tensor` as it is there."""
    for name in READ:
        for kind in cls.__mro__:
            if name in vars(kind):
                if kind is Tensor:
                    setattr(cls, name, AskedAttribute(name, ask))
                break


def stays_plain(function: object) -> bool:
    """Whether a function reads an attribute whose value keeps the class that it has."""
    return getattr(function, "__name__", None) == "__get__" and any(
        function == getattr(Tensor, name).__get__ for name in KEPT
    )
