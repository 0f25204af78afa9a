"""How single operations look at `out=`, where they don't do it as most do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..._base import dtypes as D

#: The type to compute in, from the one that is asked for (or None), that of `out`, and that of
#: the operand; raises where they don't fit.
Typed = Callable[[D.dtype | None, D.dtype, D.dtype], D.dtype | None]


class OutRules(NamedTuple):
    """What a row says of its `out=`."""

    #: what it is called where it refuses an `out` for its gradient, if not by its name
    named: str = ""
    #: computed in the type that this says; None: in that of the operands
    typed: Typed | None = None
    #: whether the type of `out` is looked at before what has been found wrong
    types_first: Callable[[Exception], bool] | None = None
    #: whether that type is looked at before gradients are
    types_before_gradients: bool = False
    #: which operand is the first whose type that of `out` is compared with then
    operands_from: int = 0
    #: the type that results have, whatever the operands' are
    result: D.dtype | None = None
    #: reads elements in another order than it writes: `out` may not be an operand
    apart: bool = False
    #: makes `out` as large as the result before it looks at what it shares
    grows: bool = False
    #: resizes an `out` without a warning
    quiet: bool = False
    #: an `out` that is resized is laid out like the result
    laid_out: bool = False
    #: has a list of results, and returns nothing where that is given: what it is called where
    #: their number is wrong
    silent: str = ""
    #: a refusal of its type looks at that of the operand, too
    of_operand: bool = False
    #: without data PyTorch computes it by a function of Python's, which has other words
    in_python: bool = False


AS_MOST: Final = OutRules()


def before_others(error: Exception) -> bool:
    """The type of `out` is looked at before shapes."""
    return isinstance(error, RuntimeError)


def always(error: Exception) -> bool:
    """The type of `out` is looked at before anything else."""
    return True


def before_places(error: Exception) -> bool:
    """The type of `out` is looked at once the dimension is known."""
    return not str(error).startswith("Dimension")


def before_products(error: Exception) -> bool:
    """The type of `out` is looked at before those of factors of a product."""
    return str(error).startswith(("expected m1 and m2", "expected scalar type"))


def as_out(asked: D.dtype | None, out: D.dtype, own: D.dtype) -> D.dtype | None:
    """The type of `out`, which has to be the one that is asked for.

    Raises:
        RuntimeError: for another one.
    """
    if asked is not None and asked is not out:
        raise RuntimeError(
            f"Expected out tensor to have dtype {D.c_name(asked)}, but got {D.c_name(out)} instead"
        )
    return out


def as_asked(asked: D.dtype | None, out: D.dtype, own: D.dtype) -> D.dtype | None:
    """The type that is asked for, which has to be that of `out`.

    Raises:
        RuntimeError: for another one.
    """
    as_out(asked, out, own)
    return asked
