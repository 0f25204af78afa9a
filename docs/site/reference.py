"""The reference of every public name, as pages of reStructuredText.

Names come from `docs/reference/public-names.txt`, texts from the objects' own help, so that a name
that is made public is on the site without anybody writing it there a second time.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from rushlight._table.homes import ROWS as HOMES
from rushlight._table.rows.composite import COMPOSITES
from rushlight._tensor.tensor import Tensor

from .help_text import described, escaped, first_line, indented, signature
from .plots import names as plotted, plot

NAMES = Path(__file__).resolve().parents[1] / "reference" / "public-names.txt"
LONGEST_VALUE = 80


class Public(NamedTuple):
    """A public name, and what it names."""

    name: str
    module: str
    thing: Any

    @property
    def short(self) -> str:
        """The name within its module."""
        return self.name[len(self.module) + 1 :]


class Page(NamedTuple):
    """A page of the reference."""

    title: str
    said: str
    names: list[Public]
    #: The pages below this one, as `nn.linear` is below `nn`.
    below: list[str] = []


@cache
def public_names() -> list[Public]:
    """Every public name, as the list has them."""
    found = []
    for line in NAMES.read_text("utf-8").splitlines():
        name, _, gone = line.partition(" ")
        if name and not gone:
            found.append(looked_up(name))
    return found


def looked_up(name: str) -> Public:
    """What a name means, and the module that it is asked of."""
    parts = name.split(".")
    module: Any = importlib.import_module(parts[0])
    depth, thing = 1, module
    for part in parts[1:]:
        if thing is Tensor:
            thing = inspect.getattr_static(thing, part)
            continue
        if hasattr(thing, part):
            thing = getattr(thing, part)
        else:
            thing = importlib.import_module(".".join(parts[: depth + 1]))
        depth += isinstance(thing, ModuleType)
    return Public(name, ".".join(parts[: min(depth, len(parts) - 1)]), thing)


# ---- which page a name is on ------------------------------------------------------------------


@cache
def families() -> dict[str, str]:
    """The module of the table in which each function is, by its name."""
    homes: dict[str, str] = {}
    for module, names in HOMES.items():
        for name in names.split():
            homes.setdefault(name.rpartition(".")[2], f"rushlight._table.{module}")
    for (_, name), function in COMPOSITES.items():
        homes.setdefault(name, str(getattr(function, "__module__", "")))
    return homes


def place_of(public: Public) -> str:
    """The name of the page that a name is on."""
    module, short, thing = public.module, public.short, public.thing
    if public.name.startswith("rushlight.Tensor."):
        return "tensor"
    if inspect.isclass(thing) and module in {"rushlight.nn", "rushlight.nn.modules"}:
        return "nn." + str(thing.__module__).rpartition(".")[2]
    if module != "rushlight":
        return module.removeprefix("rushlight.")
    home = families().get(short) or families().get(short.rstrip("_"), "")
    if home.startswith("rushlight._table."):
        return "functions." + home.removeprefix("rushlight._table.")
    if inspect.isclass(thing):
        return "classes"
    return "settings" if callable(thing) else "constants"


TITLES = {
    "tensor": ("Tensor", "Methods and attributes of `rushlight.Tensor`."),
    "classes": ("Classes", "Classes at the top of the package."),
    "settings": ("Settings and other functions", "Functions at the top of the package."),
    "constants": ("Types and constants", "Types of elements, layouts and numbers."),
}


def title_of(place: str) -> tuple[str, str]:
    """A page's heading and the sentence below it."""
    if place in TITLES:
        return TITLES[place]
    if place.startswith("functions."):
        text = importlib.import_module(f"rushlight._table.{place.removeprefix('functions.')}")
        line = first_line(text).rstrip(".")
        title = line.partition(":")[0].partition(",")[0]
        return title, f"{line}." if title != line else ""
    if place.startswith("nn.") and not hasattr_module(f"rushlight.{place}"):
        name = place.removeprefix("nn.")
        text = importlib.import_module(f"rushlight.nn.modules.{name}") if hasattr_module(
            f"rushlight.nn.modules.{name}") else None  # fmt: skip
        return f"nn: {name.replace('_', ' ')}", first_line(text) if text else ""
    return f"rushlight.{place}", first_line(importlib.import_module(f"rushlight.{place}"))


def hasattr_module(name: str) -> bool:
    """Whether there is such a module."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def pages() -> dict[str, Page]:
    """The pages by name, in order; each thing once, by the first of its names."""
    found: dict[str, Page] = {}
    for public in public_names():
        place = place_of(public)
        if place not in found:
            found[place] = Page(*title_of(place), [], [])
        found[place].names.append(public)
    for place in sorted(found):
        above = place.partition(".")[0]
        if above in found and above != place:
            found[above].below.append(place)
    return dict(sorted(found.items(), key=lambda item: rank(item[0])))


def rank(place: str) -> tuple[int, str]:
    """Where a page stands among the others: what everybody uses comes first."""
    kinds = [place == "tensor", place.startswith("functions."), place.startswith("nn"), True]
    return kinds.index(True), place


# ---- what is written --------------------------------------------------------------------------


def first_names(names: list[Public]) -> list[Public]:
    """Each thing once, by the first of its names."""
    seen: set[int] = set()
    found = []
    for public in names:
        if id(public.thing) not in seen or not can_have_names(public.thing):
            found.append(public)
        seen.add(id(public.thing))
    return found


def links(names: list[Public]) -> str:
    """The names in a line, each leading to its entry."""
    return " · ".join(f":py:obj:`{p.short} <{p.name}>`" for p in first_names(names))


def written(page: Page, others: dict[str, Page]) -> str:
    """A page as text; `others` are all the pages, by name."""
    lines = [page.title, "=" * max(len(page.title), 3), ""]
    if page.said:
        lines += [escaped(page.said), ""]
    lines += [links(page.names), ""]
    for place in page.below:
        below = others[place]
        lines += [f"* :doc:`{place}`\\: {escaped(below.said)}", "", f"  {links(below.names)}", ""]
    first: dict[int, str] = {}
    for public in page.names:
        known = first.get(id(public.thing)) if can_have_names(public.thing) else None
        if known is None:
            first.setdefault(id(public.thing), public.name)
            lines += entry(public)
        else:
            lines += [*head(public), *indented([f"Another name of :py:obj:`{known}`.", ""])]
    return "\n".join(lines) + "\n"


def can_have_names(thing: Any) -> bool:
    """Whether two names of one thing are worth telling: not of numbers and texts."""
    return callable(thing)


def kind_of(public: Public) -> str:
    """The directive that tells of a thing."""
    thing = public.thing
    if public.name.startswith("rushlight.Tensor."):
        return (
            "method"
            if callable(thing) or isinstance(thing, classmethod | staticmethod)
            else "attribute"
        )
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    if inspect.ismodule(thing):
        return "module"
    return "function" if callable(thing) else "data"


def head(public: Public) -> list[str]:
    """The line that says what is told of."""
    kind = kind_of(public)
    called = signature(public.thing) if kind in {"function", "method", "class", "exception"} else ""
    if kind == "method":
        called = re.sub(r"^\((self|cls)(, /)?(, )?", "(", called)
    if kind in {"function", "method"} and not called:
        called = "(...)"
    lines = [f".. py:{kind}:: {public.name}{called}"]
    if kind == "data":
        value = repr(public.thing)
        if len(value) <= LONGEST_VALUE and "<" not in value and "\n" not in value:
            lines.append(f"   :value: {value}")
    return [*lines, ""]


def entry(public: Public) -> list[str]:
    """What is told of a name."""
    thing = public.thing
    body: list[str] = []
    if inspect.ismodule(thing):  # the directive itself shows nothing
        body += [f"**{public.name}**", ""]
    if not constant(thing) or inspect.ismodule(thing):
        text = inspect.getdoc(thing) or ""
        body += described(text) if text else []
    short = public.name.rpartition(".")[2]
    if short in plotted_names() and kind_of(public) == "function":
        body += [".. raw:: html", "", f"   {plot(short)}", ""]
    if inspect.isclass(thing) and thing is not Tensor and not issubclass(thing, BaseException):
        body += members(public)
    return [*head(public), *indented(body or ["\\"]), ""]


@cache
def plotted_names() -> frozenset[str]:
    """The functions that have a picture."""
    return frozenset(plotted())


def constant(thing: Any) -> bool:
    """Whether a thing has no help of its own, only its class's."""
    told = isinstance(thing, property | classmethod | staticmethod | ModuleType)
    return not (told or callable(thing) or inspect.isdatadescriptor(thing))


@cache
def known_classes() -> frozenset[int]:
    """The classes that have entries of their own."""
    return frozenset(id(p.thing) for p in public_names() if inspect.isclass(p.thing))


def is_ours(base: type) -> bool:
    """Whether a class is Rushlight's, not Python's."""
    return str(base.__module__).startswith("rushlight")


def members(public: Public) -> Iterator[str]:
    """The public methods and properties that a class and its private bases define, but for those
    that a public base has, which tells of them itself."""
    own: dict[str, Any] = {}
    above = [b for b in public.thing.__mro__[1:] if id(b) in known_classes()]
    for base in reversed(public.thing.__mro__):
        told = any(issubclass(other, base) for other in above)
        if base is public.thing or (is_ours(base) and not told):
            own |= vars(base)
    for name, member in own.items():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or name == "forward" or not inspect.getdoc(plain):
            continue
        where = f"{public.name}.{name}"
        if isinstance(plain, property):
            yield from [f".. py:property:: {where}", ""]
        elif inspect.isfunction(plain):
            called = re.sub(r"^\((self|cls)(, /)?(, )?", "(", signature(plain))
            yield from [f".. py:method:: {where}{called}", ""]
        else:
            continue
        yield from indented(described(inspect.getdoc(plain) or ""))
        yield ""


def everything(found: dict[str, Page]) -> str:
    """The page that lists all pages, and all names with the page that each is on."""
    lines = [
        "Reference", "=========", "",
        "Every public name with its signature, its parameters, its formula and its gradient. "
        ":ref:`genindex` lists all names; the search finds them, too.", "",
        "Where an entry speaks of element types, *int* stands for all integers, *half* for float16 "
        "and bfloat16, *float* for float32 and float64, *complex* for all complex numbers.", "",
        ".. list-table::", "   :header-rows: 1", "",
        "   * - page", "     - names", "     - what it is about",
    ]  # fmt: skip
    for place, page in found.items():
        lines += [
            f"   * - :doc:`{place}`",
            f"     - {len(page.names)}",
            f"     - {escaped(page.said)}",
        ]
    lines += ["", ".. toctree::", "   :hidden:", "", *[f"   {place}" for place in found], ""]
    return "\n".join(lines)
