"""Functions on small arrays by the inner loops of NumPy's ufuncs, where a C compiler built them.

    f = function(plain, maker, "ff")      # `plain` itself where there is nothing that was compiled
    f(x, y)                               # the digits of `plain(x, y)`

A call of a ufunc takes 0.2 to 0.5 µs before its inner loop begins, and the loop over 16 elements a
few nanoseconds. `chains.c` calls the loops themselves: it looks at the operands, makes the result,
and goes through the steps of a formula, block by block, with temporaries on the stack. NumPy's
interface for C has all of that, so nothing is taken for granted that isn't documented. What isn't
a matter of small arrays of float32 or float64 (another class, type or order, memory that is not
aligned, broadcasting but of numbers and of arrays without dimensions) goes to `plain`.

Nobody looks at the processor's flags after the loops, so there are no warnings: see decision 23.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from .. import prebuilt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable


def _type() -> type | None:
    if prebuilt.turned_off():
        return None
    try:
        found: type = import_module(f"{__name__}.chains").Function
    except ImportError:  # the package was built without a C compiler, or for another NumPy
        return None
    return found


#: The class of functions with loops; None where there is none.
FUNCTION: Final = _type()
#: Elements up to which the loops are called directly.
MOST: Final = 2048
#: Calls with small arrays before a function's steps are asked for, which takes what 100 calls save.
_WAITS: Final = 16


def function(plain: AnyCallable, maker: Callable[[], object], kinds: str) -> AnyCallable:
    """`plain`, with small arrays taken by ufuncs' loops once it has been called a few times.

    `kinds` has a letter for each argument: "f" for arrays of floats, or numbers instead, "b" for
    arrays of bools, "s" for numbers, "n" for None, "t" for tuples, "-" for what isn't looked at.
    `maker` gives the kinds anew and the steps, in the form that `read_chain` reads, or None.
    """
    if FUNCTION is None:
        return plain
    made: AnyCallable = FUNCTION(plain, maker, kinds, _WAITS, MOST)
    return made
