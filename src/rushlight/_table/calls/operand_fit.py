"""Why operands don't fit, for rows that say it in words of their own: `explain=` of a row.

Each is asked once a raw forward has refused its operands, and gives None where it has no better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._array.shape import views
from ..._base import errors
from ..._base.lazy import later
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._base.annotations import Arguments

products: Final = later("_array.linalg.matmul")


def explain_mask(args: Arguments, inplace: bool) -> Exception | None:
    """The shapes of a mask and a tensor, which are looked at before anything else."""
    if inplace:
        return None
    problem = errors.broadcast(args[1]._raw.shape, args[0]._raw.shape)
    return None if problem is None else RuntimeError(problem)


def explain_masked_scatter(args: Arguments, inplace: bool) -> Exception | None:
    """As `explain_mask`; in place the mask is expanded first."""
    if not inplace:
        return explain_mask(args, inplace)
    try:
        views.expand(args[1]._raw, args[0]._raw.shape)
    except RuntimeError as error:
        return error
    return None


def explain_product(args: Arguments, inplace: bool) -> Exception | None:
    """Of a matrix that records and a stack, whose matrices are seen as one then, turned round."""
    if not args[0]._requires_grad or not args[0]._raw.ndim <= 2 < args[1]._raw.ndim:
        return None
    try:
        products.matmul(args[1]._raw.swapaxes(-1, -2), args[0]._raw.T)
    except RuntimeError as of_one:
        return of_one
    return None


def explain_reversed(args: Arguments, inplace: bool) -> Exception | None:
    """Of operands that don't broadcast, where the second one is named first."""
    found = [a._raw.shape for a in args[1::-1] if isinstance(a, TensorBase)]
    problem = errors.broadcast(found[0], found[1]) if len(found) == 2 else None
    return None if problem is None else RuntimeError(problem)
