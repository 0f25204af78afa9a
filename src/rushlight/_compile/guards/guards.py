"""Guards: the conditions under which a program may run, as one generated function.

A guard is a record (see `records`): identity for objects, type and value for numbers and texts,
geometry for arrays. As Python they are a flat list of `if` statements, where None is a miss.
"""

from __future__ import annotations

from abc import get_cache_token
from collections import OrderedDict, defaultdict, deque
from types import ModuleType
from typing import Any, Final, NamedTuple

from ..._base.device import DEFAULTS, default_device
from ..._core.mode import NO_GRAD, READY
from ..._core.storage import CLASSES, TensorBase
from ..._native.cpython.type_flags import is_heap_type
from ..ir.program import Program
from ..refusal import Refusal
from .captured_state import State
from .leaf_hooks import runs_hooks
from .name_lookups import MISSING, Versions
from .places import (
    AnyNumber,
    Place,
    SlotReader,
    current_entries,
    is_set,
    is_unchanged,
    plain,
    shows_slot,
    slot_of,
)
from .records import (
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
    Geometry,
    Guard,
    Held,
    Is,
    Item,
    Keys,
    Length,
    Local,
    Mode,
    NoneOf,
    Python,
    Replaced,
    Source,
    Truth,
    Unless,
    literal,
    write_key,
)

#: Containers whose methods are those that guards mean.
KNOWN: Final = (dict, OrderedDict, defaultdict, list, deque)
TABLES_OF_HOOKS = frozenset({
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
})  # fmt: skip


class Rendered(NamedTuple):
    """A guard, and what it is in Python."""

    guard: Guard
    text: list[str]
    timed: bool  # whether an unchanged version of its dictionary says the same


class SourceText:
    """Source text that is being written, with the objects that it names."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.names: dict[str, Any] = {}
        self.known: dict[int, str] = {}
        self.count = 0
        self.guards: list[Rendered] = []  # what the text begins with
        self.versions: Versions | None = None  # which tell whether a timed guard has to be asked,
        self.asking: Guard | None = None  # and the guard that asks them
        self.timed = False  # of the guards that are being written

    def beside(self, text: list[str], names: dict[str, Any]) -> SourceText:
        """Another text that names the same objects."""
        made = SourceText()
        made.text = text
        made.names = names
        made.known = {id(x): name for name, x in names.items() if name in self.names}
        made.count = self.count
        return made

    def name(self, x: object, stem: str = "c") -> str:
        """The name of an object in the source."""
        found = self.known.get(id(x))
        if found is None:
            found = f"{stem}{len(self.names)}"
            self.known[id(x)] = found
            self.names[found] = x
        return found

    def add(self, line: str) -> None:
        """One line of the function's body."""
        self.text.append(line)

    def guard(self, guard: Guard) -> None:
        """A guard, at the beginning of the text."""
        text = guard.lines(self.name)
        self.guards.append(Rendered(guard, text, self.timed))
        self.text += text

    def unless(self, *conditions: Condition) -> None:
        """Leaves the function where a condition doesn't hold."""
        self.guard(Unless(conditions))

    def python(self, *text: str, first: bool = False) -> None:
        """A guard that machine code knows nothing of."""
        self.guard(Python(text, first))

    def as_recorded(self, source: Source, value: object) -> Condition:
        """The condition that a source has a value as it had when recorded."""
        if type(value) is AnyNumber:  # the program takes any number of this type
            return ByClass(source, value.source.type, value.source.name)
        if plain(value) and value is not None and value is not True and value is not False:
            self.count += 1
            return Equal(source, value, f"x{self.count - 1}")
        return Is(source, value)


def guard_state(state: State, lines: SourceText) -> None:
    """Checks of everything that the step's code can see besides its arguments."""
    timed = [p for p in state.places if _has_version(p)]
    lines.versions = Versions(state.lookups, [p.container for p in timed])
    lines.unless(Call(lines.versions))
    lines.asking = lines.guards[-1].guard
    kinds = []
    for x in state.seen.values():
        if is_heap_type(type(x)) or isinstance(x, ModuleType):
            kinds.append(Is(Attribute(Held(x), "__class__"), type(x)))
    for place, x in state.objects:
        kinds.append(Is(Attribute(Held(x), "__dict__"), place.container))
    for x in state.owners:
        kinds.append(Is(Attribute(Held(x), "__dict__"), vars(x)))
    for start in range(0, len(kinds), 8):
        lines.unless(*kinds[start : start + 8])
    if DEFAULTS.changed:
        asked, device = lines.name(default_device), lines.name(default_device())
        lines.python(f"if {asked}() is not {device}: return None", first=True)
    if state.classes_asked():
        asked, token = lines.name(get_cache_token), lines.name(get_cache_token())
        lines.python(f"if {asked}() != {token}: return None", first=True)
    untimed = [p for p in state.places if not _has_version(p)]
    for places in (untimed, timed):
        lines.timed = places is timed
        empty: list[Held] = []
        for place in places:
            if place.kind in ("dict", "list") and not place.entries and place.guarded is None:
                empty.append(Held(place.container))
            else:
                _guard_place(place, lines)
        for k in range(0, len(empty), 40):
            lines.guard(NoneOf(tuple(empty[k : k + 40])))
    lines.timed = False


def _has_version(place: Place) -> bool:
    """Whether an unchanged version of a dictionary says that nothing in the place has changed."""
    if type(place.container) is not dict or place.kind not in ("dict", "names"):
        return False
    # Numbers of any value are bound by their guards; a script's globals change all the time.
    return not any(type(x) is AnyNumber for x in place.entries.values()) and (
        place.kind == "dict" or "__name__" not in place.container
    )


def by_versions(lines: SourceText) -> list[str]:
    """The guards' text, with those of dictionaries left out as long as none has changed."""
    name = lines.name(lines.versions)
    inner = [line for one in lines.guards if one.timed for line in one.text]
    block = [
        f"if (now := {name}.find_changes()) is not None:",
        *("    " + line for line in inner),
        f"    if not {name}.same(now): return None",
    ]
    asking = next(k for k, one in enumerate(lines.guards) if one.guard is lines.asking)
    first = next((k for k, one in enumerate(lines.guards) if one.timed), asking)
    text: list[str] = []
    for k, one in enumerate(lines.guards):
        if k == first:
            text += block
        if not one.timed and one.guard is not lines.asking:
            text += one.text
    return text


def _guard_place(place: Place, lines: SourceText) -> None:
    wanted = place.guarded
    entries = {k: v for k, v in place.entries.items() if wanted is None or k in wanted}
    kind, thing = place.kind, Held(place.container)
    if kind == "array":
        c = lines.name(place.container)
        raw = place.container
        shape = Geometry(c, raw.shape, raw.strides, raw.dtype).text(lines.name)
        same = f"{c}.tobytes() == {lines.name(entries['bytes'])}"
        lines.python(f"if not ({shape} and {same}): return None")
        return
    if kind == "set":
        if len(place.entries) > 100:
            raise Refusal(f"{place.label} is a set of more entries than can be checked")
        if type(place.container) in (set, frozenset):
            lines.unless(Keys(thing, tuple(place.container), identity=True))
        else:
            lines.unless(Call(ContainerUnchanged(place)))
        return
    if kind == "unset":
        there = ", ".join(lines.name(x) for x in (wanted, place.container))
        lines.python(f"if {lines.name(is_set)}({there}): return None", first=True)
        return
    if type(place.container) not in KNOWN and kind in ("dict", "list"):
        lines.unless(Call(ContainerUnchanged(place)))
        return
    if len(entries) > 2000:
        raise Refusal(f"{place.label} has more entries than can be checked")
    if not entries and kind != "list" and (wanted is not None or kind != "dict"):
        return
    if kind == "cell":
        for value in entries.values():
            lines.unless(lines.as_recorded(Content(thing, content), value))
        return
    if kind in ("slots", "function"):
        for key, value in entries.items():
            source: Source = Default(thing, key, MISSING)
            if kind == "slots" and not shows_slot(place.container, key):
                source = Content(thing, SlotReader(slot_of(place.container, key)))
            lines.unless(lines.as_recorded(source, value))
        return
    if kind == "class":
        for key, value in entries.items():
            lines.unless(lines.as_recorded(ClassEntry(thing, key), value))
        return
    if kind == "dict" and wanted is None and len(place.entries) > 1 and place.ordered:
        lines.unless(Keys(thing, tuple(place.entries)))  # their order counts as well
    elif kind == "list" or (kind == "dict" and wanted is None):
        lines.unless(Length(thing, len(place.entries)))
    get = kind in ("names", "dict")
    conditions = []
    for key, value in entries.items():
        if key in TABLES_OF_HOOKS and not value:
            continue  # the table itself is looked at, and stays what it is
        conditions.append(lines.as_recorded(Item(thing, key, get or not literal(key)), value))
    for start in range(0, len(conditions), 8):
        lines.unless(*conditions[start : start + 8])


class ContainerUnchanged:
    """Whether a container of a user's own kind holds what it held, without asking its class."""

    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        self.place = place

    def __call__(self) -> bool:
        place = self.place
        now = current_entries(place)
        if len(now) != len(place.entries):
            return False
        for (k, x), (old_k, old) in zip(now.items(), place.entries.items()):
            if type(old) is AnyNumber:
                return False
            if k is not old_k and not (type(k) is type(old_k) and k == old_k):
                return False
            if not is_unchanged(old, x):
                return False
        return True


def content(cell: Any) -> Any:
    """What a closure's variable holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def guard_numbers(program: Program, lines: SourceText) -> None:
    """Checks what the step has found out about the numbers that it was given."""
    for expr, outcome in program.conditions:
        text = expr.text(lambda leaf: str(leaf.parts[0]), lines.name)
        lines.python(f"if {'not ' if outcome else ''}({text}): return None")


def guard_mode(grad: bool, lines: SourceText) -> None:
    """Checks that the step runs in the mode in which it was recorded."""
    lines.guard(Mode(READY if grad else NO_GRAD, grad))


def structure_of(x: Any, found: list[TensorBase], depth: int = 0) -> Any:
    """The structure of arguments: tensors are numbered, everything else stays as it is."""
    if isinstance(x, TensorBase):
        for position, t in enumerate(found):
            if t is x:
                return ArgumentPlace(position)
        found.append(x)
        return ArgumentPlace(len(found) - 1)
    if type(x) in (list, tuple, dict) and depth < 8:
        if type(x) is dict:
            return {k: structure_of(v, found, depth + 1) for k, v in x.items()}
        return type(x)(structure_of(y, found, depth + 1) for y in x)
    return x


class ArgumentPlace:
    """The place of a tensor among the arguments."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def guard_arguments(
    structure: Any, expression: str, lines: SourceText, bound: dict[int, str]
) -> None:
    """Checks the structure of arguments, and binds `t0`, `t1`, … to the tensors in it."""
    here = ArgumentPart(expression)
    if type(structure) is ArgumentPlace:
        n = structure.position
        if n in bound:
            lines.unless(Is(here, Local(bound[n])))
        else:
            bound[n] = f"t{n}"
            lines.guard(Bind(f"t{n}", here))
        return
    if type(structure) in (list, tuple, dict):
        lines.unless(Is(Attribute(here, "__class__"), type(structure)),
                     Length(here, len(structure)))  # fmt: skip
        if type(structure) is dict:
            if structure:
                lines.unless(Keys(here, tuple(structure)))
            for key, value in structure.items():
                inner = f"{expression}[{write_key(key, lines.name)}]"
                guard_arguments(value, inner, lines, bound)
        else:
            for place, value in enumerate(structure):
                guard_arguments(value, f"{expression}[{place}]", lines, bound)
        return
    lines.unless(lines.as_recorded(here, structure))


def guard_argument(position: int, t: TensorBase, lines: SourceText, *, history: bool) -> None:
    """Checks one tensor among the arguments, and binds the name of its array."""
    tensor, raw = Local(f"t{position}"), t._raw
    conditions: list[Condition] = [
        Is(Attribute(tensor, "__class__"), getattr(t, "kind", None) or type(t)),
        Truth(Attribute(tensor, "_plain")),
        Is(Attribute(tensor, "_requires_grad"), t._requires_grad),
    ]
    if not history:
        conditions += [Is(Attribute(tensor, "_node"), None), Is(Attribute(tensor, "hooks"), None)]
    lines.unless(*conditions)
    if getattr(t, "roomy", False) or hasattr(t, "__dict__"):
        lines.unless(Bare(tensor))
    lines.guard(Bind(f"a{position}", Attribute(tensor, "_raw")))
    lines.unless(Geometry(f"a{position}", raw.shape, raw.strides, raw.dtype))


def guard_array(t: TensorBase, name: str, lines: SourceText) -> None:
    """Binds the name of a tensor's array, and checks it where it isn't the one that it was."""
    raw = t._raw
    lines.guard(Bind(name, Attribute(Held(t), "_raw")))
    lines.guard(Replaced(Geometry(name, raw.shape, raw.strides, raw.dtype), raw))


def check_inputs(program: Program, arguments: list[TensorBase]) -> None:
    """Refuses inputs that a compiled step can't take.

    Raises:
        Refusal: for an argument with history, a tensor with hooks, a subclass.
    """
    for t in arguments:
        if not t._plain or not isinstance(t, CLASSES.tensor):
            raise Refusal("an argument is a tensor of a subclass, or under a transform")
        if getattr(t, "__dict__", None):
            raise Refusal("an argument is a tensor with attributes of its own")
        if t.hooks is not None and any(t is leaf for leaf in program.receivers()):
            raise Refusal("an argument that gets a gradient within the step has hooks")
        if program.joint is not None:
            continue  # its gradient goes where it would go
        if t._node is not None:
            raise Refusal("an argument has a history: its gradient would go outside of the step")
        if t.hooks is not None:
            raise Refusal("an argument has hooks")
        if t._view is not None and t._view.tracked and t._view.base._requires_grad:
            raise Refusal("an argument is a view of a tensor that requires grad")
    for value in program.inputs:
        t = value.holder
        if value.kind != "tensor":
            continue
        if runs_hooks(t, program):
            raise Refusal("a tensor that the step reads has hooks")
        if t._node is not None:
            raise Refusal("the step reads a tensor with a history that begins outside of it")
        if not t._plain:
            raise Refusal("the step reads a tensor of a subclass")
