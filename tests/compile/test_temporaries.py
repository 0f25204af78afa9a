"""Recordings write over the temporaries of formulas, and over nothing else."""

import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._compile.capture import temporaries
from rushlight._compile.capture.recorder import Recorder

SIZE = temporaries.LARGE // 4 + 16
KNOWN = temporaries.FIRST > 0


def kept_in_a_name(g: Any, x: Any) -> Any:
    twice = 2 * x
    once = g * twice
    return once + twice


def kept_in_a_list(g: Any, x: Any) -> Any:
    both = [g * x, g + x]
    return both[0] * both[1] - both[0]


def kept_by_a_function(g: Any, x: Any) -> Any:
    def inner(y: Any) -> Any:
        z = y * g
        return z + y

    return inner(x * 2)


def kept_by_a_default(g: Any, x: Any) -> Any:
    return (lambda a=x + 1: a * g + a)()


def kept_by_a_view(g: Any, x: Any) -> Any:
    low = (g * x)[:10]
    return (x * 3) * 2 + low[0]


def walrus(g: Any, x: Any) -> Any:
    return ((y := g * x) + 1) * y


FORMULAS = (
    lambda g, x: g * (2 * x), lambda g, x: (2 * x) * g, lambda g, x: g / (2 * x),
    lambda g, x: -g * (x / x / g), lambda g, x: (g + 1) * (x + 1) - (g - 1) / (x + 2),
    lambda g, x: 1 - x * x, lambda g, x: x, lambda g, x: (x + 1) * (x + 1),
    lambda g, x: (x > 0) * (g * x), lambda g, x: x.reshape(-1) * 2 * g,
    kept_in_a_name, kept_in_a_list, kept_by_a_function, kept_by_a_default, kept_by_a_view, walrus,
)  # fmt: skip


def operands(kind: Any = np.float32) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random(SIZE).astype(kind) + 0.5, rng.random(SIZE).astype(kind) + 0.5


def recorded(formula: Callable[..., Any], *arrays: Any) -> Any:
    tensors = [torch.from_numpy(a) for a in arrays]
    recorder = Recorder(tensors, [], {})
    try:
        result = recorder.formula(formula, tensors)
        assert not recorder.program.values[-1].view or "reshape" in str(recorder.program)
        return result.numpy().copy()
    finally:
        recorder.close()


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_has_a_name_is_not_written_over(formula: Callable[..., Any], kind: Any) -> None:
    g, x = operands(kind)
    before = g.copy(), x.copy()
    np.testing.assert_array_equal(recorded(formula, g, x), formula(*before))
    np.testing.assert_array_equal(g, before[0])
    np.testing.assert_array_equal(x, before[1])


def test_random_expressions_with_shared_parts() -> None:
    draw = random.Random(3)
    g, x = operands()
    for _ in range(60):
        lines, names = [], ["g", "x"]
        for k in range(draw.randint(2, 6)):
            terms = [draw.choice([*names, "2", "0.5"]) for _ in range(draw.randint(2, 5))]
            text = draw.choice(names)
            for term in terms:
                left, right = draw.choice([(text, term), (term, text)])
                text = f"({left} {draw.choice('+-*')} {right})"
            lines.append(f"    v{k} = {text}")
            names.append(f"v{k}")
        ends = " + ".join(draw.choice(names) for _ in range(3))
        space: dict[str, Any] = {}
        text = "\n".join(["def formula(g, x):", *lines, f"    return {ends}"])
        exec(text, space)
        with np.errstate(all="ignore"):
            expected = space["formula"](g.copy(), x.copy())
            np.testing.assert_array_equal(recorded(space["formula"], g, x), expected, text)


@pytest.mark.skipif(not KNOWN, reason="this interpreter's counts of references don't tell")
def test_a_temporary_is_written_over() -> None:
    g, x = operands()

    def peak(formula: Callable[..., Any]) -> float:
        tracemalloc.start()
        recorded(formula, g, x)
        found = tracemalloc.get_traced_memory()[1] / g.nbytes
        tracemalloc.stop()
        return found

    # the copy that `recorded` gives away, and one more
    assert peak(lambda g, x: g * (2 * x) * 3 / g + 1) < 2.4
    assert peak(kept_in_a_name) > 2.9


def shared(a: Any, b: Any) -> list[Any]:
    (a + b).sum().backward()
    a.grad.mul_(2)
    return [a.grad, b.grad]


def squares(a: Any, b: Any) -> list[Any]:
    (a * b).square().sum().backward()
    a.grad.add_(b.grad)
    return [a.grad, b.grad]


def twice(a: Any, b: Any) -> list[Any]:
    (a.exp() * b).sum().backward()
    (a * b).sum().backward()
    return [a.grad, b.grad]


def joint(a: Any, b: Any) -> list[Any]:
    torch.cat([a, b]).exp().sum().backward()
    a.grad.zero_()
    return [a.grad, b.grad]


def same(a: Any, b: Any) -> list[Any]:
    (a - b).exp().sum().backward(inputs=[a])
    return [a.grad, b.detach()]


@pytest.mark.parametrize("step", [shared, squares, twice, joint, same])
@pytest.mark.parametrize("native", [True, False])
def test_a_leaf_takes_only_a_gradient_that_nobody_else_has(step: Any, native: bool) -> None:
    def run(function: Any) -> list[Any]:
        torch.manual_seed(0)
        a, b = (torch.rand(SIZE, requires_grad=True) for _ in range(2))
        kept: list[Any] = []
        found = []
        for _ in range(5):
            a.grad = b.grad = None
            found.append([t.clone() for t in function(a, b)])
            kept.append((a.grad, b.grad))
        for (g, h), values in zip(kept, found):
            assert g is None or torch.equal(g, values[0])
            assert h is None or torch.equal(h, values[1])
        return found

    expected = run(step)
    for got, wanted in zip(run(torch.compile(step, options={"native": native})), expected):
        for x, y in zip(got, wanted):
            torch.testing.assert_close(x, y)


def test_what_a_hook_keeps_stays() -> None:
    kept: list[Any] = []

    def run(compiled: bool) -> list[Any]:
        kept.clear()
        a: Any = torch.full((SIZE,), 0.5, requires_grad=True)
        a.register_hook(lambda g: kept.append(g.detach()))

        def step() -> None:
            a.grad = None
            a.exp().sum().backward()
            a.grad.zero_()

        call = torch.compile(step) if compiled else step
        for _ in range(4):
            call()
        return [x.clone() for x in kept]

    for x, y in zip(run(True), run(False)):
        assert torch.equal(x, y)
