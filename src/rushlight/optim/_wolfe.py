"""A line search whose result meets the strong Wolfe conditions."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ._ground import Tensor

__all__ = ["cubic_interpolate", "search", "strong_wolfe"]


class _Point(NamedTuple):
    """A step length with the loss, the gradient and the slope along the direction there."""

    length: Any
    loss: Any
    gradient: Tensor
    slope: Any


def _cubic_minimum(a: _Point, b: _Point, bounds: tuple[Any, Any] | None = None) -> object:
    """Where the cubic with the losses and slopes of two points is least, within bounds."""
    low, high = bounds or ((a.length, b.length) if a.length <= b.length else (b.length, a.length))
    first = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = first**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    root = square.sqrt()
    if a.length <= b.length:
        part = (b.slope + root - first) / (b.slope - a.slope + 2 * root)
        least = b.length - (b.length - a.length) * part
    else:
        part = (a.slope + root - first) / (a.slope - b.slope + 2 * root)
        least = a.length - (a.length - b.length) * part
    return min(max(least, low), high)


def strong_wolfe(
    at: Callable[[object], tuple[object, Tensor]],
    length: object,
    direction: Tensor,
    loss: object,
    gradient: Tensor,
    slope: Any,
    enough: float = 1e-4,
    flat: float = 0.9,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """Loss, gradient and length of a good step along a direction, and how often it asked `at`.

    Good: the loss falls by at least `enough` times what the slope promises, and the slope falls to
    `flat` times what it was.

    Source: Nocedal and Wright 2006, algorithms 3.5 and 3.6, with cubic interpolation.
    """
    reach = direction.abs().max()
    origin = _Point(0, loss, gradient.clone(), slope)
    asked = 0

    def look(length: object) -> _Point:
        nonlocal asked
        asked += 1
        value, grad = at(length)
        return _Point(length, value, grad, grad.dot(direction))

    def keep(point: _Point) -> _Point:
        return point._replace(gradient=point.gradient.clone())

    # First a bracket: two lengths between which a good one lies.
    before, here = origin, look(length)
    rounds = 0
    found = False
    bracket: list[_Point] = []
    while rounds < most:
        if here.loss > loss + enough * here.length * slope or (
            rounds > 1 and here.loss >= before.loss
        ):
            bracket = [before, keep(here)]
            break
        if abs(here.slope) <= -flat * slope:
            bracket = [here]
            found = True
            break
        if here.slope >= 0:
            bracket = [before, keep(here)]
            break
        nearest = here.length + 0.01 * (here.length - before.length)
        further = _cubic_minimum(before, here, (nearest, here.length * 10))
        before, here = keep(here), look(further)
        rounds += 1
    if rounds == most:
        bracket = [origin._replace(gradient=gradient), here]
    # Then narrow it.
    slow = False
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    while not found and rounds < most:
        ends = (bracket[0].length, bracket[1].length)
        if abs(ends[1] - ends[0]) * reach < tolerance:
            break
        least, largest = min(ends), max(ends)
        length = _cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (largest - least)
        if min(largest - length, length - least) < margin:
            # Near an end twice, or outside: stay a tenth of the bracket away from it.
            if slow or length >= largest or length <= least:
                nearer = abs(length - largest) < abs(length - least)
                length = largest - margin if nearer else least + margin
                slow = False
            else:
                slow = True
        else:
            slow = False
        here = look(length)
        rounds += 1
        if here.loss > loss + enough * here.length * slope or here.loss >= bracket[low].loss:
            bracket[high] = keep(here)
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if abs(here.slope) <= -flat * slope:
            found = True
        elif here.slope * (bracket[high].length - bracket[low].length) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = keep(here)
    best = bracket[low if len(bracket) > 1 else 0]
    return best.loss, best.gradient, best.length, asked


def cubic_interpolate(
    x1: object,
    f1: object,
    g1: Any,
    x2: object,
    f2: object,
    g2: Any,
    bounds: tuple[object, object] | None = None,
) -> Any:
    """Where the cubic through two points with slopes is least, under PyTorch's private name."""
    return _cubic_minimum(_Point(x1, f1, g1, g1), _Point(x2, f2, g2, g2), bounds)


def search(
    obj_func: Callable[[object, object, Tensor], tuple[object, Tensor]],
    x: object,
    t: Any,
    d: Tensor,
    f: object,
    g: Tensor,
    gtd: object,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[object, Tensor, object, int]:
    """`strong_wolfe` with the arguments that packages give PyTorch's private function."""
    return strong_wolfe(
        lambda length: obj_func(x, length, d), t, d, f, g, gtd, c1, c2, tolerance_change, max_ls
    )
