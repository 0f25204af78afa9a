"""The state that a step can see: what is walked, compared before and after, and guarded.

Note [What a compiled step depends on]
Besides its arguments a step reads what its code names: globals, closure cells, defaults, attributes
of modules and other objects, and whatever lies in those. All of that is found from the code
objects, never by running anything. Each container on the way (a `__dict__`, a list, a closure cell)
becomes a `Place`: a copy of it before and after a recording shows side effects, and the entries
whose names the code uses are checked before each compiled call.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import sys
from collections import OrderedDict, defaultdict, deque
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

from .._array import recording as A
from .._core.storage import TensorBase
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer
from .opaque import SMALL, Opaque, why_opaque
from .refusal import Refusal, is_library

SCALARS: Final = (bool, int, float, complex, str, bytes, type(None))
LIMIT: Final = 20_000
#: What a module keeps for others than its forward.
UNUSED: Final = frozenset({
    "_non_persistent_buffers_set", "_state_dict_hooks", "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_is_full_backward_hook",
    "_compiled_call_impl",
    "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs",
})  # fmt: skip
_ATTRIBUTES: Final = frozenset({
    "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM", "LOAD_SUPER_ATTR",
})  # fmt: skip
TABLES: Final = frozenset({
    "_parameters", "_buffers", "_modules", "_forward_hooks", "training", "_forward_pre_hooks",
    "_backward_hooks", "_backward_pre_hooks",
})  # fmt: skip

#: What goes through a module's tables in their order.
WALKS: Final = frozenset({
    "parameters", "named_parameters", "buffers", "named_buffers", "state_dict", "_parameters",
    "_buffers", "parameters_to_vector",
})  # fmt: skip


class Place:
    """A container on which the step may depend, and its entries when it was looked at."""

    __slots__ = ("container", "kind", "entries", "label", "guarded", "absent",
                 "ordered")  # fmt: skip

    def __init__(self, container: Any, kind: str, entries: dict[Any, Any], label: str) -> None:
        self.container = container
        self.kind = kind  # "dict", "list", "set", "cell", "slots", "class", "array", ...
        self.entries = entries
        self.label = label
        self.guarded: Any = None  # the keys to guard; None: all
        self.ordered = True  # the order of the keys may matter
        self.absent: tuple[str, ...] = ()  # names that would hide others, were they there


class State:
    """All places that a function and its arguments lead to."""

    def __init__(self, function: Any, values: list[Any]) -> None:
        self.places: list[Place] = []
        self.names: set[str] = set()  # of attributes
        self.globals: set[str] = set()
        self.codes: set[CodeType] = set()
        self.tensors: dict[int, TensorBase] = {}
        self.optimizers: list[Optimizer] = []
        self.seen: dict[int, Any] = {}
        self.pushes: dict[int, int] = {}  # how often a container was come upon
        self.found_in: dict[int, int] = {}  # tensors that were found in one list alone, and that
        self.moved: set[tuple[int, Any]] = set()  # entries that the program itself writes
        self.arrays_named = False  # the user's code uses NumPy, which reads numbers unseen
        self.stack: list[tuple[Any, str]] = []
        self.objects: list[tuple[Place, Any]] = []
        self.spaces: list[tuple[dict[str, Any], str, bool]] = []
        self.libraries: list[dict[str, Any]] = []  # modules of Rushlight's that are named
        self.standard: list[dict[str, Any]] = []  # modules of Python's own that are named
        self.opaque: list[Opaque] = []  # what can't be watched; matters where it is used
        self._push(function, "the step")
        for value in values:
            self._push(value, "an argument")
        done: set[tuple[int, str]] = set()
        while True:
            self._drain()
            before = len(self.seen), len(self.names), len(self.globals)
            for space, label, is_module in list(self.spaces):
                self._named(space, label, self.names if is_module else self.globals, done)
            if not self.stack and before == (len(self.seen), len(self.names), len(self.globals)):
                break
        self._narrow()
        self._hidden()

    def _push(self, x: Any, label: str, holder: int = 0) -> None:
        if isinstance(x, (list, dict, deque)):
            self.pushes[id(x)] = self.pushes.get(id(x), 0) + 1
        elif isinstance(x, TensorBase) and self.found_in.setdefault(id(x), holder) != holder:
            self.found_in[id(x)] = 0
        if id(x) not in self.seen and not isinstance(x, SCALARS):
            if len(self.seen) > LIMIT:
                raise Refusal(f"{label} leads to more state than can be watched")
            self.seen[id(x)] = x
            self.stack.append((x, label))

    def _drain(self) -> None:
        while self.stack:
            x, label = self.stack.pop()
            self._visit(x, label)

    def _place(self, container: Any, kind: str, entries: dict[Any, Any], label: str) -> Place:
        place = Place(container, kind, entries, label)
        self.places.append(place)
        return place

    def _visit(self, x: Any, label: str) -> None:
        if isinstance(x, TensorBase):
            self.tensors[id(x)] = x
            own = getattr(x, "__dict__", None)
            if own:
                self.objects.append((self._place(own, "dict", dict(own), label), x))
                for name, value in own.items():
                    self._push(value, f"`{name}`")
        elif isinstance(x, FunctionType):
            self._function(x)
        elif hasattr(type(x), "_torchdynamo_orig_callable"):  # compiled by itself
            self._push(x.function, label)
        elif isinstance(x, MethodType):
            self._push(x.__self__, label)
            self._push(x.__func__, label)
        elif isinstance(x, (staticmethod, classmethod)):
            self._push(x.__func__, label)
        elif isinstance(x, property):
            for part in (x.fget, x.fset):
                if part is not None:
                    self._push(part, label)
        elif isinstance(x, Optimizer):
            self._optimizer(x, label)
        elif isinstance(x, (dict, OrderedDict, defaultdict)):
            self._contents(x, "dict", dict(x), label)
        elif isinstance(x, (list, tuple, deque)):
            kind = "tuple" if isinstance(x, tuple) else "list"
            self._contents(x, kind, dict(enumerate(x)), label)
        elif isinstance(x, (set, frozenset)):
            self._contents(x, "set", {id(y): y for y in x}, label)
        elif isinstance(x, type):
            if not _library_class(x):
                self._class(x)
        elif isinstance(x, Module):
            self._object(x, label)
        elif isinstance(x, ModuleType):
            if x.__name__.partition(".")[0] in ("numpy", "scipy"):
                self.arrays_named = True
            if not is_library(getattr(x, "__file__", None) or "<frozen"):
                self.spaces.append((x.__dict__, x.__name__, True))
            elif x.__name__.partition(".")[0] in ("rushlight", "torch"):
                self.libraries.append(x.__dict__)
            else:
                self.standard.append(x.__dict__)
        elif isinstance(x, A.ndarray) and x.nbytes <= SMALL:
            self._place(x, "array", _contents(x), label)
        elif (why := why_opaque(x)) is not None:
            self.opaque.append(Opaque(x, why, label))
        elif isinstance(x, (BuiltinFunctionType, MethodWrapperType)):  # `items.append`
            if not isinstance(x.__self__, (ModuleType, type(None))):
                self._push(x.__self__, label)
        elif isinstance(x, functools.partial):
            for held in (x.func, x.args, x.keywords):
                self._push(held, label)
        else:
            self._object(x, label)

    def _contents(self, x: Any, kind: str, entries: dict[Any, Any], label: str) -> None:
        if kind != "tuple":
            self._place(x, kind, entries, label)
        for value in entries.values():
            self._push(value, label, id(x) if kind == "list" else 0)

    def _function(self, f: FunctionType) -> None:
        code = f.__code__
        if is_library(code.co_filename):
            inner = getattr(f, "__wrapped__", None)  # `no_grad()` around a function of the user's
            for cell in f.__closure__ or ():
                try:
                    found = cell.cell_contents
                except ValueError:
                    continue
                if isinstance(found, FunctionType) and not is_library(found.__code__.co_filename):
                    self._push(found, found.__name__)
            if inner is not None:
                self._push(inner, f.__name__)
            return
        self._code(code)
        if f.__dict__:
            self._place(f.__dict__, "dict", dict(f.__dict__), f"`{f.__name__}`")
            for name, value in f.__dict__.items():
                if name != "__wrapped__":
                    self._push(value, f"`{name}`")
        self.spaces.append((f.__globals__, f.__module__ or "globals", False))
        entries = {}
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            try:
                entries[name] = cell.cell_contents
            except ValueError:
                continue
            self._place(cell, "cell", {name: entries[name]}, f"`{name}`")
            self._push(entries[name], f"`{name}`")
        for value in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._push(value, f"a default of {f.__name__}")
        self._place(f, "function", {"__code__": code, "__defaults__": f.__defaults__,
                                    "__kwdefaults__": f.__kwdefaults__}, f.__name__)  # fmt: skip

    def _code(self, code: CodeType) -> None:
        if code in self.codes:
            return
        self.codes.add(code)
        for i in dis.get_instructions(code):
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
                self.globals.add(i.argval)
            elif i.opname in _ATTRIBUTES:
                self.names.add(i.argval)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            elif isinstance(constant, str) and constant.isidentifier():
                self.names.add(constant)  # getattr(self, "name")
            elif isinstance(constant, tuple):  # `case Point(x=0)`
                self.names.update(x for x in constant if isinstance(x, str) and x.isidentifier())

    def _named(self, space: dict[str, Any], label: str, names: set[str],
               done: set[tuple[int, str]]) -> None:  # fmt: skip
        """Takes up the entries of a namespace that the code names."""
        fresh = {}
        for name in names:
            if (id(space), name) not in done and name in space:
                done.add((id(space), name))
                fresh[name] = space[name]
        if fresh:
            self._place(space, "names", fresh, label)
            for name, value in fresh.items():
                self._push(value, f"`{name}`")

    def _object(self, x: Any, label: str) -> None:
        kind = type(x)
        user = not _library_class(kind)
        entries = _attributes(x)
        if entries is not None:
            place = self._place(entries, "dict", dict(entries), label)
            self.seen[id(entries)] = entries
            if isinstance(x, Module):
                place.guarded = frozenset(entries) - UNUSED
            self.objects.append((place, x))
            for name, value in entries.items():
                if name not in UNUSED:
                    self._push(value, f"`{name}`")
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ()) if user else ()
            for name in (slots,) if isinstance(slots, str) else slots:
                found = vars(base).get(name)
                if inspect.ismemberdescriptor(found) and _is_set(found, x):
                    value = found.__get__(x)
                    self._place(x, "slots", {name: value}, label)
                    self._push(value, f"`{name}`")
        if user:
            self._push(kind, kind.__name__)

    def _class(self, kind: type) -> None:
        for base in kind.__mro__:
            if _library_class(base) or (base is not kind and id(base) in self.seen):
                continue
            self.seen[id(base)] = base
            entries = {
                k: v for k, v in vars(base).items()
                if not k.startswith("__") or isinstance(v, FunctionType)
            }  # fmt: skip
            self._place(base, "class", entries, base.__name__)
            for name, value in entries.items():
                self._push(value, f"`{base.__name__}.{name}`")

    def _optimizer(self, x: Optimizer, label: str) -> None:
        self.optimizers.append(x)
        own = vars(x)
        methods = {k: own[k] for k in ("param_groups", "step", "zero_grad") if k in own}
        place = self._place(own, "names", methods, label)
        place.absent = tuple(k for k in ("step", "zero_grad") if k not in own)
        for name in ("step", "zero_grad"):
            self._push(own.get(name), f"`{name}`")
        self._place(x.param_groups, "list", dict(enumerate(x.param_groups)), label)
        for group in x.param_groups:
            params = group["params"]
            place = self._place(group, "dict", dict(group), label)
            place.guarded = frozenset({"params"})  # options are read at each call
            self._place(params, "list", dict(enumerate(params)), label)
            for p in params:
                self._push(p, label)

    def _narrow(self) -> None:
        """Leaves to the guards only entries whose names some code of the user's has."""
        if self._by_any_name():
            return
        for place, x in self.objects:
            if isinstance(x, Module) and not _library_class(type(x)):
                if any(_reads_itself(base) for base in type(x).__mro__):
                    continue  # attributes are read by a forward of the library's
                place.guarded = frozenset(k for k in place.entries
                                          if k in TABLES or k in self.names)  # fmt: skip
            elif not isinstance(x, Module):
                place.guarded = frozenset(k for k in place.entries if k in self.names)

    def _by_any_name(self) -> bool:
        """Whether the code may use names that don't stand in it."""
        return bool((self.globals | self.names) & {"getattr", "vars", "__dict__", "attrgetter"})

    def _by_names_only(self, kind: type) -> bool:
        """Whether only names that stand in the code are asked of a class: no library does."""
        own = all(not _library_class(base) for base in kind.__mro__[1:-1])
        return own and not self._by_any_name()

    def _hidden(self) -> None:
        """Notes the names that, were they added somewhere, would be found before others."""
        wanted = self.names | {"forward"}
        for place, x in self.objects:
            if isinstance(x, TensorBase):
                continue
            kind = type(x)
            inner = isinstance(x, Module) and _library_class(kind)
            place.absent = tuple(
                sorted(
                    k for k in (("forward",) if inner else wanted)
                    if k not in place.entries and _would_hide(inspect.getattr_static(kind, k, None))
                )
            )  # fmt: skip
        for place in self.places:
            if place.kind == "class" and self._by_names_only(place.container):
                place.guarded = frozenset(k for k in place.entries
                                          if k in wanted or k.startswith("__"))  # fmt: skip
            if place.kind == "class":
                kind = place.container
                below = [vars(base) for base in kind.__mro__[1:] if base is not object]
                place.absent = tuple(
                    sorted(k for k in wanted
                           if k not in place.entries and any(k in names for names in below))
                )  # fmt: skip
        if not (self.names | self.globals) & WALKS and not self._by_any_name():
            tables = {
                id(place.entries.get(table)) for place, x in self.objects
                if isinstance(x, Module) and _library_class(type(x))
                for table in ("_parameters", "_buffers")
            }  # fmt: skip
            for place in self.places:
                place.ordered = id(place.container) not in tables
        for space in {id(x[0]): x for x in self.spaces if not x[2]}.values():
            found = sorted(k for k in self.globals if k not in space[0] and hasattr(builtins, k))
            if found:
                self._place(space[0], "names", {}, space[1]).absent = tuple(found)

    def known(self) -> dict[int, Any]:
        """The tensors by the ids of their arrays."""
        found: dict[int, Any] = {}
        for t in self.tensors.values():
            if t._view is not None and id(t._raw) in found:
                continue
            found[id(t._raw)] = t
        return found

    def leaves(self) -> list[Any]:
        """Every tensor that may have a gradient."""
        return [t for t in self.tensors.values() if t._requires_grad and t._node is None]

    def changed(self) -> str | None:
        """What is not as it was when the state was walked: a side effect."""
        for place in self.places:
            now = current_entries(place)
            old = place.entries
            if len(now) != len(old):
                return f"{place.label} got or lost an entry"
            if place.kind == "dict" and list(now) != list(old):
                return f"the order of {place.label}'s entries was changed by the step"
            for key, value in old.items():
                if key not in now or not unchanged(value, now[key]):
                    if (id(place.container), key) in self.moved:
                        continue
                    if key in ("_grad", "grad"):
                        continue
                    shown = key if isinstance(key, str) else f"entry {key}"
                    return f"`{shown}` of {place.label} was changed by the step"
        return None


def current_entries(place: Place) -> dict[Any, Any]:
    """The entries of a place as they are now; of namespaces only those that were looked at."""
    c = place.container
    kind = place.kind
    if kind == "dict":
        return dict(c)
    if kind == "names":
        return {k: c[k] for k in place.entries if k in c}
    if kind == "list":
        return dict(enumerate(c))
    if kind == "set":
        return {id(y): y for y in c}
    if kind == "cell":
        (name,) = place.entries
        try:
            return {name: c.cell_contents}
        except ValueError:
            return {}
    if kind == "class":
        return {k: vars(c)[k] for k in place.entries if k in vars(c)}
    if kind == "array":
        return _contents(c)
    return {k: getattr(c, k) for k in place.entries if hasattr(c, k)}


def _contents(raw: Any) -> dict[str, Any]:
    """All that code can learn of an array."""
    return {"bytes": raw.tobytes(), "shape": str(raw.shape), "dtype": str(raw.dtype)}


def _attributes(x: Any) -> dict[str, Any] | None:
    """The `__dict__` of an object, without running code of its class."""
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


def _is_set(member: Any, x: Any) -> bool:
    """Whether a slot of an object holds something."""
    try:
        member.__get__(x)
    except AttributeError:
        return False
    return True


def _would_hide(found: Any) -> bool:
    """Whether an attribute of a class gives way to one of the same name in an object."""
    return found is not None and not hasattr(type(found), "__set__")


def _reads_itself(base: type) -> bool:
    """Whether a base class is a layer of the library's, whose code reads its own attributes."""
    return issubclass(base, Module) and base is not Module and _library_class(base)


def unchanged(old: Any, new: Any) -> bool:
    """Whether an entry holds what it held: the same object, or an equal number or text."""
    if old is new:
        return True
    if type(old) is not type(new) or not isinstance(old, SCALARS):
        return False
    return bool(old == new)


def _library_class(kind: type) -> bool:
    module = getattr(kind, "__module__", "") or ""
    stem = module.partition(".")[0]
    if stem in ("rushlight", "numpy", "builtins", "scipy", "torch"):
        return True
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if file is None:
        return found is not None and stem != "__main__"
    return is_library(file)
