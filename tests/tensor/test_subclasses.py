"""Subclasses of Tensor: the class of results, `__torch_function__`, copies and pickles."""

import copy
import operator
import pickle
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn


class Named(rl.Tensor):
    pass


class Logged(rl.Tensor):
    calls: list[str] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Logged.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_results_have_the_class_of_a_subclass() -> None:
    x = rl.ones(2).as_subclass(Named)
    for result in (x + 1, 1 - x, x.sum(), x[0], x.t(), rl.cat([x, rl.ones(1)]), x.detach()):
        assert type(result) is Named
    assert all(type(part) is Named for part in x.max(0))


def test_a_subclass_takes_part_in_the_graph() -> None:
    x = rl.ones(2, requires_grad=True)
    (x.as_subclass(Named) * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_torch_function_sees_functions_methods_and_writes() -> None:
    x = rl.ones(2).as_subclass(Logged)
    Logged.calls.clear()
    rl.exp(x)
    x.sum()
    rl.add(rl.ones(2), x)
    x.add_(1)
    assert Logged.calls == ["exp", "sum", "add", "add_"]
    assert x.tolist() == [2, 2]


def test_torch_function_may_answer_by_itself() -> None:
    class Answer(rl.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return "answer"

    assert rl.ones(1).as_subclass(Answer) + 1 == "answer"


def test_results_of_parameters_are_plain_tensors() -> None:
    class Own(nn.Parameter):
        pass

    assert type(nn.Parameter(rl.ones(1)) * 2) is rl.Tensor
    assert type(Own(rl.ones(1)) * 2) is rl.Tensor


def test_copies_and_pickles_keep_class_and_attributes() -> None:
    x = rl.ones(2).as_subclass(Named)
    x.note = "n"
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(twin) is Named
        assert type(twin + 1) is Named
        assert twin.note == "n"
    assert copy.copy(x).data_ptr() == x.data_ptr() != copy.deepcopy(x).data_ptr()


def test_a_class_may_disable_its_rules_by_an_attribute():
    class Plain(rl.Tensor):
        __torch_function__ = rl._C._disabled_torch_function_impl

    one = rl.ones(2).as_subclass(Plain)
    assert type(one) is Plain
    assert type(one + 1) is type(rl.stack([one, one])) is type(one.clone()) is rl.Tensor


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "imod", "ifloordiv"])
def test_an_in_place_operator_takes_a_subclass(name: str) -> None:
    class Seen(rl.Tensor):
        pass

    values = [5.0, 7.0, 9.0]
    plain, mine = rl.tensor(values), rl.tensor(values)
    other = rl.tensor([2.0, 3.0, 4.0])
    expected = getattr(operator, name)(plain, other)
    found = getattr(operator, name)(mine, other.as_subclass(Seen))
    assert mine.tolist() == expected.tolist() == found.tolist()
    assert type(mine) is rl.Tensor


def test_a_class_gets_the_arguments_of_the_whole_operation() -> None:
    calls: list[tuple[str, int, list[str]]] = []

    class Seen(rl.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            calls.append((func.__name__, len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)

    a, b = rl.ones(2), rl.ones(2).as_subclass(Seen)
    a += b
    a.add_(b, alpha=2)
    a.addcmul_(b, b, value=3)
    assert calls[0][1:] == (2, [])
    assert ("add_", 2, ["alpha"]) in calls and ("addcmul_", 3, ["value"]) in calls
    assert a.tolist() == [7.0, 7.0]


class Slotted(rl.Tensor):
    __slots__ = ["kept"]


@pytest.mark.parametrize(
    "means", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_and_pickles_keep_what_is_in_slots(means) -> None:
    x = rl.ones(2).as_subclass(Slotted)
    x.kept, x.other = [3], 4
    made = means(x)
    assert type(made) is Slotted and made.kept == [3] and made.other == 4


def test_a_class_with_slots_is_detached() -> None:
    assert type(rl.ones(2).as_subclass(Slotted).detach()) is Slotted


def test_what_is_written_into_out_has_the_class_of_the_result() -> None:
    mine, out = rl.ones(2).as_subclass(Named), rl.zeros(2)
    found = rl.add(mine, 1, out=out)
    assert type(found) is Named
    assert found.data_ptr() == out.data_ptr()
    assert type(out) is rl.Tensor
    assert out.tolist() == [2.0, 2.0]
    assert rl.add(mine, 1, out=found) is found
    pair = rl.max(mine, 0, out=(rl.tensor(0.0), rl.tensor(0)))
    assert [type(t) for t in pair] == [Named, Named]
    parameter = rl.nn.Parameter(rl.ones(2), requires_grad=False)
    assert rl.add(parameter, 1, out=out) is out
