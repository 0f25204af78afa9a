"""The project's files as the house tests read them."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "rushlight"
_WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LEFT_OUT = {"build", "dist", "results", "__pycache__"}


def python_files(*folders: str) -> list[Path]:
    """The Python files below the folders, without what is built."""
    return _files("*.py", folders)


def text_files() -> list[Path]:
    """Everything in the project that is read as text: code, pages, settings."""
    found = [p for p in ROOT.iterdir() if p.is_file() and p.name not in {"LICENSE", ".git"}]
    for folder in ("src", "tests", "benchmarks", "examples", "docs", ".ci"):
        found += [p for p in (ROOT / folder).rglob("*") if p.is_file() and _belongs(p)]
    return sorted(p for p in found if _is_text(p))


def pages() -> list[Path]:
    """The Markdown pages of the project."""
    top = sorted(ROOT.glob("*.md"))
    return top + _files("*.md", ("docs", "examples", "benchmarks", "src"))


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def code_lines(path: Path) -> int:
    """How many lines of a file hold code: no blank lines, comments and docstrings."""
    written = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    lines = {n for n, line in written if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(parsed(path)):
        if isinstance(node, _WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def module_name(path: Path) -> str:
    """The dotted name under which a file of the package is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def relative(path: Path) -> str:
    """The path as it is written from the root of the project."""
    return path.relative_to(ROOT).as_posix()


def _files(pattern: str, folders: tuple[str, ...]) -> list[Path]:
    return sorted(p for folder in folders for p in (ROOT / folder).rglob(pattern) if _belongs(p))


def _belongs(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    hidden = any(part.startswith(".") and part != ".ci" for part in parts)
    return not hidden and not _LEFT_OUT.intersection(parts) and ".egg-info" not in str(path)


def _is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()[:4096]


if __name__ == "__main__":
    found: Counter[str] = Counter()
    for file in python_files("src/rushlight"):
        found[file.relative_to(PACKAGE).parts[0]] += code_lines(file)
    print(*(f"{count:7,} {folder}" for folder, count in found.most_common()), sep="\n")
    print(f"{found.total():7,}")
