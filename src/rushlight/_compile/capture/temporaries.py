"""Arrays of a formula that nothing but the expression itself holds, and that may be written over.

Note [Temporaries of a recorded formula]
NumPy computes `g * (2 * x)` in one new array: it sees that `2 * x` is nobody's, and writes the
product over it. A formula that is recorded works on proxies, of which NumPy knows nothing, so a
recording would need one large array more than an eager call. So proxies look themselves. A proxy is
such a temporary if only the call refers to it, and only the proxy refers to its array. How many
references that makes depends on the interpreter: they are counted once, for proxies with a name and
for such without. Where the counts don't differ, no array is written over.
"""

from __future__ import annotations

import operator
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory.aliasing import ndarray
from ..._array.types import FLOAT32, FLOAT64
from .symbolic_numbers import NUMBERS

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

#: Bytes from which NumPy, too, writes over temporaries.
LARGE: Final = 1 << 18


class _Probe:
    __slots__ = ("raw",)

    def __init__(self) -> None:
        self.raw = object()

    def __mul__(self, other: _Probe) -> tuple[int, int, int]:
        return getrefcount(self), getrefcount(other), getrefcount(other.raw)

    def __rmul__(self, other: int) -> tuple[int]:
        return (getrefcount(self),)


def _measure() -> tuple[int, int, int, int]:
    """The references to what has no name: a first operand, a second one and its array, and the
    second one of a number, whose method is called in another way.
    """
    nameless = _Probe() * _Probe() + 2 * _Probe()
    first, second = _Probe(), _Probe()
    held = second.raw
    named = first * second + 2 * first
    del held
    apart = all(a < b for a, b in zip(nameless, named))
    return nameless if apart else (-1, -1, -1, -1)


FIRST, SECOND, ARRAY, REFLECTED = _measure()
_ARITHMETIC: Final = frozenset({operator.add, operator.sub, operator.mul, operator.truediv})


def _fits(x: object, like: Any) -> bool:
    """Whether the result of arithmetic with `like` has its type, shape and order."""
    if type(x) in NUMBERS or type(x) in (int, float):
        return True
    raw = getattr(x, "raw", None)
    return (
        type(raw) is ndarray
        and raw.dtype is like.dtype
        and (raw.shape == like.shape or raw.ndim == 0)
        and (raw.flags.c_contiguous or not any(raw.strides))
    )


def is_temporary(function: AnyCallable, x: Any, other: object) -> bool:
    """Whether arithmetic may write over its operand `x`, a proxy that nothing else refers to."""
    raw = x.raw
    return (
        getrefcount(raw) == ARRAY + 1
        and type(raw) is ndarray
        and raw.nbytes >= LARGE
        and raw.base is None
        and raw.flags.c_contiguous
        and raw.flags.writeable
        and (raw.dtype is FLOAT32 or raw.dtype is FLOAT64)
        and function in _ARITHMETIC
        and _fits(other, raw)
    )
