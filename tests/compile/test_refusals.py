"""What can't be recorded runs eagerly, every time, and `explain` says what and where."""

import math
import random
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim


def stays_eager(step: Any, *args: Any, times: int = 8) -> str:
    compiled = torch.compile(step)
    for _ in range(times):
        compiled(*args)
    assert compiled.program is None, str(compiled.program)
    text: str = compiled.explain()
    return text


def line_of(step: Any, text: str) -> str:
    import inspect

    lines, start = inspect.getsourcelines(step)
    return f"{start + next(k for k, line in enumerate(lines) if text in line)})"


def test_a_list_of_elements_is_named_with_its_line() -> None:
    def step(x: Any) -> Any:
        if sum(x.tolist()) > 0:
            return x * 2
        return x * 3

    text = stays_eager(step, torch.ones(2))
    assert "tolist()" in text
    assert line_of(step, "if sum(x.tolist())") in text
    compiled = torch.compile(step)
    for sign in (1, 1, 1, -1, 1, -1):
        expected = [2.0, 2.0] if sign > 0 else [-3.0, -3.0]
        assert compiled(torch.ones(2) * sign).tolist() == expected


def test_a_number_that_becomes_a_text_is_refused() -> None:
    def step(x: Any) -> Any:
        return x * 2, f"{x.max().item():.3f}"

    text = stays_eager(step, torch.ones(2))
    assert "item()" in text
    assert "format" in text


def test_asking_mathematics_about_a_number_that_was_read_is_refused() -> None:
    def step(x: Any) -> Any:
        value = x.sum().item()
        return x * 0 if math.isnan(value) else x

    assert "isnan" in stays_eager(step, torch.ones(2))


def test_printing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    def step(x: Any) -> Any:
        print("step")
        return x * 2

    assert "print" in stays_eager(step, torch.ones(2), times=6)
    assert capsys.readouterr().out == "step\n" * 6


def test_a_list_that_grows_and_is_read_is_refused() -> None:
    losses: list[Any] = []

    def step(x: Any) -> Any:
        losses.append(x.sum().detach())
        return x * len(losses)

    assert "losses" in stays_eager(step, torch.ones(2), times=9)
    assert len(losses) == 9


def test_a_text_that_grows_is_refused() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.path = ""

        def forward(self, x: Any) -> Any:
            self.path += "."
            return x * 2

    model = Model()
    assert "`model.path`" in stays_eager(lambda x: model(x), torch.ones(2), times=16)
    assert model.path == "." * 16


def test_a_counter_in_a_tuple_is_refused() -> None:
    stays_eager(_counting, torch.ones(2), times=16)
    assert _seen["count"] == (16,)


_seen = {"count": (0,)}


def _counting(x: Any) -> Any:
    _seen["count"] = (_seen["count"][0] + 1,)
    return x * 2


def test_python_random_numbers_are_refused() -> None:
    random.seed(0)
    text = stays_eager(lambda x: x * random.random(), torch.ones(2), times=14)
    assert "random" in text


def test_a_scheduler_that_is_called_inside_of_the_step_is_refused() -> None:
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.parameters(), lr=1.0)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    text = stays_eager(step, torch.ones(1, 2), times=10)
    assert optimizer.param_groups[0]["lr"] == 0.5**10
    assert "call the scheduler's step() after the call" in text


def test_shapes_that_depend_on_values_are_refused() -> None:
    compiled = torch.compile(lambda x: x[x > 0] * 2)
    for values in ([1.0, -1.0], [1.0, -1.0], [1.0, 2.0], [-1.0, -2.0]):
        expected = [2 * v for v in values if v > 0]
        assert compiled(torch.tensor(values)).tolist() == expected
    assert compiled.program is None


def test_a_result_whose_history_lives_on_can_be_differentiated() -> None:
    w = torch.ones(2, requires_grad=True)
    compiled = torch.compile(lambda x: (w * x).sum())
    for k in range(5):
        w.grad = None
        compiled(torch.full((2,), float(k))).backward()
        assert w.grad is not None and w.grad.tolist() == [k, k]


def test_a_disabled_function_is_refused_by_name() -> None:
    @torch.compiler.disable
    def inner(x: Any) -> Any:
        return x + 1

    assert "inner" in stays_eager(lambda x: inner(x), torch.ones(1))


def test_fullgraph_raises_where_a_step_stays_eager() -> None:
    def step(x: Any) -> Any:
        return x * 2 if x.tolist()[0] > 0 else x

    with pytest.raises(RuntimeError, match="tolist"):
        torch.compile(step, fullgraph=True)(torch.ones(1))


def test_an_exception_of_the_users_comes_through() -> None:
    def step(x: Any) -> Any:
        raise ValueError("no")

    compiled = torch.compile(step)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            compiled(torch.ones(1))
    assert torch.is_grad_enabled() and not torch.compiler.is_compiling()


def test_steps_know_that_they_are_being_recorded() -> None:
    seen = []

    def step(x: Any) -> Any:
        seen.append(torch.compiler.is_compiling())
        return x

    torch.compile(step)(torch.ones(1))
    assert seen == [True]


def test_the_public_switches_work() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    assert torch.compile(double, disable=True) is double
    compiled = torch.compile(mode="default")(double)
    for _ in range(3):
        assert compiled(torch.ones(1)).item() == 2.0
    torch.compiler.reset()
    assert compiled.program is None
    with torch.compiler.set_stance("force_eager"):
        for _ in range(4):
            compiled(torch.ones(1))
        assert compiled.program is None
    with pytest.raises(RuntimeError, match="mode or options"):
        torch.compile(double, mode="default", options={})


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[i] * 2,
        lambda x, i: x.narrow(0, i, 1) * 2,
        lambda x, i: torch.full((2,), i) * x[0],
        lambda x, i: torch.arange(i + 1) * x[0],
        lambda x, i: x * 2 if torch.equal(i, torch.tensor(0)) else x,
    ],
    ids=["index", "narrow", "full", "arange", "equal"],
)
def test_numbers_that_the_library_reads_are_noticed(function: Any) -> None:
    compiled = torch.compile(function)
    x = torch.tensor([1.0, 5.0])
    for _ in range(3):
        compiled(x, torch.tensor(0))
    for k in (1, 0, 1):
        assert torch.equal(compiled(x, torch.tensor(k)), function(x, torch.tensor(k)))


def test_memory_that_a_step_replaces_is_noticed() -> None:
    def run(compiling: bool) -> Any:
        w = torch.ones(2, requires_grad=True)

        def step(x: Any) -> Any:
            w.grad = None
            loss = (w * w * x).sum()
            loss.backward()
            w.data = w.data - 0.1 * w.grad
            return loss.detach()

        call = torch.compile(step) if compiling else step
        return [call(torch.ones(2)).item() for _ in range(8)]

    assert run(True) == run(False)


def test_a_module_that_is_loaded_inside_of_the_step_changes_nothing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loaded_late.py").write_text(
        "import sys, time\nFRAME = sys._getframe(0).f_code.co_name\nNOW = time.time()\n"
        "def twice(n):\n    return [n, n]\nTWO = twice(1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def step(x: torch.Tensor) -> torch.Tensor:
        import loaded_late

        return x * len(loaded_late.TWO)

    compiled = torch.compile(step, fullgraph=True)
    assert [compiled(torch.ones(2)).tolist() for _ in range(3)] == [[2.0, 2.0]] * 3


def test_a_step_that_reaches_half_a_program_is_refused_in_time() -> None:
    class Part:
        def __init__(self, k: int, following: Any) -> None:
            self.k = k
            self.following = following

    part = None
    for k in range(6_000):
        part = Part(k, part)
    names = "; ".join(f"x.a{k} if x is None else 0" for k in range(800))
    space: dict[str, Any] = {"part": part}
    exec(f"def step(x):\n    {names}\n    return x * part.following.k", space)
    text = stays_eager(space["step"], torch.ones(2), times=4)
    assert "reaches more than can be watched" in text
    assert space["step"](torch.ones(2)).tolist() == [5998, 5998]
