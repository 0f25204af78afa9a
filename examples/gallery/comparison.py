"""What two runs of a driver have in common: their numbers, within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Numbers = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be off: relative to the largest of its group, and absolutely."""

    rtol: float = 1e-4
    atol: float = 1e-6


def mismatch(expected: Numbers, got: Numbers, tolerance: Tolerance) -> str | None:
    """What differs first, in words; None when all numbers are the same within the tolerance."""
    for name in expected:
        if name not in got:
            return f"no {name!r}"
    for name, numbers in got.items():
        if name not in expected:
            return f"{name!r} is not recorded"
        wanted = expected[name]
        if len(wanted) != len(numbers):
            return f"{name}: {len(numbers)} numbers, {len(wanted)} expected"
        finite = [abs(x) for x in wanted if math.isfinite(x)]
        allowed = tolerance.atol + tolerance.rtol * max(finite, default=0.0)
        for place, (want, have) in enumerate(zip(wanted, numbers)):
            if (math.isnan(want) and math.isnan(have)) or want == have:
                continue
            # Written so that a NaN on one side alone is a difference.
            if not abs(want - have) <= allowed:
                where = f"{name}[{place}]" if len(wanted) > 1 else name
                return f"{where}: {have:.9g}, expected {want:.9g}"
    return None


def largest_difference(expected: Numbers, got: Numbers) -> float:
    """The largest difference, relative to the largest number of its group."""
    worst = 0.0
    for name, wanted in expected.items():
        scale = max((abs(x) for x in wanted if math.isfinite(x)), default=0.0) or 1.0
        for want, have in zip(wanted, got.get(name, ())):
            if math.isfinite(want) and math.isfinite(have):
                worst = max(worst, abs(want - have) / scale)
    return worst


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean; NaN of nothing."""
    if not ratios:
        return math.nan
    return math.exp(math.fsum(math.log(ratio) for ratio in ratios) / len(ratios))
