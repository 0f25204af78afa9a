"""The transforms that are running, one in the other, as operators on functions ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from .._core.mode import CURRENT, derive, ready
from .._core.run import DERIVATIVES


class TransformType(IntEnum):
    """The kinds of transforms, by PyTorch's numbers."""

    Torch = 0
    Vmap = 1
    Grad = 2
    Jvp = 3
    Functionalize = 4


class Interpreter:
    """A transform that is running: what it is, and a context outside of it."""

    def __init__(self, kind: TransformType, level: int) -> None:
        self._kind = kind
        self._level = level

    def key(self) -> TransformType:
        """Its kind."""
        return self._kind

    def level(self) -> int:
        """Its number: for a vmap, among the vmaps."""
        return self._level

    @contextmanager
    def lower(self) -> Iterator[None]:
        """A context in which the transforms around it run, but not it."""
        mode = ready()
        derivatives = DERIVATIVES.get()
        try:
            if self._kind is TransformType.Vmap:
                CURRENT.set(derive(mode, layers=mode.layers[:-1]))
            else:
                DERIVATIVES.set(derivatives[:-1])
            yield
        finally:
            CURRENT.set(mode)
            DERIVATIVES.set(derivatives)


def innermost() -> Interpreter | None:
    """The innermost transform that is running."""
    layers, derivatives = ready().layers, DERIVATIVES.get()
    if derivatives and derivatives[-1].layers == len(layers):
        kind = TransformType.Jvp if derivatives[-1].forward else TransformType.Grad
        return Interpreter(kind, len(layers) + len(derivatives))
    return Interpreter(TransformType.Vmap, layers[-1].level) if layers else None
