"""What notebooks show: texts and pictures that know their form there, and tables.

A notebook asks an object for `_repr_html_` or `_repr_svg_`. Everywhere else these are the plain
strings that they always were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# Said here, because notebooks give a `pre` in a result the letters of the page around it.
_FIXED = "white-space:pre;overflow-x:auto;font-family:ui-monospace,Menlo,Consolas,monospace"


class Laid(str):
    """A text whose lines and columns a notebook keeps."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return preformat(self)


class Picture(str):
    """An SVG picture, which a notebook draws."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def preformat(text: str, note: str = "") -> str:
    """A text as HTML that keeps its lines, with a smaller line below."""
    below = f'<div style="opacity:.65;font-size:smaller">{escape(note)}</div>' if note else ""
    return f'<pre style="{_FIXED}">{escape(text)}</pre>{below}'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table as HTML: the last column, of numbers, to the right, the others to the left."""
    aligned = [*["left"] * (len(head) - 1), "right"]

    def line(cells: Sequence[str], tag: str) -> str:
        inside = "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for cell, side in zip(cells, aligned, strict=True)
        )
        return f"<tr>{inside}</tr>"

    below = f'<div style="opacity:.65;font-size:smaller">{escape(note)}</div>' if note else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{below}"
