"""Memory that the system refuses, and sizes that no memory has: in PyTorch's words.

NumPy tells both by errors of its own types. Programs written for PyTorch look for a RuntimeError
and for words in its text, to try again with a smaller batch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ..._base import errors

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike

F = TypeVar("F", bound=Callable[..., Any])

# How NumPy begins to say that there is no such number of bytes.
_OVERFLOWS: Final = (
    "array is too big", "Maximum allowed dimension exceeded", "Maximum allowed size exceeded",
    "cannot create",
)  # fmt: skip
# How it begins to say that there are too many dimensions.
_TOO_DEEP: Final = "maximum supported dimension for an ndarray is"


def is_refusal(error: BaseException) -> bool:
    """Whether NumPy didn't get the memory for an array."""
    return isinstance(error, MemoryError) and hasattr(error, "shape")


def refusal(error: Exception, operands: object = ()) -> Exception:
    """What PyTorch raises instead of an error about memory; any other error as it is.

    `operands` are the arguments of the failed call, or the wanted shape.
    """
    if is_refusal(error):
        shape, dtype = error.shape, error.dtype  # type: ignore[attr-defined]
        return RuntimeError(errors.no_memory(math.prod(shape) * dtype.itemsize))
    if type(error) is ValueError and str(error).startswith(_TOO_DEEP):
        return RuntimeError(errors.too_many_dimensions(int(str(error).rpartition(" ")[2])))
    if type(error) is ValueError and str(error).startswith(_OVERFLOWS):
        return RuntimeError(errors.storage_overflow(_shape_of(operands)))
    return error


def _shape_of(operands: Any) -> tuple[int, ...]:
    if all(isinstance(n, int) for n in operands):
        return tuple(operands)
    shapes = [x.shape for x in operands if isinstance(x, np.ndarray)]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return max(shapes, key=math.prod)


def allocating(function: F) -> F:
    """A function whose errors about memory are PyTorch's; its first argument may be the shape."""

    @functools.wraps(function)
    def run(*args: object, **kwargs: object) -> TensorLike:
        try:
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            known = args[0] if args and isinstance(args[0], tuple) else ()
            raise refusal(error, known or args) from None

    return run  # type: ignore[return-value]
