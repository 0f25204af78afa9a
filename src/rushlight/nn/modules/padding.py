"""Padding of the last dimensions: with a constant, mirrored, repeated or wrapped around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import functional as F
from .._ground import Tensor
from ._own_names import own
from ._sizes import _each
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Pads `_dims` dimensions by `padding`: one number for all sides, or a pair by dimension."""

    __constants__ = ["padding"]
    _dims: int
    _mode: Literal["constant", "reflect", "replicate", "circular"]
    padding: Any

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        sides = 2 * self._dims
        self.padding = _each(padding, sides)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    """Pads with `value`."""

    __constants__ = ["padding", "value"]
    _mode = "constant"
    value: float

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


@own("__init__")
class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with `value`."""

    _dims = 1


@own("__init__")
class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with `value`."""

    _dims = 2


@own("__init__")
class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with `value`."""

    _dims = 3


class _ZeroPadNd(_ConstantPadNd):
    """Pads with zeros."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


@own("__init__")
class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Pads the last dimension with zeros."""


@own("__init__")
class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Pads the last two dimensions with zeros."""


@own("__init__")
class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Pads the last three dimensions with zeros."""


@own("forward")
class _ReflectionPadNd(_Pad):
    """Mirrors the input at its borders."""

    _mode = "reflect"


@own("__init__")
class ReflectionPad1d(_ReflectionPadNd):
    """Mirrors the last dimension at its edges, which aren't repeated."""

    _dims = 1


@own("__init__")
class ReflectionPad2d(_ReflectionPadNd):
    """Mirrors the last two dimensions at their edges, which aren't repeated."""

    _dims = 2


@own("__init__")
class ReflectionPad3d(_ReflectionPadNd):
    """Mirrors the last three dimensions at their edges, which aren't repeated."""

    _dims = 3


@own("forward")
class _ReplicationPadNd(_Pad):
    """Repeats the input's borders."""

    _mode = "replicate"


@own("__init__")
class ReplicationPad1d(_ReplicationPadNd):
    """Repeats the edges of the last dimension."""

    _dims = 1


@own("__init__")
class ReplicationPad2d(_ReplicationPadNd):
    """Repeats the edges of the last two dimensions."""

    _dims = 2


@own("__init__")
class ReplicationPad3d(_ReplicationPadNd):
    """Repeats the edges of the last three dimensions."""

    _dims = 3


class _CircularPadNd(_Pad):
    """Continues each dimension with its other end."""

    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        fewer, more = self._dims + 1, self._dims + 2
        if input.dim() not in (fewer, more):
            raise ValueError(f"expected {fewer}D or {more}D input (got {input.dim()}D input)")
        return super().forward(input)


@own("__init__")
class CircularPad1d(_CircularPadNd):
    """Continues the last dimension with its other end."""

    _dims = 1


@own("__init__")
class CircularPad2d(_CircularPadNd):
    """Continues the last two dimensions with their other ends."""

    _dims = 2


@own("__init__")
class CircularPad3d(_CircularPadNd):
    """Continues the last three dimensions with their other ends."""

    _dims = 3
