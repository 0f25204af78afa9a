"""Help texts and signatures as reStructuredText, which the site's generator reads."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

#: A line that is the head of an indented part: `Parameters:`, `Gradient (g: of the result):`.
HEAD = re.compile(r"^[A-Z][^`]{0,60}:$")
#: Parts whose lines are code; those of the others are lists of things, with what is said of them.
CODE = ("Formula", "Gradient", "Also called as", "Example")


def escaped(text: str) -> str:
    """Prose with `code` in it, as reStructuredText that shows just these characters."""
    pieces = re.split(r"(``[^`]+``|`[^`\n]+`)", " ".join(text.split()))
    for i, piece in enumerate(pieces):
        if i % 2:
            pieces[i] = f"``{piece.strip('`').strip() or ' '}``"
        else:
            pieces[i] = re.sub(r"([\\*_|<>`:])", r"\\\1", piece)
    for i in range(1, len(pieces), 2):  # inline code stands between blanks or punctuation
        before = "" if pieces[i - 1][-1:] in {"", " ", "(", "["} else "\\ "
        after = "" if re.match(r"[\s.,;:!?)\]]|$", pieces[i + 1]) else "\\ "
        pieces[i] = before + pieces[i] + after
    return "".join(pieces)


def indented(lines: list[str], by: str = "   ") -> list[str]:
    """The lines below something."""
    return [by + line if line else "" for line in lines]


def parts(text: str) -> Iterator[tuple[str, list[str]]]:
    """The parts of a help text: a head and its lines, or "" and the lines of a paragraph."""
    lines = inspect.cleandoc(text).splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        head = ""
        if is_head(lines, at):
            head = lines[at]
            at += 1
        start = at
        while at < len(lines) and (lines[at].startswith(" ") if head else lines[at].strip()):
            if at > start and not head and is_head(lines, at):
                break
            at += 1
        yield head, lines[start:at]


def is_head(lines: list[str], at: int) -> bool:
    """Whether a line is the head of the indented ones below it."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(HEAD.match(lines[at])) and below.startswith(" ")


def described(text: str) -> list[str]:
    """A help text as lines of reStructuredText."""
    out: list[str] = []
    for head, lines in parts(text):
        if head:
            out += [f"**{escaped(head.rstrip(':'))}**", ""]
            body = dedent("\n".join(lines)).splitlines()
            if head.startswith(CODE):
                out += [".. code-block:: python", "", *indented(body), ""]
            else:
                out += [*entries(body), ""]
        elif any(line.startswith((" ", ">>>")) for line in lines):  # laid out by hand
            out += ["::", "", *indented(lines), ""]
        else:
            out += [escaped(" ".join(lines)), ""]
    return out


def entries(lines: list[str]) -> list[str]:
    """Lines `name: what is said of it` as a list; lines that go on are joined to theirs.

    Where a sentence begins below `name: type`, the type is shown as code.
    """
    joined: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and joined:
            joined[-1].append(line.strip())
        elif line.strip():
            joined.append([line.strip()])
    out = []
    for first, *more in joined:
        name, colon, rest = first.partition(":")
        named = colon and re.fullmatch(r"[\w*., ]+", name) and rest[:1] in {"", " "}
        if named and more and more[0][:1].isupper():
            typed = f" ``{rest.strip()}``." if rest.strip() else ""
            out.append(f"* ``{name}``:{typed} {escaped(' '.join(more))}")
        elif named:
            out.append(f"* ``{name}``: {escaped(' '.join([rest, *more]))}")
        else:
            out.append(f"* {escaped(' '.join([first, *more]))}")
    return out


class _Bare:
    """An annotation that is a text, shown without quotation marks."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(thing: Any) -> str:
    """The parameters in parentheses, with the annotations as the source has them; "" for none."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [
        p.replace(annotation=_Bare(p.annotation)) if isinstance(p.annotation, str) else p
        for p in found.parameters.values()
    ]
    gives = found.return_annotation
    found = found.replace(
        parameters=shown,
        return_annotation=_Bare(gives) if isinstance(gives, str) else gives,
    )
    if inspect.isclass(thing):
        found = found.replace(return_annotation=inspect.Signature.empty)
    text = re.sub(r"<[^<>]*>", "...", str(found)).replace("rushlight.", "")
    try:
        ast.parse(f"def f{text}: ...")
    except SyntaxError:
        return "(...)"
    return text


def first_line(thing: Any) -> str:
    """What a help text says first."""
    text = inspect.getdoc(thing) or ""
    return next((" ".join(lines) for head, lines in parts(text) if not head), "")
