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
import sys
from abc import ABCMeta
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

from ..._array.memory import aliasing as A
from ..._base.annotations import AnyCallable
from ..._base.own_packages import is_own
from ..._core.storage import CLASSES, TensorBase
from ..._native.cpython import type_flags, unbound
from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ..refusal import is_library, is_rushlight
from .name_lookups import SPECIAL, Lookups, space_of
from .names_in_code import asks, asks_by_any_name, list_imported, matches_classes, questions
from .own_affairs import own_affairs, reads_itself
from .places import (
    SCALARS,
    Place,
    attributes_of,
    contents_of,
    current_entries,
    elements_of,
    entry_of,
    in_c,
    is_library_class,
    is_set,
    is_unchanged,
    items_of,
    slot_of,
    slots_of,
)
from .unwatchable import LASTING, SMALL, Opaque, inner_of, why_opaque, why_uncertain

LIMIT: Final = 20_000
#: What a module keeps for others than its forward.
UNUSED: Final = frozenset({
    "_non_persistent_buffers_set", "_state_dict_hooks", "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_is_full_backward_hook",
    "_compiled_call_impl",
    "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs",
})  # fmt: skip
#: What a class has for itself: nothing that an operation asks for.
_OWN: Final = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__slotnames__", "__annotate__", "__annotate_func__",
    "__annotations_cache__",
})  # fmt: skip
#: Entries above which a container isn't compared.
_MANY: Final = 2000
_CONTAINERS: Final = (dict, defaultdict, list, tuple, deque, set, frozenset)
_WIDE: Final = frozenset({"__globals__", "__builtins__"})
#: The ones that are used without being named: by calls.
_HELD: Final = frozenset({"func", "args", "keywords"})
#: What the library's code calls of a user's module, patched or not.
_CALLED: Final = frozenset({"forward"})
#: What compiled steps keep for themselves.
_STEPS: Final = frozenset({
    "function", "fullgraph", "native", "variants", "hidden", "recordings", "refusals", "attempts",
    "gave_up", "calls", "strays", "numbers", "lock", "__wrapped__",
})  # fmt: skip
#: What programs read and write of an optimizer by themselves.
_BY_PROGRAMS: Final = frozenset({"param_groups", "state", "step", "zero_grad"})
TABLES: Final = frozenset({
    "_parameters", "_buffers", "_modules", "_forward_hooks", "training", "_forward_pre_hooks",
    "_backward_hooks", "_backward_pre_hooks",
})  # fmt: skip

#: What goes through a module's tables in their order.
WALKS: Final = frozenset({
    "parameters", "named_parameters", "buffers", "named_buffers", "state_dict", "_parameters",
    "_buffers", "parameters_to_vector",
})  # fmt: skip


class State:
    """All places that a function and its arguments lead to."""

    def __init__(self, function: AnyCallable, values: Sequence[object],
                 tensors: list[TensorBase]) -> None:  # fmt: skip
        """`values` are arguments that are no tensors; of these only the classes matter."""
        self.places: list[Place] = []
        self.names: set[str] = set()  # of attributes
        self.read: set[str] | None = None  # names in the code that ran; None: any may be read
        self.globals: set[str] = set()
        self.globals_of: dict[int, set[str]] = {}  # by the ids of namespaces
        self.anything = False  # the code may use names that don't stand in it
        self.apart = False  # it matters which tensor an argument is
        self.matches = False  # the code has patterns of classes
        self.codes: set[CodeType] = set()
        self._kept: dict[tuple[type, int], list[str]] = {}
        self._done: set[tuple[int, str]] = set()
        self._coded: set[tuple[CodeType, int]] = set()
        self.tensors: dict[int, TensorBase] = {}
        self.optimizers: list[Optimizer] = []
        self.owners: list[Any] = []  # of dictionaries of which only names are looked at
        self.seen: dict[int, Any] = {}
        self.pushes: dict[int, int] = {}  # how often a container was come upon
        self.found_in: dict[int, int] = {}  # tensors that were found in one list alone, and that
        self.edges: dict[int, list[tuple[str | None, int]]] = {}
        self.at = 0  # the id of what is being visited
        self.moved: set[tuple[int, Any]] = set()  # entries that the program itself writes
        self.arrays_named = False  # the user's code uses NumPy, which reads numbers unseen
        self.stack: list[tuple[Any, str]] = []
        self.objects: list[tuple[Place, Any]] = []
        self.spaces: list[tuple[dict[str, Any], str, bool]] = []
        self.libraries: list[dict[str, Any]] = []  # modules of Rushlight's that are named
        self.standard: list[dict[str, Any]] = []  # modules of Python's own that are named
        self.kinds: dict[int, type] = {
            id(base): base for base in CLASSES.tensor.__mro__
        }  # the classes of all that was found, and their bases
        for t in tensors:
            self.kinds |= {id(base): base for base in type(t).__mro__}
        self.lookups = Lookups()
        self.opaque: list[Opaque] = []  # what can't be watched; matters where it is used
        self._push(function, "the step")
        for value in values:
            self._push(value, "an argument")
        done: set[tuple[int, str]] = set()
        while not self.lookups.too_many(len(self.objects), len(self.names)):
            self._drain()
            self._fields()
            for _, x in self.objects:  # `model._state_dict_hooks`
                if isinstance(x, Module):
                    left_out = UNUSED | own_affairs(x, self.names, self.moved)
                    for name in left_out & self.names & vars(x).keys():
                        self.at = id(x)
                        self._push(vars(x)[name], f"`{name}`", name)
                        self.at = 0
            before = len(self.seen), len(self.names), len(self.globals)
            for space, label, is_module in list(self.spaces):
                names = self.names if is_module else self.globals_of[id(space)]
                self._take_named(space, label, names, done)
            for x in self.owners:
                known = _STEPS if x not in self.optimizers else _BY_PROGRAMS
                self._take_named(vars(x), "the optimizer", self.names - known, done, id(x))
            if not self.stack and before == (len(self.seen), len(self.names), len(self.globals)):
                break
        self._narrow()
        self._ask()

    def _push(self, x: object, label: str, name: str | None = None, holder: int = 0) -> None:
        """Takes something up, that code reaches from what is being visited, by a name or anyhow."""
        if isinstance(x, (list, dict, deque)):
            self.pushes[id(x)] = self.pushes.get(id(x), 0) + 1
        elif isinstance(x, TensorBase) and self.found_in.setdefault(id(x), holder) != holder:
            self.found_in[id(x)] = 0
        if type(x) in SCALARS:
            return
        self.edges.setdefault(self.at, []).append((name, id(x)))
        if id(x) not in self.seen:
            self.seen[id(x)] = x
            if len(self.seen) > LIMIT:
                self.opaque.append(Opaque(x, "it leads to more state than can be watched", label))
            else:
                self.stack.append((x, label))

    def reach(self, names: set[str], anything: bool) -> set[int]:
        """The ids of what code that uses some names can reach."""
        found: set[int] = {0}
        stack = [0]
        while stack:
            for name, to in self.edges.get(stack.pop(), ()):
                if to not in found and (name is None or anything or name in names):
                    found.add(to)
                    stack.append(to)
        return found

    def _drain(self) -> None:
        while self.stack:
            x, label = self.stack.pop()
            self.at = id(x)
            self._visit(x, label)
        self.at = 0

    def _place(self, container: object, kind: str, entries: dict[Any, Any], label: str) -> Place:
        place = Place(container, kind, entries, label)
        self.places.append(place)
        return place

    def _visit(self, x: Any, label: str) -> None:
        kind = type(x)
        if id(kind) not in self.kinds:
            self.kinds |= {id(base): base for base in kind.__mro__}
        self.anything = self.anything or asks(x)
        if isinstance(x, TensorBase):
            self._tensor(x, label)
        elif isinstance(x, FunctionType):
            self._function(x)
        elif any(
            "_torchdynamo_orig_callable" in vars(base) for base in kind.__mro__
        ):  # compiled by itself
            self._push(x.function, label)
            self.owners.append(x)
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
        elif isinstance(x, (dict, list, tuple, deque, set, frozenset)):
            self._contents(x, label)
            name = label.strip("`")
            plain = kind is OrderedDict and name in TABLES
            if kind not in _CONTAINERS and not plain:
                self._object(x, label)
        elif isinstance(x, type):
            self._class(x)
        elif isinstance(x, Module):
            self._object(x, label)
        elif isinstance(x, ModuleType):
            self._module(x)
        elif isinstance(x, A.ndarray) and x.nbytes <= SMALL and not x.dtype.hasobject:
            self._place(x, "array", contents_of(x), label)
            if kind is not A.ndarray:
                self._object(x, label)
        elif (why := why_opaque(x)) is not None:
            self.opaque.append(Opaque(x, why, label))
        elif isinstance(x, (BuiltinFunctionType, MethodWrapperType)):  # `items.append`
            if not isinstance(x.__self__, (ModuleType, type(None))):
                self._push(unbound.owner_of(x), label)
        elif (inner := inner_of(x)) is not None:
            for held in inner:
                self._push(held, label)
            self._object(x, label)
        else:
            self._object(x, label)

    def _tensor(self, x: Any, label: str) -> None:
        self.tensors[id(x)] = x
        own = x.__dict__
        self.objects.append((self._place(own, "dict", dict(own), label), x))
        for name, value in own.items():
            self._push(value, f"`{name}`", name)
        if not is_library_class(type(x)):
            self._push(type(x), type(x).__name__)

    def _module(self, x: ModuleType) -> None:
        name = str(vars(x).get("__name__", ""))
        if name.partition(".")[0] in ("numpy", "scipy"):
            self.arrays_named = True
        library = is_library(str(vars(x).get("__file__") or "<frozen"))
        if library and name.partition(".")[0] in ("rushlight", "torch"):
            self.libraries.append(x.__dict__)
        elif library:
            self.standard.append(x.__dict__)
        self.spaces.append((x.__dict__, name, True))
        self._push_space(x.__dict__)

    def _push_space(self, space: Mapping[str, object]) -> None:
        """Notes that code reaches a namespace, without looking at what isn't named in it."""
        self.edges.setdefault(self.at, []).append((None, id(space)))

    def _contents(self, x: Any, label: str) -> None:
        entries: dict[Any, Any]
        kind = "dict"
        if isinstance(x, dict):
            entries = items_of(x)
        elif isinstance(x, (set, frozenset)):
            kind, entries = "set", {id(y): y for y in elements_of(x)}
        else:
            kind = "tuple" if isinstance(x, tuple) else "list"
            entries = dict(enumerate(elements_of(x)))
        if len(entries) > _MANY:
            self.opaque.append(Opaque(x, "it has more entries than can be checked", label))
            return
        if kind != "tuple":
            self._place(x, kind, entries, label)
        for value in entries.values():
            self._push(value, label, holder=id(x) if kind == "list" else 0)
        if isinstance(x, dict):
            for key in entries:
                self._push(key, label)

    def _function(self, f: FunctionType) -> None:
        code = f.__code__
        if is_library(code.co_filename):
            inner = getattr(f, "__wrapped__", None)  # `no_grad()` around a function of the user's
            for cell in f.__closure__ or ():
                found = entry_of("cell", cell, "")
                function = isinstance(found, FunctionType)
                if not is_rushlight((found if function else f).__code__.co_filename):
                    self._push(found, f.__name__)  # `singledispatch` keeps a table
            if inner is not None:
                self._push(inner, f.__name__)
            return
        space = f.__globals__
        if id(space) not in self.globals_of:
            self.globals_of[id(space)] = set()
            self.spaces.append((space, f.__module__ or "globals", False))
        self._push_space(space)
        self._code(code, space)
        own = f.__dict__
        self.objects.append((self._place(own, "dict", dict(own), f"`{f.__name__}`"), f))
        for name, value in own.items():
            if name != "__wrapped__":
                self._push(value, f"`{name}`", name)
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            try:
                content = cell.cell_contents
            except ValueError:
                why = "a variable of a function around it, which isn't set yet"
                self.opaque.append(Opaque(cell, why, f"`{name}`"))
                self.edges.setdefault(self.at, []).append((name, id(cell)))
                continue
            self._place(cell, "cell", {name: content}, f"`{name}`")
            self._push(content, f"`{name}`", name)
        for value in f.__defaults__ or ():
            self._push(value, f"a default of {f.__name__}")
        if f.__kwdefaults__:
            self._push(f.__kwdefaults__, f"a default of {f.__name__}")
        self._place(f, "function", {"__code__": code, "__defaults__": f.__defaults__,
                                    "__kwdefaults__": f.__kwdefaults__}, f.__name__)  # fmt: skip

    def _code(self, code: CodeType, space: dict[str, object]) -> None:
        if (code, id(space)) in self._coded:
            return
        self._coded.add((code, id(space)))
        self.codes.add(code)
        attributes, names = questions(code)
        self.names |= attributes
        self.globals |= names
        self.globals_of[id(space)] |= names
        self.anything = self.anything or asks_by_any_name(code)
        self.matches = self.matches or matches_classes(code)
        for name in list_imported(code, space):
            self.lookups.ask(sys.modules, [name], "the modules")
            found = sys.modules.get(name)
            if found is not None:
                self._push(found, name)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant, space)

    def _take_named(self, space: Mapping[str, object], label: str, names: set[str],
               done: set[tuple[int, str]], at: int = 0) -> None:  # fmt: skip
        """Takes up the entries of a namespace that the code names."""
        fresh = {}
        for name in sorted(names & space.keys()):
            if (id(space), name) not in done:
                done.add((id(space), name))
                fresh[name] = space[name]
        if not fresh:
            return
        self.at = at or id(space)
        stem = str(space.get("__name__", "")).partition(".")[0]
        library = stem in ("rushlight", "torch", "numpy", "scipy") and (
            is_library(str(space.get("__file__") or "<frozen"))
        )
        mine = {k: v for k, v in fresh.items() if not library or not callable(v)}
        if mine:
            self._place(space, "names", mine, label)
        for name, value in fresh.items():
            if name in mine or not library:
                self._push(value, f"`{name}`", name)
        self.at = 0

    def _object(self, x: object, label: str) -> None:
        kind = type(x)
        user = not is_library_class(kind)
        inside = not user and not is_own(kind.__module__)  # any name may be used
        entries = attributes_of(x)
        if entries is not None:
            place = self._place(entries, "dict", dict(entries), label)
            self.seen[id(entries)] = entries
            self._push_space(entries)
            left_out = UNUSED | own_affairs(x, set(), self.moved)
            if isinstance(x, Module):
                place.guarded = frozenset(entries) - left_out
            self.objects.append((place, x))
            for name, value in entries.items():
                if name not in left_out:
                    self._push(value, label if inside else f"`{name}`",
                               None if inside or name in TABLES else name)  # fmt: skip
        for name, member in slots_of(x):
            known = {name: member.__get__(x)} if is_set(member, x) else {}
            if member is not slot_of(x, name):
                self.opaque.append(Opaque(x, f"two of its slots are called `{name}`", label))
                continue
            place = self._place(x, "slots", known, label)
            if not known:
                place.kind, place.guarded = "unset", member
            for value in known.values():
                self._push(value, f"`{name}`", name)
        if user:
            self._push(kind, kind.__name__)

    def _class(self, kind: type) -> None:
        self.kinds |= {id(base): base for base in kind.__mro__}
        if (why := why_uncertain(kind)) is not None:
            self.opaque.append(Opaque(kind, why, kind.__name__))
        if is_library_class(kind):
            return
        entries = {k: v for k, v in vars(kind).items() if k not in _OWN}
        self._place(kind, "class", entries, kind.__name__)
        for name, value in entries.items():
            plain = None if name.startswith("__") else name
            self._push(value, f"`{kind.__name__}.{name}`", plain)
        for base in (*kind.__mro__[1:], type(kind)):
            if not is_library_class(base):
                self._push(base, base.__name__)
        meta: Any = type(kind)
        self.kinds |= {id(base): base for base in meta.__mro__}

    def _fields(self) -> None:
        """What objects keep in places of C's and code names: a function's `__name__`."""
        names = self.names | _HELD
        for x in list(self.seen.values()):
            kind = type(x)
            if kind in LASTING or isinstance(x, (TensorBase, ModuleType, A.ndarray)):
                continue
            if (kind, len(names)) not in self._kept:
                self._kept[kind, len(names)] = [k for k in names if in_c(kind, k)]
            for name in self._kept[kind, len(names)]:
                if (id(x), name) in self._done:
                    continue
                self._done.add((id(x), name))
                try:
                    value = getattr(x, name)
                except AttributeError:
                    continue
                self.at = id(x)
                self._place(x, "function", {name: value}, f"{kind.__name__}")
                if name in _WIDE:
                    self.opaque.append(Opaque(value, "all that a function can see", f"`{name}`"))
                    self.edges.setdefault(self.at, []).append((name, id(value)))
                elif not isinstance(x, FunctionType) or not is_library(x.__code__.co_filename):
                    self._push(value, f"`{name}`", name)
                self.at = 0

    def _optimizer(self, x: Optimizer, label: str) -> None:
        self.optimizers.append(x)
        self.owners.append(x)
        own = vars(x)
        methods = {k: own[k] for k in ("param_groups", "step", "zero_grad") if k in own}
        self._place(own, "names", methods, label)
        for name in ("step", "zero_grad"):
            self._push(own.get(name), f"`{name}`")
        if not is_library_class(type(x)):
            self._push(type(x), type(x).__name__)
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
        if self.anything:
            for place, _ in self.objects:
                place.guarded = None
            return
        for place, x in self.objects:
            if isinstance(x, Module):
                left_out = UNUSED | own_affairs(x, self.names, self.moved)
                place.guarded = frozenset(place.entries) - (left_out - self.names)
            if isinstance(x, Module) and not is_library_class(type(x)):
                if any(reads_itself(base) for base in type(x).__mro__):
                    continue  # attributes are read by a forward of the library's
                place.guarded = frozenset(place.entries) & (TABLES | _CALLED | self.names)
            elif not isinstance(x, Module):
                place.guarded = frozenset(place.entries) & self.names

    def _by_names_only(self, kind: type) -> bool:
        """Whether only names that stand in the code are asked of a class: no library does."""
        own = all(not is_library_class(base) for base in kind.__mro__[1:-1])
        return own and not self.anything

    def _ask(self) -> None:
        """Asks all namespaces for all names: see `lookups`."""
        ask, wanted = self.lookups, self.names | _CALLED
        if ask.too_many(len(self.objects), len(wanted)):
            return
        for place, _ in self.objects:
            ask.lack(place.container, wanted, f"`{place.label}`")
        for x in self.owners:
            ask.lack(vars(x), wanted | {"step", "zero_grad"}, "the optimizer")
            if self.anything:
                ask.whole(vars(x), "the optimizer", values=False)
        for place in self.places:
            if place.kind == "class" and self._by_names_only(place.container):
                asked = [k for k in place.entries if k in wanted or k.startswith("__")]
                place.guarded = frozenset(asked)
        for kind in self.kinds.values():
            if type_flags.is_immutable(kind) or kind.__module__ == "builtins":
                continue
            if is_library_class(kind):
                ask.ask_class(kind, wanted | SPECIAL)
            else:
                ask.ask_class(kind, wanted | SPECIAL, lacking=True)
                ask.ask_class(kind, (wanted & _OWN) - {"__dict__", "__weakref__"})
            space = space_of(kind)
            if self.anything and space is not None:
                ask.whole(space, kind.__name__)
        if not (self.names | self.globals) & WALKS and not self.anything:
            tables = {
                id(place.entries.get(table)) for place, x in self.objects
                if isinstance(x, Module) and is_library_class(type(x))
                for table in ("_parameters", "_buffers")
            }  # fmt: skip
            for place in self.places:
                place.ordered = id(place.container) not in tables
        basic = vars(builtins)
        ask.ask(basic, self.globals | {"__import__", "__build_class__"}, "the builtins")
        for space, label, is_module in self.spaces:
            if not is_module:
                ask.lack(space, self.globals_of[id(space)], label)
                continue
            names = wanted | {"__getattr__", "__dir__"}
            ask.ask(space, [k for k in names if k not in space or callable(space[k])], label)
            if self.anything:
                ask.whole(space, label)

    def widen(self, codes: Iterable[CodeType]) -> None:
        """Takes code into account that isn't the user's, and that looked at what is the user's."""
        names, anything = set(self.names), self.anything
        for code in codes:
            names |= questions(code)[0]
            anything = anything or asks_by_any_name(code)
        if names == self.names and anything == self.anything:
            return
        self.names, self.anything = names, anything
        self._narrow()
        self._ask()

    def classes_asked(self) -> bool:
        """Whether the code may ask for the kind of something, where a class answers by a table."""
        if not self.globals & {"isinstance", "issubclass"} and not self.matches:
            return False
        return any(isinstance(x, ABCMeta) for x in self.seen.values())

    def list_known(self) -> dict[int, Any]:
        """The tensors by the ids of their arrays."""
        found: dict[int, Any] = {}
        for t in self.tensors.values():
            if t._view is None or id(t._raw) not in found:
                found[id(t._raw)] = t
        return found

    def take_state(self) -> None:
        """Has the state of optimizers looked at, as the step has left it: its code asks for it."""
        for x in self.optimizers:
            for table in (x.state, *[y for y in x.state.values() if isinstance(y, dict)]):
                self._place(table, "dict", dict(table), "the optimizer's state")

    def leaves(self) -> list[Any]:
        """Every tensor that may have a gradient."""
        return [t for t in self.tensors.values() if t._requires_grad and t._node is None]

    def find_changes(self) -> str | None:
        """What is not as it was when the state was walked: a side effect."""
        other = self.lookups.other()
        if other is not None:
            return f"`{other[0]}` of {other[1]} was changed by the step"
        for place in self.places:
            now = current_entries(place)
            old = place.entries
            if len(now) != len(old):
                return f"{place.label} got or lost an entry"
            if place.kind == "dict" and list(now) != list(old):
                return f"the order of {place.label}'s entries was changed by the step"
            for key, value in old.items():
                if key not in now or not is_unchanged(value, now[key]):
                    if (id(place.container), key) in self.moved:
                        continue
                    if key in ("_grad", "grad"):
                        continue
                    shown = key if isinstance(key, str) else f"entry {key}"
                    return f"`{shown}` of {place.label} was changed by the step"
        return None
