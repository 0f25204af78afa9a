"""`Compare`: measurements side by side in a table."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import Any

from .measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]


class Colorize(enum.Enum):
    """Which cells are compared by colour."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Tables of measurements: a row for each sub-label, a column for each description."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = False
        self._colorize = Colorize.NONE
        self._highlight = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Takes up further measurements.

        Raises:
            ValueError: for anything else.
        """
        found = list(results)
        for r in found:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(found)

    def trim_significant_figures(self) -> None:
        """Shows only the figures that can be relied on."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colours are for terminals; tables here stay plain."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Marks measurements that vary widely."""
        self._highlight = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(m.task_spec.label for m in merged)
        return "\n".join(
            self._layout([m for m in merged if m.task_spec.label == label]) for label in labels
        )

    def _layout(self, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(m.median for m in results))
        columns = ordered_unique(m.task_spec.description for m in results)
        digits = max(0, 1 - math.floor(math.log10(min(m.median for m in results) / scale)))
        cells: dict[Any, str] = {}
        rows: list[tuple[int, str, str | None]] = []
        for m in sorted(results, key=lambda m: m.task_spec.num_threads):
            row = (m.task_spec.num_threads, m.as_row_name, m.task_spec.env)
            if row not in rows:
                rows.append(row)
            value = m.median / scale
            text = (
                f"{trim_sigfig(value, m.significant_figures):.0f}"
                if self._trim
                else f"{value:.{digits}f}"
            )
            if self._highlight and m.has_warnings:
                text = f"(! {m.iqr / m.median * 100:.0f}%) {text}"
            cells[(row, m.task_spec.description)] = text
        lead = max(len(name) for _, name, _ in rows) + 6
        widths = [
            max([len(str(c or "")), *(len(cells.get((r, c), "")) for r in rows)]) for c in columns
        ]
        head = " " * lead + "".join(
            f"  |  {str(c or '').center(w)}" for c, w in zip(columns, widths)
        )
        label = results[0].task_spec.label
        lines = ["[" + (f" {label} " if label else "").center(len(head) - 2, "-") + "]", head]
        threads = None
        for row in rows:
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(head), "-"))
            name = f"{' ' * 6}{row[1]}".ljust(lead)
            lines.append(
                name + "".join(
                    f"  |  {cells.get((row, c), '').rjust(w)}" for c, w in zip(columns, widths)
                )
            )  # fmt: skip
        return "\n".join([*lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])
