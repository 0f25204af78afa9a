"""What is public is listed: names may be added, and don't go without a word."""

import ast
import importlib
import rlcompleter
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight
from tests.table.public_names import MODULES, public_names, recorded

#: What sources import or bind for themselves.
INNER = {"Any", "Callable", "Final", "TYPE_CHECKING", "annotations", "importlib", "listed"}
STAR = """
from rushlight import *
from rushlight.nn import *
assert matmul(eye(2), eye(2)).sum().item() == 2 and float32 and no_grad and Linear(2, 3)
assert "distributed" not in globals() and "onnx" not in globals()
"""


def test_the_list_has_every_public_name() -> None:
    missing = sorted(public_names() - recorded().keys())
    assert not missing, "run `python -m tests.table.public_names`"


def test_no_name_has_gone_without_an_entry() -> None:
    gone = {name for name, reason in recorded().items() if not reason} - public_names()
    assert not gone, "write `removed VERSION: what to use` behind its name in public-names.txt"


def test_an_entry_says_when_and_what_to_use() -> None:
    reasons = [reason for reason in recorded().values() if reason]
    assert [r for r in reasons if not r.startswith("removed ") or ": " not in r] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_shows_its_public_names_and_no_others(name: str) -> None:
    module = importlib.import_module(f"rushlight.{name}".rstrip("."))
    shown = {n for n in dir(module) if n[0] != "_"}
    assert not shown & INNER - {*module.__all__}
    assert {n for n in module.__all__ if n[0] != "_"} <= shown
    assert [n for n in shown if not hasattr(module, n)] == []


def test_a_star_import_brings_functions_and_leaves_modules_alone() -> None:
    subprocess.run([sys.executable, "-c", STAR], check=True)


@pytest.mark.parametrize(
    "name", ["distributed", "fx", "hub", "jit", "library", "multiprocessing", "testing"]
)
def test_a_module_of_pytorchs_shows_what_it_lists_and_nothing_else(name: str) -> None:
    module = importlib.import_module(f"rushlight.{name}")
    assert {n for n in dir(module) if n[0] != "_"} <= {*module.__all__}


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("torch.nn.fun", "torch.nn.functional"),
        ("nn.Li", "nn.Linear("),
        ("t.topk", "t.topk("),
        ("torch.linalg.sv", "torch.linalg.svd("),
        ("torch.distributed.all_red", "torch.distributed.all_reduce("),
    ],
)
def test_what_is_typed_is_completed(typed: str, found: str) -> None:
    space = {"torch": rushlight, "nn": rushlight.nn, "t": rushlight.ones(2)}
    completed = rlcompleter.Completer(space).attr_matches(typed)
    assert found in {name.removesuffix(")") for name in completed}


@pytest.mark.parametrize("name", ["distributed", "nn", "nn.modules"])
def test_a_package_imports_names_one_by_one_for_editors_that_read_its_source(name: str) -> None:
    # Completers such as jedi's take `from .file import *` for everything that the file itself has
    # imported, whatever its `__all__` says. A star is heeded where the file has nothing else.
    module = importlib.import_module(f"rushlight.{name}")
    tree = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    stars = [
        node.module for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]  # fmt: skip
    assert stars == (["modules"] if name == "nn" else [])
