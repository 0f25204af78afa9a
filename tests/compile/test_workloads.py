"""The steps that the benchmarks time: compiled, they train as eager ones do, over 50 steps."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is a folder of the repository, not a part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import rushlight as torch
from benchmarks.workloads import perceptron, sizes, steps
from benchmarks.workloads.training import Training

STEPS = 50
SMALL = perceptron.Task([4, 16, 16, 2], batch=8, rate=0.01)
WIDE = perceptron.Task([96, 80, 72, 10], batch=24, rate=0.003)
# At the benchmark's rate three pictures are learned so fast that weights which start 6e-8 apart
# give losses 3e-5 apart after 50 steps; at this one they stay as near as they were.
STEADY = replace(sizes.convolutional(3, 4, 6), rate=0.02)


def in_double(prepare: Callable[[Any], Training]) -> Callable[[Any], Training]:
    """The same in float64, where a rounding doesn't move a maximum to another element."""

    def prepared(t: Any) -> Training:
        training = prepare(t)
        for p in training.parameters:
            p.data = p.data.double()
        training.data[:] = [x.double() if x.is_floating_point() else x for x in training.data]
        return training

    return prepared


PREPARED: dict[str, Callable[[Any], Training]] = {
    "a small perceptron with SGD": perceptron.by_modules(SMALL, "SGD"),
    "a small perceptron with Adam": perceptron.by_modules(SMALL, "Adam"),
    "a wide perceptron with SGD": perceptron.by_modules(WIDE, "SGD"),
    "a wide perceptron with Adam": perceptron.by_modules(WIDE, "Adam"),
    "elementwise work": steps.elementwise(1003),
    "elementwise work for threads": steps.elementwise(70001),
    "an LSTM": lambda t: steps.recurrent(t, sizes.recurrent(3, 5, 16)),
    "a GPT": lambda t: steps.transformer(t, sizes.transformer(2, 9, 32, 4)),
    "convolutions": lambda t: steps.convolutional(t, STEADY),
    "a differential equation": lambda t: steps.differential(t, sizes.differential(7, 3, 16)),
}
# A bias of keys moves all scores of a row alike, which softmax doesn't see: its gradient is nothing
# but rounding, which Adam blows up to the size of its rate. So these elements are left out.
ROUNDING = {("a GPT", 5): slice(32, 64), ("a GPT", 17): slice(32, 64)}


def furthest(expected: Any, found: Any) -> float:
    """The largest difference, as a fraction of the largest expected magnitude."""
    expected, found = expected.detach().double(), found.detach().double()
    return float((expected - found).abs().max() / expected.abs().max())


def trained(prepare: Callable[[Any], Training], wrap: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """The losses of all steps, what was trained (or its gradient), and the step."""
    training = prepare(torch)
    step = wrap(training.step)
    losses = [step(*training.data).detach().clone() for _ in range(STEPS)]
    found = [p if training.optimizer else p.grad for p in training.parameters]
    return torch.stack(losses), found, step


@pytest.mark.parametrize("name", PREPARED)
def test_a_compiled_step_trains_as_an_eager_one_over_50_steps(name: str) -> None:
    losses, tensors, _ = trained(PREPARED[name], lambda step: step)
    found, others, step = trained(PREPARED[name], torch.compile)
    assert len(step.variants) == 1, step.explain()
    assert furthest(losses, found) <= 1e-5
    for place, (expected, tensor) in enumerate(zip(tensors, others, strict=True)):
        pair = [x.detach().clone() for x in (expected, tensor)]
        for x in pair:
            x[ROUNDING.get((name, place), slice(0))] = 0
        assert furthest(*pair) <= 1e-5, place


@pytest.mark.parametrize("name", PREPARED)
def test_a_step_replayed_by_numpy_gives_the_bits_of_an_eager_one(name: str) -> None:
    losses, tensors, _ = trained(PREPARED[name], lambda step: step)
    native = {"native": False}
    found, others, step = trained(PREPARED[name], lambda step: torch.compile(step, options=native))
    assert len(step.variants) == 1, step.explain()
    assert torch.equal(losses, found)
    assert all(map(torch.equal, tensors, others))


@pytest.mark.parametrize("name", PREPARED)
def test_one_compiled_step_follows_new_data(name: str) -> None:
    eager, training = PREPARED[name](torch), PREPARED[name](torch)
    step = torch.compile(training.step)
    for turn in range(6):
        data = [x.roll(turn, 0) for x in training.data]
        assert furthest(eager.step(*data), step(*data)) <= 1e-5
    assert len(step.variants) == 1, step.explain()
