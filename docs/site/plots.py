"""Pictures of functions of one variable and their derivatives, as SVG in the page's colours.

Both curves are what Rushlight computes: the row's forward, and the gradient that `backward` gives.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from html import escape
from typing import Any

import rushlight as torch
from rushlight._table import ROWS

WIDTH, HEIGHT, MARGIN = 340, 220, 22
POINTS = 481
#: The part of the axis that is shown where it isn't -4 to 4.
RANGES = {
    "exp": (-3.0, 2.0), "exp2": (-3.0, 2.5), "expm1": (-3.0, 2.0), "sinh": (-3.0, 3.0),
    "cosh": (-3.0, 3.0), "acos": (-1.2, 1.2), "asin": (-1.2, 1.2), "atanh": (-1.2, 1.2),
    "erfinv": (-1.2, 1.2), "logit": (-0.1, 1.1), "ndtri": (-0.1, 1.1), "log": (-0.5, 4.0),
    "log2": (-0.5, 4.0), "log10": (-0.5, 4.0), "log1p": (-1.5, 4.0), "sqrt": (-0.5, 4.0),
    "rsqrt": (-0.5, 4.0), "acosh": (0.0, 4.0), "sin": (-6.5, 6.5), "cos": (-6.5, 6.5),
    "tan": (-4.7, 4.7), "sinc": (-6.0, 6.0),
}  # fmt: skip


#: Functions that are composed of rows, or that have a row of another name.
ACTIVATIONS = (
    "elu", "selu", "silu", "mish", "leaky_relu", "relu6", "hardtanh", "hardswish", "hardsigmoid",
    "softsign", "tanhshrink",
)  # fmt: skip


def names() -> list[str]:
    """The functions by element of one real tensor alone that have a gradient."""
    rows = [name for name, rows in ROWS.items() if rows[0].kind == "elementwise"]
    return [n for n in dict.fromkeys([*rows, *ACTIVATIONS]) if curves(n) is not None]


def function(name: str) -> Any:
    """The public function of a name, where there is one."""
    for place in (torch, torch.special, torch.nn.functional):
        if not name.startswith("_") and hasattr(place, name):
            return getattr(place, name)
    return None


@cache
def curves(name: str) -> tuple[list[float], list[float], list[float]] | None:
    """The points x, f(x), f'(x) of a function; None where it isn't one of x alone."""
    low, high = RANGES.get(name, (-4.0, 4.0))
    x = torch.linspace(low, high, POINTS, dtype=torch.float64).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            y = function(name)(x)
            if not (isinstance(y, torch.Tensor) and y.shape == x.shape and y.requires_grad):
                return None
            (slope,) = torch.autograd.grad(y.sum(), x)
        except (TypeError, RuntimeError, NotImplementedError, IndexError, ValueError):
            return None
    if y.is_complex() or not bool(torch.isfinite(y).any()) or torch.equal(y, x):
        return None
    slope = torch.where(
        y.isnan(), y, slope
    )  # a formula may have values where the function has none
    return x.tolist(), y.tolist(), slope.tolist()


def plot(name: str) -> str:
    """The picture of a function and its derivative."""
    drawn = curves(name)
    assert drawn is not None, f"{name} isn't a function of one variable"
    x, y, slope = drawn
    low, high = limits(y, slope)
    left, right, top, bottom = MARGIN, WIDTH - 8, 8, HEIGHT - MARGIN

    def across(value: float) -> float:
        return left + (right - left) * (value - x[0]) / (x[-1] - x[0])

    def up(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    lines = [
        f'<svg class="rl-plot" viewBox="0 0 {WIDTH} {HEIGHT + 24}" role="img" '
        f'aria-label="{escape(name)} and its derivative">'
    ]
    for value in steps(x[0], x[-1]):
        at = across(value)
        kind = "axis" if value == 0 else "grid"
        lines.append(f'<path class="{kind}" d="M{at:.1f} {top}V{bottom}"/>')
        lines.append(f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{value:g}</text>')
    for value in steps(low, high):
        at = up(value)
        kind = "axis" if value == 0 else "grid"
        lines.append(f'<path class="{kind}" d="M{left} {at:.1f}H{right}"/>')
        lines.append(f'<text x="{left - 4}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
    step = x[1] - x[0]
    flat = [0.0] * len(x)
    for values, rises, kind in ((slope, flat, "slope"), (y, [s * step for s in slope], "value")):
        points = [
            (across(at), up(value), abs(value - last - rise) > (high - low) / 12)
            if low <= value <= high else None
            for at, value, last, rise in zip(x, values, [math.inf, *values], rises, strict=False)
        ]  # fmt: skip
        lines.append(f'<path class="{kind}" d="{path(points)}"/>')
    under = HEIGHT + 14
    lines.append(
        f'<path class="value" d="M{left} {under - 4}h18"/>'
        f'<text class="key" x="{left + 23}" y="{under}">{escape(name)}</text>'
        f'<path class="slope" d="M{left + 170} {under - 4}h18"/>'
        f'<text class="key" x="{left + 193}" y="{under}">derivative</text></svg>'
    )
    return "".join(lines)


def limits(*curves: list[float]) -> tuple[float, float]:
    """The values between which most of the curves lies, at most -5 to 5."""
    low, high = 0.0, 0.0
    for values in curves:
        finite = sorted(v for v in values if math.isfinite(v))
        if finite:
            cut = len(finite) // 40
            low, high = min(low, finite[cut]), max(high, finite[-1 - cut])
    low, high = max(low, -5.0), min(high, 5.0)
    room = 0.08 * (high - low) or 1.0
    return low - room, high + room


def steps(low: float, high: float) -> list[float]:
    """Round numbers within the ends, three to six of them."""
    size = next(s for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0) if (high - low) / s <= 6)
    return [k * size for k in range(math.ceil(low / size), math.floor(high / size) + 1)]


def path(points: list[tuple[float, float, bool] | None]) -> str:
    """A curve as commands of SVG, with the pen lifted where it leaves the picture or jumps."""
    written: list[str] = []
    down = False
    for point in points:
        if point is not None:
            across, up, jumps = point
            written.append(f"{'L' if down and not jumps else 'M'}{across:.1f} {up:.1f}")
        down = point is not None
    return "".join(written)
