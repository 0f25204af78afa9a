"""What is said about a list of measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """Minimum, median and quartiles of some measurements."""

    count: int
    least: float
    median: float
    lower: float
    upper: float

    @property
    def spread(self) -> float:
        """How far the median lies above the minimum, as a fraction of it: 0 on a silent machine."""
        return self.median / self.least - 1 if self.least > 0 else 0.0


def quantile(ordered: Sequence[float], fraction: float) -> float:
    """The value below which `fraction` of an ordered sequence lies, linear between neighbours."""
    place = fraction * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def summarise(values: Sequence[float]) -> Figures:
    """The figures of at least one measurement.

    Raises: ValueError when there is none.
    """
    if not values:
        raise ValueError("there is no measurement to summarise")
    ordered = sorted(values)
    return Figures(
        len(ordered),
        ordered[0],
        quantile(ordered, 0.5),
        quantile(ordered, 0.25),
        quantile(ordered, 0.75),
    )


def paired_ratio(reference: Sequence[float], values: Sequence[float]) -> float | None:
    """The median over rounds of reference / value: above 1 is better than the reference.

    Taken round by round because the two measurements of a round share the state of the machine.
    None when there is no common round.
    """
    ratios = [r / v for r, v in zip(reference, values, strict=False) if v > 0]
    return quantile(sorted(ratios), 0.5) if ratios else None


def mismatch(reference: Sequence[float], value: Sequence[float], rtol: float) -> str | None:
    """How a check value differs from the reference, or None when it does not.

    A number may differ by `rtol` of the largest magnitude in the reference: a single element that
    cancels to nearly nothing has no digits to compare.
    """
    if len(reference) != len(value):
        return f"{len(value)} check values, {len(reference)} expected"
    for place, number in enumerate([*reference, *value]):
        if not math.isfinite(number):
            return f"check value {place % max(1, len(value))} is {number}"
    scale = max((abs(number) for number in reference), default=0.0)
    for place, (expected, found) in enumerate(zip(reference, value, strict=True)):
        if abs(expected - found) > rtol * max(scale, 1e-30):
            return f"check value {place} is {found:.8g}, {expected:.8g} expected"
    return None
