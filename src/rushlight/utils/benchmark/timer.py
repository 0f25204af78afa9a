"""`Timer`: measures a statement in blocks long enough for the clock."""

from __future__ import annotations

import enum
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

from ..._tensor import settings
from .measurement import Measurement, TaskSpec

__all__ = ["Language", "Timer", "timer"]

timer = timeit.default_timer


class Language(enum.Enum):
    """The language of a statement; only Python can be measured."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a Python statement, with a number of threads and after a setup.

    Raises:
        NotImplementedError: for C++.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, object] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("Timer: Rushlight measures Python statements only")
        if global_setup:
            raise ValueError("global_setup is C++ only, got " + repr(global_setup))
        space = dict(globals or {})
        self._globals = space
        self._timer = timeit.Timer(stmt, setup, timer, space)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _with_threads(self, run: Callable[[], object]) -> Any:
        before = settings.get_num_threads()
        settings.set_num_threads(self._task_spec.num_threads)
        try:
            return run()
        finally:
            settings.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of so many runs, after a warm-up."""

        def run() -> Measurement:
            self._timeit(max(int(number // 100), 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

        return self._with_threads(run)

    def _block_size(self, min_run_time: float) -> int:
        number = 1
        while True:
            taken = self._timeit(number)
            if taken >= min_run_time / 1000 or taken >= 0.01:
                return number
            number *= 10

    def _blocks(
        self, number: int, enough: Callable[[list[float]], bool], longest: float
    ) -> list[float]:
        times: list[float] = []
        while sum(times) < longest:
            times.append(self._timeit(number))
            if enough(times):
                break
        return times

    def blocked_autorange(
        self, callback: Callable[..., object] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Blocks of runs for at least a time, of a length that the clock can tell."""

        def run() -> Measurement:
            number = self._block_size(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self._task_spec)

        return self._with_threads(run)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[..., object] | None = None,
    ) -> Measurement:  # fmt: skip
        """Blocks of runs until the interquartile range is a small part of the median."""

        def run() -> Measurement:
            number = self._block_size(0.05)

            def enough(times: list[float]) -> bool:
                if callback is not None:
                    callback(number, times[-1])
                known = Measurement(number, times, self._task_spec)
                return (
                    len(times) > 3
                    and sum(times) >= min_run_time
                    and known.meets_confidence(threshold)
                )

            return Measurement(number, self._blocks(number, enough, max_run_time), self._task_spec)

        return self._with_threads(run)

    def collect_callgrind(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises NotImplementedError: instructions aren't counted."""
        raise NotImplementedError("Timer.collect_callgrind: use Timer.blocked_autorange")
