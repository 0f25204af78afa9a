"""Guards: the conditions under which a program may run, as one generated function.

The checks are plain Python in a flat list of `if` statements: identity for objects, type and value
for numbers and texts, geometry for arrays. `None` from the generated function is a miss.
"""

from __future__ import annotations

from abc import get_cache_token
from collections import OrderedDict, defaultdict, deque
from types import ModuleType
from typing import Any, Final

from ..._array.memory import aliasing as A
from ..._base.device import DEFAULTS, default_device
from ..._core.mode import NO_GRAD, READY
from ..._core.storage import CLASSES, TensorBase
from ..._native.cpython.type_flags import is_heap_type
from ..capture.number_sources import Free
from ..ir.program import Program
from ..refusal import Refusal
from .captured_state import State
from .name_lookups import MISSING, Versions
from .places import Place, current_entries, is_set, plain, unchanged

#: Containers whose methods are those that guards mean.
KNOWN: Final = (dict, OrderedDict, defaultdict, list, deque)
TABLES_OF_HOOKS = frozenset({
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
})  # fmt: skip


class Lines:
    """Source text that is being written, with the objects that it names."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.names: dict[str, Any] = {}
        self.known: dict[int, str] = {}
        self.count = 0
        self.timed: Any = None  # versions, and from where to where lie the guards of dictionaries

    def beside(self, text: list[str], names: dict[str, Any]) -> Lines:
        """Another text that names the same objects."""
        made = Lines()
        made.text = text
        made.names = names
        made.known = {id(x): name for name, x in names.items() if name in self.names}
        made.count = self.count
        return made

    def name(self, x: Any, stem: str = "c") -> str:
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

    def unless(self, condition: str) -> None:
        """Leaves the function where the condition doesn't hold."""
        self.text.append(f"if not ({condition}): return None")

    def constant(self, expression: str, value: Any) -> str:
        """The condition that an expression has a value as it had when recorded."""
        if value is None or value is True or value is False:
            return f"{expression} is {value}"
        if type(value) is Free:  # the program takes any number of this type
            return (
                f"({value.source.name} := {expression}).__class__ is {value.source.type.__name__}"
            )
        if plain(value):
            c = self.name(value)
            kind = self.name(type(value))
            x = f"x{self.count}"
            self.count += 1
            alike = f"{x}.__class__ is {kind} and {x} == {c}"
            if value == 0 and not isinstance(value, int):  # -0.0 is equal to 0.0, and another
                alike += f" and repr({x}) == {repr(value)!r}"
            return f"(({x} := {expression}) is {c} or ({alike}))"
        return f"{expression} is {self.name(value)}"


def guard_state(state: State, lines: Lines) -> None:
    """Checks of everything that the step's code can see besides its arguments."""
    timed = [p for p in state.places if _has_version(p)]
    versions = Versions(state.lookups, [p.container for p in timed])
    lines.unless(f"{lines.name(versions)}()")
    kinds = []
    for x in state.seen.values():
        if is_heap_type(type(x)) or isinstance(x, ModuleType):
            kinds.append(f"{lines.name(x)}.__class__ is {lines.name(type(x))}")
    for place, x in state.objects:
        kinds.append(f"{lines.name(x)}.__dict__ is {lines.name(place.container)}")
    for x in state.owners:
        kinds.append(f"{lines.name(x)}.__dict__ is {lines.name(vars(x))}")
    for start in range(0, len(kinds), 8):
        lines.unless(" and ".join(kinds[start : start + 8]))
    if DEFAULTS.told:
        lines.unless(f"{lines.name(default_device)}() is {lines.name(default_device())}")
    if state.classes_asked():
        lines.unless(f"{lines.name(get_cache_token)}() == {lines.name(get_cache_token())}")
    untimed = [p for p in state.places if not _has_version(p)]
    for places in (untimed, timed):
        start = len(lines.text)
        empty: list[str] = []
        for place in places:
            if place.kind in ("dict", "list") and not place.entries and place.guarded is None:
                empty.append(lines.name(place.container))
            else:
                _guard_place(place, lines)
        for k in range(0, len(empty), 40):
            lines.add(f"if {' or '.join(empty[k : k + 40])}: return None")
    lines.timed = versions, start, len(lines.text)


def _has_version(place: Place) -> bool:
    """Whether an unchanged version of a dictionary says that nothing in the place has changed."""
    if type(place.container) is not dict or place.kind not in ("dict", "names"):
        return False
    # Numbers of any value are bound by their guards; a script's globals change all the time.
    return not any(type(x) is Free for x in place.entries.values()) and (
        place.kind == "dict" or "__name__" not in place.container
    )


def by_versions(lines: Lines) -> list[str]:
    """The text, with the guards of dictionaries left out as long as none has changed."""
    versions, start, end = lines.timed
    name = lines.name(versions)
    asking = lines.text.index(f"if not ({name}()): return None")
    inner = [line for x in lines.text[start:end] for line in x.split("\n")]
    return [
        *lines.text[:asking], *lines.text[asking + 1 : start],
        f"if (now := {name}.changed()) is not None:",
        *("    " + x for x in inner),
        f"    if not {name}.same(now): return None",
        *lines.text[end:],
    ]  # fmt: skip


def _guard_place(place: Place, lines: Lines) -> None:
    wanted = place.guarded
    entries = {k: v for k, v in place.entries.items() if wanted is None or k in wanted}
    kind = place.kind
    if kind == "array":
        c = lines.name(place.container)
        shape = f"{c}.shape == {place.container.shape!r}"
        shape += f" and {c}.strides == {place.container.strides!r}"
        dtype = lines.name(place.container.dtype)
        shape += f" and ({c}.dtype is {dtype} or {c}.dtype == {dtype})"
        lines.unless(f"{shape} and {c}.tobytes() == {lines.name(entries['bytes'])}")
        return
    if kind == "set":
        if len(place.entries) > 100:
            raise Refusal(f"{place.label} is a set of more entries than can be checked")
        c = lines.name(place.container)
        lines.name([*place.container])  # kept alive: an id means the same object
        lines.unless(f"[*map(id, {c})] == {lines.name([id(y) for y in place.container])}")
        return
    if kind == "unset":
        there = ", ".join(lines.name(x) for x in (wanted, place.container))
        lines.unless(f"not {lines.name(is_set)}({there})")
        return
    if type(place.container) not in KNOWN and kind in ("dict", "list"):
        lines.unless(f"{lines.name(Same(place))}()")
        return
    if len(entries) > 2000:
        raise Refusal(f"{place.label} has more entries than can be checked")
    if not entries and kind != "list" and (wanted is not None or kind != "dict"):
        return
    c = lines.name(place.container)
    if kind == "cell":
        for value in entries.values():
            lines.unless(lines.constant(f"{lines.name(content)}({c})", value))
        return
    if kind in ("slots", "function"):
        for key, value in entries.items():
            lines.unless(lines.constant(f"getattr({c}, {key!r}, {lines.name(MISSING)})", value))
        return
    if kind == "class":
        for key, value in entries.items():
            lines.unless(lines.constant(f"{c}.__dict__.get({key!r})", value))
        return
    if kind == "dict" and wanted is None and len(place.entries) > 1 and place.ordered:
        lines.unless(_same_keys(c, place.entries, lines))  # their order counts as well
    elif kind == "list" or (kind == "dict" and wanted is None):
        lines.unless(f"len({c}) == {len(place.entries)}")
    access = ".get({0!r})" if kind in ("names", "dict") else "[{0!r}]"
    conditions = []
    for key, value in entries.items():
        if key in TABLES_OF_HOOKS and not value:
            continue  # the table itself is looked at, and stays what it is
        expression = c + access.format(key) if isinstance(key, (str, int)) else (
            f"{c}.get({lines.name(key)})"
        )  # fmt: skip
        conditions.append(lines.constant(expression, value))
    for start in range(0, len(conditions), 8):
        lines.unless(" and ".join(conditions[start : start + 8]))


def _same_keys(expression: str, entries: dict[Any, Any], lines: Lines) -> str:
    """The condition that a dict has the same keys in the same order."""
    if all(type(key) is str for key in entries):
        return f"[*{expression}] == {lines.name(list(entries))}"
    lines.name([*entries])  # kept alive: an id means the same object
    return f"[*map(id, {expression})] == {lines.name([id(key) for key in entries])}"


class Same:
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
            if type(old) is Free:
                return False
            if k is not old_k and not (type(k) is type(old_k) and k == old_k):
                return False
            if not unchanged(old, x):
                return False
        return True


def content(cell: Any) -> Any:
    """What a closure's variable holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def guard_numbers(program: Program, lines: Lines) -> None:
    """Checks what the step has found out about the numbers that it was given."""
    for expr, outcome in program.conditions:
        text = expr.text(lambda leaf: str(leaf.parts[0]), lines.name)
        lines.unless(text if outcome else f"not {text}")


def guard_mode(grad: bool, lines: Lines) -> None:
    """Checks that the step runs in the mode in which it was recorded."""
    expected = READY if grad else NO_GRAD
    lines.add("m = current()")
    other = f"m.slow or m.carrying or m.grad is not {grad}"
    lines.add(f"if m is not {lines.name(expected)} and ({other}): return None")


def structure_of(x: Any, found: list[TensorBase], depth: int = 0) -> Any:
    """The structure of arguments: tensors are numbered, everything else stays as it is."""
    if isinstance(x, TensorBase):
        for position, t in enumerate(found):
            if t is x:
                return Spot(position)
        found.append(x)
        return Spot(len(found) - 1)
    if type(x) in (list, tuple, dict) and depth < 8:
        if type(x) is dict:
            return {k: structure_of(v, found, depth + 1) for k, v in x.items()}
        return type(x)(structure_of(y, found, depth + 1) for y in x)
    return x


class Spot:
    """The place of a tensor among the arguments."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def guard_arguments(structure: Any, expression: str, lines: Lines, bound: dict[int, str]) -> None:
    """Checks the structure of arguments, and binds `t0`, `t1`, … to the tensors in it."""
    if type(structure) is Spot:
        n = structure.position
        if n in bound:
            lines.unless(f"{expression} is {bound[n]}")
        else:
            bound[n] = f"t{n}"
            lines.add(f"t{n} = {expression}")
        return
    if type(structure) in (list, tuple, dict):
        kind = lines.name(type(structure))
        lines.unless(f"{expression}.__class__ is {kind} and len({expression}) == {len(structure)}")
        if type(structure) is dict:
            if structure:
                lines.unless(_same_keys(expression, structure, lines))
            for key, value in structure.items():
                name = repr(key) if isinstance(key, (str, int)) else lines.name(key)
                guard_arguments(value, f"{expression}[{name}]", lines, bound)
        else:
            for place, value in enumerate(structure):
                guard_arguments(value, f"{expression}[{place}]", lines, bound)
        return
    lines.unless(lines.constant(expression, structure))


def guard_tensor(name: str, raw_name: str, t: TensorBase, lines: Lines, *, geometry: bool,
                 same_array: bool, history: bool = False) -> None:  # fmt: skip
    """Checks one tensor, and binds the name of its array."""
    raw = t._raw
    if not geometry:
        kind = lines.name(getattr(t, "kind", None) or type(t))
        own = "" if history else f" and {name}._node is None and {name}.hooks is None"
        lines.unless(
            f"{name}.__class__ is {kind} and {name}._plain and "
            f"{name}._requires_grad is {t._requires_grad}{own}"
        )
        if getattr(t, "roomy", False) or hasattr(t, "__dict__"):
            lines.unless(f"not getattr({name}, '__dict__', None)")
    lines.add(f"{raw_name} = {name}._raw")
    dtype = lines.name(raw.dtype)
    shape = f"{raw_name}.shape == {raw.shape!r} and {raw_name}.strides == {raw.strides!r}"
    same = f"{raw_name}.dtype is {dtype} or {raw_name}.dtype == {dtype}"
    if same_array:
        fixed = lines.name(raw)
        lines.add(f"if {raw_name} is not {fixed}:")
        lines.add(f"    if not ({shape} and ({same})): return None")
        lines.add("    moved = True")
    else:
        lines.unless(f"{shape} and ({same})")


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
        if t.hooks is not None:
            raise Refusal("a tensor that the step reads has hooks")
        if t._node is not None:
            raise Refusal("the step reads a tensor with a history that begins outside of it")
        if not t._plain:
            raise Refusal("the step reads a tensor of a subclass")


__all__ = ["A", "Lines", "Spot", "check_inputs", "guard_arguments", "guard_mode", "guard_state",
           "guard_tensor", "structure_of"]  # fmt: skip
