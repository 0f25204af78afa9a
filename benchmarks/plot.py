"""A picture of the ratios: one line per workload, one dot per system, on a logarithmic scale."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.systems import REFERENCE

COLOURS = {
    "rushlight": "#1b6ca8",
    "rushlight-compiled": "#d1495b",
    "rushlight-jit": "#8f2d56",
    "rushlight-step": "#2a9d8f",
    "rushlight-before": "#b8b8b8",
    "torch-compile": "#6a4c93",
    "jax": "#e9a23b",
    "autograd": "#66a182",
    "numpy": "#8d8d8d",
}
OTHER = "#444444"


@dataclass(frozen=True)
class Dot:
    """The ratio of one system on one workload."""

    line: int
    system: str
    ratio: float


def dots(document: Mapping[str, Any]) -> tuple[list[str], list[Dot]]:
    """The workloads' names from top to bottom, and the dots, of a results document."""
    names: list[str] = []
    found: list[Dot] = []
    for work in document["workloads"]:
        ratios = {
            system: row["ratio_of_min"]
            for system, row in work["rows"].items()
            if system != REFERENCE and row["ratio_of_min"]
        }
        if ratios:
            found += [Dot(len(names), system, ratio) for system, ratio in ratios.items()]
            names.append(work["name"])
    return names, found


def title(document: Mapping[str, Any]) -> str:
    """What the picture shows, and on which machine."""
    machine, threads = document["machine"], document["settings"]["threads"]
    said = "default threads" if threads is None else f"{threads} thread(s)"
    return f"Times faster than torch: {machine['processor']}, {said}"


def ticks(found: Sequence[Dot]) -> list[float]:
    """The marks of the scale: 1, 2, 5 and their tenfolds around all dots."""
    low = min([0.5, *(dot.ratio for dot in found)])
    high = max([2.0, *(dot.ratio for dot in found)])
    marks = [
        digit * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digit in (1, 2, 5)
    ]
    first = max((k for k, mark in enumerate(marks) if mark <= low), default=0)
    last = min((k for k, mark in enumerate(marks) if mark >= high), default=len(marks) - 1)
    return marks[first : last + 1]


def svg(document: Mapping[str, Any]) -> str:
    """The picture as SVG, written by hand."""
    names, found = dots(document)
    marks = ticks(found)
    left, top, step, width = 240, 70, 22, 560
    low, high = math.log(marks[0]), math.log(marks[-1])
    bottom = top + step * len(names)

    def x(ratio: float) -> float:
        return left + width * (math.log(ratio) - low) / (high - low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" '
        f'height="{bottom + 40}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="22" font-size="14">{escape(title(document))}</text>',
    ]
    for mark in marks:
        heavy = "#000" if mark == 1 else "#ddd"
        out.append(
            f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="{top - 8}" y2="{bottom}" '
            f'stroke="{heavy}"/><text x="{x(mark):.1f}" y="{bottom + 16}" '
            f'text-anchor="middle">{mark:g}</text>'
        )
    for line, name in enumerate(names):
        y = top + step * line + step / 2
        out.append(
            f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>'
            f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>'
        )
    for dot in found:
        y = top + step * dot.line + step / 2
        out.append(
            f'<circle cx="{x(dot.ratio):.1f}" cy="{y:.1f}" r="5" '
            f'fill="{COLOURS.get(dot.system, OTHER)}" fill-opacity="0.85">'
            f"<title>{escape(dot.system)} {dot.ratio:.2f}</title></circle>"
        )
    for k, system in enumerate(dict.fromkeys(dot.system for dot in found)):
        out.append(
            f'<circle cx="{left + 150 * k}" cy="42" r="5" fill="{COLOURS.get(system, OTHER)}"/>'
            f'<text x="{left + 150 * k + 10}" y="46">{escape(system)}</text>'
        )
    return "\n".join([*out, "</svg>", ""])


def draw(document: Mapping[str, Any], path: Path) -> Path:
    """Writes the picture and returns where it is; without matplotlib it is always an SVG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if importlib.util.find_spec("matplotlib") is None:
        path = path.with_suffix(".svg")
        path.write_text(svg(document), encoding="utf-8")
        return path
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names, found = dots(document)
    marks = ticks(found)
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.3 * len(names)), layout="constrained")
    for system in dict.fromkeys(dot.system for dot in found):
        own = [dot for dot in found if dot.system == system]
        axes.scatter(
            [dot.ratio for dot in own],
            [dot.line for dot in own],
            color=COLOURS.get(system, OTHER),
            label=system,
            zorder=3,
            alpha=0.85,
        )
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.set_xlim(marks[0], marks[-1])
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(color="#dddddd", zorder=0)
    axes.set_title(title(document), fontsize=10)
    if found:
        axes.legend(loc="best", fontsize=8)
    figure.savefig(path)
    pyplot.close(figure)
    return path
