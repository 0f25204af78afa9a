"""Functions behind a signature whose calls run by their plans in C: they mean what they meant."""

from collections.abc import Iterator
from typing import Any

import pytest
from rushlight.overrides import TorchFunctionMode

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._table.calls import dispatch, entries
from rushlight._table.calls.signed_functions import give_signatures
from rushlight._table.rows import tensor_namespace
from rushlight._table.rows.composite import ENTRIES
from tests.native.loops import module

TEXTS = (
    "conv9d(Tensor input, int[2] stride=1, int[2] padding=0, *, bool more=False) -> Tensor",
    "conv9d.word(Tensor input, int[2] stride=1, str padding='same') -> Tensor",
)


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    found = module("calls", tmp_path_factory.mktemp("calls"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "run_plan", found.run_plan)
        patch.setattr(entries, "ENTRY", found.Entry)
        yield


def _numbers(input: object, stride: object, padding: object, more: bool) -> object:
    return "numbers", stride, padding, more


def _word(input: object, stride: object, padding: object) -> object:
    return "word", stride, padding


def _said(function: Any, args: tuple[Any, ...], words: dict[str, Any]) -> object:
    try:
        return function(*args, **words)
    except Exception as error:
        return type(error), str(error)


def test_plans_of_signatures_give_what_resolving_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = give_signatures(*TEXTS, then=(_word,))(_numbers)
    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "run_plan", None)
        plain = give_signatures(*TEXTS, then=(_word,))(_numbers)
    entry: Any = ENTRIES[quick]
    x = torch.ones(2, 2)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x,), {}), ((x, 2), {}), ((x, 3, 4), {}), ((x, (2, 3)), {}), ((x, [2, 3], 1), {}),
        ((x, torch.tensor(2)), {}), ((x, torch.tensor([2, 3])), {}), ((x, True), {}),
        ((x, (2, True)), {}), ((x, 1 << 70), {}), ((x, (1, 1 << 70)), {}), ((x, -(1 << 63)), {}),
        ((x, 1.5), {}), ((x, None), {}), ((x, (1.5, 2)), {}), ((x, torch.tensor(1.5)), {}),
        ((x, 1, "same"), {}), ((x, 1, "other"), {}), ((x,), {"stride": 2, "padding": (1, 2)}),
        ((x,), {"padding": 2, "stride": 1}), ((x,), {"more": True}), ((x, 2), {"stride": 2}),
        ((x,), {"none": 3}), ((), {"input": x}), ((), {}), ((3,), {}),
        ((x, torch.ones(2, dtype=torch.int64)), {"padding": torch.tensor(3)}),
    ]  # fmt: skip
    for _ in range(3):  # the first call makes the plan, which the next ones find
        for args, words in calls:
            expected = _said(plain, args, words)
            assert _said(quick, args, words) == expected
            assert _said(entry, args, words) == expected


def test_a_value_that_the_plan_does_not_fit_finds_another_overload() -> None:
    x, w = torch.randn(1, 1, 5, 5), torch.randn(1, 1, 2, 2)
    for _ in range(2):
        assert F.conv2d(x, w, None, 1, 1).shape == (1, 1, 6, 6)
        assert F.conv2d(x, w, stride=torch.tensor(2)).shape == (1, 1, 2, 2)
        with pytest.raises(TypeError):
            F.conv2d(x, w, stride=torch.tensor(2.0))
        with pytest.raises(TypeError):
            F.conv2d(x, w, stride=(1, 1.0))  # type: ignore[arg-type]


def test_modes_see_the_function_that_was_called_not_what_runs_in_it() -> None:
    seen: list[object] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> object:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x, w = torch.randn(1, 1, 5, 5), torch.randn(1, 1, 2, 2)
    for _ in range(2):
        F.conv2d(x, w)
        F.max_pool2d(x, 2)
        F.cosine_similarity(x, x)
    with Watch():
        F.conv2d(x, w)
        F.cosine_similarity(x, x)
    assert seen == [F.conv2d, F.cosine_similarity]


def test_subclasses_are_asked_about_calls_that_have_plans() -> None:
    asked: list[object] = []

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> object:
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x, w = torch.randn(1, 1, 5, 5), torch.randn(1, 1, 2, 2)
    F.conv2d(x, w)
    found = F.conv2d(x.as_subclass(Own), w)
    assert type(found) is Own and F.conv2d in asked
    assert torch.equal(found.as_subclass(torch.Tensor), F.conv2d(x, w))


def test_the_table_knows_what_takes_the_usual_calls_of_its_functions() -> None:
    for name in ("mul", "sum", "mm", "gather"):
        found = tensor_namespace.table(name)
        assert getattr(found, "function", found) is tensor_namespace._functions.public["", name]


def test_a_similarity_lets_nobody_see_that_lengths_are_raised_in_place() -> None:
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    y = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    expected = torch.tensor([0.0, 0.8])
    kept = x.clone()
    assert torch.allclose(F.cosine_similarity(x, y), expected)
    with torch.inference_mode():
        assert torch.allclose(F.cosine_similarity(x, y), expected)
    batched = torch.func.vmap(lambda a, b: F.cosine_similarity(a, b, 0))(x, y)
    assert torch.allclose(batched, expected)
    one = torch.func.vmap(lambda a: F.cosine_similarity(a, y[1], 0))(x)
    assert torch.allclose(one, torch.tensor([0.0, 0.8]))
    assert torch.allclose(F.cosine_similarity(x.double(), y), expected.double())
    assert torch.equal(x, kept)
    a = x.clone().requires_grad_()
    F.cosine_similarity(a, y).sum().backward()
    assert a.grad is not None and a.grad.isfinite().all()
    tangent = torch.func.jvp(lambda t: F.cosine_similarity(t, y), (x + 1,), (torch.ones_like(x),))[
        1
    ]
    assert tangent.isfinite().all()
