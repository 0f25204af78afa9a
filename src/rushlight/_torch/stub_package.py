"""Writes stubs for programs that say `import torch`: `python -m rushlight stubs --as-torch DIR`.

Each module of `torch` is a few lines that take its names from the module of Rushlight. The package
is called `torch`, not `torch-stubs`, which mypy finds in site-packages only, not by MYPYPATH.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .names import MODULES

ROOT: Final = Path(__file__).parents[1]
_HEAD: Final = "# Written by `python -m rushlight stubs --as-torch`: don't edit.\n"


def write(folder: Path) -> int:
    """Writes the stubs into a folder, and gives how many files they are."""
    count = 0
    for name, place in sorted(_modules()):
        source = _source(place)
        is_package = source.stem == "__init__"
        path = folder.joinpath("torch", *filter(None, name.split(".")))
        target = path / "__init__.pyi" if is_package else path.with_suffix(".pyi")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_HEAD + _text(source, place), encoding="utf-8")
        count += 1
    return count


def _modules() -> Iterator[tuple[str, str]]:
    """The names of public modules below `torch`, and their places below the package."""
    yield "", ""
    for name, place in MODULES.items():
        source = _source(place)
        if not source.exists():
            continue
        yield name, place
        if source.stem == "__init__":
            for inner in source.parent.rglob("*.py"):
                parts = inner.relative_to(source.parent).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if parts and not any(part.startswith("__") for part in parts):
                    yield ".".join((name, *parts)), ".".join((place, *parts))


def _source(place: str) -> Path:
    """The file that says what a module has: its stub, where it has one."""
    path = ROOT.joinpath(*filter(None, place.split(".")))
    found = [path / "__init__.pyi", path / "__init__.py"] if path.is_dir() else [
        path.with_suffix(".pyi"), path.with_suffix(".py")
    ]  # fmt: skip
    return next((file for file in found if file.exists()), found[-1])


def _text(source: Path, place: str) -> str:
    """The stub of a module: that of the package itself is the package's own."""
    text = source.read_text(encoding="utf-8")
    if not place:
        return re.sub(r"(?m)^from \.(?=\w| import)", "from rushlight.", text).replace(
            "from rushlight. import", "from rushlight import"
        )
    module = f"rushlight.{place}"
    lines = [f"from {module} import *\n"]
    names = sorted(_names(ast.parse(text)))
    lines += [f"from {module} import {name} as {name}\n" for name in names]
    return "".join(lines)


def _names(tree: ast.Module) -> set[str]:
    """What a source defines, and what a star import wouldn't take from it."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found.update(a.name for a in node.names if a.asname == a.name)
    return {name for name in found if not name.startswith("__")}
