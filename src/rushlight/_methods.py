"""Attaches the table's operations to `Tensor`: methods, in-place variants, operators."""

from __future__ import annotations

from typing import Any, Callable

from ._core.apply import apply1, apply2
from ._core.inplace import apply_inplace
from ._core.storage import TensorBase
from .ops import TENSOR_METHODS
from .ops._row import ROWS
from .tensor import Tensor

NUMBERS = (int, float, complex)


def _operator(name: str) -> Callable[[Any, Any], Any]:
    """The operator of a two-operand row."""
    op = ROWS[name][0].simple_op
    function = TENSOR_METHODS[name]

    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, TensorBase):
            return apply2(op, self, other)
        kind = type(other)
        if kind is float or kind is int:
            return apply2(op, self, other)
        try:
            return function(self, other)
        except TypeError:
            if hasattr(type(other), "__torch_function__") or not _known(other):
                return NotImplemented
            raise

    return operator


def _known(other: Any) -> bool:
    return isinstance(other, NUMBERS) or other is None


def attach() -> None:
    """Gives `Tensor` every method of the table and the operators."""
    for name, function in TENSOR_METHODS.items():
        if name not in Tensor.__dict__:
            setattr(Tensor, name, function)
    operators = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}
    for operator, name in operators.items():
        setattr(Tensor, f"__{operator}__", _operator(name))
    Tensor.__radd__ = Tensor.__add__  # type: ignore[attr-defined]
    Tensor.__rmul__ = Tensor.__mul__  # type: ignore[attr-defined]


attach()

__all__ = ["attach", "apply1", "apply_inplace"]
