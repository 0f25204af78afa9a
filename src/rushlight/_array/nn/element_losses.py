"""What losses have in common: reductions, and operands that are refused in PyTorch's words.

`reduction` is 0 (none), 1 (mean) or 2 (sum), as in PyTorch's operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..._native.ufunc_loops import FRESH
from ..reduce.row_sums import ones
from ..types import from_raw

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_PIECE = 4096


def require_floats(x: Array, kernel: str, half: bool = True) -> None:
    """Refuses integers, bools and complex numbers in PyTorch's words.

    Raises: NotImplementedError naming the kernel.
    """
    if x.dtype.kind not in "fV" or (not half and x.dtype.itemsize == 2):
        name = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(errors.not_implemented(kernel, name))


def require_dtype(target: Array, x: Array) -> None:
    """Refuses a target of another dtype.

    Raises: RuntimeError in PyTorch's words.
    """
    if target.dtype != x.dtype:
        found, wanted = (D.scalar_name(from_raw(a.dtype)) for a in (target, x))
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which two shapes broadcast.

    Raises: RuntimeError in PyTorch's words where they don't.
    """
    if a == b:
        return a
    problem = errors.broadcast(a, b)
    if problem is not None:
        raise RuntimeError(problem)
    return np.broadcast_shapes(a, b)


def any_negative(x: Array) -> bool:
    """Whether an element is below zero."""
    return bool(np.less(x, 0).any())


def make_filled(value: float, dtype: RawType) -> Array:
    """A number as an array without dimensions."""
    return np.full((), value, dtype)


def floor_at(x: Array, low: float) -> None:
    """Raises the elements of `x` below `low` to it, in place."""
    np.maximum(x, low, out=x)


# ---- reductions -------------------------------------------------------------------------------


def total(x: Array) -> Any:
    """The sum of all elements; short arrays by BLAS, whose call is the cheapest."""
    if 0 < x.size <= 2 * _PIECE:
        return np.dot(x.reshape(-1), ones(x.size, x.dtype))
    return np.add.reduce(x, axis=None)


def reduce_losses(each: Array, reduction: int, dtype: RawType) -> Array:
    """Losses by element, reduced, in `dtype`."""
    if reduction == 0:
        result = each
    else:
        result = total(each)
        if reduction == 1:
            result = np.true_divide(result, each.size)
    return result if result.dtype == dtype else result.astype(dtype)


# ---- what rows refuse --------------------------------------------------------------------------


def require_margins(x: Array, target: Array) -> None:
    """Refuses whole numbers for `soft_margin_loss`, and targets of a wider sort than these.

    Raises: RuntimeError in PyTorch's words.
    """
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    if x.dtype.kind in "iu":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{D.scalar_name(from_raw(x.dtype))}"
        )
    kind, wanted = from_raw(target.dtype), from_raw(x.dtype)
    if kind.category > wanted.category:
        raise RuntimeError(errors.cannot_cast(D.scalar_name(kind), D.scalar_name(wanted)))


def require_probabilities(p: Array, target: Array) -> None:
    """Refuses elements outside [0, 1].

    Raises: RuntimeError naming the operand.
    """
    for x, name in ((p, "input"), (target, "target")):
        if FRESH is not None and FRESH.are_between(x, 0, 1):
            continue
        if x.size and not (
            np.minimum.reduce(x, axis=None) >= 0 and np.maximum.reduce(x, axis=None) <= 1
        ):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def require_logits(x: Array, target: Array) -> None:
    """Refuses logits and targets that aren't floating point.

    Raises: NotImplementedError for logits, RuntimeError for targets.
    """
    require_floats(x, "log_sigmoid_cpu")
    if target.dtype.kind in "biu":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{D.scalar_name(from_raw(target.dtype))}"
        )
