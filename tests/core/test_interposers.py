"""The one list of those that stand between a call and its execution."""

from typing import Any

import pytest

import rushlight as torch
from rushlight._core import interposers
from rushlight._core.interposers import INTERPOSERS, NOT_HANDLED, ORDER, Interposer, interpose
from rushlight._core.mode import READY, derive
from rushlight.utils._python_dispatch import TorchDispatchMode


def test_each_question_is_asked_in_the_order() -> None:
    torch.vmap(lambda x: x)(torch.ones(1))
    place = {id(one): ORDER.index(name) for name, one in INTERPOSERS.items()}
    for those in interposers._QUESTIONS.values():
        found = [place[id(one)] for one in those]
        assert found == sorted(found)


def test_whoever_does_not_answer_a_question_is_not_asked() -> None:
    import rushlight.autograd.pushforward  # noqa: F401  # it takes its place when it is loaded

    assert INTERPOSERS["tangents"] in interposers.WRITE
    assert INTERPOSERS["tangents"] not in interposers.CALL


def test_a_place_is_taken_once_and_must_exist() -> None:
    for place in ("functions", "nowhere"):
        with pytest.raises(ValueError, match="taken, or no place"):
            interpose(place, Interposer())


def test_one_that_answers_nothing_lets_everything_pass() -> None:
    one = Interposer()
    assert one.call_whole(torch.cat, (), {}) is NOT_HANDLED
    assert one.look("size", ()) is NOT_HANDLED


def test_the_usual_modes_have_nobody_to_ask() -> None:
    assert not READY.interposed
    assert not derive(READY, inference=True).interposed
    assert derive(READY, functions=(object(),)).interposed


def test_a_dispatch_mode_sees_a_write_into_a_tensor_without_data() -> None:
    seen: list[str] = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    t = torch.empty(2, device="meta")
    with Log():
        t.add_(1)
    assert seen == ["aten.add_.Tensor"]
    assert t._version == 1


def test_arguments_that_autocast_converts_stay_as_the_caller_has_them() -> None:
    a, b = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = torch.mm(a, b)
    assert out.dtype is torch.bfloat16
    assert a.dtype is b.dtype is torch.float32


def test_an_element_of_a_plain_subclass_is_its_own() -> None:
    class Dispatches(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Plain(torch.Tensor):
        pass

    assert Dispatches is not None  # a class that dispatches has been made
    one = torch.tensor(True).as_subclass(Plain)
    assert bool(one) and torch.tensor([3.0]).as_subclass(Plain).item() == 3.0
    assert torch.tensor([2.0, 3.0]).as_subclass(Plain).tolist() == [2.0, 3.0]
