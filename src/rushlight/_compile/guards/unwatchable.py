"""What a step's code may use and nobody can watch: iterators, random numbers, large arrays.

Note [Used or only near]
Many programs have such things (a loader's iterator, a data set) without using them in the step. One
is refused only where code that ran can reach it: each link of the chain that leads to it must be a
name in a code object that ran (a global, an attribute, a closure's variable, a text for `getattr`).

Note [Understood or opaque]
A class that is written in Python keeps what its objects are in dictionaries and slots, which can be
compared. One that is written in C keeps it where nobody sees it. So such classes are opaque, but
for those that are listed here: whose objects never change, or show what they hold.
"""

from __future__ import annotations

import functools
import gc
import re
import threading
import types
import weakref
from collections.abc import Iterable
from contextvars import ContextVar
from operator import attrgetter, itemgetter, methodcaller
from types import CodeType, GeneratorType
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A
from ..._base.own_packages import is_own
from ..._native.cpython.type_flags import grows_by, is_heap_type, is_immutable
from ..refusal import Refusal
from .names_in_code import asks_by_any_name, texts

if TYPE_CHECKING:
    from .captured_state import State

#: Bytes up to which the contents of a NumPy array are compared at each call.
SMALL: Final = 4096
_ENVIRONMENT: Final = frozenset({"environ", "getenv", "environb"})
#: Classes of C whose objects never change, or hold nothing that code can ask for.
LASTING: Final[frozenset[type]] = frozenset({
    object, range, type(None), type(...), type(NotImplemented), bool, int, float, complex, str,
    bytes, CodeType, re.Pattern, types.GenericAlias, types.UnionType, types.BuiltinFunctionType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    attrgetter, itemgetter, methodcaller,
})  # fmt: skip
#: The same, by name; and those that show all they hold in their dictionaries.
_NAMED: Final = frozenset({
    "datetime.date", "datetime.datetime", "datetime.timedelta", "datetime.time",
    "datetime.timezone", "_struct.Struct", "collections._tuplegetter",
    "_collections._tuplegetter", "_abc._abc_data", "typing.TypeVar", "typing.ParamSpec",
    "_thread.lock", "_thread.RLock", "types.SimpleNamespace", "builtins.module",
    "builtins.property", "builtins.staticmethod",
    "builtins.classmethod", "builtins.super", "uuid.UUID", "builtins.type", "builtins.function",
    "collections.OrderedDict", "collections.defaultdict", "collections.deque",
    "builtins.list", "builtins.dict", "builtins.tuple", "builtins.set", "builtins.frozenset",
})  # fmt: skip
#: Whose classes of C hold what the library itself knows: types of elements, functions.
_OURS: Final = ("rushlight", "numpy", "ml_dtypes", "torch")
_VIEWS: Final[tuple[type, ...]] = (
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    types.MappingProxyType,
)


class Opaque:
    """A thing that can't be watched, why, and by which name it was found."""

    __slots__ = ("found", "why", "label")

    def __init__(self, found: Any, why: str, label: str) -> None:
        self.found = found
        self.why = why
        self.label = label


def why_opaque(x: object) -> str | None:
    """Why a thing can't be watched; None where it can."""
    kind = type(x)
    module = kind.__module__ or ""
    if isinstance(x, A.ndarray):
        return "a NumPy array that is too large to be compared at each call; use a tensor"
    if isinstance(x, A.number_types):
        return None
    module = str(getattr(x, "__module__", "")) if "cython" in kind.__name__ else module
    if module.startswith("numpy.random"):
        return "a random generator of NumPy's; use rushlight's"
    if isinstance(x, ContextVar):
        return "a context variable"
    if isinstance(x, weakref.finalize):
        return "a finalizer, which ends unseen"
    if isinstance(x, threading.local):
        return "a variable of each thread's own"
    if (why := why_uncertain(kind)) is not None:
        return why
    base = _root(kind)
    if isinstance(x, GeneratorType) or (hasattr(kind, "__next__") and base is not object):
        return "an iterator, which moves on at each call"
    if _is_understood(base) or isinstance(x, (functools.partial, slice, *_VIEWS)):
        return None
    if hasattr(kind, "__setitem__"):
        return f"an object of type {kind.__name__}, whose contents can't be compared"
    return f"an object of type {kind.__name__}, which can't be watched"


def why_uncertain(kind: type) -> str | None:
    """Why what objects of a class compute may change though they don't; None where it can't."""
    if any(base.__module__ == "decimal" for base in kind.__mro__):
        return "decimals, which are rounded as a context says that may change"
    return None


def inner_of(x: object) -> list[Any] | None:
    """What some things hold that are made of nothing else; None for others."""
    if type(x) is functools.partial:
        return [x.func, x.args, x.keywords]
    if type(x) is slice:
        return [x.start, x.stop, x.step]
    if isinstance(x, _VIEWS):
        return [y for y in gc.get_referents(x) if not isinstance(y, type)]
    return None


def _root(kind: type) -> type:
    """The class of C that decides what a class's objects are made of."""
    for base in kind.__mro__:
        if _foreign(base):
            return base
    return object


def _foreign(kind: type) -> bool:
    """Whether a class isn't written in Python that the walk could read."""
    if not is_heap_type(kind) or is_immutable(kind):
        return True
    if kind.__base__ is None or is_own(kind.__module__):
        return False
    slots = vars(kind).get("__slots__", ())
    count = 1 if isinstance(slots, str) else len(tuple(slots))
    return grows_by(kind) > 8 * (count + 2)


def _is_understood(base: type) -> bool:
    """Whether the objects of a class of C never change, or show what they hold."""
    if (
        base.__name__ == "cython_function_or_method"
        or base in LASTING
        or f"{base.__module__}.{base.__qualname__}" in _NAMED
    ):
        return True
    if base.__module__ == "builtins" and issubclass(base, BaseException):
        return True
    return base.__module__.partition(".")[0] in _OURS


def names_of(codes: Iterable[CodeType]) -> set[str]:
    """All names that some code objects use."""
    found: set[str] = set()
    for code in codes:
        found.update(code.co_names, code.co_freevars, code.co_cellvars)
        found |= texts(code.co_consts)
    return found


def refuse_opaque(state: State, codes: dict[CodeType, Any]) -> None:
    """Refuses a step of which some code that ran uses what can't be watched.

    Raises:
        Refusal: saying what.
    """
    mine = [code for code, user in codes.items() if user]
    names = names_of(mine)
    if state.opaque:
        reached = state.reach(names, any(asks_by_any_name(code) for code in mine))
        for x in state.opaque:
            if id(x.found) in reached:
                raise Refusal(f"the step uses {x.label}: {x.why}")
    if names & _ENVIRONMENT:
        raise Refusal("the step reads the environment's variables")
    if state.arrays_named and "random" in names:
        raise Refusal("the step may draw random numbers from NumPy")
    if "__subclasses__" in names:
        raise Refusal("the step asks a class for its subclasses, which nobody watches")
