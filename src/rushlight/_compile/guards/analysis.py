"""Which guards hold as long as nothing has changed that they have looked at.

Guards are text (see `guards`). Here that text is read again: a condition on objects that are the
same in each call (a module's `__dict__`, a list, a cell, a parameter) depends on a few words in
memory, and while these are as they were when it held, it holds. So instead of evaluating a hundred
conditions, machine code compares the words (see `sentry`). Conditions on a tensor among the
arguments become conditions on its fields. What isn't understood stays Python.
"""

from __future__ import annotations

import ast
import inspect
from collections import OrderedDict, defaultdict
from types import CellType, FunctionType
from typing import Any, Final

from ..._base.fork_locks import lock as make_lock
from ..._core.storage import CLASSES, TensorBase
from ..._native.cpython import object_layout as layout
from ..._native.cpython.type_flags import is_immutable, keeps_attributes_before
from ..lowering.optimizer_sweeps import betas_usable
from .conditions import Argument, Looked, Uncovered
from .guards import content
from .memory_overlap import apart
from .name_lookups import Lookups, Versions, space_of

#: Fields of tensors whose places are known.
FIELDS: Final = ("_raw", "_node", "hooks", "_plain", "_requires_grad", "_grad", "_view")
_FUNCTION: Final = ("__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__",
                    "__doc__")  # fmt: skip
_ORDINARY: Final[Any] = inspect.getattr_static(object, "__getattribute__")
_DICTS: Final = (dict, defaultdict, OrderedDict)


#: Python 3.11 counts the depth of what it parses for all threads together.
_PARSING = make_lock()


class Cover:
    """The guards of a program, sorted: see the top."""

    def __init__(self, text: list[str], names: dict[str, Any], loose: list[Any]) -> None:
        """`loose` are dictionaries of numbers that are read at each call."""
        self.names = names
        self.loose = {id(x) for x in loose}
        self.looked: dict[int, Looked] = {}
        self.arguments: dict[str, Argument] = {}
        self.tops: list[type] = []  # classes that are looked at with all their bases
        self.arrays: dict[str, str] = {}  # the local names of arguments' arrays
        self.fixed: dict[str, Any] = {}  # local names of what a fixed object holds
        self.moved: list[str] = []  # conditions of which one says that a tensor's array is another
        self.mode: Any = None
        self.apart = False
        self.trusted = (betas_usable,)  # functions of such an entry alone
        self.structure: list[str] = []  # statements about args and kwargs
        self.bindings: list[str] = []  # names of arrays
        self.numbers: list[str] = []  # conditions on loose dictionaries
        self.kept: list[str] = []  # what stays Python
        with _PARSING:
            body = ast.parse("\n".join(["def f():", *("    " + x for x in text)])).body[0]
        assert isinstance(body, ast.FunctionDef)
        for statement in body.body:
            self._statement(statement)

    def covered(self) -> bool:
        """Whether nothing but the structure of arguments is left to Python."""
        return not self.kept and all(a.complete() for a in self.arguments.values())

    # ---- statements ----------------------------------------------------------------------------
    def _statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.Assign) and self._assigned(s):
            return
        if isinstance(s, ast.If) and not s.orelse:
            if _leaves(s.body):
                if self._mode(s.test) or self._apart(s.test) or self._condition(s):
                    return
            elif self._replaced(s):
                return
        self.kept.append(ast.unparse(s))

    def _assigned(self, s: ast.Assign) -> bool:
        target, value = s.targets[0], s.value
        if not isinstance(target, ast.Name):
            return False
        text = ast.unparse(s)
        if text in ("moved = False", "m = current()"):
            return True
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            base = value.value.id
            if value.attr == "_raw" and base in self.arguments:
                self.arrays[target.id] = base
                self.bindings.append(text)
                return True
            thing = self.names.get(base)
            if value.attr == "_raw" and isinstance(thing, TensorBase):
                self._look(thing).fields.add("_raw")
                self.fixed[target.id] = thing
                self.bindings.append(text)
                return True
        if target.id[:1] == "t" and target.id[1:].isdigit() and self._of_arguments(value):
            self.arguments[target.id] = Argument(target.id)
            self.structure.append(text)
            return True
        return False

    def _mode(self, test: ast.expr) -> bool:
        if (
            isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
            and isinstance(test.values[0], ast.Compare)
            and isinstance(test.values[0].ops[0], ast.IsNot)
            and ast.unparse(test.values[0].left) == "m"
        ):  # fmt: skip
            self.mode = self.names[ast.unparse(test.values[0].comparators[0])]
            return True
        return False

    def _apart(self, test: ast.expr) -> bool:
        """The check that arguments lie apart from what the program writes, in its usual form."""
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
            return False
        first, last = test.values[0], test.values[-1]
        if not (isinstance(last, ast.UnaryOp) and isinstance(last.operand, ast.Call)):
            return False
        if self.names.get(ast.unparse(last.operand.func)) is not apart:
            return False
        parts = first.values if isinstance(first, ast.BoolOp) else [first]
        if ast.unparse(parts[0]) != "moved":
            return False
        inside = last.operand.args[1]
        known = self.arrays.keys() | self.fixed.keys()
        if not isinstance(inside, ast.Tuple) or any(
            ast.unparse(x) not in known for x in inside.elts
        ):
            return False
        self.apart = True
        return True

    def _replaced(self, s: ast.If) -> bool:
        """`if array is not the one that it was: ... moved = True`."""
        if not isinstance(s.test, ast.Compare) or not isinstance(s.test.left, ast.Name):
            return False
        if s.test.left.id not in self.fixed:
            return False
        *others, last = s.body
        if ast.unparse(last) != "moved = True" or not all(
            isinstance(x, ast.If) and not x.orelse and _leaves(x.body)
            and _names(x.test) <= {s.test.left.id, *self.names}
            for x in others
        ):  # fmt: skip
            return False
        self.moved.append(ast.unparse(s.test))
        return True

    def _condition(self, s: ast.If) -> bool:
        try:
            found = _Reader(self).read(s.test)
        except Uncovered:
            found = None
        if found is not None:
            if any(id(x.thing) in self.loose and not _named(x) for x in found):
                self.numbers.append(ast.unparse(s))
                return True
            for x in found:
                self._look(x.thing).join(x)
            return True
        if self._argument(s.test):
            return True
        if self._of_arguments(s.test):
            self.structure.append(ast.unparse(s))
            return True
        return False

    def _of_arguments(self, x: ast.expr) -> bool:
        """Whether an expression is about the arguments' structure alone: it may run at first."""
        allowed = {"args", "kwargs", "len", "map", "id", *self.names}
        for node in ast.walk(x):
            if isinstance(node, ast.NamedExpr) or (
                isinstance(node, ast.Attribute) and node.attr != "__class__"
            ):
                return False
        return _names(x) <= allowed | {n for n in self.arguments if _only_identity(x, n)}

    def _look(self, thing: Any) -> Looked:
        return self.looked.setdefault(id(thing), Looked(thing))

    # ---- arguments -----------------------------------------------------------------------------
    def _argument(self, test: ast.expr) -> bool:
        """Takes `not (a and b and ...)` apart, where each part is about an argument's tensor."""
        if not isinstance(test, ast.UnaryOp) or not isinstance(test.op, ast.Not):
            return False
        inner = test.operand
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.operand, ast.Call):
            return self._bare(test, inner.operand)
        joined = isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.And)
        parts = inner.values if joined else [inner]  # type: ignore[attr-defined]
        found = []
        for part in parts:
            one = self._field(part) or self._shape(part) or self._writable(part)
            if one is None:
                return False
            found.append(one)
        for put in found:
            put()
        return True

    def _bare(self, test: ast.expr, call: ast.Call) -> bool:
        """`not getattr(t0, '__dict__', None)`: a tensor without attributes of its own."""
        if ast.unparse(call.func) != "getattr" or ast.unparse(call.args[1]) != "'__dict__'":
            return False
        argument = self.arguments.get(ast.unparse(call.args[0]))
        if argument is None:
            return False
        if layout.untouched(CLASSES.tensor) is True and keeps_attributes_before(argument.kind):
            argument.bare = True
        else:  # this may be asked before everything else
            self.structure.append(f"if {ast.unparse(test)}: return None")
        return True

    def _field(self, part: ast.expr) -> Any:
        positive = isinstance(part, ast.Attribute)
        left = part.left if isinstance(part, ast.Compare) else part
        if not isinstance(left, ast.Attribute) or not isinstance(left.value, ast.Name):
            return None
        argument = self.arguments.get(left.value.id)
        if argument is None:
            return None
        name = left.attr
        if positive:
            return (lambda: argument.fields.__setitem__(name, True)) if name == "_plain" else None
        assert isinstance(part, ast.Compare)
        if len(part.ops) != 1 or not isinstance(part.ops[0], ast.Is):
            return None
        right = part.comparators[0]
        if name == "__class__" and isinstance(right, ast.Name) and right.id in self.names:
            return lambda: setattr(argument, "kind", self.names[right.id])
        if name in FIELDS and isinstance(right, ast.Constant):
            return lambda: argument.fields.__setitem__(name, right.value)
        return None

    def _writable(self, part: ast.expr) -> Any:
        """`array.flags.writeable` of an argument's array."""
        array = flagged(part)
        owner = self.arrays.get(array.id) if isinstance(array, ast.Name) else None
        if owner is None:
            return None
        return lambda: setattr(self.arguments[owner], "written", True)

    def _shape(self, part: ast.expr) -> Any:
        text = ast.unparse(part)
        for array, owner in self.arrays.items():
            g = self.arguments[owner].geometry
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq):
                for name in ("shape", "strides"):
                    if ast.unparse(part.left) == f"{array}.{name}":
                        value = _numbers(part.comparators[0])
                        return lambda name=name, value=value: setattr(g, name, value)
            for name, thing in self.names.items():
                if text == f"{array}.dtype is {name} or {array}.dtype == {name}":
                    return lambda thing=thing: setattr(g, "dtype", thing)
        return None


def _numbers(x: ast.expr) -> Any:
    """A tuple of whole numbers, as it is written; `ast.literal_eval` leaves a cycle behind."""
    if isinstance(x, ast.Tuple):
        return tuple(_numbers(y) for y in x.elts)
    if isinstance(x, ast.UnaryOp):
        return -_numbers(x.operand)
    assert isinstance(x, ast.Constant)
    return x.value


class _Reader:
    """Reads a condition for the fixed objects that it looks at."""

    def __init__(self, cover: Cover) -> None:
        self.cover = cover
        self.found: dict[int, Looked] = {}
        self.numbers: set[str] = set()  # local names of numbers and texts

    def read(self, x: ast.expr) -> list[Looked]:
        """What the condition looks at.

        Raises:
            Uncovered: where that isn't understood.
        """
        self._truth(x)
        return list(self.found.values())

    def _look(self, thing: Any) -> Looked:
        return self.found.setdefault(id(thing), Looked(thing))

    def _fixed(self, x: ast.expr) -> Any:
        """The object that a name stands for in every call."""
        if isinstance(x, ast.Name) and x.id in self.cover.names:
            return self.cover.names[x.id]
        raise Uncovered

    def _truth(self, x: ast.expr) -> None:
        if isinstance(x, ast.Call) and not x.args and isinstance(x.func, ast.Name):
            found = self.cover.names.get(x.func.id)
            if type(found) is Versions:
                self._lookups(found.lookups)
                return
        if isinstance(x, ast.BoolOp):
            for value in x.values:
                self._truth(value)
        elif isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.Not):
            self._truth(x.operand)
        elif isinstance(x, ast.Name) and x.id not in self.numbers:
            thing = self._fixed(x)
            if type(thing) not in (*_DICTS, list):
                raise Uncovered
            self._look(thing).size = True
        else:
            self._value(x)

    def _lookups(self, asked: Lookups) -> None:
        self.cover.tops += asked.tops()
        for key, answers in asked.answers.items():
            if key in asked.kinds:
                continue
            one = self._look(asked.spaces[key])
            one.keys |= {id(name): name for name in (*answers, *asked.absent[key])}
            one.whole |= key in asked.keys

    def _value(self, x: ast.expr) -> None:
        if isinstance(x, ast.Constant):
            return
        if isinstance(x, ast.Compare):
            self._compare(x)
        elif isinstance(x, ast.BoolOp) or (
            isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.Not)
        ):
            self._truth(x)
        elif isinstance(x, ast.UnaryOp):  # `-n`
            self._value(x.operand)
        elif isinstance(x, ast.NamedExpr):
            # The guards' own form for numbers and texts: what is compared can't change.
            self._value(x.value)
            self.numbers.add(x.target.id)
        elif isinstance(x, ast.Name):
            if x.id not in self.numbers and x.id not in ("float", "int", "bool", "tuple"):
                self._fixed(x)
        elif isinstance(x, ast.Attribute):
            self._attribute(x)
        elif isinstance(x, ast.Subscript):
            self._entry(self._fixed(x.value), x.slice)
        elif isinstance(x, ast.Call):
            self._call(x)
        else:
            raise Uncovered

    def _compare(self, x: ast.Compare) -> None:
        if len(x.ops) != 1:
            raise Uncovered
        left, right, op = x.left, x.comparators[0], x.ops[0]
        none = isinstance(right, ast.Constant) and right.value is None
        if none and isinstance(op, (ast.Is, ast.IsNot)) and isinstance(left, ast.Attribute):
            thing = self._fixed(left.value)
            if isinstance(thing, TensorBase) and left.attr in FIELDS:
                self._look(thing).noneness.add(left.attr)
                return
        if isinstance(op, (ast.In, ast.NotIn)):
            thing = self._fixed(right)
            if type(thing) not in _DICTS:
                raise Uncovered
            self._entry(thing, left)
            return
        if isinstance(left, ast.List) and len(left.elts) == 1 and isinstance(op, ast.Eq):
            self._keys(left.elts[0], right)
            return
        self._value(left)
        if not isinstance(right, ast.Constant) and not isinstance(right, ast.Name):
            raise Uncovered
        self._value(right)
        if isinstance(op, (ast.Eq, ast.NotEq)) and not self._numbers_only(left, right):
            raise Uncovered  # objects that may be equal now and not later

    def _numbers_only(self, left: ast.expr, right: ast.expr) -> bool:
        if isinstance(left, ast.Name) and left.id in self.numbers:
            return True
        if isinstance(left, ast.Call) and ast.unparse(left.func) in ("len", "repr"):
            return True
        # `options['momentum'] != 0`: a number there is one as long as it is the same object
        return (
            isinstance(left, ast.Subscript) and isinstance(right, ast.Constant)
            and id(self._fixed(left.value)) in self.cover.loose
        )  # fmt: skip

    def _keys(self, x: ast.expr, right: ast.expr) -> None:
        """`[*table] == keys`, and `[*map(id, table)] == keys`."""
        if not isinstance(x, ast.Starred):
            raise Uncovered
        inner = x.value
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "map":
            if ast.unparse(inner.args[0]) != "id":
                raise Uncovered
            inner = inner.args[1]
        thing = self._fixed(inner)
        self._fixed(right)
        if type(thing) not in (dict, defaultdict):
            raise Uncovered
        self._look(thing).whole = True

    def _attribute(self, x: ast.Attribute) -> None:
        array = flagged(x)
        if array is not None:
            thing = self._owner(array)
            self._look(thing).fields |= {"_raw", "writeable"}
            return
        if isinstance(x.value, ast.Name) and x.value.id in self.numbers:
            if x.attr != "__class__":
                raise Uncovered
            return
        if isinstance(x.value, ast.Subscript) and x.attr == "__class__":
            self._value(x.value)
            return
        thing = self._fixed(x.value)
        name = x.attr
        if name == "__class__":
            if type(thing) is not thing.__class__:
                raise Uncovered
        elif name == "__dict__":
            if layout.dict_offset(thing) is None:
                raise Uncovered
        elif isinstance(thing, TensorBase):
            if name not in FIELDS:
                raise Uncovered
        elif type(thing) is FunctionType:
            if name not in _FUNCTION:
                raise Uncovered
        elif type(thing) is CellType:
            if name != "cell_contents":
                raise Uncovered
        elif isinstance(thing, type) and name == "__mro__":
            pass
        elif isinstance(thing, type):
            if hasattr(type(inspect.getattr_static(type(thing), name, None)), "__set__"):
                raise Uncovered
            self._in_class(thing, name)
            return
        else:
            self._own(thing, name)
            return
        self._look(thing).fields.add(name)

    def _owner(self, array: ast.expr) -> Any:
        """The tensor, the same in each call, of which an expression gives the array."""
        if isinstance(array, ast.Name) and array.id in self.cover.fixed:
            return self.cover.fixed[array.id]
        if isinstance(array, ast.Attribute) and array.attr == "_raw":
            thing = self._fixed(array.value)
            if isinstance(thing, TensorBase):
                return thing
        raise Uncovered

    def _in_class(self, kind: type, name: str) -> None:
        """What decides which attribute of a class, or of its bases, has a name."""
        self._look(kind).fields.add("__mro__")
        for base in kind.__mro__:
            if is_immutable(base):
                continue
            space = space_of(base)
            if space is None:
                raise Uncovered
            key = next((k for k in space if k == name), name)
            self._look(space).keys[id(key)] = key
            if name in space:
                return

    def _own(self, thing: Any, name: str) -> None:
        """An attribute that lies in the object's own dictionary."""
        kind = type(thing)
        shown = inspect.getattr_static(kind, name, None)
        if inspect.getattr_static(kind, "__getattribute__") is not _ORDINARY:
            raise Uncovered
        if inspect.ismemberdescriptor(shown):
            try:
                layout.slot_offset(thing, name)
            except (layout.Unknown, AttributeError):
                raise Uncovered from None
            self._look(thing).fields |= {"__class__", name}
            self._in_class(kind, name)
            return
        if hasattr(type(shown), "__set__"):
            raise Uncovered
        own = getattr(thing, "__dict__", None)
        if type(own) is not dict or name not in own:
            raise Uncovered
        self._look(thing).fields.add("__class__")
        self._in_class(kind, name)
        key = next(k for k in own if k == name)
        self._look(own).keys[id(key)] = key

    def _entry(self, thing: Any, key: ast.expr) -> None:
        if type(thing) is list:
            self._look(thing).whole = True
            return
        if type(thing) not in _DICTS:
            raise Uncovered
        if isinstance(key, ast.Constant):
            found = key.value
            same = (k for k in thing if type(k) is type(found) and k == found)
            found = next(same, found)
        else:
            found = self._fixed(key)
        if type(found) not in (str, int, bool) and type(found).__hash__ not in (
            object.__hash__, CLASSES.tensor.__hash__
        ):  # fmt: skip
            raise Uncovered  # looking it up may run code of the user's
        self._look(thing).keys[id(found)] = found

    def _call(self, x: ast.Call) -> None:
        if x.keywords:
            raise Uncovered
        if isinstance(x.func, ast.Name) and x.func.id == "len" and len(x.args) == 1:
            thing = self._fixed(x.args[0])
            if type(thing) not in (*_DICTS, list):
                raise Uncovered
            self._look(thing).size = True
            return
        if isinstance(x.func, ast.Name) and x.func.id == "getattr" and len(x.args) == 3:
            name = x.args[1]
            if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
                raise Uncovered
            self._attribute(ast.Attribute(x.args[0], name.value, ast.Load()))
            return
        if isinstance(x.func, ast.Name) and self.cover.names.get(x.func.id) is content:
            self._look(self._fixed(x.args[0])).fields.add("cell_contents")
            return
        if isinstance(x.func, ast.Name) and x.func.id == "repr":
            self._value(x.args[0])
            if ast.unparse(x.args[0]) not in self.numbers:
                raise Uncovered
            return
        if isinstance(x.func, ast.Name) and self.cover.names.get(x.func.id) in self.cover.trusted:
            self._value(x.args[0])
            return
        if not isinstance(x.func, ast.Attribute) or x.func.attr != "get" or len(x.args) != 1:
            raise Uncovered
        owner = x.func.value
        if isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
            kind = self._fixed(owner.value)
            if not isinstance(kind, type):
                raise Uncovered
            thing = space_of(kind)
            if thing is None:
                raise Uncovered
        else:
            thing = self._fixed(owner)
        self._entry(thing, x.args[0])


def flagged(x: ast.expr) -> Any:
    """The array of which `x` asks whether it may be written; None where it asks something else."""
    if not isinstance(x, ast.Attribute) or x.attr != "writeable":
        return None
    inner = x.value
    return inner.value if isinstance(inner, ast.Attribute) and inner.attr == "flags" else None


def _leaves(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and ast.unparse(body[0]) == "return None"


def _names(x: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(x) if isinstance(node, ast.Name)}


def _only_identity(x: ast.expr, name: str) -> bool:
    """Whether an argument's name only stands beside `is`."""
    return not any(
        isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)) and name in _names(node)
        for node in ast.walk(x)
    )


def _named(x: Looked) -> bool:
    """Whether a look at a loose dictionary is about its entry of parameters alone."""
    return set(x.keys.values()) <= {"params"} and not x.whole
