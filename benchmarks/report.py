"""The printed report and its JSON twin."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.runner import Result, Row
from benchmarks.systems import REFERENCE

# A median this far above the minimum says that something else was running.
UNSTEADY = 0.2
# A ratio this little below the aim may as well be above it in the next run.
UNDECIDED = 0.03

# Compiled steps are held against other compilers too.
PEERS = (("jax", "rushlight-step"), ("torch-compile", "rushlight-step"))

HEADINGS = ("workload", "system", "min", "median", "spread", "x min", "x median", "aim", "")
Print = Callable[[str], None]


def amount(figure: float, *, memory: bool = False) -> str:
    """A time or an amount of memory in a readable unit, three or four digits."""
    if memory:
        return f"{figure / 2**20:.1f} MB"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if figure >= scale:
            return f"{figure / scale:.{2 if figure < 100 * scale else 0}f} {unit}"
    return f"{figure * 1e9:.{0 if figure >= 1e-8 else 2}f} ns"


def times(ratio: float | None) -> str:
    """A ratio with two digits after the point, or nothing."""
    return "" if ratio is None else f"{ratio:.2f}"


def cells(result: Result, row: Row) -> list[str]:
    """The table's cells for one system on one workload."""
    workload = result.workload
    label = f"{workload.name} [{workload.unit}]"
    figures = row.summary
    if figures is None:
        return [label, row.system, "error", "", "", "", "", "", row.error or "not measured"]
    aim = workload.aim.get(row.system)
    ratio = result.ratio_of_least(row.system)
    notes = []
    if aim is not None and ratio is not None and ratio < aim * (1 - UNDECIDED):
        notes.append("below aim")
    if figures.spread > UNSTEADY:
        notes.append("unsteady")
    if row.cpu and sum(row.figures) > 1.15 * sum(row.cpu):
        notes.append("had to wait for a core")
    return [
        label,
        row.system,
        amount(figures.least, memory=workload.bytes),
        amount(figures.median, memory=workload.bytes),
        f"{100 * figures.spread:.0f}%",
        times(ratio),
        times(result.ratio(row.system)),
        "" if aim is None else f"{aim:g}",
        ", ".join(notes),
    ]


def plain(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in plain text, the columns of figures flush right."""
    table = [list(headings), *map(list, lines)]
    widths = [max(len(line[k]) for line in table) for k in range(len(headings))]
    last = len(headings) - 1

    def cell(text: str, k: int) -> str:
        return text if k == last else text.ljust(widths[k]) if k < 2 else text.rjust(widths[k])

    written = ["  ".join(cell(text, k) for k, text in enumerate(line)).rstrip() for line in table]
    written.insert(1, "-" * max(map(len, written)))
    return "\n".join(written)


def show_table(
    title: str, headings: Sequence[str], lines: Sequence[Sequence[str]], show: Print
) -> None:
    """Prints a table, with rich if it is installed and the screen is wide enough for it."""
    wide = sum(max(len(line[k]) for line in [headings, *lines]) + 3 for k in range(len(headings)))
    if importlib.util.find_spec("rich") is None or wide > shutil.get_terminal_size((0, 0)).columns:
        show(f"\n{title}\n{plain(headings, lines)}")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k in (0, 1, len(headings) - 1) else "right")
    for line in lines:
        table.add_row(*(Text(text, style="red" if text == "error" else "") for text in line))
    console = Console()
    with console.capture() as captured:
        console.print(table)
    show("\n" + captured.get().rstrip("\n"))


def overview(
    results: Sequence[Result], systems: Sequence[str], reference: str = REFERENCE
) -> list[list[str]]:
    """One line per workload: the ratio of minima of every system but the reference."""
    lines = []
    for result in results:
        line = [result.workload.name]
        for system in systems:
            row = result.rows.get(system)
            ratio = result.ratio_of_least(system, reference) if row is not None else None
            line.append(
                "-" if row is None else "error" if row.error else times(ratio) or f"no {reference}"
            )
        lines.append(line)
    means = ["geometric mean"]
    for system in systems:
        measured = [result for result in results if system in result.rows]
        found = [result.ratio_of_least(system, reference) for result in measured]
        known = [ratio for ratio in found if ratio]
        mean = math.exp(sum(map(math.log, known)) / len(known)) if known else None
        means.append(f"{times(mean)} ({len(known)})" if known else "-")
    return [*lines, means]


def growth(results: Sequence[Result]) -> list[list[str]]:
    """For each series and system: the cost per unit at each size, and the last over the first."""
    series: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for result in results:
        if result.workload.series is None:
            continue
        for name, row in result.rows.items():
            if row.summary is not None:
                points = series.setdefault((result.workload.series, name), [])
                points.append((result.workload.size, row.summary.least))
    lines = []
    for (name, system), points in series.items():
        if len(points) > 1:
            points.sort()
            costs = "   ".join(f"{size:.0e}: {amount(cost)}" for size, cost in points)
            lines.append([name, system, f"{points[-1][1] / points[0][1]:.2f}", costs])
    return lines


def peaks(results: Sequence[Result], systems: Sequence[str]) -> list[list[str]]:
    """One line per workload: the largest resident memory of each system's processes."""
    lines = []
    for result in results:
        found = [result.rows[name].peak if name in result.rows else None for name in systems]
        if any(found):
            told = ["-" if peak is None else f"{peak / 2**20:.0f}" for peak in found]
            lines.append([result.workload.name, *told])
    return lines


def below(results: Sequence[Result], systems: Sequence[str]) -> list[str]:
    """For each system a line: what it is slower at than torch, the slowest first."""
    lines = []
    for system in systems:
        ratios = [
            (ratio, result.workload.name)
            for result in results
            if system in result.rows and (ratio := result.ratio_of_least(system)) is not None
        ]
        slower = [f"{name} {ratio:.2f}" for ratio, name in sorted(ratios) if ratio < 1]
        if slower:
            lines.append(f"{system} is slower in {len(slower)}: {', '.join(slower)}")
    return lines


def show(results: Sequence[Result], write: Print, *, details: bool = True) -> None:
    """Prints the ratios and peaks at a glance and errors; before them, if asked, all figures."""
    rows = [(result, row) for result in results for row in result.rows.values()]
    if details:
        lines = [cells(result, row) for result, row in rows]
        show_table("Cost of one [unit]; x: times faster than torch", HEADINGS, lines, write)
    grown = growth(results) if details else []
    if grown:
        headings = ("series", "system", "last / first", "least cost of a unit by size")
        show_table("Does the cost of a unit stay the same?", headings, grown, write)
    systems = list(dict.fromkeys(name for result in results for name in result.rows))
    others = [name for name in systems if name != REFERENCE]
    if REFERENCE in systems and others:
        used = peaks(results, systems)
        if used:
            show_table("Peak memory of the process, MB", ("workload", *systems), used, write)
        summary = overview(results, others)
        show_table(
            "Times faster than torch (ratio of minima)", ("workload", *others), summary, write
        )
        for line in below(results, others):
            write(line)
    if not details:
        for result, row in rows:
            if row.error is not None:
                write(f"error: {result.workload.name}, {row.system}: {row.error}")
    for peer, mine in PEERS:
        common = [result for result in results if peer in result.rows]
        if common and mine in systems:
            title = f"Times faster than {peer} (ratio of minima)"
            show_table(title, ("workload", mine), overview(common, [mine], peer), write)


def as_json(
    results: Sequence[Result],
    facts: Mapping[str, Any],
    settings: Mapping[str, Any],
    systems: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that was found out, in plain data."""
    workloads = []
    for result in results:
        work = result.workload
        rows = {}
        for name, row in result.rows.items():
            figures = row.summary
            rows[name] = {
                "error": row.error,
                "check": row.value,
                "repeat": row.repeat,
                "figures": row.figures,
                "cpu": row.cpu,
                "peak": row.peak,
                "min": figures and figures.least,
                "median": figures and figures.median,
                "lower_quartile": figures and figures.lower,
                "upper_quartile": figures and figures.upper,
                "ratio_of_min": result.ratio_of_least(name),
                "ratio": result.ratio(name),
                "aim": work.aim.get(name),
            }
        workloads.append(
            {
                "name": work.name,
                "about": work.about,
                "unit": work.unit,
                "measures": "bytes" if work.bytes else "seconds",
                "reference": result.reference,
                "seconds": result.seconds,
                "rows": rows,
            }
        )
    return {
        "format": 1,
        "machine": dict(facts),
        "settings": dict(settings),
        "systems": dict(systems),
        "workloads": workloads,
    }
