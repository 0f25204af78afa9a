"""The sizes from which the array layer takes another way, read off its source, and lowered.

A large array goes through blocks, threads or native kernels, a small one through neither: a row
whose samples are small says nothing of the ways of large ones. `lowered` sets every limit so that
the samples themselves are large. What is compared with a size is found in the source, so a limit
that is added tomorrow is lowered too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from unittest import mock

import rushlight
from rushlight._array import kernels
from rushlight._array.memory import parallel

#: Without native kernels, with them, and without them where only what large arrays need is lowered,
#: and not what small ones may have: the latter can be ways of their own for what lies between.
WAYS = ("plain", "native", "floors")

#: What "at least so many elements" and "up to so many" become.
FROM, UP_TO = 2, 1

ROOT = Path(rushlight.__file__).parent
FOLDERS = ("_array", "_table")

#: Limits that aren't of sizes, or beyond which a result would be wrong: they stay.
FIXED = {
    "_array.shape.rearrange._KEPT": "what is kept, not how it is computed",
    "_array.random.discrete._TWO_WORDS": "numbers that one word of the generator can't give",
    "_array.random.distributions.PART": "a part of the generator's stream",
    "_array.reduce.variance._HUGE": "where the plain way answers again",
    "_array.memory.meta._SMALL": "tensors without elements",
    "_array.random.mt19937.BLOCK": "the words of the generator's state",
    "_array.random.mt19937._KEPT": "states that are kept",
    "_array.reduce.norm.D": "an element type",
    "_array.elementwise.special._MANY": "steps of a recurrence, beyond which it loses its digits",
    "_array.linalg.vector_products._MANY": "PyTorch's own limit, with its digits",
    "_array.kernels.launch.ROW_LIMIT": "the scratch memory of a compiled kernel",
    "_array.kernels.launch.REGISTERS": "the registers of a compiled kernel",
    "_array.kernels.convolution_workspace.SHARES": "a number of threads' shares",
    "_array.kernels.convolution.SHARES": "a number of threads' shares",
    "_array.kernels.depthwise._TAPS": "what the kernel is written for",
    "_array.kernels.depthwise._WIDE": "numbers of 32 bits",
    "_array.kernels.max_pool._MOST": "numbers of 32 bits",
    "_array.kernels.grid_sample._MOST": "numbers of 32 bits",
    "_array.kernels.small_convolution._PLACES": "what the kernel is written for",
    "_array.kernels.transpose._MANY": "calls at most",
    "_table.calls.convolution_checks._MUCH": "PyTorch's own limit of what it refuses",
    "_table.rows.meta._FEW": "tensors without elements",
    "_table.rows.meta._MANY": "tensors without elements",
}

#: Lengths of pieces that large arrays are worked through in: no comparison shows them.
PIECES = {
    "_array.elementwise.blocked.BLOCK": 3,
    "_array.elementwise.blocked._CHUNK": 3,
    "_array.elementwise.blocked._ROW": 3,
    "_array.nn.element_losses._PIECE": 1,
    "_array.nn.generated_losses._SHORT_PIECE": 1,
    "_array.shape.gather._RUN": 2,
    "_array.reduce.moments._BLOCK": 3,
    "_array.memory.parallel._SUM_CHUNK": 4,
    "_array.memory.parallel._SUM_ROW": 2,
    "_array.reduce.reduce._LANES": 2,
    "_array.reduce.row_sums.LONG_ROW": 1,
    "_array.reduce.row_sums._BLOCK": 3,
    "_array.reduce.scan._TILE": 2,
    "_array.kernels.channel_softmax._BLOCK": 3,
    "_array.kernels.max_pool._CHUNK": 3,
    "_array.kernels.scans._CHUNK": 3,
    "_array.kernels.bias_gradients._CHUNK": 3,
    "_array.kernels.transpose._BLOCK": 2,
}


def modules() -> Iterator[tuple[str, Path]]:
    """The modules that hold limits: their names within the package, and files."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(p for p in parts if p != "__init__"), path


def compared(tree: ast.Module) -> Iterator[tuple[ast.expr, bool]]:
    """What a module puts in an order with something, and whether equal counts as below it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        for k, operator in enumerate(node.ops):
            if isinstance(operator, (ast.Lt, ast.GtE)):  # x < LIMIT, x >= LIMIT
                yield sides[k + 1], False
                yield sides[k], True
            elif isinstance(operator, (ast.LtE, ast.Gt)):
                yield sides[k + 1], True
                yield sides[k], False


@cache
def limits() -> dict[str, int]:
    """Every limit by its full name, and the value that makes two elements many."""
    found: dict[str, int] = {}
    for name, path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for side, inclusive in compared(tree):
            if not isinstance(side, ast.Name) or not side.id.isupper():
                continue
            full = f"{name}.{side.id}"
            value = getattr(import_module(f"rushlight.{name}"), side.id, None)
            if type(value) is int and value >= 8 and full not in FIXED:
                found[full] = min(found.get(full, FROM), UP_TO if inclusive else FROM)
    return {**found, **PIECES}


def _limited(function: Any) -> Any:
    """The cell of the limit of a function that splits large calls, or None."""
    if type(function) is not FunctionType or not function.__closure__:
        return None
    if function.__module__ != parallel.__name__ or "limit" not in function.__code__.co_freevars:
        return None
    return function.__closure__[function.__code__.co_freevars.index("limit")]


@contextmanager
def lowered(way: str) -> Iterator[None]:
    """Every array of two elements or more is a large one, in one of the `WAYS`."""
    table = {k: v for k, v in limits().items() if way != "floors" or v != UP_TO}
    threads = parallel.get_num_threads()
    with ExitStack() as stack:
        for full, value in table.items():
            home, _, name = full.rpartition(".")
            module = import_module(f"rushlight.{home}")
            stack.enter_context(mock.patch.object(module, name, value))
        least = FROM if way == "native" else sys.maxsize
        for name in ("LEAST", "PRODUCT", "CONVOLUTION"):
            stack.enter_context(mock.patch.object(kernels, name, least))
        for cell in cells():
            stack.callback(setattr, cell, "cell_contents", cell.cell_contents)
            cell.cell_contents = FROM
        parallel.set_num_threads(2)
        stack.callback(parallel.set_num_threads, threads)
        yield


@cache
def cells() -> list[Any]:
    """The cells of all functions that split large calls."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.startswith("rushlight._array") and isinstance(module, ModuleType):
            found += [c for v in list(vars(module).values()) if (c := _limited(v)) is not None]
    return list({id(c): c for c in found}.values())
