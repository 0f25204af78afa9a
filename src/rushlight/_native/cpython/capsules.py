"""Capsules of DLPack: what lies in them, and who frees it.

Note [The structure in a capsule]
Old capsules hold a tensor (address, device, rank, element type, sizes, strides, offset), its
maker's own pointer, and the function that frees all. New ones have a version before these, and
flags between the function and the tensor.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

_OLD, _NEW = b"dltensor", b"dltensor_versioned"
#: What a capsule is called once it has been read: it can't be read again.
_USED: Final = {_OLD: b"used_dltensor", _NEW: b"used_dltensor_versioned"}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Old(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("free", ctypes.c_void_p))


class _New(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_api = ctypes.pythonapi
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", _api)
)


def read_capsule(capsule: object) -> tuple[Any, bytes] | None:
    """The structure in a capsule that nobody has read, and the capsule's name."""
    if type(capsule).__name__ == "PyCapsule":
        for name, kind in ((_OLD, _Old), (_NEW, _New)):
            if _is_valid(capsule, name):
                return kind.from_address(_pointer(capsule, name)), name
    return None


def spend(capsule: object, name: bytes) -> None:
    """Says that a capsule has been read: whoever did frees what is in it."""
    _rename(capsule, _USED[name])


class Memory:
    """Elements of another library, which is told when the last array over them goes."""

    def __init__(self, held: Any, interface: dict[str, object]) -> None:
        self.held = held
        self.__array_interface__ = interface

    def __del__(self) -> None:
        if self.held.free:
            free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.held.free)
            free(ctypes.addressof(self.held))
