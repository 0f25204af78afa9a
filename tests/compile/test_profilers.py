"""Steps that are recorded while a profiler watches the program."""

import cProfile
import pstats
import sys
from typing import Any

import rushlight as torch


def _step() -> Any:
    x = torch.ones(3, requires_grad=True)

    def step(w: Any) -> Any:
        x.grad = None
        y = (x * w).sum()
        y.backward()
        return y

    return torch.compile(step)


def _noticed() -> None:
    """Something that a profiler sees."""


def test_a_step_is_compiled_under_cprofile_which_goes_on_watching() -> None:
    step, w = _step(), torch.arange(3.0)
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(4):
        assert step(w).item() == 3.0
    _noticed()
    profile.disable()
    assert len(step.variants) == 1, step.explain()
    names = {name for _, _, name in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert "_noticed" in names


def test_a_step_is_compiled_under_a_profile_function_which_is_put_back() -> None:
    step, w = _step(), torch.arange(3.0)
    seen: list[str] = []

    def watch(frame: Any, event: str, arg: Any) -> None:
        seen.append(event)

    sys.setprofile(watch)
    try:
        for _ in range(4):
            step(w)
        found = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert found is watch
    assert seen
    assert len(step.variants) == 1, step.explain()
