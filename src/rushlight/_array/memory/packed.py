"""Arrays as pickles keep them, and copies that share memory where the originals do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D
from ..types import address, array_over, byte_strides, copy_like, from_raw, owner, to_raw

if TYPE_CHECKING:
    from ..annotations import Array


def pack(array: Array) -> tuple[object, ...]:
    """What pickling keeps of an array: the memory that it is a view of, and its place there."""
    whole = owner(array)
    if whole.dtype != array.dtype or not whole.flags.c_contiguous:
        array = whole = np.ascontiguousarray(array)
    offset = address(array) - address(whole) if array.size else 0
    strides = tuple(s * array.itemsize for s in byte_strides(array))
    return from_raw(array.dtype).name, array.shape, strides, offset, whole.tobytes()


def unpack(kept: tuple[Any, ...]) -> Array:
    """The array that `pack` kept."""
    name, shape, strides, offset, data = kept
    raw = to_raw(D.BY_NAME[name])
    flat = np.frombuffer(bytearray(data), raw)
    return np.ndarray(shape, raw, flat, offset, strides) if flat.size else np.empty(shape, raw)


def copy_with_storage(array: Array, memo: dict[int, Any]) -> Array:
    """A copy laid out like `array`; views of one memory copied with one memo share their copy."""
    whole = owner(array)
    if not (whole.flags.c_contiguous or whole.flags.f_contiguous):
        if id(array) not in memo:
            memo[id(array)] = copy_like(array, array)
            memo.setdefault("keep", []).append(array)  # type: ignore[call-overload]
        return memo[id(array)]
    twin = memo.get(id(whole))
    if twin is None:
        twin = memo[id(whole)] = whole.copy("K")
        memo.setdefault("keep", []).append(whole)  # type: ignore[call-overload]
    if whole is array:
        return twin
    octets = (twin if twin.flags.c_contiguous else twin.T).reshape(-1).view(np.uint8)
    start = address(array) - address(whole)
    return array_over(array.shape, array.dtype, octets, start, array.strides)
