"""What a timer has measured."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable
from typing import Any

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "select_unit", "trim_sigfig",
           "unit_to_english"]  # fmt: skip

_UNITS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ENOUGH = 0.25  # of the median: a wider interquartile range is warned of


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time is best told, and its length in seconds."""
    step = max(0, min(3, -math.floor(math.log10(t) / 3) if t > 0 else 3))
    unit = ("s", "ms", "us", "ns")[step]
    return unit, _SCALES[unit]


def unit_to_english(u: str) -> str:
    """The word for a unit."""
    return _UNITS[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to some significant figures."""
    if x == 0:
        return x
    scale = 10 ** (math.floor(math.log10(abs(x))) + 1 - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements: Iterable[object]) -> list[object]:
    """The elements, each once, in the order in which they first come."""
    return list(dict.fromkeys(elements))


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What was measured: code, names for it, and the number of threads."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The name of the task."""
        name = self.label or self.stmt
        return name + (f": {self.sub_label}" if self.sub_label else "")

    def setup_str(self) -> str:
        """The code that ran before."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup: {self.setup}" if "\n" not in self.setup else f"setup:\n{self.setup}"

    def summarize(self) -> str:
        """The lines that head a printed measurement."""
        lines = [self.title, self.description or "", self.setup_str()]
        return "\n".join(line for line in lines if line)


class Measurement:
    """Times of blocks of runs."""

    def __init__(
        self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec,
        metadata: dict[object, object] | None = None,
    ) -> None:  # fmt: skip
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.task_spec = task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if name in ("raw_times", "task_spec") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Seconds of one run, by block."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """The median of the times."""
        return statistics.median(self.times)

    def _quantile(self, share: float) -> float:
        ordered = sorted(self.times)
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures of the median can be relied on."""
        n = len(self.raw_times)
        if n < 2:
            return 1
        sigma = self.iqr / (2 * statistics.NormalDist().inv_cdf(0.75)) / math.sqrt(n)
        relative = 1.645 * sigma / self.median if self.median else 0.0
        return 4 if not relative else max(1, min(4, math.floor(-math.log10(relative))))

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary widely."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _ENOUGH) -> bool:
        """Whether the interquartile range is a small part of the median."""
        return len(self.raw_times) < 2 or self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The name of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count = len(self.raw_times)
        lines = [f"{object.__repr__(self)}", self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        runs, threads = self.number_per_run, self.task_spec.num_threads
        lines.append(
            f"  {count} measurement{'s' if count > 1 else ''}, {runs} run{'s' if runs > 1 else ''} "
            f"{'per measurement' if count > 1 else ''}, "
            f"{threads} thread{'s' if threads > 1 else ''}".replace(" ,", ",")
        )
        if not self.meets_confidence():
            lines.append(
                f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the "
                "median measurement.\n           This suggests significant environmental influence."
            )
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, of the times of all of its measurements."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).append(m)
        return [
            Measurement(1, [t for m in group for t in m.times], spec)
            for spec, group in groups.items()
        ]
