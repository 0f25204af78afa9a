"""Native functions as Python builtins.

    run = starter("run", address, state)      # a builtin without arguments
    if run() is NotImplemented: ...           # the native function gave something other than 0

Note [Builtins without an extension module]
`PyCFunction_NewEx` makes a builtin of any address: 20 ns a call, where one through ctypes takes
half a microsecond, and five with guards. What the code needs to know (addresses of constants, of
functions of Python) lies in a bytes object that is the builtin's `self`; so the code itself is the
same in each process and can be kept on disk. Where the layout of objects isn't the one that is
known (see `interpreter`), a function of the same behaviour, called through ctypes, takes over.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from ..llvm import loader as engine
from ..llvm.emit import I64, PTR, VOID, Function, Module, Type, Value
from ..references import keep_forever
from . import interpreter
from .interpreter import BYTES

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

#: Elements of an array from which the interpreter's lock is given up for a call.
RELEASED = 1 << 15
# How CPython calls a builtin: `METH_FASTCALL`, `METH_NOARGS`.
FASTCALL, NO_ARGUMENTS = 0x80, 0x4


def entry_of(name: str) -> int:
    """The address of a function of Python's interface for C."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def starter(name: str, target: int, state: int) -> Callable[[], Any]:
    """A builtin without arguments that calls `i64 target(ptr state)`, the interpreter's lock free.

    It gives None where that gives 0, else NotImplemented.
    """
    if interpreter.unknown() is not None:
        run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(target)
        return lambda: NotImplemented if run(state) else None
    entries = [entry_of("PyEval_SaveThread"), entry_of("PyEval_RestoreThread")]
    table = struct.pack("6q", id(None), id(NotImplemented), *entries, target, state)
    return builtin(name, start(), table, NO_ARGUMENTS)


def start() -> int:
    """The address of the function behind each starter."""
    return engine.load(_start())["start"]


@cache
def _start() -> Module:
    module = Module("starter")
    f = module.function("start", [("self", PTR), ("nothing", PTR)], PTR)

    def word(n: int, type: Type = PTR) -> Value:
        return f.load(f.at_bytes(f.params[0], BYTES + 8 * n), type)

    thread = f.call(word(2), [], PTR)
    found = f.call(word(4), [word(5)], I64)
    f.call(word(3), [thread], VOID)
    (given,) = f.choose(found.eq(0), lambda: [word(0)], lambda: [word(1)])
    hand_over(f, given)
    return module


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def builtin(name: str, address: int, table: bytes, flags: int = FASTCALL) -> AnyCallable:
    """The builtin of a native function whose `self` is a table of words."""
    definition = _MethodDef(name.encode(), address, flags, None)
    # The builtin may outlive this module: what it points at must too.
    keep_forever(definition)
    keep_forever(table)
    return _maker()(ctypes.byref(definition), table, None)


@cache
def _maker() -> Any:
    make = ctypes.pythonapi["PyCFunction_NewEx"]
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    return make


def hand_over(f: Function, constant: Value) -> None:
    """Returns one of Python's constants, with a reference for the caller."""
    if sys.version_info < (3, 12):  # later ones are not counted
        f.store(constant, f.load(constant, I64) + 1)
    f.ret(constant)
