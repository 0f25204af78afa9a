"""What is public is explained, links lead somewhere, and no page speaks of somebody's machine."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from _tree import ROOT, module_name, pages, parsed, python_files, relative, text_files

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
#: Spelled in two halves, so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.}/)])/(?:wor" + r"k|tm" + r"p|roo" + r"t|hom" + r"e)/[A-Za-z]")
NEIGHBOUR = "../" + "shared"


def public_modules() -> Iterator[Path]:
    for path in python_files("src/rushlight"):
        parts = module_name(path).split(".")
        if not any(p.startswith("_") and not p.startswith("__") for p in parts):
            yield path


def public_definitions() -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Functions and classes that a user can import, by the name that they are imported by."""
    for path in public_modules():
        for node in parsed(path).body:
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if named and not node.name.startswith("_") and not is_overload(node):
                yield f"{module_name(path)}.{node.name}", node


def is_overload(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return any(ast.unparse(d).endswith("overload") for d in node.decorator_list)


def is_sentence(line: str) -> bool:
    return bool(line) and line[-1] in ".:?!;…" and not line[0].isspace()


def test_every_module_says_what_it_is() -> None:
    silent = [
        relative(path)
        for path in python_files("src/rushlight", "benchmarks")
        if parsed(path).body and not ast.get_docstring(parsed(path))
    ]
    assert not silent


def test_public_functions_and_classes_have_docstrings() -> None:
    silent = [name for name, node in public_definitions() if not ast.get_docstring(node)]
    assert not silent, "\n".join(silent)


def test_the_first_line_of_a_public_docstring_is_a_sentence() -> None:
    broken = [
        f"{name}: {first}"
        for name, node in public_definitions()
        if (text := ast.get_docstring(node)) and not is_sentence(first := text.splitlines()[0])
    ]
    assert not broken, "\n".join(broken)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(kept.strip().replace(" ", "-"))
    return found


def test_links_between_pages_lead_somewhere() -> None:
    dead = []
    for page in pages():
        for match in LINK.finditer(FENCE.sub("", page.read_text("utf-8"))):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or not there.is_relative_to(ROOT):
                dead.append(f"{relative(page)}: {target}")
            elif anchor and anchor not in anchors(there):
                dead.append(f"{relative(page)}: {target} (no such heading)")
    assert not dead, "\n".join(dead)


def test_every_file_that_a_page_names_is_there() -> None:
    known = {p.relative_to(ROOT).as_posix() for p in text_files()}
    gone = []
    for page in pages():
        if {"decisions", "reference"} & set(page.parts):  # which tell of their day
            continue
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8")):
            if not any(f"/{path}".endswith(f"/{name}") for path in known):
                gone.append(f"{relative(page)}: {name}")
    assert not gone, "\n".join(gone)


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = []
    for path in text_files():
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATH.search(line) or NEIGHBOUR in line:
                found.append(f"{relative(path)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)
