"""Arguments of odd kinds: overlapping memory, containers that are changed, NumPy arrays."""

import copy
import types
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from tests.compile.twins import Scenario, Twin, check

SCENARIOS: list[Scenario] = []


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_odd_arguments_give_what_eager_gives(scenario: Scenario, native: bool) -> None:
    check(scenario, native)


def added_between(a: Any, b: Any) -> Any:
    """Reads `b` before and after `a` is written."""
    before = b * 2
    a.add_(1)
    return before + b * 2


@scenario
def arguments_overlap(twin: Twin) -> None:
    step = twin(added_between)
    step.warm(torch.arange(40.0), torch.arange(40.0))
    for first, second in [((0, 40), (20, 60)), ((20, 60), (0, 40)), ((1, 41), (0, 40)),
                          ((0, 40), (1, 41)), ((0, 40), (0, 40)), ((0, 20), (20, 40))]:  # fmt: skip
        whole = torch.arange(60.0)
        step(whole[slice(*first)], whole[slice(*second)])
        twin.note(whole)


@scenario
def arguments_that_overlapped_lie_apart(twin: Twin) -> None:
    step = twin(added_between)
    for _ in range(4):
        whole = torch.arange(60.0)
        step(whole[:40], whole[20:])
    for _ in range(3):
        step(torch.arange(40.0), torch.ones(40))


@scenario
def batches_are_cut_out_of_one_tensor(twin: Twin) -> None:
    whole = torch.arange(120.0).view(30, 4)
    step = twin(lambda x, y: (x * y.view(-1).sum()).sum(1)[1:])
    for i in range(0, 20, 4):
        step(whole[i : i + 4], whole[i + 5 : i + 9])
    if twin.compiled:
        assert len(step.step.variants) == 1, step.step.explain()


@scenario
def an_argument_is_a_captured_tensor(twin: Twin) -> None:
    p = torch.arange(40.0)
    step = twin(lambda a: added_between(a, p))
    step.warm(torch.arange(40.0))
    for argument in (p, p[:], p.view(40), p.detach(), p.view(8, 5).reshape(40)):
        step(argument)
        twin.note(p)


@scenario
def captured_tensors_are_moved_onto_each_other(twin: Twin) -> None:
    base = torch.arange(80.0)
    env = types.SimpleNamespace(a=base[:40], b=torch.arange(40.0))
    step = twin(lambda: added_between(env.b, env.a))
    step.warm()
    env.b = base[20:60]
    step(times=3)
    env.b.data = base[10:50]
    step(times=3)
    twin.note(base)


@scenario
def the_data_of_captured_tensors_overlap(twin: Twin) -> None:
    a, b, base = torch.arange(40.0), torch.arange(40.0), torch.arange(80.0)
    step = twin(lambda: added_between(b, a))
    step.warm()
    a.data, b.data = base[:40], base[1:41]
    step(times=3)
    a.data, b.data = torch.ones(40), torch.ones(40)
    step(times=3)
    twin.note(base)


@scenario
def unread_arguments_are_asked_for_their_shape(twin: Twin) -> None:
    step = twin(lambda x, t: x.to(t.dtype) * t.shape[0] * t.stride()[0] + t.requires_grad)
    for t in (torch.ones(3, 4), torch.ones(5, 4), torch.ones(4, 3).t(), torch.ones(3, 4).double(),
              torch.ones(3, 4, requires_grad=True)):  # fmt: skip
        step.warm(torch.ones(2), t)
    step(torch.ones(2), torch.ones(3, 4))


@scenario
def dicts_come_in_another_order(twin: Twin) -> None:
    def folded(d: Any) -> Any:
        x = torch.zeros(1)
        for value in d.values():
            x = x * 2 + value
        return x

    a, b = torch.ones(1), torch.full((1,), 5.0)
    one, two = twin(folded), twin(lambda **d: folded(d))
    one.warm({"a": a, "b": b})
    two.warm(a=a, b=b)
    one({"b": b, "a": a}, times=3)
    two(b=b, a=a, times=3)


@scenario
def containers_are_filled(twin: Twin) -> None:
    def fill(x: Any, found: Any, table: Any) -> Any:
        found.append(x * 2)
        table["y"] = x * 3
        table["x"] = table["x"] + 1
        return x

    step = twin(fill)
    for _ in range(6):
        found: list[Any] = []
        table = {"x": torch.ones(1)}
        step(torch.ones(1), found, table)
        twin.note((found, table))


@scenario
def containers_are_given_back(twin: Twin) -> None:
    captured = [1, 2]

    def step(given: Any) -> Any:
        return given, captured, given[0] * 2

    calls = twin(step)
    for _ in range(6):
        given = [torch.ones(1)]
        one, two, _ = calls(given)
        twin.note((one is given, two is captured, one[0] is given[0]))


@scenario
def one_tensor_is_returned_twice(twin: Twin) -> None:
    def step(x: Any) -> Any:
        y = x * 2
        return y, {"again": y}, x, y[1:], x[1:]

    calls = twin(step)
    for _ in range(6):
        x = torch.ones(2)
        y, d, same, part, own = calls(x)
        part.add_(5)
        own.add_(7)
        twin.note((y is d["again"], same is x, y, x, part, own))


@scenario
def results_of_different_calls_are_different_memory(twin: Twin) -> None:
    step = twin(lambda x: (x * 2, torch.zeros(2), torch.ones(2).cumsum(0), (x + 1)[None]))
    kept = []
    for k in range(6):
        kept.append(step(torch.full((2,), float(k))))
        for t in kept[-1]:
            t.add_(1)
    twin.note(kept)


@scenario
def an_argument_is_changed_beside_its_elements(twin: Twin) -> None:
    def replaced(x: Any) -> Any:
        x.data = x.data * 2
        return x + 1

    def marked(x: Any) -> Any:
        x.tag = 5
        return x * 1

    def tracked(x: Any) -> Any:
        x.requires_grad_(True)
        (x * x).sum().backward()
        return x.grad

    def turned(x: Any) -> Any:
        x.t_()
        x.unsqueeze_(0)
        return x + 1

    for step in (replaced, marked, tracked, turned):
        calls = twin(step)
        for _ in range(5):
            x: Any = torch.arange(6.0).view(2, 3)
            calls(x)
            twin.note((x, x.grad, getattr(x, "tag", None)))


@scenario
def arrays_of_numpy(twin: Twin) -> None:
    given = np.ones(2, np.float32)
    captured = np.ones(2, np.float32)
    large = np.ones(5000, np.float32)
    steps = [
        twin(lambda x, a: x * torch.from_numpy(a)),
        twin(lambda x, a: x * torch.tensor(a) * torch.as_tensor(captured)),
        twin(lambda x, a: x * float(a[0]) * float(captured[1])),
        twin(lambda x, a: x * float(captured.sum() + np.mean(a) + large[0])),
    ]
    for value in (1.0, 5.0, 7.0):
        given[0] = captured[1] = large[0] = value
        for step in steps:
            step(torch.ones(2), given, times=4)
    for step in steps:
        step(torch.ones(2), np.full(2, 3, np.float32), times=2)


@scenario
def random_numbers_of_numpy(twin: Twin) -> None:
    np.random.seed(0)
    generator = np.random.default_rng(0)
    one = twin(lambda x: x * 2 if np.random.rand() < 0.15 else x)
    two = twin(lambda x: x * 2 if generator.random() < 0.15 else x)
    one(torch.ones(2), times=30)
    two(torch.ones(2), times=30)


def test_a_copied_step_belongs_to_the_copied_object() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = nn.Linear(2, 1)
            self.step = torch.compile(self._step)

        def _step(self, x: Any) -> Any:
            with torch.no_grad():
                self.model.weight.add_(1)
            return self.model(x).detach()

    trainer = Trainer()
    for _ in range(4):
        trainer.step(torch.ones(1, 2))
    other = copy.deepcopy(trainer)
    before = trainer.model.weight.detach().clone()
    for _ in range(5):
        other.step(torch.ones(1, 2))
    assert torch.equal(trainer.model.weight, before)
    assert torch.allclose(other.model.weight, before + 5)


def test_a_compiled_module_is_copied_with_its_module() -> None:
    model = torch.compile(nn.Linear(2, 1))
    x = torch.ones(1, 2)
    for _ in range(4):
        model(x)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.weight.fill_(5.0)
        other.bias.fill_(0.0)
    expected = model._orig_mod(x)
    for _ in range(4):
        assert other(x).item() == 10.0
        assert torch.equal(model(x), expected)


@pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])
@pytest.mark.parametrize("learns", [False, True], ids=["plain", "leaf"])
def test_a_tensor_of_the_steps_own_is_given_in_another_place(learns: bool, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        own, x = torch.randn(4, requires_grad=learns), torch.randn(4)

        def step(a: Any, b: Any) -> Any:
            return (a * 2 + own.sum() + b).detach()

        run = twin(step)
        for a, b in ((x, own), (own, x), (x, x), (own, own), (x, own)):
            run(a, b, times=4)

    check(scenario, native)
