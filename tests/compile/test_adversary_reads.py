"""Whatever a step asks of whatever object, it sees when the answer has become another one.

Each pair of an object and a question is warmed, changed in several ways, and called again; eager
and compiled must agree at each call, or the step stays eager.
"""

import argparse
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim

pytestmark = pytest.mark.slow

ONE = torch.ones(1)
NAME = "sc"


class Plain:
    pass


class Slots:
    __slots__ = ("scale", "other")


class Meta(type):
    pass


class Layer(nn.Module):
    def forward(self, x: Any) -> Any:
        return x


class Kind(torch.Tensor):
    pass


class Table(dict[str, Any]):
    pass


class Line(list[Any]):
    pass


class Number(float):
    pass


class Pair(collections.namedtuple("Pair", "a b")):
    pass


class Asked:
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@dataclasses.dataclass
class Record:
    size: float = 1.0


class Color(enum.Enum):
    RED = 1


def fresh_class() -> type:
    class Fresh:
        pass

    return Fresh


def derived_class() -> type:
    class Base:
        pass

    class Derived(Base):
        pass

    return Derived


def module_object() -> Any:
    return types.ModuleType("made_up")


def a_function() -> Any:
    def function() -> None:
        pass

    return function


def optimizer_of(kind: Any) -> Any:
    return kind([nn.Parameter(torch.ones(1))], lr=0.1)


OBJECTS: dict[str, Callable[[], Any]] = {
    "plain": lambda: fresh_class()(),
    "derived": lambda: derived_class()(),
    "class": fresh_class,
    "derived class": derived_class,
    "class of a metaclass": lambda: Meta("Made", (), {}),
    "slots": lambda: type("Slotted", (Slots,), {"__slots__": ()})(),
    "module object": module_object,
    "namespace": types.SimpleNamespace,
    "arguments": argparse.Namespace,
    "dataclass": lambda: dataclasses.make_dataclass("Made", [("size", float, 1.0)])(),
    "module": lambda: type("Mine", (Layer,), {})(),
    "layer": lambda: nn.Linear(1, 1),
    "sequential": lambda: nn.Sequential(nn.ReLU()),
    "list of layers": lambda: nn.ModuleList([nn.ReLU()]),
    "parameter": lambda: nn.Parameter(torch.ones(1)),
    "tensor": lambda: torch.ones(1),
    "tensor of a subclass": lambda: torch.ones(1).as_subclass(Kind),
    "optimizer": lambda: optimizer_of(optim.SGD),
    "optimizer of a subclass": lambda: optimizer_of(type("Mine", (optim.SGD,), {})),
    "scheduler": lambda: optim.lr_scheduler.StepLR(optimizer_of(optim.SGD), 10),
    "function": a_function,
    "partial": lambda: functools.partial(a_function()),
    "bound method": lambda: types.MethodType(a_function(), fresh_class()()),
    "dict": lambda: type("Mine", (Table,), {})(),
    "list": lambda: type("Mine", (Line,), {})(),
    "ordered": collections.OrderedDict,
    "number": lambda: type("Mine", (Number,), {})(2.0),
    "named tuple": lambda: type("Mine", (Pair,), {})(1.0, 2.0),
    "enum": lambda: enum.Enum("Made", "RED"),
    "member of an enum": lambda: enum.Enum("Made", "RED").RED,  # type: ignore[attr-defined]
    "error": lambda: type("Mine", (ValueError,), {})(),
    "asked by hand": lambda: type("Mine", (Asked,), {})(),
    "counter": collections.Counter,
    "chain": lambda: collections.ChainMap({}, {}),
    "generator": torch.Generator,
    "compiled": lambda: torch.compile(a_function()),
    "library": lambda: nn.functional,
}  # fmt: skip


def found_by_trial(o: Any) -> float:
    try:
        return float(o.scale)
    except AttributeError:
        return 1.0


def found_by_error(o: Any) -> float:
    with contextlib.suppress(AttributeError):
        return float(o.scale)
    return 1.0


def found_by_getter(o: Any) -> float:
    try:
        return float(operator.attrgetter("scale")(o))
    except AttributeError:
        return 1.0


def found_by_match(o: Any) -> float:
    match o:
        case object(scale=float() as s):
            return s
    return 1.0


def dictionary(o: Any) -> Any:
    return o.__dict__ if hasattr(o, "__dict__") else {}


def found_by_copy(o: Any) -> float:
    return float(getattr(copy.copy(o), "scale", 1.0)) if type(o).__module__ == __name__ else 1.0


QUESTIONS: dict[str, Callable[[Any], float]] = {
    "hasattr": lambda o: 2.0 if hasattr(o, "scale") else 1.0,
    "hasattr, made up": lambda o: 2.0 if hasattr(o, NAME + "ale") else 1.0,
    "getattr": lambda o: float(getattr(o, "scale", 1.0)),
    "getattr, made up": lambda o: float(getattr(o, NAME + "ale", 1.0)),
    "trial": found_by_trial,
    "suppressed": found_by_error,
    "getter": found_by_getter,
    "match": found_by_match,
    "in dict": lambda o: 2.0 if "scale" in dictionary(o) else 1.0,
    "get from dict": lambda o: float(dictionary(o).get("scale", 1.0)),
    "number of entries": lambda o: float(len(dictionary(o))),
    "vars": lambda o: sum(map(len, vars(o))) if hasattr(o, "__dict__") else 1.0,
    "dir": lambda o: 2.0 if "scale" in dir(o) else 1.0,
    "all names": lambda o: float(sum(map(len, dir(o)))),
    "static": lambda o: 2.0 if inspect.getattr_static(o, "scale", None) is not None else 1.0,
    "class": lambda o: float(getattr(type(o), "scale", 1.0)),
    "class vars": lambda o: 2.0 if "scale" in vars(type(o)) else 1.0,
    "copy": found_by_copy,
}


def on_object(o: Any) -> Any:
    o.scale = 10.0
    yield
    o.scale = 5.0
    yield
    del o.scale


def on_class(o: Any) -> Any:
    type(o).scale = 7.0
    yield
    del type(o).scale


def on_base(o: Any) -> Any:
    base = (o if isinstance(o, type) else type(o)).__mro__[1]
    base.scale = 7.0  # type: ignore[attr-defined]
    yield
    del base.scale  # type: ignore[attr-defined]


def by_dictionary(o: Any) -> Any:
    o.__dict__["scale"] = 3.0
    yield
    del o.__dict__["scale"]


def other_dictionary(o: Any) -> Any:
    own = o.__dict__
    o.__dict__ = {**own, "scale": 4.0}
    yield
    o.__dict__ = own


def by_property(o: Any) -> Any:
    type(o).scale = property(lambda self: 6.0)
    yield
    del type(o).scale


def by_fallback(o: Any) -> Any:
    def answer(self: Any, name: str) -> Any:
        if name == "scale":
            return 8.0
        raise AttributeError(name)

    kind = type(o)
    before = vars(kind).get("__getattr__")
    kind.__getattr__ = answer
    yield
    if before is None:
        del kind.__getattr__
    else:
        kind.__getattr__ = before


def other_class(o: Any) -> Any:
    before = type(o)
    o.__class__ = type("Other", (before,), {"scale": 9.0, "__slots__": ()})
    yield
    o.__class__ = before


def other_bases(o: Any) -> Any:
    kind = o if isinstance(o, type) else type(o)
    before = kind.__bases__
    kind.__bases__ = tuple(type("Between", (base,), {"scale": 2.5}) for base in before)
    yield
    kind.__bases__ = before


CHANGES: list[Callable[[Any], Any]] = [
    on_object, on_class, on_base, by_dictionary, other_dictionary, by_property, by_fallback,
    other_class, other_bases,
]  # fmt: skip


def changes_of(o: Any) -> Iterator[str]:
    """Changes an object in all ways that it allows, one after the other."""
    for change in CHANGES:
        running = change(o)
        while True:
            try:
                next(running)
            except StopIteration:
                yield f"after {change.__name__}"
                break
            except (AttributeError, TypeError, KeyError, ValueError, RuntimeError):
                break  # this kind of object doesn't allow it
            yield change.__name__


def by_closure(question: Any, o: Any) -> Any:
    return lambda x: x * question(o)


def by_argument(question: Any, o: Any) -> Any:
    return lambda x, o: x * question(o)


def by_attribute(question: Any, o: Any) -> Any:
    holder = types.SimpleNamespace(inner=[o])
    return lambda x: x * question(holder.inner[0])


def by_global(question: Any, o: Any) -> Any:
    space = {"question": question, "o": o}
    return eval("lambda x: x * question(o)", space)


def stale(
    make: Callable[[], Any], question: Callable[[Any], float], native: bool, way: Any
) -> tuple[list[str], int]:
    """The changes that a compiled step hasn't seen, and how many there were."""
    found: list[str] = []
    count = 0
    o = make()
    function: Any = way(question, o)
    extra = (o,) if way is by_argument else ()
    try:
        function(ONE, *extra)
    except (AttributeError, TypeError):
        return [], 0
    compiled: Any = torch.compile(function, options={"native": native})
    for _ in range(3):
        compiled(ONE, *extra)
    first = list(compiled.variants)
    for name in changes_of(o):
        count += 1
        expected, seen = answer(function, extra), answer(compiled, extra)
        if expected != seen:
            found.append(f"{name}: {expected}, compiled {seen}")
        if first:  # as if it had not been called since
            compiled.reset()
            compiled.variants[:] = first
    return found, count


def answer(function: Any, extra: Any) -> Any:
    try:
        return function(ONE, *extra).item()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_what_an_object_answers_is_watched(kind: str, native: bool) -> None:
    total = 0
    for name, question in QUESTIONS.items():
        found, count = stale(OBJECTS[kind], question, native, by_closure)
        total += count
        assert not found, (name, found)
    assert total


@pytest.mark.parametrize("way", [by_argument, by_attribute, by_global], ids=lambda w: w.__name__)
@pytest.mark.parametrize("kind", OBJECTS)
def test_it_is_watched_however_the_step_comes_by_it(kind: str, way: Any) -> None:
    for name in ("hasattr", "in dict"):
        found, _ = stale(OBJECTS[kind], QUESTIONS[name], False, way)
        assert not found, (name, found)
