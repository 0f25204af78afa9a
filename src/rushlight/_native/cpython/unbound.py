"""Python functions as builtins, which a class that has one as an attribute doesn't bind.

Note [Functions that don't bind]
PyTorch's functions are builtins: `class A: op = torch.flatten` calls it without the instance. A
builtin whose C function is Python's own `PyObject_Vectorcall`, and whose `self` is the function,
passes a call on as it came, in some 20 ns.

Note [Entries]
A frame of Python with arguments in a tuple and keywords in a dict takes 100 to 150 ns, which is as
much as the rest of a small operation. So where a function's usual calls can be told by the types of
their arguments, an object in C stands between the builtin and the function: `Entry` in `calls.c`.
It hands these to what the function would have called, all others to the function, and errors to
what the function would have done about them. Who asks for the function behind a builtin gets the
function. In `Tensor` an entry is a method: what looks it up there gets the function too, and a call
`x.abs()`, which the interpreter makes without binding, comes to the entry. It hands calls on while
anybody is on whom functions ask: their calls are known by their frames. An entry's class is named
as that is which PyTorch's builtins are printed as methods of.
"""

from __future__ import annotations

import copyreg
import ctypes
import sys
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..references import keep_forever
from ..ufunc_loops import ENTRY

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

_AS_IT_CAME: Final = 0x80 | 0x02  # `METH_FASTCALL | METH_KEYWORDS`


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def unbound(
    function: AnyCallable, name: str, module: str, text: str = "", entry: object = None
) -> AnyCallable:
    """The builtin that calls a function, under a name; the function itself outside CPython.

    `text` is what its documentation says instead of the function's, with the parameters in front.
    `entry` takes the calls instead of the function, see Note [Entries].
    """
    if sys.implementation.name != "cpython" or type(function) is not FunctionType:
        return function
    interface = ctypes.pythonapi
    call = ctypes.cast(interface.PyObject_Vectorcall, ctypes.c_void_p).value
    said = f"{name}{text}" if text else function.__doc__
    doc = None if said is None else said.encode()
    definition = _MethodDef(name.encode(), call, _AS_IT_CAME, doc)
    keep_forever(definition)  # the builtin may outlive this module
    make = interface["PyCFunction_NewEx"]
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    if entry is None:
        entry = function if ENTRY is None else ENTRY(function, function, "any", ())
    return make(ctypes.addressof(definition), entry, module)


def function_of(value: AnyCallable) -> AnyCallable:
    """The Python function behind a builtin that `unbound` has made; any other value itself."""
    owner = owner_of(value) if type(value) is BuiltinFunctionType else None
    return owner if type(owner) is FunctionType else value


def owner_of(builtin: Any) -> Any:
    """What a builtin is bound to: the function behind it if `unbound` has made it."""
    owner = builtin.__self__
    return owner.function if ENTRY is not None and type(owner) is ENTRY else owner


def _by_name(function: AnyCallable) -> object:
    """How pickles hold a builtin: those made here by their name, as they hold functions."""
    return function.__name__ if function_of(function) is not function else function.__reduce__()


copyreg.pickle(BuiltinFunctionType, _by_name)  # type: ignore[arg-type]
