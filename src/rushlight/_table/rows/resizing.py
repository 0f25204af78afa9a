"""Memory that gets larger under the tensors that look at it.

Note [Memory that moves]
An array can't grow where it lies while others look at it, so its elements move to larger memory and
every tensor and storage that looked at the old one is shown the new one at the same place. Who that
is, the collector of garbage knows. What NumPy (or a buffer's owner) looks at can't follow and is
marked as fixed when it is handed over; PyTorch refuses to resize the same memory.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from itertools import compress
from math import prod
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeGuard

from ..._array import types as T
from ..._array.memory.exported import is_fixed
from ..._array.memory.places import first_byte
from ..._array.shape import as_strided as windows
from ..._array.shape.create import mark_unset
from ..._base import dtypes as D, errors
from ..._base.determinism import DETERMINISM
from ..._base.lazy import later
from ..._base.referrers import count_references
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape

    class _Storage(Protocol):
        _data: Array

    #: What looks at memory.
    Holder: TypeAlias = TensorBase | _Storage

shared = later("_array.memory.shared")


#: The class of storages, which is handed in.
STORAGES: Final[list[type]] = []

#: Of the references to an array that a variable of a function holds, that one.
_OURS: Final = 1
NOT_RESIZABLE: Final = "Trying to resize storage that is not resizable"


def resize_array(t: Any, size: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """The array of `t` in another shape over the same memory, which grows where it must.

    Raises:
        RuntimeError: where somebody else looks at memory that would have to grow.
        NotImplementedError: for a view without elements, of which NumPy doesn't tell the place.
    """
    array = t._raw
    start = _start(array)
    if not (start or array.size) and t._view is not None and T.owner(array).size and 0 not in size:
        raise NotImplementedError(
            "resize_: a view without elements can't be resized here, for its place in memory isn't "
            "known; take the view again with the elements that it shall have"
        )
    wanted = 0
    if 0 not in size:
        wanted = start + 1 + sum((n - 1) * s for n, s in zip(size, strides, strict=True))
    item, before = int(array.itemsize), int(T.owner(array).nbytes)
    if prod(size) >= 2**63:
        raise RuntimeError(errors.NUMEL_OVERFLOW)
    if prod([n or 1 for n in size]) * item >= 2**63 or wanted * item >= 2**63:
        raise RuntimeError(errors.storage_overflow(size))
    fresh = wanted * item > before
    if fresh:
        del array
        grow(t, wanted * item)
        array = t._raw
    octets = windows.storage(array).reshape(-1).view("u1")
    if fresh and DETERMINISM.filling:
        first = -(-before // item)
        mark_unset(T.array_over((wanted - first,), array.dtype, octets, first * item, (item,)))
    return T.array_over(size, array.dtype, octets, start * item, [s * item for s in strides])


def _start(array: Array) -> int:
    whole = T.owner(array)
    if whole is array:
        return 0
    return (first_byte(array) - first_byte(whole)) // int(array.itemsize)


def grow(holder: Holder, count: int) -> None:
    """Gives the memory behind a tensor or storage so many bytes, for all that look at it.

    Raises:
        RuntimeError: where it is fixed.
        NotImplementedError: for fewer bytes, where a tensor looks at them.
    """
    raw = _memory_of(holder)
    whole = T.owner(raw)
    if is_fixed(whole) or shared.is_shared(raw):
        raise RuntimeError(NOT_RESIZABLE)
    outside = count_references([whole])[0] - _OURS - (raw is whole)
    alone = outside == 1 and (raw is whole or count_references([raw])[0] - _OURS == 1)
    del raw  # it isn't looked at by us
    holders = [holder] if alone else _holders(whole, outside)
    if count < whole.nbytes and any(isinstance(one, TensorBase) for one in holders):
        raise NotImplementedError(
            "UntypedStorage.resize_: a tensor looks at this memory, and Rushlight's tensors can't "
            "do with less; assign `tensor.data` instead"
        )
    moved = T.zero_bytes(count)
    old = windows.storage(_memory_of(holder)).reshape(-1).view("u1")
    moved[: old.size] = old[:count]
    _show(holders, whole, moved)


def relocate(holder: Holder, moved: Array) -> None:
    """Shows the same bytes at another place to all that look at a tensor's or storage's memory."""
    whole = T.owner(_memory_of(holder))
    _show(_holders(whole, count_references([whole])[0] - _OURS), whole, moved)


def _show(holders: list[Holder], whole: Array, moved: Array) -> None:
    begin, count = first_byte(whole), int(whole.nbytes)
    for holder in holders:
        if isinstance(holder, TensorBase):
            holder._raw = _view_from(holder._raw, moved, begin)
        else:
            data = holder._data
            at = first_byte(data) - begin
            holder._data = moved[at:] if at + data.size == count else moved[at : at + data.size]


def _memory_of(holder: Holder) -> Array:
    return holder._raw if isinstance(holder, TensorBase) else holder._data


def _view_from(array: Array, moved: Array, begin: int) -> Array:
    at = first_byte(array) - begin
    return T.array_over(array.shape, array.dtype, moved, at, array.strides)


def _holders(whole: Array, outside: int) -> list[Holder]:
    """The tensors and storages that look at some memory.

    Args:
        whole: the array that has it
        outside: how many references there are to it but the caller's
    """
    found: dict[int, Holder] = {}
    # Millions of objects may be there, and those that share memory are often young.
    for generation in range(3):
        found |= _among(gc.get_objects(generation=generation), whole)
        if _are_all(list(found.values()), whole, outside):
            return list(found.values())
    gc.unfreeze()  # what is frozen isn't told
    return list(_among(gc.get_objects(), whole).values())


def _among(things: list[object], whole: Array) -> dict[int, Holder]:
    # Asking each object, as `isinstance` does, would run the code of others.
    kinds = {id(kind) for kind in _subclasses((TensorBase, *STORAGES))}
    found: dict[int, Holder] = {}
    for thing in compress(things, map(kinds.__contains__, map(id, map(type, things)))):
        if _has_memory(thing) and T.owner(_memory_of(thing)) is whole:
            found[id(thing)] = thing
    return found


def _has_memory(thing: object) -> TypeGuard[Holder]:
    """Whether it is whole: it may be in the making, or without data."""
    array = getattr(thing, "_raw" if isinstance(thing, TensorBase) else "_data", None)
    return type(array) is T.ndarray


def _are_all(found: list[Holder], whole: Array, outside: int) -> bool:
    """Whether these hold all references to an array and to the views of it."""
    direct, holders = 0, dict[int, int]()
    for thing in found:
        array = _memory_of(thing)
        if array is whole:
            direct += 1
        elif array.base is whole:
            holders[id(array)] = holders.get(id(array), 0) + 1
        else:
            return False
    if direct + len(holders) != outside:
        return False
    for thing in found:
        array = _memory_of(thing)
        if array is not whole and count_references([array])[0] - _OURS != holders[id(array)]:
            return False
    return True


def _subclasses(kinds: Iterable[type]) -> Iterator[type]:
    for kind in kinds:
        yield kind
        yield from _subclasses(type.__subclasses__(kind))


def over_storage(storage: Any, kind: D.dtype, where: str) -> Any:
    """A flat tensor over a storage, for a tensor of some type and device.

    Raises:
        RuntimeError: where the storage is of another.
    """
    have = getattr(storage, "dtype", kind)
    if have is not kind:
        raise RuntimeError(
            f"Expected a Storage of type {D.c_name(kind)} or an UntypedStorage, but got type "
            f"{D.scalar_name(have)} for argument 1 'storage'"
        )
    made = storage._tensor_over(kind)
    if made.device.type != where:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{where}" to a storage on '
            f'different device "{made.device.type}".  This is no longer allowed; the devices must '
            "match."
        )
    return made


def make_room(t: Any, source: Any, offset: int, size: Shape, stride: Shape | None) -> None:
    """Has the memory of `source` grow to what `t` is to show of it.

    Raises:
        RuntimeError: for impossible places, and where `t` keeps its shape and there isn't enough.
    """
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if stride is not None and len(stride) != len(size):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    steps = T.contiguous_strides(tuple(size)) if stride is None else tuple(stride)
    if any(s < 0 for s in steps):
        raise RuntimeError(errors.storage_overflow(tuple(size), steps))
    if type(source._raw) is not T.ndarray or 0 in size:
        return
    item, have = int(source._raw.itemsize), int(T.owner(source._raw).nbytes)
    wanted = (offset + 1 + sum((n - 1) * s for n, s in zip(size, steps))) * item
    if wanted <= have:
        return
    if t._raw.shape == size and (stride is None or T.byte_strides(t._raw) == steps):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {[] if stride is None else list(stride)}, "
            f"storage offset {offset}, and itemsize {item} requiring a storage size of {wanted} "
            f"are out of bounds for storage of size {have}"
        )
    grow(source, wanted)
