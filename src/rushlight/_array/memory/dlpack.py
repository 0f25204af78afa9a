"""DLPack: arrays handed to other libraries and taken from them, without a copy.

A capsule holds the address of a C structure that says where the elements lie. NumPy makes those
for its own element types; they are read here, so that every type that tensors have can come in and
is writable, as in PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ..._base import dtypes as D
from ..._native.cpython import capsules
from ..shape.nested_sequences import refuse_backwards
from ..types import from_raw, to_raw
from .dense_layout import bits_of
from .exported import fix

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..annotations import Array

#: The types that NumPy can't hand over by itself, by DLPack's kind of element and its bits.
_OTHERS: Final = {
    (4, 16): D.bfloat16, (5, 32): D.complex32, (10, 8): D.float8_e4m3fn,
    (11, 8): D.float8_e4m3fnuz, (12, 8): D.float8_e5m2, (13, 8): D.float8_e5m2fnuz,
    (14, 8): D.float8_e8m0fnu,
}  # fmt: skip
_CODES: Final = {dtype: code for (code, _), dtype in _OTHERS.items()}
#: NumPy's kind of element for each of DLPack's.
_KINDS: Final = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class Producer(Protocol):
    """Another library's array."""

    @property
    def __dlpack__(self) -> Callable[..., object]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


def is_given(value: object) -> bool:
    """Whether a value is a capsule, or gives one."""
    return hasattr(type(value), "__dlpack__") or capsules.read_capsule(value) is not None


def capsule_of(array: Array, wishes: dict[str, object]) -> object:
    """The capsule of an array's memory; `wishes` are what `__dlpack__` may be asked for."""
    bits = bits_of(array.dtype)
    if bits is array.dtype:
        return _ask(array, wishes)
    capsule = _ask(array.view(bits), wishes)
    held = capsules.read_capsule(capsule)
    if held is not None:
        held[0].tensor.code = _CODES[from_raw(array.dtype)]
    return capsule


def _ask(value: Producer, wishes: dict[str, object]) -> object:
    try:
        return value.__dlpack__(**wishes)
    except TypeError:
        if wishes.get("copy") is False or wishes.get("dl_device", (1, 0)) != (1, 0):
            raise
        return value.__dlpack__()  # of before the wishes: an old capsule


#: The kinds of devices, by DLPack's numbers, whose memory nobody here can read.
_CUDA: Final = (2, 10)
_CPU: Final = (1, 0)
#: What a producer may not have heard of, the newest first.
_LATER_WISHES: Final = ("max_version", "copy", "dl_device")


def _ask_for(value: Producer, wishes: dict[str, object]) -> tuple[object, bool]:
    """A producer's capsule, and whether it has heard of the wish for a copy."""
    for later in _LATER_WISHES:
        try:
            return value.__dlpack__(**wishes), "copy" in wishes
        except TypeError:
            wishes.pop(later, None)
    return value.__dlpack__(**wishes), False


def _ask_producer(value: Producer, on_cpu: bool, copy: bool | None) -> tuple[object, bool]:
    """The capsule of another library's array, and whether it holds a copy.

    Raises:
        AssertionError: for memory of CUDA's.
        ValueError: for another device's, which is to be on the CPU without a copy.
    """
    where = tuple(value.__dlpack_device__())
    if where[0] in _CUDA:
        raise AssertionError("Torch not compiled with CUDA enabled")
    wishes: dict[str, object] = {"max_version": (1, 0)}
    if copy is not None:
        wishes["copy"] = copy
    if on_cpu and where == _CPU:
        wishes["dl_device"] = where
    elif on_cpu and copy is False:
        raise ValueError(
            f"cannot move DLPack tensor from device {where} to {_CPU} without copying. Set "
            "copy=None or copy=True."
        )
    capsule, heard = _ask_for(value, wishes)
    return capsule, heard and copy is True


def array_from(value: Any, on_cpu: bool, copy: bool | None) -> Array:
    """The array of a capsule, or of another library's array, over its memory unless `copy`.

    `on_cpu` says that somebody has asked for memory of the CPU.

    Raises:
        RuntimeError: for a capsule that has been read, and for what is none.
        AssertionError: for memory of CUDA's, and for wishes that a capsule can't fulfil.
        BufferError: for elements or memory that tensors don't have.
        ValueError: for negative strides.
    """
    copied = False
    if isinstance(value, np.ndarray):
        # The capsule is made to ask whether there is one.
        _ask(value, {"max_version": (1, 0), **({"copy": False} if copy is False else {})})
        refuse_backwards(value.strides)
        return value.copy() if copy else fix(value.view(np.ndarray))
    if hasattr(type(value), "__dlpack__"):
        capsule, copied = _ask_producer(value, on_cpu, copy)
    elif on_cpu or copy is not None:
        raise AssertionError(
            "device and copy kwargs not supported when ext_tensor is already a DLPack capsule."
        )
    else:
        capsule = value
    found = capsules.read_capsule(capsule)
    if found is None:
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
            "only once, so you might have already constructed a tensor from it once."
        )
    array = _array_of(capsule, *found)
    return np.array(array) if copy and not copied else fix(array)


def _array_of(capsule: object, held: Any, name: bytes) -> Any:
    t = held.tensor
    if t.device != 1:
        raise BufferError(f"Unsupported device_type: {t.device}")
    if t.lanes != 1:
        raise BufferError("ATen does not support lanes != 1")
    other = _OTHERS.get((t.code, t.bits))
    code = t.code if other is None else 1
    if code not in _KINDS:
        raise BufferError(f"Unsupported code {t.code}")
    raw = np.dtype(f"{_KINDS[code]}{t.bits // 8}")
    from_raw(raw)  # whether tensors have it
    shape = tuple(t.shape[: t.rank])
    strides = None
    if t.strides:
        strides = tuple([s * raw.itemsize for s in t.strides[: t.rank]])
        refuse_backwards(strides)
    place = (t.data or 0) + t.offset, False
    interface = {"data": place, "shape": shape, "typestr": raw.str, "strides": strides}
    capsules.spend(capsule, name)
    memory = capsules.Memory(held, {**interface, "version": 3})
    empty = 0 in shape
    array = np.ndarray(shape, raw, np.empty(1, raw), 0, strides) if empty else np.asarray(memory)
    return array if other is None else array.view(to_raw(other))
