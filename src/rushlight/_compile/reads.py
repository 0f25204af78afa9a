"""Reading a tensor's elements into Python, seen by the recorder.

Note [Numbers that are only passed on]
`return loss.item()` needs no more than the tensor: the number is read when the program has run. But
a number on which the step branches, or that it computes with, would be a constant of the program.
So while a step is recorded, `item()` gives a number that notes whatever is done with it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Final

from .. import watching
from .._core.mode import current
from ..nn._ground import f
from ..tensor import Tensor

#: What Python may ask of a number.
_USES: Final = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "radd", "rsub", "rmul",
    "rtruediv", "rfloordiv", "rmod", "rdivmod", "rpow", "neg", "pos", "abs", "lt", "le", "gt", "ge",
    "eq", "ne", "bool", "int", "float", "complex", "round", "trunc", "floor", "ceil", "hash",
    "format", "str", "repr", "index", "and", "or", "xor", "rand", "ror", "rxor", "lshift", "rshift",
    "rlshift", "rrshift", "invert", "reduce_ex", "getnewargs",
)  # fmt: skip


class ReadFloat(float):
    """A float that `item()` has given to a step that is being recorded."""

    recorder: Any
    tensor: Any
    where: Any


class ReadInt(int):
    """An integer that `item()` has given to a step that is being recorded."""

    recorder: Any
    tensor: Any
    where: Any


def _noting(kind: type, name: str) -> Any:
    found = getattr(kind.__mro__[1], name)

    def use(self: Any, *args: Any) -> Any:
        self.recorder.refuse("the step computes with a number that it reads by `item()`")
        return found(self, *args)

    return use


for _kind in (ReadFloat, ReadInt):
    for _name in _USES:
        if hasattr(_kind.__mro__[1], f"__{_name}__"):
            setattr(_kind, f"__{_name}__", _noting(_kind, f"__{_name}__"))
READS: Final = (ReadFloat, ReadInt)


def number_read(recorder: Any, t: Any, value: Any) -> Any:
    """What `item()` gives while a step is recorded."""
    kind: Any = {float: ReadFloat, int: ReadInt}.get(type(value))
    if kind is None:
        recorder.refuse("the step reads the value of a tensor by `item()`")
        return value
    made = kind.__new__(kind, value)
    made.recorder = recorder
    made.tensor = t
    return made


def plain(result: Any) -> Any:
    """A result with ordinary numbers, as the user gets it."""
    kind = type(result)
    if kind is ReadFloat:
        return float.__float__(result)
    if kind is ReadInt:
        return int.__int__(result)
    if kind in (list, tuple):
        return kind([plain(x) for x in result])
    if kind is dict:
        return {k: plain(v) for k, v in result.items()}
    return result


def holds_read(x: Any) -> bool:
    """Whether a number that was read is among some arguments."""
    if isinstance(x, READS):
        return True
    if isinstance(x, (list, tuple)):
        return any(holds_read(y) for y in x)
    return isinstance(x, dict) and any(holds_read(y) for y in x.values())


def _watched(function: Any, how: str) -> Any:
    @functools.wraps(function)
    def reading(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = current().recorder
        if recorder is None:
            return function(self, *args, **kwargs)
        return recorder.read(self, how, recorder.quietly(function, (self, *args), kwargs))

    return reading


def install() -> None:
    """Makes reads visible; done when something is compiled for the first time."""
    for name in watching.FACTORIES:  # the library's own calls
        setattr(f, name, getattr(sys.modules["rushlight"], name))
    kind: Any = Tensor
    for name, how in {
        "__bool__": "bool()", "__float__": "float()", "__int__": "int()", "__index__": "index()",
        "__complex__": "complex()", "__repr__": "printing", "__format__": "formatting",
        "__contains__": "in", "tolist": "tolist()", "numpy": "numpy()", "data_ptr": "data_ptr()",
        "__array__": "numpy()", "__dlpack__": "dlpack", "__reduce_ex__": "copying",
        "__deepcopy__": "copying", "equal": "equal()", "allclose": "allclose()",
        "is_nonzero": "is_nonzero()",
    }.items():  # fmt: skip
        found = getattr(kind, name, None)
        if found is not None:
            setattr(kind, name, _watched(found, how))


install()
