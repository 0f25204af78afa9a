"""Writes down which module declares what: `python -m tests.table.homes` (`--check` only compares).

`rushlight._table` finds by it the module of a row, a function or a method. It is read off the
modules themselves, while they are loaded: for a process that has loaded nothing.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import textwrap
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "src" / "rushlight" / "_table" / "homes.py"
TABLE = "rushlight._table"
#: Rows that lie beside what they serve.
FURTHER = ("modes.dual", "names.operator_names", "names.synonyms")
HEAD = '''\
"""Which module declares what, see Note [Rows are loaded late].

Written by `python -m tests.table.homes` from the rows: edit these instead.
"""

from typing import Final

# fmt: off
'''
#: What is written, what it says, and where the names are that modules declare.
LISTS = {
    "ROWS": ("Operations of which a module declares the rows.", "rows.row", "DECLARED"),
    "COMPOSITES": ("Public functions that are no rows.", "rows.composite", "COMPOSITES"),
    "COMPOSITE_METHODS": ("Methods that are no rows.", "rows.composite", "METHODS"),
}

Homes = dict[str, dict[str, list[str]]]  # list -> module -> names


def shown(name: Any) -> str:
    """A name as it is written: a function with its namespace."""
    return name if isinstance(name, str) else ".".join(name).lstrip(".")


def declared(list_: str) -> list[str]:
    """The names that the modules which are loaded declare."""
    _, place, attribute = LISTS[list_]
    module = sys.modules.get(f"{TABLE}.{place}")
    found = getattr(module, attribute, {})
    return [shown(name) for name in (found.ready() if hasattr(found, "ready") else found)]


def find_homes() -> Homes:
    """Loads the modules of the table, and looks after each at what it has added."""
    found: Homes = {list_: {} for list_ in LISTS}
    known: dict[str, set[str]] = {list_: set() for list_ in LISTS}
    execute = SourceFileLoader.exec_module
    loading = [""]

    def look() -> None:
        for list_ in LISTS:
            added = [name for name in declared(list_) if name not in known[list_]]
            known[list_].update(added)
            if added:
                found[list_].setdefault(loading[-1], []).extend(added)

    def watched(loader: SourceFileLoader, module: ModuleType) -> None:
        look()  # what is new is from the module that imports this one
        loading.append(module.__name__.removeprefix(f"{TABLE}."))
        execute(loader, module)
        look()
        loading.pop()

    SourceFileLoader.exec_module = watched  # type: ignore[method-assign]
    try:
        table = importlib.import_module(TABLE)
        modules = list(FURTHER)
        for family in table.FAMILIES:
            folder = f"{table.__path__[0]}/{family}"
            modules += [f"{family}.{module.name}" for module in pkgutil.iter_modules([folder])]
        for name in modules:
            importlib.import_module(f"{TABLE}.{name}")
    finally:
        SourceFileLoader.exec_module = execute  # type: ignore[method-assign]
    return found


def functions_and_methods(names: list[str]) -> tuple[list[str], list[str]]:
    """The public functions and the methods of all rows, those in place included."""
    table = sys.modules[f"{TABLE}.rows.row"].DECLARED
    functions: dict[str, None] = {}
    methods: dict[str, None] = {}
    for name in names:
        short = name.removeprefix("linalg_")
        for row in table[name]:
            if row.public:
                functions.update((shown((space, short)), None) for space in row.namespace)
            if row.method:
                methods[short] = None
            if row.inplace:
                methods[f"{short}_"] = None
    return list(functions), list(methods)


def wrap(names: list[str], start: str) -> str:
    """Names as a text of several lines, the first of which begins with `start`."""
    lines = textwrap.wrap(
        f"{start}{' '.join(names)}", 96, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    lines[0] = lines[0].removeprefix(start)
    texts = [f'{line.strip()} "' if line is not lines[-1] else f'{line.strip()}"' for line in lines]
    return f'{start}"' + f'\n{" " * 8}"'.join(texts)


def written() -> str:
    """The text of the file."""
    parts, homes = [HEAD], find_homes()
    for list_, modules in homes.items():
        parts.append(f"\n#: {LISTS[list_][0]}\n{list_}: Final = {{\n")
        for module, names in sorted(modules.items()):
            parts.append(wrap(names, f'    "{module}": ') + ",\n")
        parts.append("}\n")
    rows = [name for _, names in sorted(homes["ROWS"].items()) for name in names]
    for list_, names, text in zip(
        ("FUNCTIONS", "METHODS"), functions_and_methods(rows), ("Public functions", "Methods")
    ):
        parts.append(f"\n#: {text} that are made of rows.\n{list_}: Final = (\n")
        parts.append(f"{wrap(names, ' ' * 4)}\n)\n")
    return "".join(parts)


def main() -> int:
    """Writes the file; with --check, 1 where it is not up to date."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--check", action="store_true", help="write nothing")
    text = written()
    if options.parse_args().check:
        stale = not PATH.exists() or PATH.read_text(encoding="utf-8") != text
        print(f"{PATH.name} is outdated" if stale else "up to date")
        return int(stale)
    PATH.write_text(text, encoding="utf-8")
    print(f"{PATH.name}: {len(text.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
