"""Which functions are one sum, difference, product or quotient, and what takes their large arrays.

Forwards, and gradients such as `g * other`: NumPy has one thread for them. See `kernels.pairs`.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import kernels

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

_UFUNCS: Final[dict[Any, str]] = {
    np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide",
}  # fmt: skip


class _Operand:
    """Stands for an array, and tells what is asked of it."""

    def __add__(self, other: object) -> tuple[str, object, object]:
        return "add", self, other

    def __sub__(self, other: object) -> tuple[str, object, object]:
        return "subtract", self, other

    def __mul__(self, other: object) -> tuple[str, object, object]:
        return "multiply", self, other

    def __truediv__(self, other: object) -> tuple[str, object, object]:
        return "divide", self, other


def word_of(function: AnyCallable) -> str:
    """The word of `kernels.pairs` for a function of two arrays; nothing where it has none."""
    if isinstance(function, np.ufunc):
        return _UFUNCS.get(function, "")
    if not isinstance(function, FunctionType):
        return ""
    code = function.__code__
    if code.co_argcount != 2 or code.co_names or code.co_freevars or code.co_cellvars:
        return ""  # it asks for more than its arguments
    a, b = _Operand(), _Operand()
    try:
        found = function(a, b)
    except (TypeError, ValueError):
        return ""
    return found[0] if type(found) is tuple and found[1:] == (a, b) else ""


def take_large(function: AnyCallable, kinds: str) -> AnyCallable:
    """`function`, with large arrays taken by kernels where it is one of the four operations.

    `kinds`: see `ufunc_loops.function`.
    """
    word = word_of(function) if kinds == "ff" else ""
    if not word:
        return function

    def run_pair(a: object, b: object) -> object:
        if type(a) is np.ndarray and type(b) is np.ndarray:
            least = kernels.LEAST << 4
            if a.size >= least or (a.size * b.size >= least and a.shape != b.shape):
                found = kernels.pairs.combine(word, a, b)
                if found is not None:
                    return found
        return function(a, b)

    return run_pair
