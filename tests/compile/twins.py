"""A scenario run twice, eagerly and compiled, with all that can be seen of both.

A scenario is a function of a `Twin`. It compiles its step by `twin(step)`, calls it, changes the
world between calls, and notes what it likes; results and exceptions of calls are noted anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import rushlight as torch

Scenario = Callable[["Twin"], None]


class Twin:
    """One of the two runs."""

    def __init__(self, compiled: bool, native: bool) -> None:
        self.compiled = compiled
        self.native = native
        self.log: list[Any] = []
        self.steps: list[Any] = []

    def __call__(self, step: Any) -> Calls:
        """The step, compiled in one of the runs, whose calls are noted."""
        if self.compiled:
            step = torch.compile(step, options={"native": self.native})
            self.steps.append(step)
        return Calls(self, step)

    def note(self, x: Any) -> None:
        """Keeps what is seen of something."""
        self.log.append(seen(x))


class Calls:
    """A step whose results and exceptions are noted."""

    def __init__(self, twin: Twin, step: Any) -> None:
        self.twin = twin
        self.step = step

    def __call__(self, *args: Any, times: int = 1, **kwargs: Any) -> Any:
        result = None
        for _ in range(times):
            try:
                result = self.step(*args, **kwargs)
                self.twin.note(result)
            except Exception as error:
                self.twin.note(f"{type(error).__name__}: {error}")
        return result

    def warm(self, *args: Any, **kwargs: Any) -> None:
        """Calls until it is compiled, so that what changes next meets a program and its guards."""
        self(*args, times=4, **kwargs)
        if self.twin.compiled:
            assert self.step.program is not None, self.step.explain()


def seen(x: Any) -> Any:
    """What can be seen of a result, as plain numbers."""
    if isinstance(x, torch.Tensor):
        facts = (str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad)
        return ("tensor", *facts, x.detach().tolist())
    if isinstance(x, (list, tuple)):
        return [seen(y) for y in x]
    if isinstance(x, dict):
        return {k: seen(v) for k, v in x.items()}
    return x


def alike(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two things that were seen are equal, numbers but for rounding."""
    if isinstance(a, float) and isinstance(b, float):
        if a == b or math.isnan(a) or math.isnan(b):
            same = math.isnan(a) and math.isnan(b)
            return same or (a == b and math.copysign(1, a) == math.copysign(1, b))
        return math.isfinite(a) and abs(a - b) <= tolerance * (abs(a) + 0.01)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(alike(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(alike(a[k], b[k], tolerance) for k in a)
    return type(a) is type(b) and bool(a == b)


def check(scenario: Scenario, native: bool, tolerance: float = 1e-5) -> Twin:
    """Runs a scenario both ways, and asserts that nothing tells them apart; the compiled run."""
    runs = []
    for compiled in (False, True):
        torch.manual_seed(0)
        twin = Twin(compiled, native)
        scenario(twin)
        twin.note(torch.get_rng_state())
        runs.append(twin)
    eager, other = runs
    said = "\n".join(step.explain() for step in other.steps if hasattr(step, "explain"))
    assert len(eager.log) == len(other.log)
    for place, (a, b) in enumerate(zip(eager.log, other.log)):
        assert alike(a, b, tolerance if native else 0.0), (
            f"note {place}: eager {str(a)[:300]}, compiled {str(b)[:300]}\n{said}"
        )
    return other
