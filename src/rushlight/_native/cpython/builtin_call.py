"""Native functions as Python builtins that look at their arguments in machine code.

    door.register(numpy.ndarray, {"f32": numpy.dtype("f4"), ...}, probe)       # once
    call = door.door("scale", address, [Array("f32", ("n",), writes=True), Number("f64")])
    if call(x, 2.0) is NotImplemented: ...                 # the guards said no: nothing was done

The native function is `void (ptr frame)`. The frame has 8-byte words: for each argument the address
of its elements (0 for None), or its value as i64 or double; then the sizes that have a name in the
signature, in order of first mention. Where `split=(name, grain)` is given the function is
`void (ptr frame, i64 chunk)`, called for ceil(size / grain) chunks on the threads of `pool`.

Note [Guards]
An array passes if it is of the registered type itself, of the dtype, C-contiguous and aligned, has
the sizes that the signature says, the same for the same name, and can be written if it is to be.

Note [Builtins without an extension module]
`PyCFunction_NewEx` makes a builtin of any address; the code reads the fields of objects where
CPython and NumPy keep them: 20 ns where Python takes microseconds. The layout is checked
before the first use, and a function of the same behaviour, called through ctypes, takes over where
it is another one: other implementations, free-threaded builds, versions not known here.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..llvm import loader as engine
from ..llvm.emit import F64, I1, I32, I64, PTR, VOID, Function, Module, Type, Value
from ..threads import thread_pool as pool

__all__ = ["RELEASED", "Array", "Number", "direct", "door", "register", "starter"]

#: Elements of the first array from which the interpreter's lock is given up for the call.
RELEASED = 1 << 15
_VERSIONS = range(11, 15)  # of CPython 3, whose layout this knows
_FLAGS_READ, _FLAGS_WRITE = 0x1 | 0x100, 0x1 | 0x100 | 0x400
_DATA, _NDIM, _SHAPE, _DTYPE, _FLAGS = 16, 24, 32, 56, 64  # offsets in an ndarray
_BYTES = 32  # where the content of a bytes object begins


@dataclass(frozen=True)
class Array:
    """An argument that is an array of a registered dtype; each size a number or a name."""

    dtype: str
    shape: tuple[int | str, ...]
    writes: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Number:
    """An argument that is a Python float or int ("f64"), or an int ("i64")."""

    kind: str = "f64"


Parameter = Array | Number


@dataclass
class _Arrays:
    type: Any = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    direct: bool = False


_arrays = _Arrays()
_keep: list[Any] = []  # what builtins point at


def register(array_type: Any, dtypes: Mapping[str, Any], probe: Any) -> None:
    """Says what arrays are; `probe` is one of two dimensions, to check the layout with."""
    _arrays.type, _arrays.dtypes = array_type, dict(dtypes)
    _arrays.direct = _known_python() and _known_layout(probe)


def direct() -> bool:
    """Whether doors are builtins here, and not calls through ctypes."""
    return _arrays.direct


def _known_python() -> bool:
    return (
        sys.implementation.name == "cpython"
        and sys.version_info[0] == 3
        and sys.version_info[1] in _VERSIONS
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and object.__basicsize__ == 16
        and bytes.__basicsize__ == _BYTES + 1
        and float.__basicsize__ == 24
    )


def _known_layout(probe: Any) -> bool:
    base = id(probe)

    def word(offset: int, kind: Any = ctypes.c_void_p) -> int:
        return int(kind.from_address(base + offset).value or 0)

    sizes = (ctypes.c_int64 * 2).from_address(word(_SHAPE))
    flags = word(_FLAGS, ctypes.c_int32)
    return (
        word(8) == id(type(probe))
        and word(_DATA) == probe.ctypes.data
        and word(_NDIM, ctypes.c_int32) == probe.ndim == 2
        and tuple(sizes) == probe.shape
        and word(_DTYPE) == id(probe.dtype)
        and flags & _FLAGS_WRITE == probe.flags.num & _FLAGS_WRITE == _FLAGS_WRITE
    )


def door(
    name: str,
    target: int,
    signature: Sequence[Parameter],
    split: tuple[str, int] | None = None,
) -> Callable[..., Any]:
    """A function of Python objects that returns None, or NotImplemented if its guards say no."""
    names = _sizes(signature)
    if split is not None and split[0] not in names:
        raise ValueError(f"no argument has a size named {split[0]}")
    if _arrays.type is None:
        raise RuntimeError("register what arrays are first")
    if not _arrays.direct:
        return _indirect(name, target, signature, names, split)
    module = _module(signature, names, split)
    return _builtin(name, engine.load(module)["enter"], _table(target, signature))


def _sizes(signature: Sequence[Parameter]) -> list[str]:
    found: dict[str, None] = {}
    for parameter in signature:
        if isinstance(parameter, Array):
            found.update((size, None) for size in parameter.shape if isinstance(size, str))
    return list(found)


# -- the builtin ----------------------------------------------------------------------------------

_TABLE = (
    "array", "none", "no", "float", "int", "long", "save", "restore", "target", "runner", "cell"
)  # fmt: skip


def _table(target: int, signature: Sequence[Parameter]) -> bytes:
    """The addresses that the code needs: kept outside of it, so that it can be kept on disk."""
    api = ctypes.pythonapi

    def entry(function: Any) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    words = [
        id(_arrays.type), id(None), id(NotImplemented), id(float), id(int),
        entry(api.PyLong_AsLongLongAndOverflow), entry(api.PyEval_SaveThread),
        entry(api.PyEval_RestoreThread), target, pool.runner(), pool.cell(),
    ]  # fmt: skip
    words += [id(_arrays.dtypes[p.dtype]) for p in signature if isinstance(p, Array)]
    return struct.pack(f"{len(words)}Q", *words)


def starter(name: str, target: int, state: int) -> Callable[[], Any]:
    """A builtin without arguments that calls `i64 target(ptr state)`, the interpreter's lock free.

    It gives None where that gives 0, else NotImplemented.
    """
    if not _known_python():
        run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(target)
        return lambda: NotImplemented if run(state) else None
    api = ctypes.pythonapi
    entries = [
        ctypes.cast(function, ctypes.c_void_p).value or 0
        for function in (api.PyEval_SaveThread, api.PyEval_RestoreThread)
    ]
    table = struct.pack("6q", id(None), id(NotImplemented), *entries, target, state)
    return _builtin(name, engine.load(_start())["start"], table, _NO_ARGUMENTS)


@cache
def _start() -> Module:
    module = Module("starter")
    f = module.function("start", [("self", PTR), ("nothing", PTR)], PTR)

    def word(n: int, type: Type = PTR) -> Value:
        return f.load(f.at_bytes(f.params[0], _BYTES + 8 * n), type)

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


_FASTCALL, _NO_ARGUMENTS = 0x80, 0x4


def _builtin(name: str, address: int, table: bytes, flags: int = _FASTCALL) -> Callable[..., Any]:
    definition = _MethodDef(name.encode(), address, flags, None)
    # The builtin may outlive this module: what it points at must too.
    for thing in (definition, table):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        _keep.append(thing)
    made: Callable[..., Any] = _maker()(ctypes.byref(definition), table, None)
    return made


@cache
def _maker() -> Any:
    make = ctypes.pythonapi["PyCFunction_NewEx"]
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    return make


def _module(
    signature: Sequence[Parameter], names: Sequence[str], split: tuple[str, int] | None
) -> Module:
    module = Module("door")
    f = module.function("enter", [("self", PTR), ("args", PTR), ("count", I64)], PTR)
    table, args, count = f.params
    emitted = _Guards(f, table)
    emitted.refuse_unless(count.eq(len(signature)))
    frame = f.scratch(I64, len(signature) + len(names))
    known: dict[str, Value] = {}
    work: Value | None = None
    dtype = len(_TABLE)
    for place, parameter in enumerate(signature):
        argument = f.load(f.at(args, place, I64), PTR)
        there = f.at(frame, place, I64)
        if isinstance(parameter, Number):
            emitted.number(argument, parameter, there)
            continue
        elements = emitted.array(argument, parameter, known, dtype, there)
        dtype += 1
        work = elements if work is None else work
    for place, name in enumerate(names):
        f.store(f.at(frame, len(signature) + place, I64), known[name])
    target = emitted.entry("target")

    def go() -> list[Value]:
        if split is None:
            f.call(target, [frame])
        else:
            chunks = (known[split[0]] + (split[1] - 1)) // split[1]
            state = f.load(emitted.entry("cell"), PTR)
            f.call(emitted.entry("runner"), [state, target, frame, chunks])
        return []

    def released() -> list[Value]:
        thread = f.call(emitted.entry("save"), [], PTR)
        go()
        f.call(emitted.entry("restore"), [thread], VOID)
        return []

    if work is None:
        go()
    else:
        f.choose(work >= RELEASED, released, go)
    emitted.give("none")
    return module


def hand_over(f: Function, constant: Value) -> None:
    """Returns one of Python's constants, with a reference for the caller."""
    if sys.version_info < (3, 12):  # later ones are not counted
        f.store(constant, f.load(constant, I64) + 1)
    f.ret(constant)


class _Guards:
    """The checks of a door under construction."""

    def __init__(self, f: Function, table: Value) -> None:
        self.f = f
        self.table = table

    def entry(self, name: str | int) -> Value:
        place = name if isinstance(name, int) else _TABLE.index(name)
        return self.f.load(self.f.at_bytes(self.table, _BYTES + 8 * place), PTR)

    def give(self, name: str) -> None:
        """Returns a constant object of Python."""
        hand_over(self.f, self.entry(name))

    def refuse_unless(self, condition: Value) -> None:
        with self.f.when(~condition):
            self.give("no")

    def is_type(self, argument: Value, name: str) -> Value:
        f = self.f
        return self.same(f.load(f.at_bytes(argument, 8), PTR), self.entry(name))

    def same(self, a: Value, b: Value) -> Value:
        return self.f.emit(I1, f"icmp eq {a!r}, {b.name}")

    def number(self, argument: Value, parameter: Number, there: Value) -> None:
        f = self.f

        def integer() -> Value:
            self.refuse_unless(self.is_type(argument, "int"))
            beyond = f.scratch(I32)
            f.store(beyond, f.constant(I32, 0))
            value = f.call(self.entry("long"), [argument, beyond], I64)
            self.refuse_unless(f.load(beyond, I32).eq(0))
            return value

        if parameter.kind == "i64":
            f.store(there, integer())
            return
        (value,) = f.choose(
            self.is_type(argument, "float"),
            lambda: [f.load(f.at_bytes(argument, 16), F64)],
            lambda: [f.cast(integer(), F64)],
        )
        f.store(there, value)

    def array(
        self, argument: Value, parameter: Array, known: dict[str, Value], dtype: int, there: Value
    ) -> Value:
        """Checks an array, stores its address, and gives how many elements it has."""
        f = self.f
        new = [s for s in parameter.shape if isinstance(s, str) and s not in known]
        if parameter.optional and new:
            raise ValueError("an argument that may be None can't be the first to name a size")

        def check() -> list[Value]:
            self.refuse_unless(self.is_type(argument, "array"))
            same = self.same(f.load(f.at_bytes(argument, _DTYPE), PTR), self.entry(dtype))
            same = same & f.load(f.at_bytes(argument, _NDIM), I32).eq(len(parameter.shape))
            wanted = _FLAGS_WRITE if parameter.writes else _FLAGS_READ
            flags = f.load(f.at_bytes(argument, _FLAGS), I32)
            self.refuse_unless(same & (flags & wanted).eq(wanted))
            sizes = f.load(f.at_bytes(argument, _SHAPE), PTR)
            elements = f.constant(I64, 1)
            right: Value | None = None
            for axis, size in enumerate(parameter.shape):
                found = f.load(f.at(sizes, axis, I64), I64)
                elements = found * elements
                if isinstance(size, str) and size not in known:
                    known[size] = found
                    continue
                test = found.eq(known[size] if isinstance(size, str) else size)
                right = test if right is None else right & test
            if right is not None:
                self.refuse_unless(right)
            f.store(there, f.load(f.at_bytes(argument, _DATA), PTR))
            return [elements]

        if not parameter.optional:
            return check()[0]

        def absent() -> list[Value]:
            f.store(there, f.constant(I64, 0))
            return [f.constant(I64, 0)]

        return f.choose(self.same(argument, self.entry("none")), absent, check)[0]


# -- the way through ctypes -----------------------------------------------------------------------


def _indirect(
    name: str,
    target: int,
    signature: Sequence[Parameter],
    names: Sequence[str],
    split: tuple[str, int] | None,
) -> Callable[..., Any]:
    # The lock is given up: nothing of Python is touched in there.
    run = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(target)
    chunked = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(pool.runner())
    arrays, dtypes = _arrays.type, _arrays.dtypes
    pack = struct.Struct(
        "".join("d" if isinstance(p, Number) and p.kind == "f64" else "q" for p in signature)
        + "q" * len(names)
    ).pack

    def call(*args: Any) -> Any:
        if len(args) != len(signature):
            return NotImplemented
        known: dict[str, int] = {}
        words: list[Any] = []
        for argument, parameter in zip(args, signature):
            if isinstance(parameter, Number):
                if type(argument) is float and parameter.kind == "f64":
                    words.append(argument)
                elif type(argument) is int and -(2**63) <= argument < 2**63:
                    words.append(float(argument) if parameter.kind == "f64" else argument)
                else:
                    return NotImplemented
                continue
            if argument is None and parameter.optional:
                words.append(0)
                continue
            if type(argument) is not arrays or argument.dtype is not dtypes[parameter.dtype]:
                return NotImplemented
            flags = _FLAGS_WRITE if parameter.writes else _FLAGS_READ
            if argument.ndim != len(parameter.shape) or argument.flags.num & flags != flags:
                return NotImplemented
            for found, size in zip(argument.shape, parameter.shape):
                if found != (known.setdefault(size, found) if isinstance(size, str) else size):
                    return NotImplemented
            words.append(argument.ctypes.data)
        frame = pack(*words, *[known[n] for n in names])
        if split is None:
            run(frame)
        else:
            chunks = -(-known[split[0]] // split[1])
            state = ctypes.c_void_p.from_address(pool.cell()).value
            chunked(state, target, frame, chunks)
        return None

    call.__name__ = call.__qualname__ = name
    return call
