"""Which guards hold as long as nothing has changed that they have looked at.

Guards are records (see `records`). A condition on objects that are the same in each call (a
module's `__dict__`, a list, a cell, a parameter) depends on a few words in memory, and while these
are as they were when it held, it holds. So instead of evaluating a hundred conditions, machine code
compares the words (see `native_guards`). Conditions on a tensor among the arguments become
conditions on its fields. What isn't understood stays Python.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, Final

from ..._core.storage import CLASSES, TensorBase
from ..._native.cpython import object_layout as layout
from ..._native.cpython.type_flags import is_immutable
from .conditions import Argument, NotNative, ObjectReads, betas_far, betas_near
from .guards import Rendered
from .name_lookups import Lookups, Versions, space_of
from .records import (
    Apart,
    ArgumentPart,
    Attribute,
    Bare,
    Bind,
    ByClass,
    Call,
    ClassEntry,
    Condition,
    Content,
    Default,
    Equal,
    Filled,
    Geometry,
    Held,
    Is,
    IsNone,
    Item,
    Keys,
    Length,
    Local,
    Mode,
    NoneOf,
    Python,
    Replaced,
    Source,
    Start,
    Truth,
    Unless,
    Writable,
    literal,
)

#: Fields of tensors whose places are known.
FIELDS: Final = ("_raw", "_node", "hooks", "_plain", "_requires_grad", "_grad", "_view")
_FUNCTION: Final = ("__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__",
                    "__doc__")  # fmt: skip
_ORDINARY: Final[Any] = inspect.getattr_static(object, "__getattribute__")
_DICTS: Final = (dict, defaultdict, OrderedDict)


class SortedGuards:
    """The guards of a program, sorted: see the top."""

    def __init__(self, guards: list[Rendered], loose: Sequence[object]) -> None:
        """`loose` are dictionaries of numbers that are read at each call."""
        self.loose = {id(x) for x in loose}
        self.looked: dict[int, ObjectReads] = {}
        self.arguments: dict[str, Argument] = {}
        self.tops: list[type] = []  # classes that are looked at with all their bases
        self.arrays: dict[str, str] = {}  # the local names of arguments' arrays
        self.fixed: dict[str, Any] = {}  # local names of what a fixed object holds
        self.moved: list[str] = []  # conditions of which one says that a tensor's array is another
        self.mode: Any = None
        self.apart = False
        self.trusted = (betas_near, betas_far)  # functions of such an entry alone
        self.structure: list[str] = []  # what Python asks at first: of args and kwargs, mostly
        self.bindings: list[str] = []  # names of arrays
        self.numbers: list[str] = []  # conditions on loose dictionaries
        self.kept: list[str] = []  # what stays Python
        for one in guards:
            self._sort(one)

    def is_covered(self) -> bool:
        """Whether nothing but the structure of arguments is left to Python."""
        return not self.kept and all(a.complete() for a in self.arguments.values())

    def _sort(self, one: Rendered) -> None:
        guard, text = one.guard, one.text
        if isinstance(guard, Mode):
            self.mode = guard.expected
        elif isinstance(guard, Bind):
            self._bind(guard).extend(text)
        elif isinstance(guard, (Unless, NoneOf)):
            place = self._holds(guard)
            if place is not None:
                place.extend(text)
        elif isinstance(guard, Apart) and self._lie_apart(guard):
            self.apart = True
        elif isinstance(guard, Replaced) and guard.geometry.array in self.fixed:
            self.moved.append(text[0].removeprefix("if ").removesuffix(":"))
        elif not isinstance(guard, Start):
            first = isinstance(guard, Python) and guard.first
            (self.structure if first else self.kept).extend(text)

    def _bind(self, guard: Bind) -> list[str]:
        """Notes what a name stands for; where its line belongs."""
        source = guard.source
        if isinstance(source, ArgumentPart):
            self.arguments[guard.local] = Argument(guard.local)
            return self.structure
        of = source.of if isinstance(source, Attribute) and source.name == "_raw" else None
        if isinstance(of, Local) and of.name in self.arguments:
            self.arrays[guard.local] = of.name
            return self.bindings
        if isinstance(of, Held) and isinstance(of.thing, TensorBase):
            self.look(of.thing).fields.add("_raw")
            self.fixed[guard.local] = of.thing
            return self.bindings
        return self.kept

    def _lie_apart(self, guard: Apart) -> bool:
        """Whether arrays have to be compared only where one was replaced or shows another's."""
        known = self.arrays.keys() | self.fixed.keys()
        return not guard.always and all(a.name in known for a in guard.arrays)

    def _holds(self, guard: Unless | NoneOf) -> list[str] | None:
        """Takes a guard up; where its lines belong, None where machine code does it all."""
        reader = _Reader(self)
        try:
            found = reader.read(guard)
        except NotNative:
            return self._of_arguments(guard)
        self.tops += reader.tops
        if any(id(x.thing) in self.loose and not _is_named(x) for x in found):
            return self.numbers
        for x in found:
            self.look(x.thing).join(x)
        return None

    def look(self, thing: object) -> ObjectReads:
        """What is looked at of an object."""
        return self.looked.setdefault(id(thing), ObjectReads(thing))

    # ---- arguments -----------------------------------------------------------------------------
    def _of_arguments(self, guard: Unless | NoneOf) -> list[str] | None:
        """The same of conditions on arguments."""
        if isinstance(guard, NoneOf):
            alone = all(isinstance(x, Held) for x in guard.sources)
            return self.structure if alone else self.kept
        if isinstance(guard.conditions[0], Bare):
            return self._bare(guard.conditions[0])
        puts = [self._field(x) for x in guard.conditions]
        if None not in puts:
            for put in puts:
                assert put is not None
                put()
            return None
        return self.structure if all(map(_structural, guard.conditions)) else self.kept

    def _bare(self, condition: Bare) -> list[str] | None:
        """A tensor without attributes of its own."""
        tensor = condition.tensor
        argument = self.arguments.get(tensor.name) if isinstance(tensor, Local) else None
        if argument is None:
            return self.kept
        if layout.show_untouched(CLASSES.tensor) is True and layout.shows_attributes(argument.kind):
            argument.bare = True
            return None
        return self.structure  # this may be asked before everything else

    def _field(self, x: Condition) -> Callable[[], object] | None:
        """What notes a condition on an argument's tensor or array; None where it is another."""
        if isinstance(x, Geometry) and x.array in self.arrays:
            g = self.arguments[self.arrays[x.array]].geometry
            return lambda: g.take(x.shape, x.strides, x.dtype)
        if isinstance(x, Writable) and isinstance(x.array, Local) and x.array.name in self.arrays:
            owner = self.arguments[self.arrays[x.array.name]]
            return lambda: setattr(owner, "written", True)
        if not isinstance(x, (Is, Truth)) or not isinstance(x.source, Attribute):
            return None
        of, name = x.source.of, x.source.name
        argument = self.arguments.get(of.name) if isinstance(of, Local) else None
        if argument is None:
            return None
        expected = x.expected if isinstance(x, Is) else True
        if name == "__class__":
            return lambda: setattr(argument, "kind", expected)
        known = name in FIELDS and (expected is None or type(expected) is bool)
        return (lambda: argument.fields.__setitem__(name, expected)) if known else None


def _structural(x: Condition) -> bool:
    """Whether a condition needs no array, and looks at no attribute: it may be asked at first."""
    if isinstance(x, (Length, Keys, Filled, Call)):
        return True
    if not isinstance(x, Is):
        return False
    source = x.source
    if isinstance(source, Attribute):
        return source.name == "__class__" and not isinstance(source.of, Local)
    return isinstance(source, (ArgumentPart, Local, Held, Content)) or (
        isinstance(source, Item) and not source.get
    )


class _Reader:
    """Reads a guard for the fixed objects that it looks at."""

    def __init__(self, guards: SortedGuards) -> None:
        self.guards = guards
        self.found: dict[int, ObjectReads] = {}
        self.tops: list[type] = []

    def read(self, guard: Unless | NoneOf) -> list[ObjectReads]:
        """What the guard looks at.

        Raises:
            NotNative: where machine code can't look at that.
        """
        if isinstance(guard, NoneOf):
            for source in guard.sources:
                self._is_filled(source)
        else:
            for condition in guard.conditions:
                self._condition(condition)
        return list(self.found.values())

    def _look(self, thing: object) -> ObjectReads:
        return self.found.setdefault(id(thing), ObjectReads(thing))

    def _is_filled(self, source: Held | Item) -> None:
        """Whether a container has anything, or what lies in it counts as true."""
        if isinstance(source, Held):
            self._size(source)
        else:
            self._source(source)

    def _size(self, source: Source) -> None:
        if not isinstance(source, Held) or type(source.thing) not in (*_DICTS, list):
            raise NotNative
        self._look(source.thing).size = True

    def _condition(self, x: Condition) -> None:
        if isinstance(x, (Is, IsNone)):
            none = isinstance(x, IsNone) or x.expected is None
            if none and self._noneness(x.source):
                return
            if isinstance(x, Is) and isinstance(x.expected, Local):
                raise NotNative
            self._source(x.source)
        elif isinstance(x, (Equal, Truth)):
            self._source(x.source)
        elif isinstance(x, ByClass):
            if x.bound or not isinstance(x.source, Item):
                raise NotNative
            self._source(x.source)
        elif isinstance(x, Filled):
            # A number of an option is one as long as it is the same object.
            if id(x.source.of.thing) not in self.guards.loose:
                raise NotNative
            self._source(x.source)
        elif isinstance(x, Length):
            self._size(x.source)
        elif isinstance(x, Keys):
            thing = x.source.thing if isinstance(x.source, Held) else None
            if type(thing) not in (dict, defaultdict):
                raise NotNative
            self._look(thing).whole = True
        elif isinstance(x, Writable):
            self._look(self._owner(x.array)).fields |= {"_raw", "writeable"}
        elif isinstance(x, Call):
            self._call(x)
        else:
            raise NotNative

    def _noneness(self, source: Source) -> bool:
        """Notes that it matters whether a tensor's field is None, where it is one."""
        if not isinstance(source, Attribute) or not isinstance(source.of, Held):
            return False
        thing = source.of.thing
        if not isinstance(thing, TensorBase) or source.name not in FIELDS:
            return False
        self._look(thing).noneness.add(source.name)
        return True

    def _owner(self, array: Local | Attribute) -> TensorBase:
        """The tensor, the same in each call, whose array it is."""
        thing = None
        if isinstance(array, Local):
            thing = self.guards.fixed.get(array.name)
        elif array.name == "_raw" and isinstance(array.of, Held):
            thing = array.of.thing
        if isinstance(thing, TensorBase):
            return thing
        raise NotNative

    def _call(self, x: Call) -> None:
        if type(x.function) is Versions:
            self._lookups(x.function.lookups)
        elif x.function in self.guards.trusted and x.source is not None:
            self._source(x.source)
        else:
            raise NotNative

    def _lookups(self, asked: Lookups) -> None:
        self.tops += asked.tops()
        for key, answers in asked.answers.items():
            if key in asked.kinds:
                continue
            one = self._look(asked.spaces[key])
            one.keys |= {id(name): name for name in (*answers, *asked.absent[key])}
            one.whole |= key in asked.keys

    def _source(self, x: Source) -> None:
        if isinstance(x, (Attribute, Default)) and isinstance(x.of, Held):
            self._attribute(x.of.thing, x.name)
        elif isinstance(x, Item):
            self._entry(x.of.thing, x.key)
        elif isinstance(x, ClassEntry):
            thing = space_of(x.kind.thing) if isinstance(x.kind.thing, type) else None
            if thing is None:
                raise NotNative
            self._entry(thing, x.key)
        elif isinstance(x, Content):
            if type(x.cell.thing) is not CellType:
                raise NotNative
            self._look(x.cell.thing).fields.add("cell_contents")
        elif not isinstance(x, Held):
            raise NotNative

    def _attribute(self, thing: object, name: str) -> None:
        if name == "__class__":
            if type(thing) is not thing.__class__:
                raise NotNative
        elif name == "__dict__":
            if layout.dict_offset(thing) is None:
                raise NotNative
        elif isinstance(thing, TensorBase):
            if name not in FIELDS:
                raise NotNative
        elif type(thing) is FunctionType:
            if name not in _FUNCTION:
                raise NotNative
        elif type(thing) is CellType:
            if name != "cell_contents":
                raise NotNative
        elif isinstance(thing, type) and name == "__mro__":
            pass
        elif isinstance(thing, type):
            if hasattr(type(inspect.getattr_static(type(thing), name, None)), "__set__"):
                raise NotNative
            self._in_class(thing, name)
            return
        else:
            self._own(thing, name)
            return
        self._look(thing).fields.add(name)

    def _in_class(self, kind: type, name: str) -> None:
        """What decides which attribute of a class, or of its bases, has a name."""
        self._look(kind).fields.add("__mro__")
        for base in kind.__mro__:
            if is_immutable(base):
                continue
            space = space_of(base)
            if space is None:
                raise NotNative
            key = next((k for k in space if k == name), name)
            self._look(space).keys[id(key)] = key
            if name in space:
                return

    def _own(self, thing: object, name: str) -> None:
        """An attribute that lies in the object's own dictionary."""
        kind = type(thing)
        shown = inspect.getattr_static(kind, name, None)
        if inspect.getattr_static(kind, "__getattribute__") is not _ORDINARY:
            raise NotNative
        if inspect.ismemberdescriptor(shown):
            try:
                layout.slot_offset(thing, name)
            except (layout.Unknown, AttributeError):
                raise NotNative from None
            self._look(thing).fields |= {"__class__", name}
            self._in_class(kind, name)
            return
        if hasattr(type(shown), "__set__"):
            raise NotNative
        own = getattr(thing, "__dict__", None)
        if type(own) is not dict or name not in own:
            raise NotNative
        self._look(thing).fields.add("__class__")
        self._in_class(kind, name)
        key = next(k for k in own if k == name)
        self._look(own).keys[id(key)] = key

    def _entry(self, thing: Any, key: Any) -> None:
        if type(thing) is list:
            self._look(thing).whole = True
            return
        if type(thing) not in _DICTS:
            raise NotNative
        if literal(key):  # as it lies in there
            key = next((k for k in thing if type(k) is type(key) and k == key), key)
        if type(key) not in (str, int, bool) and type(key).__hash__ not in (
            object.__hash__, CLASSES.tensor.__hash__
        ):  # fmt: skip
            raise NotNative  # looking it up may run code of the user's
        self._look(thing).keys[id(key)] = key


def _is_named(x: ObjectReads) -> bool:
    """Whether a look at a loose dictionary is about its entry of parameters alone."""
    return set(x.keys.values()) <= {"params"} and not x.whole
