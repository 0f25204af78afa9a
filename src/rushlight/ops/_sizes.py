"""Sizes of new tensors, as they are given: numbers, or one sequence of them."""

from __future__ import annotations

from typing import Any

from .. import errors
from .._array import types as T
from .._core.slow import read_by_python
from .._core.storage import TensorBase

__all__ = ["size_of"]


def size_of(name: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as numbers or as one sequence.

    Raises:
        TypeError, RuntimeError: for sizes that aren't integers, or negative.
    """
    packed = len(size) == 1 and isinstance(size[0], (tuple, list))
    if packed:
        size = tuple(size[0])
    for s in size:
        if type(s) is not int or s < 0:
            break
    else:
        return size
    shape: list[int] = []
    for place, s in enumerate(size):
        if isinstance(s, TensorBase):
            s = read_by_python(s, "a size").item()
        if isinstance(s, bool) and place and packed:
            s = int(s)
        elif isinstance(s, bool) or not isinstance(s, int):
            if T.is_integer_scalar(s):
                s = int(s)
            else:
                raise TypeError(_bad_size(name, size[place], place, packed))
        if s < 0:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {s}: {list(size)}")
        shape.append(s)
    return tuple(shape)


def _bad_size(name: str, value: Any, place: int, packed: bool) -> str:
    kind = errors.type_name(value)
    if place:
        return (
            f"{name}(): argument 'size' failed to unpack the object at pos {place + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    found = f"but found element of type {kind} at pos 0" if packed else f"not {kind}"
    return f"{name}(): argument 'size' (position 1) must be tuple of ints, {found}"
