"""What is loaded or made late is so by one mechanism, `_base/lazy.py`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from _tree import PACKAGE, parsed, python_files

MECHANISM = "_base/lazy.py"
#: Who else has a module find names by a function, and why it isn't to be lazy.
FINDERS = {
    "_torch/alias/missing.py": "loads nothing: it rewords the error of a name that isn't there",
}
#: Who else imports what it has the name of, and whose name that is.
IMPORTERS = {
    "utils/data/datapipes/utils/decoder.py": "packages that decode pictures, films and sounds",
    "_table/names/registered_operators.py": "the caller's: `torch.ops.import_module`",
    "_torch/_utils.py": "the caller's: `try_import`, and a name in a pickle",
    "_torch/alias/__init__.py": "that of an import statement: the import system asks",
    "_torch/alias/missing.py": "that of an import statement that failed",
    "_torch/finder.py": "that of an import statement: the import system asks",
    "_torch/hub.py": "an optional package, `tqdm`",
    "distributed/world.py": "an optional package, `mpi4py`",
    "utils/_pytree_text.py": "that in a text of a tree, which came from elsewhere",
}


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def outside_of_classes(node: ast.AST) -> Iterator[ast.AST]:
    """What a file has outside of classes and of what type checkers alone read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and getattr(child.test, "id", "") in TYPES_ONLY:
            for other in child.orelse:
                yield other
                yield from outside_of_classes(other)
        elif not isinstance(child, ast.ClassDef):
            yield child
            yield from outside_of_classes(child)


TYPES_ONLY = {"TYPE_CHECKING", "_TYPES_ONLY"}


def called(node: ast.AST | None) -> str:
    """The name of the function that is called; empty for anything but a call."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def finds_names(tree: ast.Module) -> bool:
    """Whether a module, or one that it fills, finds names by a function that isn't `lazy`'s."""
    for node in outside_of_classes(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            return True
        if isinstance(node, ast.Assign) and called(node.value).strip("_") != "lazy":
            for target in node.targets:
                key = target.slice if isinstance(target, ast.Subscript) else None
                if "__getattr__" in (getattr(target, "id", ""), getattr(key, "value", "")):
                    return True
    return False


def imports_by_name(tree: ast.Module) -> bool:
    """Whether a file calls what imports a module whose name it has."""
    names = {"import_module", "__import__", "LazyLoader"}
    return any(called(node) in names for node in ast.walk(tree))


def those(test: object) -> set[str]:
    assert callable(test)
    return {place(p) for p in python_files("src/rushlight") if test(parsed(p))} - {MECHANISM}


def test_modules_find_names_by_one_mechanism() -> None:
    assert those(finds_names) == FINDERS.keys()


def test_modules_are_imported_by_name_in_one_place() -> None:
    assert those(imports_by_name) == IMPORTERS.keys()


@pytest.mark.parametrize(
    ("code", "finds", "imports"),
    [
        ("def __getattr__(name): ...", True, False),
        ("def f(space):\n    space['__getattr__'] = g", True, False),
        ("__getattr__ = partial(g)", True, False),
        ("__getattr__ = lazy(__name__)", False, False),
        ("class C:\n    def __getattr__(self, name): ...", False, False),
        ("if TYPE_CHECKING:\n    def __getattr__(name): ...", False, False),
        ("if TYPE_CHECKING:\n    x = 1\nelse:\n    def __getattr__(name): ...", True, False),
        ("def f():\n    return importlib.import_module(f'{__name__}.x')", False, True),
        ("def f():\n    from . import x", False, False),
    ],
)
def test_a_second_mechanism_is_seen(code: str, finds: bool, imports: bool) -> None:
    tree = ast.parse(code)
    assert (finds_names(tree), imports_by_name(tree)) == (finds, imports)
