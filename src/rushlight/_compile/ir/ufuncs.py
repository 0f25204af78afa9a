"""Instructions that one ufunc of NumPy computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array.memory import aliasing as A
from .program import Instruction, Value

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


def ufunc_of(i: Instruction, single: bool = False) -> AnyCallable | None:
    """The ufunc that computes a call on arrays and numbers; None where it isn't one.

    `single` allows results without dimensions, which NumPy's ufuncs give as numbers.
    """
    function = i.function
    if type(function) is not A.ufunc:
        function = A.UFUNC_OF.get(function)
        if function is None:
            return None
    for x in i.inputs:
        if type(x) is Value:
            continue
        if type(x) not in (int, float, bool) and not A.is_array(x):
            return None
    out = i.outputs[0] if len(i.outputs) == 1 else None
    if (
        out is None
        or not (out.shape or single)
        or function.nout != 1
        or len(i.inputs) != function.nin
    ):
        return None
    return function
