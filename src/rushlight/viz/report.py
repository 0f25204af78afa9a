"""A report as one HTML page that opens offline: style, charts and pictures are inside it."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .._base.atomic_files import write_whole

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5d6472; --page: #f5f6f8; --card: #ffffff;
  --rim: #e0e3e8; --accent: #b9740a; --wrong: #c33f1d; --wrong-soft: #fdeee8; --invert: 0; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #a3aab6; --page: #12151a;
  --card: #1b1f26; --rim: #2d333d; --accent: #f0b040; --wrong: #ff8a63; --wrong-soft: #3a211a;
  --invert: 1; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 40px 20px 56px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; letter-spacing: -.01em; }
h2 { font-size: 19px; margin: 0 0 4px; }
p { margin: 0 0 14px; color: var(--soft); max-width: 46em; }
header { border-left: 4px solid var(--accent); padding-left: 18px; margin-bottom: 28px; }
header p { margin: 0; }
section { background: var(--card); border: 1px solid var(--rim); border-radius: 12px;
  padding: 22px 24px; margin-top: 20px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 14px; }
.figures div { background: var(--card); border: 1px solid var(--rim); border-radius: 12px;
  padding: 16px 20px; }
.figures dt { color: var(--soft); font-size: 14px; }
.figures dd { margin: 0; }
.figures .value { font-size: 30px; font-weight: 650; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.figures .first { color: var(--accent); }
.figures .note { color: var(--soft); font-size: 13px; }
dl { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: 20px 28px; justify-content: space-around; }
.row svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
.scroll svg { display: block; margin: 0 auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(76px, 1fr)); gap: 10px;
  padding: 0; margin: 8px 0 22px; list-style: none; }
.tiles:last-child { margin-bottom: 0; }
.tiles li { border: 1px solid var(--rim); border-radius: 9px; padding: 8px 4px 5px;
  text-align: center; font-size: 13px; line-height: 1.4; font-variant-numeric: tabular-nums; }
.tiles img { width: 48px; height: 48px; image-rendering: pixelated; display: block;
  margin: 0 auto 4px; filter: invert(var(--invert)); }
.tiles small { display: block; color: var(--soft); font-size: 12px; }
.tiles .wrong { border: 2px solid var(--wrong); background: var(--wrong-soft);
  padding: 7px 3px 4px; }
.tiles .wrong b { color: var(--wrong); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 3px 22px; font-size: 14px; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
@media print { section, .figures div { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline number."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A small grey picture with what was said about it; `pixels` are rows from 0 to 1 (ink)."""

    pixels: Sequence[Sequence[float]]
    predicted: str
    true: str
    note: str = ""

    @property
    def is_right(self) -> bool:
        return self.predicted == self.true


class Page:
    """A page that grows by sections and is written at the end."""

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._parts: list[str] = [
            f"<header><h1>{escape(title)}</h1>{f'<p>{escape(lead)}</p>' if lead else ''}</header>"
        ]

    def figures(self, figures: Iterable[Figure]) -> None:
        """Adds a row of headline numbers, the first one in the accent's colour."""
        items = [
            f"<div><dt>{escape(figure.label)}</dt>"
            f'<dd class="value{"" if number else " first"}">{escape(figure.value)}</dd>'
            f'<dd class="note">{escape(figure.note)}</dd></div>'
            for number, figure in enumerate(figures)
        ]
        self._parts.append(f'<dl class="figures">{"".join(items)}</dl>')

    def charts(self, heading: str, *svgs: str, text: str = "") -> None:
        """Adds SVG pictures side by side, shrunk where the window is narrow."""
        self._section(heading, text, f'<div class="row">{"".join(svgs)}</div>')

    def picture(self, heading: str, svg: str, text: str = "") -> None:
        """Adds one SVG picture in its own size, scrolled where it is wider than the page."""
        self._section(heading, text, f'<div class="scroll">{svg}</div>')

    def tiles(self, heading: str, groups: Mapping[str, Sequence[Tile]], text: str = "") -> None:
        """Adds grids of small pictures, one per group that isn't empty, the wrong marked."""
        body = "".join(
            f'<p>{escape(name)}</p><ul class="tiles">{"".join(map(_tile, tiles))}</ul>'
            for name, tiles in groups.items()
            if tiles
        )
        self._section(heading, text, body)

    def facts(self, heading: str, facts: Mapping[str, str]) -> None:
        """Adds a list of names and values."""
        items = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
        )
        self._section(heading, "", f'<dl class="facts">{items}</dl>')

    def html(self) -> str:
        """The whole page as text."""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
            "<body>\n<main>\n" + "\n".join(self._parts) + "\n</main>\n</body>\n</html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to `path`, all or nothing, and gives the path; missing folders are made.

        Raises: OSError when the place can't be written.
        """
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        page = self.html().encode()
        write_whole(target, lambda file: file.write(page))
        return target

    def _section(self, heading: str, text: str, body: str) -> None:
        lead = f"<p>{escape(text)}</p>" if text else ""
        self._parts.append(f"<section><h2>{escape(heading)}</h2>{lead}{body}</section>")


def ink_png(pixels: Sequence[Sequence[float]]) -> bytes:
    """A PNG of black ink on a transparent ground; 1 is full ink, 0 none, values outside are cut.

    Raises: ValueError when there are no pixels or the rows differ in length.
    """
    height, width = len(pixels), len(pixels[0]) if pixels else 0
    if not width or any(len(row) != width for row in pixels):
        raise ValueError("a picture needs rows of one length, at least one pixel each")
    rows = bytearray()
    for row in pixels:
        rows.append(0)  # the row's filter: none
        for value in row:
            rows += bytes((0, round(255 * min(1.0, max(0.0, float(value))))))
    # Source: the PNG specification, third edition; colour type 4 is grey with alpha.
    header = struct.pack(">IIBBBBB", width, height, 8, 4, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _tile(tile: Tile) -> str:
    image = base64.b64encode(ink_png(tile.pixels)).decode("ascii")
    if tile.is_right:
        words, kind = f"<b>{escape(tile.predicted)}</b> ✓", "right"
        spoken = f"a {tile.true}, read right"
    else:
        words, kind = f"<b>{escape(tile.predicted)}</b> ✗", "wrong"
        spoken = f"a {tile.true}, read as {tile.predicted}"
        words += f"<small>is {escape(tile.true)}</small>"
    note = f"<small>{escape(tile.note)}</small>" if tile.note else ""
    return (
        f'<li class="{kind}"><img alt="{escape(spoken)}" src="data:image/png;base64,{image}">'
        f"{words}{note}</li>"
    )
