"""Sizes of new tensors, as they are given: numbers, or one sequence of them."""

from __future__ import annotations

from operator import index
from typing import Any

from ..._base import errors
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase


def size_of(name: str, size: tuple[Any, ...], out: object = None) -> tuple[int, ...]:
    """A shape given as numbers or as one sequence.

    Raises:
        TypeError, RuntimeError: for sizes that aren't integers, or negative.
    """
    packed = len(size) == 1 and isinstance(size[0], (tuple, list))
    if packed:
        size = tuple(size[0])
    for s in size:
        if type(s) is not int or not 0 <= s < 0x8000000000000000:
            break
    else:
        return size
    shape = tuple([_extent(name, s, place, packed) for place, s in enumerate(size)])
    for s in shape:
        if s < 0:
            if out is not None:  # which is given that size
                raise RuntimeError(errors.NUMEL_OVERFLOW)
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {s}: {list(shape)}"
            )
    return shape


def _extent(name: str, value: Any, place: int, packed: bool) -> int:
    """One number of a size: an integer, or what stands for one.

    Raises:
        TypeError: for anything else, and for integers beyond 64 bits.
    """
    found = value
    if isinstance(value, TensorBase) and value._raw.size == 1:
        found = read_by_python(value, "a size").item()
    try:
        if isinstance(found, bool) and (place == 0 or found is not value):
            raise TypeError
        found = index(found)
    except TypeError:
        raise TypeError(_bad_size(name, value, place, packed)) from None
    if not -(2**63) <= found < 2**63:
        raise TypeError(
            f"{name}(): argument 'size' failed to unpack the object at pos {place + 1} with error "
            '"Overflow when unpacking long long'  # PyTorch's mark stands behind its C++ frames
        )
    return found


def _bad_size(name: str, value: object, place: int, packed: bool) -> str:
    kind = errors.type_name(value)
    if place:
        return (
            f"{name}(): argument 'size' failed to unpack the object at pos {place + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    found = f"but found element of type {kind} at pos 0" if packed else f"not {kind}"
    return f"{name}(): argument 'size' (position 1) must be tuple of ints, {found}"
