"""A function and its derivative as one linear map, which is asked many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._array import types as T
from .._base.errors import type_name
from .._core.mode import ready
from .._core.storage import TensorBase
from ._tree import flatten, format_spec, unflatten
from .derivatives import Level, Linear


def linearize(func: Callable[..., object], *primals: object) -> tuple[Any, Callable[..., Any]]:
    """(output, function of tangents that gives the derivative along them).

    The function runs once; each call of the result is one pass over what it did.

    Parameters:
        func: a function of tensors, or of lists, tuples and dictionaries of them.
        primals: its arguments: where the derivative is taken.
    Returns: (output, function).
    Raises: AttributeError: for arguments that aren't tensors, unless the function refuses them in
        its own words. RuntimeError: from the function, for
        tangents unlike the arguments.
    Example:
        >>> value, along = torch.func.linearize(lambda x: x**2, torch.tensor([1.0, 3.0]))
        >>> along(torch.tensor([1.0, 0.0]))
        tensor([2., 0.])
    """
    leaves, spec = flatten(primals)
    for leaf in leaves:
        if not isinstance(leaf, TensorBase):
            func(*primals)  # most functions say themselves what they don't take
            raise AttributeError(f"'{type_name(leaf)}' object has no attribute 'new_empty'")
    with Level(forward=True, function=func):
        line = Linear(func, leaves, spec, False, "linearize(f, *primals)")

    def along(*tangents: object) -> Any:
        directions, given = flatten(tangents)
        if given != spec:
            raise RuntimeError(
                f"Expected the tangents {format_spec(given)} to have the same argspec as the "
                f"primals {format_spec(spec)}"
            )
        for k, (x, t) in enumerate(zip(leaves, directions)):
            if x._raw.shape != t._raw.shape:
                raise RuntimeError(
                    f"tangent:{k} with shape torch.Size({list(t._raw.shape)}) in flattened pytree "
                    f"doesn't match the shape torch.Size({list(x._raw.shape)}) of the "
                    "corresponding primal."
                )
            if x._raw.dtype != t._raw.dtype:
                raise RuntimeError(
                    f"tangent:{k} with dtype {T.from_raw(t._raw.dtype)} in flattened pytree "
                    f"doesn't match the dtype {T.from_raw(x._raw.dtype)} of the corresponding "
                    "primal."
                )
        return unflatten(line.push(directions, ready().grad), line.out_spec)

    return line.value(), along
