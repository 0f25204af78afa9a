"""Imports go down only, without cycles, and each outside package has one place that imports it."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from typing import NamedTuple

import pytest
from _tree import PACKAGE, module_name, parsed, python_files, relative

#: Every module and package that lies directly in `rushlight`. What is not listed has no place yet.
LAYERS = {
    0: "_base _formula _native",
    1: "_array",
    2: "_core",
    3: "_table",
    4: "_tensor",
    5: "autograd",
    6: "amp func profiler random sparse viz",
    7: "nn",
    8: "distributions multiprocessing serialization testing utils",
    9: "optim",
    10: "_compile distributed",
    11: "_torch __main__",
    # `rushlight` is `__init__.py`: the names that users see.
    12: "rushlight",
}
LAYER = {name: number for number, names in LAYERS.items() for name in names.split()}

#: The array libraries, which only `_array` knows.
ARRAYS = {"numpy", "scipy", "ml_dtypes", "cupy"}
#: What else may be imported from outside the standard library, and by whom.
GUESTS = {
    "llvmlite": {"rushlight._native.llvm.llvmlite_binding"},
    "mpi4py": {"rushlight.distributed.world"},
    "mypy_extensions": {"rushlight._base.mypyc_words"},
    "rich": {"rushlight.viz.progress"},
    "safetensors": {"rushlight.serialization.safetensors"},
    "tensorboardX": {"rushlight.utils.tensorboard"},
    "tqdm": {"rushlight._torch.hub"},
}


#: Modules that load one late which imports them, and why.
BACK = {
    ("rushlight._table.modes.autocast_functions", "rushlight._table.modes.autocast"): (
        "what runs under autocast only, for functions that are there from the start"
    ),
    ("rushlight.sparse.compressed", "rushlight.sparse.make"): "the method `to_sparse`",
    ("rushlight.sparse.coordinates", "rushlight.sparse.make"): "the method `to_sparse`",
    ("rushlight.sparse.coordinates", "rushlight.sparse.pickles"): "the method `__reduce_ex__`",
}
#: Packages with parts that import each other, and why.
ROUND = {
    "rushlight._array": "families ask one another: reductions and formulas, layers and shapes",
    "rushlight.utils.data": "winding a pipe forward seeds its graph, and graphs are of pipes",
}


class Import(NamedTuple):
    """One import: who, from which line, what, and whether it is done when the module is loaded."""

    importer: str
    line: int
    imported: str
    at_load: bool


@cache
def modules() -> frozenset[str]:
    return frozenset(module_name(path) for path in python_files("src/rushlight"))


def is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def statements(node: ast.AST, at_load: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node that can run, and whether it runs when the module is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield other, at_load
                yield from statements(other, at_load)
            continue
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield child, at_load
        yield from statements(child, at_load and not deferred)


def imported_names(node: ast.AST, package: str) -> Iterator[str]:
    """The modules that a statement imports; `from a import b` is `a.b` where that is a module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        base = resolve_name("." * node.level + (node.module or ""), package)
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            yield inner if inner in modules() else base
    elif isinstance(node, ast.Call) and node.args:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        name = start_of(node.args[0])
        if called in ("import_module", "__import__") and name:
            yield resolve_name(name, package) if name.startswith(".") else name
        elif called in ("load", "later") and f"rushlight.{name.partition(':')[0]}" in modules():
            yield f"rushlight.{name.partition(':')[0]}"


def start_of(text: ast.expr) -> str:
    """A text as the code has it, or what it has of one up to the first value that is put in."""
    if isinstance(text, ast.JoinedStr) and text.values:
        return start_of(text.values[0])
    value = getattr(text, "value", "")
    return value if isinstance(value, str) else ""


@cache
def imports() -> tuple[Import, ...]:
    found = []
    for path in python_files("src/rushlight"):
        importer = module_name(path)
        package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
        for node, at_load in statements(parsed(path)):
            for name in imported_names(node, package):
                found.append(Import(importer, getattr(node, "lineno", 0), name, at_load))
    return tuple(found)


def part(module: str) -> str:
    """The name directly below `rushlight` that a module belongs to."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else "rushlight"


def ours(module: str) -> bool:
    return module == "rushlight" or module.startswith("rushlight.")


def shown(found: list[Import]) -> str:
    return "\n".join(f"{i.importer}, line {i.line}, imports {i.imported}" for i in found)


def test_every_module_has_a_layer() -> None:
    homeless = {part(module) for module in modules()} - LAYER.keys()
    assert not homeless, f"give these a layer: {sorted(homeless)}"


def test_imports_go_down_only() -> None:
    up = [
        i
        for i in imports()
        if ours(i.imported) and LAYER.get(part(i.imported), 99) > LAYER.get(part(i.importer), 99)
    ]
    assert not up, shown(up)


def test_there_is_no_cycle_of_packages() -> None:
    graph: dict[str, set[str]] = {name: set() for name in LAYER}
    for i in imports():
        if ours(i.imported) and part(i.imported) != part(i.importer):
            graph[part(i.importer)].add(part(i.imported))
    cycle = find_cycle(graph)
    assert cycle is None, " -> ".join(cycle or ())


def test_few_things_lie_at_the_top() -> None:
    found = sorted(p.name for p in PACKAGE.iterdir() if p.name != "__pycache__")
    assert len(found) <= 32, found


def parts_of(package: str) -> dict[str, set[str]]:
    """The modules and packages that lie directly in a package, and what each imports of them."""
    depth = package.count(".") + 2
    inside = [m for m in modules() if m.startswith(f"{package}.")]
    graph: dict[str, set[str]] = {".".join(m.split(".")[:depth]): set() for m in inside}
    for i in imports():
        if (i.importer, i.imported) in BACK:
            continue
        one = ".".join(i.importer.split(".")[:depth])
        other = ".".join(i.imported.split(".")[:depth])
        if one in graph and other in graph and one != other:
            graph[one].add(other)
    return graph


def test_there_is_no_cycle_of_the_parts_of_a_package() -> None:
    packages = {module.rpartition(".")[0] for module in modules()} - {"", "rushlight"}
    cycles = {package: find_cycle(parts_of(package)) for package in packages}
    found = [" -> ".join(c) for package, c in cycles.items() if c and package not in ROUND]
    assert not found, "\n".join(found)
    assert all(cycles[package] for package in ROUND)


def test_kernels_ask_no_family_that_asks_them() -> None:
    families = ("elementwise", "linalg", "nn", "optimizers", "random", "reduce", "shape")
    found = [
        i
        for i in imports()
        if i.importer.startswith("rushlight._array.kernels")
        and i.imported.startswith(tuple(f"rushlight._array.{family}" for family in families))
    ]
    assert not found, shown(found)


def test_there_is_no_cycle_of_imports_deferred_ones_included() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for i in imports():
        if i.imported in graph and i.imported != i.importer:
            graph[i.importer].add(i.imported)
    for importer, imported in BACK:
        assert imported in graph[importer]
        graph[importer].discard(imported)
    cycle = find_cycle(graph)
    assert cycle is None, " -> ".join(cycle or ())


def find_cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """One cycle of the graph as a path that ends where it starts, or None."""
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = []
        if start not in done:
            path.append(start)
            stack.append((start, iter(sorted(graph[start]))))
        while stack:
            node, rest = stack[-1]
            following = next((n for n in rest if n not in done), None)
            if following is None:
                done.add(node)
                stack.pop()
                path.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                path.append(following)
                stack.append((following, iter(sorted(graph[following]))))
    return None


def test_only_the_array_layer_imports_an_array_library() -> None:
    wrong = [
        i for i in imports() if i.imported.split(".")[0] in ARRAYS and part(i.importer) != "_array"
    ]
    assert not wrong, shown(wrong)


def test_nothing_else_comes_from_outside_the_standard_library() -> None:
    wrong = [
        i
        for i in imports()
        if (outside := i.imported.split(".")[0]) not in sys.stdlib_module_names
        and not ours(i.imported)
        and outside not in ARRAYS
        and i.importer not in GUESTS.get(outside, ())
    ]
    assert not wrong, shown(wrong)


def test_a_deferred_import_is_seen_and_one_for_type_checkers_is_not() -> None:
    code = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import hidden
else:
    import shown
def f():
    import deferred
    importlib.import_module("by_name")
    load(f"_base.{name}")
    load(f"_base.lazy:{name}")
"""
    found = {
        (name, at_load)
        for node, at_load in statements(ast.parse(code))
        for name in imported_names(node, "rushlight")
    }
    assert found == {
        ("typing", True),
        ("shown", True),
        ("deferred", False),
        ("by_name", False),
        ("rushlight._base.lazy", False),
    }


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, None),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, None),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
    ],
)
def test_a_cycle_is_found_where_there_is_one(
    edges: dict[str, set[str]], expected: list[str] | None
) -> None:
    assert find_cycle(edges) == expected


def test_the_package_lies_where_these_tests_look() -> None:
    assert (PACKAGE / "_core").is_dir(), relative(PACKAGE)
