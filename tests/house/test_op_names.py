"""Outside the table nothing branches on the name of an operation: what is particular of one is a
field of its row.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from _tree import parsed, python_files, relative

import rushlight  # noqa: F401
from rushlight._table.rows.row import ROWS

#: Modules that exist to map public names to what they mean.
_MAPS = ("_table/", "_torch/names.py")

#: Names of other things, which some operations have as well.
OTHER = frozenset({
    "_array/linalg/lapack.py: _PUBLIC[name]",  # NumPy's routines
    "_tensor/array_protocol.py: name in ('prod', 'all', 'any')",  # NumPy's functions
    "_tensor/array_protocol.py: name in _OTHERS",
    "_tensor/array_protocol.py: name.startswith('arg')",
    "_tensor/array_protocol.py: ufunc.__name__ not in _WITH_NUMBERS",
    "_tensor/array_protocol.py: _REFLECTED.get(ufunc.__name__)",
    "_compile/capture/code_observation.py: name in HARMLESS",  # methods of Python's containers
    "_compile/capture/replay_safety.py: name in _CHANGES",
    "_compile/capture/replay_safety.py: name not in HARMLESS",
    "_compile/capture/output_aliasing.py: type(x).__name__ in ('dtype', 'slice', 'ellipsis')",
    "_tensor/methods.py: BINARY[name]",  # Python's operators
    "_torch/foreach.py: _NUMBERS[stem]",  # public functions on lists
    "_torch/foreach.py: stem in _NUMBERS",
    "_tensor/public_functions.py: name not in _AS_CALLED",  # public functions as they are handed on
    "_tensor/public_functions.py: name in _AS_CALLED",  # which are compiled in PyTorch
    "_tensor/public_functions.py: name in _IN_PYTHON",  # and which are Python's
    "_tensor/public_functions.py: name in _METHODS_IN_PYTHON",
    "_tensor/public_functions.py: name not in _SPELLED",  # of these, which hand on defaults
    "_tensor/public_functions.py: name in METHODS",  # names of methods
    "_tensor/methods.py: name in METHODS",
    "_core/copyslices.py: type(inner).__name__ == 'NotImplemented'",  # a class of nodes
    "sparse/arithmetic.py: _SUMS[name]",  # methods of sparse tensors
    "sparse/arithmetic.py: name in _SUMS",
    "sparse/arithmetic.py: name == 'div'",
    "sparse/arithmetic.py: name == 'mul'",
    "utils/flop_counter.py: _PARTS[name]",  # operators of `torch.ops.aten`
    "utils/flop_counter.py: name == 'conv_weight'",
    "utils/flop_counter.py: name in _PARTS",
})  # fmt: skip
#: What is still to become a field of the row.
LEFT: frozenset[str] = frozenset()
#: What declares rows, or says what names mean: there names stand for themselves.
_DECLARING = ("elementwise", "linalg", "nn", "random", "reduce", "shape", "names")
#: How often what makes functions of rows still asks for a name (batching rules for several rows
#: and PyTorch's exceptions in messages); to fall.
IN_THE_TABLE = 18


@cache
def files() -> tuple[Path, ...]:
    """The package's files."""
    return tuple(python_files("src/rushlight"))


@cache
def names() -> frozenset[str]:
    """Every name of an operation, with and without its overload, and of a node's class."""
    rows = [row for overloads in ROWS.values() for row in overloads]
    found = {row.name for row in rows} | {row.node for row in rows}
    return frozenset(found | {f"{row.name}.{row.overload}" for row in rows})


def is_a_name(subject: ast.expr) -> bool:
    """Whether an expression can be the name of an operation: `op.name`, `name`, `node.name()`."""
    if isinstance(subject, ast.Call) and not subject.args:
        subject = subject.func
    if isinstance(subject, ast.Attribute):
        return subject.attr in ("name", "__name__", "node")
    return isinstance(subject, ast.Name) and subject.id in ("name", "stem", "packet", "func_name")


@cache
def constants(path: Path) -> dict[str, ast.expr]:
    """What a module binds to names."""
    found: dict[str, ast.expr] = {}
    for node in parsed(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:
                found[target.id] = node.value
    return found


@cache
def shared(name: str) -> tuple[tuple[Path, ast.expr], ...]:
    """What modules bind to a name that others import."""
    found = () if name.startswith("_") else files()
    return tuple((path, constants(path)[name]) for path in found if name in constants(path))


def words(node: ast.expr, path: Path, depth: int = 3) -> Iterator[str]:
    """The strings that a subject is compared with in a module: of a dict, its keys."""
    inner: list[ast.expr] = []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        yield from node.value.split()
    elif isinstance(node, ast.Name | ast.Attribute) and depth:
        name = node.id if isinstance(node, ast.Name) else node.attr
        here = isinstance(node, ast.Name) and name in constants(path)
        for there, value in [(path, constants(path)[name])] if here else shared(name):
            yield from words(value, there, depth - 1)
    elif isinstance(node, ast.Dict):
        inner = [value if key is None else key for key, value in zip(node.keys, node.values)]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        inner = node.elts
    elif isinstance(node, ast.Starred):
        inner = [node.value]
    elif isinstance(node, ast.BinOp):
        inner = [node.left, node.right]
    elif isinstance(node, ast.Call):  # frozenset({...}), "a b c".split()
        inner = list(node.args)
        if isinstance(node.func, ast.Attribute):
            inner.append(node.func.value)
    for item in inner:
        yield from words(item, path, depth)


def lookups(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """The subjects that a node looks at, each with what it is compared with, and how."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for a, op, b in zip(sides, node.ops, sides[1:]):
            if isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                yield a, b, "is"
                yield b, a, "is"
    elif isinstance(node, ast.Subscript):
        yield node.slice, node.value, "is"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in ("get", "pop"):
            yield node.args[0], node.func.value, "is"
        elif node.func.attr in ("startswith", "endswith", "removeprefix", "removesuffix"):
            yield node.func.value, node.args[0], node.func.attr
    elif isinstance(node, ast.Match):
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    yield node.subject, pattern.value, "is"


def names_some(word: str, how: str) -> bool:
    """Whether a text is the name of an operation, or begins or ends one."""
    if how == "is":
        return word in names()
    if len(word.strip("_")) < 2:
        return False
    begins = how in ("startswith", "removeprefix")
    return any(n.startswith(word) if begins else n.endswith(word) for n in ROWS)


def finders(tree: ast.AST) -> set[str]:
    """The functions by which modules find names: those given to `lazy`."""
    return {
        given.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazy"
        for given in (*node.args, *(keyword.value for keyword in node.keywords))
        if isinstance(given, ast.Name)
    }


def looking(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, without those of functions that find attributes by name."""
    found = {"__getattr__"} | finders(tree)
    left = [tree]
    while left:
        node = left.pop()
        if not isinstance(node, ast.FunctionDef) or node.name not in found:
            yield node
            left.extend(ast.iter_child_nodes(node))


@cache
def branches(maps: tuple[str, ...] = _MAPS) -> tuple[str, ...]:
    """Every place that asks which operation a name is, as `file: expression`."""
    found = []
    for path in files():
        place = relative(path)[len("src/rushlight/") :]
        if place.startswith(maps):
            continue
        for node in looking(parsed(path)):
            for subject, others, how in lookups(node):
                if is_a_name(subject) and any(names_some(w, how) for w in words(others, path)):
                    found.append(f"{place}: {ast.unparse(node)}")
    return tuple(sorted(found))


def test_nothing_outside_the_table_asks_for_the_name_of_an_operation() -> None:
    new = [place for place in branches() if place not in LEFT | OTHER]
    assert not new, "make these fields of the row:\n" + "\n".join(new)


def test_the_list_of_what_is_left_is_true() -> None:
    gone = [place for place in sorted(LEFT | OTHER) if place not in branches()]
    assert not gone, "take these off the list:\n" + "\n".join(gone)


def test_what_makes_functions_of_rows_asks_for_no_more_names() -> None:
    declaring = tuple(f"_table/{folder}/" for folder in _DECLARING)
    found = [b for b in branches((*declaring, "_torch/")) if b.startswith("_table/")]
    assert len(found) <= IN_THE_TABLE, "\n".join(found)
    assert len(found) == IN_THE_TABLE, f"set IN_THE_TABLE to {len(found)}"
