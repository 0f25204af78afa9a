"""Charts as self-contained SVG text: lines over a number axis, and a confusion matrix.

They need nothing but the standard library, follow the light or dark scheme of the page, and show
values on hover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

_STYLE = """
.rl-chart{--rl-ink:#1d2430;--rl-soft:#646b78;--rl-grid:#e4e7eb;--rl-axis:#aab0ba;
--rl-back:#ffffff;--rl-s0:#2f74c0;--rl-s1:#c2620e;--rl-s2:#1e8a6a;--rl-s3:#a4459b;
--rl-good:47,116,192;--rl-bad:204,76,38;
font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.rl-chart{--rl-ink:#eceef2;--rl-soft:#a3aab6;
--rl-grid:#2c323c;--rl-axis:#5a6270;--rl-back:#1b1f26;
--rl-s0:#69a9ee;--rl-s1:#f09a4b;--rl-s2:#4cc09b;--rl-s3:#d886d0;
--rl-good:86,150,224;--rl-bad:232,104,66}}
.rl-chart text{fill:var(--rl-ink)}
.rl-chart .rl-soft{fill:var(--rl-soft);font-size:11px}
.rl-chart .rl-head{font-size:14px;font-weight:600}
.rl-chart .rl-grid{stroke:var(--rl-grid);stroke-width:1}
.rl-chart .rl-axis{stroke:var(--rl-axis);stroke-width:1}
.rl-chart .rl-curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.rl-chart .rl-end{stroke:var(--rl-back);stroke-width:2}
.rl-chart .rl-hit{fill:transparent}
.rl-chart .rl-hit:hover{fill:var(--rl-ink);fill-opacity:.07}
.rl-chart .rl-cell{stroke:var(--rl-back);stroke-width:2}
.rl-chart .rl-empty{fill:var(--rl-grid);fill-opacity:.45}
""".replace("\n", "")

_COLOURS = 4


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers, 1, 2 or 5 times a power of ten apart, that enclose `low` to `high`."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"an axis needs finite ends, got {low} and {high}")
    if high <= low:
        low, high = low - (abs(low) * 0.5 or 0.5), low + (abs(low) * 0.5 or 0.5)
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(
        factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    # Multiplied, not summed up: 0.1 added three times is not 0.3. Rounded for the same reason.
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [round(number * step, digits) for number in range(first, last + 1)]


def line_chart(
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    first_x: int = 1,
    write: Callable[[float], str] = "{:g}".format,
    from_zero: bool = False,
    width: int = 460,
    height: int = 280,
) -> str:
    """A line per entry of `series` over 1, 2, 3 …; values that are not finite leave a gap.

    `write` turns a value into the text of an axis label or tooltip. `from_zero` makes the axis
    start at zero.

    Raises: ValueError when there is nothing finite to draw or there are more than four lines.
    """
    finite = [value for values in series.values() for value in values if math.isfinite(value)]
    if not finite:
        raise ValueError(f"nothing to draw in chart {title!r}")
    if len(series) > _COLOURS:
        raise ValueError(f"a chart holds at most {_COLOURS} lines, got {len(series)}")
    length = max(len(values) for values in series.values())
    y_ticks = ticks(min(0.0, *finite) if from_zero else min(finite), max(finite))
    low, high = y_ticks[0], y_ticks[-1]
    left = 26.0 + 6.6 * max(len(write(tick)) for tick in y_ticks)
    right, top, bottom = width - 16.0, 62.0, height - 44.0
    span = max(1, length - 1)

    def x(index: float) -> float:
        return left + (right - left) * (index / span if length > 1 else 0.5)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = [_open(width, height, f"{title}: {', '.join(series)}")]
    parts.append(f'<text class="rl-head" x="{left:.0f}" y="18">{escape(title)}</text>')
    key = left
    for number, name in enumerate(series):
        parts.append(
            f'<circle cx="{key + 5:.1f}" cy="37" r="5" style="fill:var(--rl-s{number})"/>'
            f'<text x="{key + 16:.1f}" y="41">{escape(name)}</text>'
        )
        key += 34 + 7.0 * len(name)
    for tick in y_ticks:
        line = "rl-axis" if tick == low else "rl-grid"
        parts.append(
            f'<line class="{line}" x1="{left:.1f}" x2="{right:.1f}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/><text class="rl-soft" text-anchor="end" x="{left - 7:.1f}" '
            f'y="{y(tick) + 4:.1f}">{escape(write(tick))}</text>'
        )
    for number in _whole_ticks(first_x, first_x + length - 1):
        at = x(number - first_x)
        parts.append(
            f'<line class="rl-axis" x1="{at:.1f}" x2="{at:.1f}" y1="{bottom:.1f}" '
            f'y2="{bottom + 4:.1f}"/><text class="rl-soft" text-anchor="middle" x="{at:.1f}" '
            f'y="{bottom + 17:.1f}">{number}</text>'
        )
    middle = (top + bottom) / 2
    parts.append(
        f'<text class="rl-soft" text-anchor="middle" x="{(left + right) / 2:.1f}" '
        f'y="{height - 8}">{escape(x_label)}</text>'
        f'<text class="rl-soft" text-anchor="middle" transform="translate(12 {middle:.1f}) '
        f'rotate(-90)">{escape(y_label)}</text>'
    )
    for number, values in enumerate(series.values()):
        points = [(x(i), y(value), value) for i, value in enumerate(values)]
        parts.append(
            f'<path class="rl-curve" style="stroke:var(--rl-s{number})" d="{_path(points)}"/>'
        )
        drawn = [point for point in points if math.isfinite(point[2])]
        if drawn:
            parts.append(
                f'<circle class="rl-end" cx="{drawn[-1][0]:.1f}" cy="{drawn[-1][1]:.1f}" r="4.5" '
                f'style="fill:var(--rl-s{number})"/>'
            )
    # One transparent strip per step: the pointer needn't hit a two-pixel line to see the numbers.
    half = (right - left) / span / 2 if length > 1 else (right - left) / 2
    for i in range(length):
        lines = [f"{x_label} {first_x + i}"]
        lines += [f"{name}: {write(v[i])}" for name, v in series.items() if i < len(v)]
        start, end = max(left, x(i) - half), min(right, x(i) + half)
        parts.append(
            f'<rect class="rl-hit" x="{start:.1f}" y="{top:.1f}" width="{end - start:.1f}" '
            f'height="{bottom - top:.1f}"><title>{escape(chr(10).join(lines))}</title></rect>'
        )
    parts.append("</svg>")
    return "\n".join(parts)


def confusion_chart(
    counts: Sequence[Sequence[int]], labels: Sequence[str], *, title: str, cell: int = 34
) -> str:
    """A matrix of counts, true class by row and predicted by column, recall and precision beside.

    Right ones are blue and mistakes orange, each the stronger the more there are.

    Raises: ValueError when `counts` is not square with one row per label.
    """
    size = len(labels)
    if len(counts) != size or any(len(row) != size for row in counts):
        raise ValueError(f"a confusion matrix of {size} classes needs {size} rows of {size} counts")
    left, top = 76.0, 68.0
    side = size * cell
    extra = 62
    width, height = int(left) + side + extra, int(top) + side + 44
    right_most = max((counts[i][i] for i in range(size)), default=0) or 1
    wrong_most = max((counts[i][j] for i in range(size) for j in range(size) if i != j), default=0)
    parts = [_open(width, height, title)]
    parts.append(f'<text class="rl-head" x="{left:.0f}" y="18">{escape(title)}</text>')
    parts.append(
        f'<text class="rl-soft" text-anchor="middle" x="{left + side / 2:.1f}" y="42">predicted'
        f'</text><text class="rl-soft" text-anchor="middle" '
        f'transform="translate(14 {top + side / 2:.1f}) rotate(-90)">true</text>'
        f'<text class="rl-soft" text-anchor="end" x="{width - 6}" y="{top - 8:.1f}">recall</text>'
        f'<text class="rl-soft" text-anchor="end" x="{left - 8:.1f}" '
        f'y="{top + side + 20:.1f}">precision</text>'
    )
    for i, label in enumerate(labels):
        middle = i * cell + cell / 2
        row, column = sum(counts[i]), sum(counts[j][i] for j in range(size))
        parts.append(
            f'<text text-anchor="middle" x="{left + middle:.1f}" y="{top - 8:.1f}">{escape(label)}'
            f'</text><text text-anchor="end" x="{left - 10:.1f}" y="{top + middle + 4:.1f}">'
            f'{escape(label)}</text><text class="rl-soft" text-anchor="end" x="{width - 6}" '
            f'y="{top + middle + 4:.1f}">{_percent(counts[i][i], row)}</text>'
            f'<text class="rl-soft" text-anchor="middle" x="{left + middle:.1f}" '
            f'y="{top + side + 20:.1f}">{_percent(counts[i][i], column)}</text>'
        )
        for j, other in enumerate(labels):
            count = counts[i][j]
            at = (
                f'x="{left + j * cell:.1f}" y="{top + i * cell:.1f}" width="{cell}" height="{cell}"'
            )
            if not count:
                parts.append(f'<rect class="rl-cell rl-empty" rx="5" {at}/>')
                continue
            tint = "good" if i == j else "bad"
            strength = 0.15 + 0.4 * count / (right_most if i == j else wrong_most)
            tooltip = f"{count} times {label} was taken for {other}"
            if i == j:
                tooltip = f"{count} times {label} was recognised"
            parts.append(
                f'<g><title>{escape(tooltip)}</title><rect class="rl-cell" rx="5" {at} '
                f'style="fill:rgba(var(--rl-{tint}),{strength:.2f})"/><text text-anchor="middle" '
                f'x="{left + j * cell + cell / 2:.1f}" y="{top + middle + 4:.1f}">{count}</text>'
                "</g>"
            )
    parts.append("</svg>")
    return "\n".join(parts)


def _open(width: int, height: int, label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rl-chart" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" aria-label="{escape(label)}">'
        f"<style>{_STYLE}</style>"
    )


def _path(points: Sequence[tuple[float, float, float]]) -> str:
    commands: list[str] = []
    pen_down = False
    for x, y, value in points:
        if not math.isfinite(value):
            pen_down = False
            continue
        commands.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
        pen_down = True
    return "".join(commands)


def _whole_ticks(first: int, last: int) -> list[int]:
    """Steps to label: about eight, the first and the last among them, no two too near."""
    if last - first < 8:
        return list(range(first, last + 1))
    step = next(
        step
        for scale in (1, 10, 100, 1000, 10**4, 10**5, 10**6)
        for step in (1 * scale, 2 * scale, 5 * scale)
        if (last - first) / step <= 8
    )
    inner = [n for n in range(step, last, step) if n - first >= step / 2 and last - n >= step / 2]
    return [first, *inner, last]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""
