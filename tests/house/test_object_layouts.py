"""What reads the objects of CPython and NumPy in memory lies in `_native/cpython`, nowhere else.

Its assumptions are one page (`docs/notes/cpython.md`), and are checked before the first use. A read
elsewhere would be neither.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from _tree import PACKAGE, parsed, python_files, relative

INSIDE = PACKAGE / "_native" / "cpython"
#: What reads memory by its address, Python's own functions in C, and what tells sizes of objects.
READS = {
    "pythonapi", "py_object", "from_address", "string_at", "wstring_at", "memmove", "memset",
    "__basicsize__", "__itemsize__", "__dictoffset__", "__weakrefoffset__", "__flags__",
    "getrefcount",
}  # fmt: skip
#: Who may all the same, and why.
EXCEPTIONS = {
    ("src/rushlight/_base/errors.py", "__flags__"): (
        "whether a class is static, for a message; the base imports nothing"
    ),
    ("src/rushlight/_base/referrers.py", "getrefcount"): (
        "whether somebody else holds an array that is resized, or a number of a step that is "
        "recorded: Python's own count, as Python tells it"
    ),
    ("src/rushlight/_compile/capture/array_proxies.py", "getrefcount"): (
        "Python's own count, as Python tells it, compared with one that `temporaries.py` measures"
    ),
    ("src/rushlight/_compile/capture/temporaries.py", "getrefcount"): (
        "the same: measured on operands with a name and without"
    ),
    ("src/rushlight/_core/engine.py", "getrefcount"): (
        "whether a hook has kept the gradient that it has made: PyTorch's own rule"
    ),
    ("src/rushlight/_native/references.py", "pythonapi"): (
        "counts one reference more, by Python's own function; reads nothing"
    ),
    ("src/rushlight/_native/references.py", "py_object"): (
        "the same: the argument of that function"
    ),
}


def reads(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each use of what is fenced."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in READS:
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name) and node.id in READS:
            yield node.lineno, node.id
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add)
            and any(map(is_address, (node.left, node.right)))
        ):
            yield node.lineno, "id(...) and an offset"


def is_address(x: ast.expr) -> bool:
    """Whether an expression is `id(...)`; shifted, as for hashing, it is none."""
    return isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "id"


def outside() -> list[Path]:
    return [p for p in python_files("src/rushlight") if INSIDE not in p.parents]


def test_only_one_folder_reads_objects_in_memory() -> None:
    wrong = [
        f"{relative(path)}:{line}: {name}"
        for path in outside()
        for line, name in reads(parsed(path))
        if (relative(path), name) not in EXCEPTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_every_exception_is_used() -> None:
    found = {(relative(path), name) for path in outside() for _, name in reads(parsed(path))}
    assert set(EXCEPTIONS) <= found, set(EXCEPTIONS) - found


@pytest.mark.parametrize(
    "code",
    [
        "ctypes.pythonapi.Py_IncRef(x)",
        "c_int64.from_address(at)",
        "at = id(x) + 16",
        "big = kind.__flags__ & 512",
    ],
)
def test_a_read_is_seen(code: str) -> None:
    assert list(reads(ast.parse(code)))
