"""Random training steps with state, views and writes: compiled and eager agree."""

from typing import Any

import pytest

import rushlight as torch
from tests.compile.programs import Plan, State
from tests.compile.worlds import equal

pytestmark = pytest.mark.filterwarnings("ignore")


def called(step: Any, plan: Plan, call: int) -> tuple[Any, ...]:
    a, b = plan.data(call)
    torch.manual_seed(plan.seed + call)
    try:
        result = step(a, b)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return result, a, b


def check(seed: int, native: bool, calls: int = 7) -> None:
    plan = Plan(seed)
    one, two = State(plan), State(plan)
    eager = plan.step(one)
    compiled = torch.compile(plan.step(two), options={"native": native})
    rough = plan.dtype is torch.float32
    tolerance = 0.0 if not native else 1e-3 if rough else 1e-8
    shown = [item[1] for item in plan.items]
    for call in range(calls):
        first = called(eager, plan, call)
        stream = torch.get_rng_state()
        second = called(compiled, plan, call)
        assert torch.equal(stream, torch.get_rng_state())
        for x, y in zip(first, second):
            assert equal(x, y, tolerance), (seed, call, shown, x, y)
        for k, (x, y) in enumerate(zip(one.tensors(), two.tensors(), strict=True)):
            assert equal(x, y, tolerance), (seed, call, shown, k, x, y)
        if native:  # roundings of one call aren't carried to the next
            with torch.no_grad():
                for x, y in zip(one.tensors()[:5], two.tensors()[:5]):
                    y.copy_(x)
    assert compiled.program is not None or not plan.items, compiled.explain()


@pytest.mark.parametrize("seed", range(30))
def test_a_random_step_replayed_gives_the_same_bits(seed: int) -> None:
    check(seed, native=False)


@pytest.mark.parametrize("seed", range(100, 120))
def test_a_random_step_gives_natively_what_eager_gives(seed: int) -> None:
    check(seed, native=True)
