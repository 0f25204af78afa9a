"""Training steps of ten kinds, over a hundred changes between calls: nothing may tell."""

import warnings
from typing import Any

import pytest

import rushlight as torch
from tests.compile.changes import CHANGES, Change
from tests.compile.worlds import KINDS, World, equal

CONTEXTS = {
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "saved tensors": lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
}

pytestmark = pytest.mark.filterwarnings("ignore")


def calls(w: World, n: int, found: list[Any]) -> None:
    """Calls the step, noting results, exceptions and everything that may have changed."""
    for _ in range(n):
        try:
            result = w.call(w.x, w.y)
        except Exception as error:
            w.failed = True
            result = f"{type(error).__name__}: {error}"
        found.append((result, w.state()))


def run(kind: str, compiled: Any, change: Change, context: Any = None) -> list[Any]:
    w = World(kind, compiled)
    found: list[Any] = []
    calls(w, 4, found)
    if hasattr(w.step, "program"):
        assert w.step.program is not None, w.step.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            change(w)
        except Exception as error:
            found.append((type(error).__name__, {}))
    if context is not None:
        with context():
            calls(w, 2, found)
    calls(w, 3, found)
    return found


def check(kind: str, native: bool, change: Change, context: Any = None) -> None:
    def compiled(step: Any) -> Any:
        return torch.compile(step, options={"native": native})

    expected = run(kind, lambda step: step, change, context)
    got = run(kind, compiled, change, context)
    tolerance = 1e-3 if native else 0.0
    assert len(expected) == len(got)
    for place, (one, two) in enumerate(zip(expected, got)):
        assert equal(one[0], two[0], tolerance), (place, one[0], two[0])
        assert one[1].keys() == two[1].keys()
        for name in one[1]:
            a, b = one[1][name], two[1][name]
            assert equal(a, b, tolerance), (place, name, a, b)


#: Each change meets one kind of step, in turn; every second runs natively.
PAIRS = [
    pytest.param(name, KINDS[3 * k % len(KINDS)], k // 3 % 2 == 0, id=name)
    for k, name in enumerate(CHANGES)
]


@pytest.mark.parametrize(("name", "kind", "native"), PAIRS)
def test_a_change_between_steps_is_seen(name: str, kind: str, native: bool) -> None:
    check(kind, native, CHANGES[name])


@pytest.mark.parametrize("kind", KINDS[::2])
@pytest.mark.parametrize("name", CONTEXTS)
def test_a_mode_around_some_steps_is_seen(name: str, kind: str) -> None:
    check(kind, KINDS.index(kind) % 4 == 0, lambda w: None, CONTEXTS[name])
