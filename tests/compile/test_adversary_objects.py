"""What a step's code sees of objects, classes, globals and closures changes between calls."""

import contextvars
import copy
import dataclasses
import enum
import functools
import itertools
import threading
import types
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from tests.compile.twins import Scenario, Twin, check

SCENARIOS: list[Scenario] = []
ONE = torch.ones(1)


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_changes_between_calls_is_seen(scenario: Scenario, native: bool) -> None:
    check(scenario, native)


@scenario
def attributes_of_a_namespace(twin: Twin) -> None:
    s = types.SimpleNamespace(k=2.0, inner=types.SimpleNamespace(flag=True))
    step = twin(lambda x: x * s.k if s.inner.flag else x)
    step.warm(ONE)
    s.k = 3.0
    step(ONE, times=2)
    s.inner.flag = False
    step(ONE, times=2)


@scenario
def the_sign_of_zero(twin: Twin) -> None:
    s = types.SimpleNamespace(k=0.0)
    step = twin(lambda x, k: torch.stack([torch.atan2(x * s.k, -x), torch.atan2(x * k, -x)]))
    step.warm(ONE, 0.0)
    step(ONE, -0.0, times=3)
    s.k = -0.0
    step(ONE, 0.0, times=3)
    step(ONE, -0.0, times=3)


@scenario
def an_instance_attribute_hides_one_of_the_class(twin: Twin) -> None:
    class Settings:
        scale = 2.0

    class Model(nn.Module):
        k = 3.0

        def forward(self, x: Any) -> Any:
            return self.inner(x) * self.k

        def inner(self, x: Any) -> Any:
            return x * 2

    s, model = Settings(), Model()
    step = twin(lambda x: model(x) * s.scale)
    step.warm(ONE)
    s.scale = 5.0
    step.warm(ONE)
    model.k = 7.0
    step.warm(ONE)
    model.inner = lambda x: x * 10  # type: ignore[method-assign]
    step.warm(ONE)
    model.forward = lambda x: x  # type: ignore[method-assign]
    step(ONE, times=4)


@scenario
def a_subclass_gets_an_attribute_of_its_own(twin: Twin) -> None:
    class Base:
        k = 2.0

    class Derived(Base):
        pass

    thing = Derived()
    step = twin(lambda x: x * thing.k * Derived.k)
    step.warm(ONE)
    Base.k = 3.0
    step.warm(ONE)
    Derived.k = 5.0
    step.warm(ONE)
    del Derived.k
    step(ONE, times=3)


@scenario
def an_attribute_is_deleted(twin: Twin) -> None:
    class Settings:
        k = 9.0

    s = Settings()
    s.k = 2.0
    step = twin(lambda x: x * s.k)
    step.warm(ONE)
    del s.k
    step(ONE, times=3)


@scenario
def a_class_is_replaced(twin: Twin) -> None:
    class Double:
        def of(self, x: Any) -> Any:
            return x * 2

    class Triple:
        def of(self, x: Any) -> Any:
            return x * 3

    thing: Any = Double()
    layer = nn.ReLU()
    step = twin(lambda x: thing.of(layer(x)))
    step.warm(-ONE)
    thing.__class__ = Triple
    step.warm(-ONE)
    layer.__class__ = nn.Tanh  # type: ignore[assignment]
    step(-ONE, times=3)


@scenario
def attributes_are_found_by_getattr(twin: Twin) -> None:
    class Table:
        def __init__(self) -> None:
            self.table = {"gain": 2.0}

        def __getattr__(self, name: str) -> Any:
            return self.__dict__["table"][name]

    t = Table()
    step = twin(lambda x: x * t.gain)
    step.warm(ONE)
    t.table["gain"] = 4.0
    step(ONE, times=3)
    t.gain = 9.0
    step(ONE, times=3)


@scenario
def a_property_is_replaced(twin: Twin) -> None:
    class Settings:
        @property
        def k(self) -> float:
            return 2.0

    s = Settings()
    step = twin(lambda x: x * s.k)
    step.warm(ONE)
    Settings.k = property(lambda self: 7.0)  # type: ignore[method-assign, assignment]
    step(ONE, times=3)


@scenario
def slots(twin: Twin) -> None:
    class Slotted:
        __slots__ = "k"

        def __init__(self) -> None:
            self.k = 2.0

    s = Slotted()
    step = twin(lambda x: x * s.k)
    step.warm(ONE)
    s.k = 3.0
    step(ONE, times=3)


@scenario
def a_dataclass_is_read_by_the_library(twin: Twin) -> None:
    @dataclasses.dataclass
    class Config:
        a: float = 2.0
        b: float = 3.0

    config = Config()
    step = twin(lambda x: x * dataclasses.astuple(config)[0])
    step(ONE, times=4)
    config.a = 4.0
    step(ONE, times=4)


@scenario
def an_object_is_copied(twin: Twin) -> None:
    class Settings:
        def __init__(self) -> None:
            self.k = 2.0

    s = Settings()
    step = twin(lambda x: x * sum(copy.copy(s).__dict__.values()))
    step(ONE, times=4)
    s.k = 3.0
    step(ONE, times=4)


@scenario
def patterns_match_by_names(twin: Twin) -> None:
    class Point:
        __match_args__ = ("u",)

        def __init__(self) -> None:
            self.u, self.v = 1, 2

    p = Point()

    def step(x: Any) -> Any:
        match p:
            case Point(1):
                return x * 10
            case Point(v=3):
                return x * 20
            case _:
                return x * 30

    calls = twin(step)
    calls.warm(ONE)
    p.u = 2
    calls.warm(ONE)
    p.v = 3
    calls(ONE, times=4)


@scenario
def members_of_an_enumeration(twin: Twin) -> None:
    class Mode(enum.Enum):
        A = 1
        B = 2

    s = types.SimpleNamespace(mode=Mode.A)
    step = twin(lambda x: x * (3 if s.mode is Mode.A else 4) * s.mode.value)
    step.warm(ONE)
    s.mode = Mode.B
    step(ONE, times=3)


@scenario
def the_order_of_a_dict(twin: Twin) -> None:
    d = {"a": 1.0, "b": 2.0, "c": 4.0}

    def step(x: Any) -> Any:
        for value in d.values():
            x = x * value + 1
        return x

    calls = twin(step)
    calls.warm(ONE)
    d["a"] = d.pop("a")
    calls(ONE, times=3)


@scenario
def the_order_of_layers(twin: Twin) -> None:
    model = nn.Sequential(nn.Linear(1, 1), nn.Tanh()).requires_grad_(False)
    step = twin(lambda x: model(x))
    step.warm(ONE)
    model._modules["0"] = model._modules.pop("0")
    step(ONE, times=3)


@scenario
def attributes_of_tensors(twin: Twin) -> None:
    w: Any = torch.ones(2)
    parameters: Any = [nn.Parameter(torch.ones(2)) for _ in range(2)]
    w.decay = 2.0
    for p in parameters:
        p.skip = False

    def step(x: Any) -> Any:
        return x * w * w.decay + sum(p.detach() for p in parameters if not p.skip)

    calls = twin(step)
    calls.warm(ONE)
    w.decay = 3.0
    calls.warm(ONE)
    parameters[0].skip = True
    calls(ONE, times=3)


@scenario
def what_is_only_asked_of_a_tensor(twin: Twin) -> None:
    t, u = torch.ones(3), torch.ones(2)
    step = twin(lambda x: x * t.shape[0] * (2 if u.requires_grad else 1))
    step.warm(ONE)
    t.data = torch.ones(5)
    step.warm(ONE)
    u.requires_grad_(True)
    step(ONE, times=3)


@scenario
def functions_and_their_parts(twin: Twin) -> None:
    functions = [lambda x: x * 2]

    def base(x: Any, k: float) -> Any:
        return functions[0](x) * k

    def other(x: Any, k: float) -> Any:
        return functions[0](x) + k

    part = functools.partial(base, k=3.0)
    step = twin(part)
    step.warm(ONE)
    functions[0] = lambda x: x * 5
    step.warm(ONE)
    part.keywords["k"] = 11.0
    step.warm(ONE)
    base.__code__ = other.__code__
    step(ONE, times=3)


@scenario
def globals_come_and_go(twin: Twin) -> None:
    space: dict[str, Any] = {"K": 3.0}
    exec(compile("def step(x): return x * K * len([1, 2])", "a_users_module.py", "exec"), space)
    step = twin(space["step"])
    step.warm(ONE)
    space["len"] = lambda x: 50
    step.warm(ONE)
    del space["K"]
    step(ONE, times=3)


@scenario
def closures_through_decorators(twin: Twin) -> None:
    k = [2.0]

    @torch.no_grad()
    def inner(x: Any) -> Any:
        return x * k[0]

    step = twin(lambda x: inner(x))
    step.warm(ONE)
    k[0] = 3.0
    step(ONE, times=3)


@scenario
def iterators_move_on(twin: Twin) -> None:
    captured = itertools.cycle([1.0, 1.0, 1.0, 1.0, 2.0])
    given = itertools.cycle([1.0, 1.0, 1.0, 3.0])
    step = twin(lambda x, it: x * next(captured) * next(it))
    step(ONE, given, times=20)


@scenario
def context_variables_and_thread_locals(twin: Twin) -> None:
    variable = contextvars.ContextVar("variable", default=1.0)
    local = threading.local()
    local.k = 2.0
    first, second = twin(lambda x: x * variable.get()), twin(lambda x: x * local.k)
    first(ONE, times=4)
    second(ONE, times=4)
    variable.set(5.0)
    local.k = 7.0
    first(ONE, times=4)
    second(ONE, times=4)


@scenario
def the_environment(twin: Twin) -> None:
    import os

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_TEST_NUMBER", "2")
        step = twin(lambda x: x * float(os.environ["RUSHLIGHT_TEST_NUMBER"]))
        step(ONE, times=4)
        patch.setenv("RUSHLIGHT_TEST_NUMBER", "5")
        step(ONE, times=4)


@scenario
def the_kind_of_a_number(twin: Twin) -> None:
    step = twin(lambda x, k: x * (2 if type(k) is float else 3) * k)
    step.warm(ONE, 2.0)
    for k in (0.5, 2, True, 0.25, 3.0, 4):
        step(ONE, k, times=2)
