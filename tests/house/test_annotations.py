"""`Any` is for what really can be anything: how often it is written may only fall."""

import ast

from _tree import parsed, python_files, relative

#: Parameters and results annotated with `Any`, outside of what only exists for PyTorch's names.
MOST = 3_054


def annotations(tree: ast.AST) -> list[ast.expr]:
    """The annotations of parameters and results in a file."""
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            a = node.args
            found += [x.annotation for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
            found += [x.annotation for x in (a.vararg, a.kwarg) if x is not None]
            found.append(node.returns)
    return [x for x in found if x is not None]


def test_any_is_written_less_and_less() -> None:
    count = sum(
        any(isinstance(x, ast.Name) and x.id == "Any" for x in ast.walk(annotation))
        for path in python_files("src/rushlight")
        if "/_torch/" not in relative(path)
        for annotation in annotations(parsed(path))
    )
    assert count <= MOST, f"{count}: name the type, see `_base/annotations.py`"
    assert count > MOST - 100, f"only {count} are left: lower the number"
