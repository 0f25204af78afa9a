"""Calls of a program that make tensors from numbers and shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..._core.storage import new_tensor
from ..ir.program import same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..._base.annotations import AnyCallable, Arguments


class Like:
    """Stands for a tensor of which only shape, type and strides matter: an argument of `*_like`."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @classmethod
    def of(cls, t: Any) -> Like:
        raw = t._raw
        return cls(new_tensor(A.pattern(raw.shape, raw.strides, raw.dtype)))

    def same_as(self, other: Like) -> bool:
        """Whether the other stands for a tensor of the same geometry."""
        mine, others = self.tensor._raw, other.tensor._raw
        return bool(
            mine.shape == others.shape and mine.dtype == others.dtype
            and mine.strides == others.strides
        )  # fmt: skip


class Factory:
    """A call that makes a tensor anew, giving its array."""

    __slots__ = ("function", "args", "kwargs")

    def __init__(
        self, function: AnyCallable, args: Arguments, kwargs: Mapping[str, object]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def __call__(self) -> Any:
        given = [a.tensor if type(a) is Like else a for a in self.args]
        return self.function(*given, **self.kwargs)._raw

    def same_as(self, other: Factory) -> bool:
        """Whether the other call makes the same."""
        return (
            self.function is other.function
            and same(self.args, other.args)
            and same(self.kwargs, other.kwargs)
        )


class Keywords:
    """A function with keyword arguments that are fixed."""

    __slots__ = ("function", "kwargs")

    def __init__(self, function: AnyCallable, kwargs: Mapping[str, object]) -> None:
        self.function = function
        self.kwargs = kwargs

    def __call__(self, *args: Sequence[object]) -> Any:
        return self.function(*args, **self.kwargs)

    def same_as(self, other: Keywords) -> bool:
        """Whether the other is the same function with the same arguments."""
        return same(self.function, other.function) and same(self.kwargs, other.kwargs)
