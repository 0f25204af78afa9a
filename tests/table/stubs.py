"""Writes `src/rushlight/__init__.pyi`: the types of `torch.*` for editors and type checkers.

    python -m tests.table.stubs

Signatures of operations come from their rows, those of other functions from the functions.
"""

from __future__ import annotations

import importlib
import inspect
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import rushlight
from rushlight import _table as ops
from rushlight._base.schema import REQUIRED, Parameter, public_name
from rushlight._table.rows.composite import COMPOSITES
from rushlight._torch.names import HOMES, MODULES
from tests.table import help_texts

PATH = Path(rushlight.__file__).with_name("__init__.pyi")
HEAD = '''\
# Written by `python -m tests.table.stubs` from the table: don't edit.
# ruff: noqa
# fmt: off
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"
"""The types of `rushlight.*`."""

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Sequence
from typing import Any, overload

'''
TYPES = {
    "Tensor": "Tensor", "int": "_int", "SymInt": "_int", "float": "_float", "bool": "_bool",
    "str": "str", "Scalar": "Number", "ScalarType": "dtype", "Device": "device | str | _int",
    "Layout": "layout", "MemoryFormat": "memory_format", "Generator": "Generator",
}  # fmt: skip


def type_of(p: Parameter, accepts_numbers: bool) -> str:
    """What a parameter of a row takes, as an annotation."""
    found = TYPES.get(p.type, "Any")
    if p.is_list:
        found = f"Sequence[{found}]" + (f" | {found}" if p.type in ("int", "SymInt") else "")
    elif accepts_numbers:
        found += " | Number"
    return f"{found} | None" if p.optional and found != "Any" else found


def of_row(row: Any) -> tuple[str, str]:
    """Parameters and result of one overload."""
    parts, starred, optional = [], False, False
    for i, p in enumerate(row.schema.params):
        if p.kw_only and not starred:
            parts.append("*")
            starred = True
        numbers = i > 0 and p.is_tensor and row.numbers and row.kind == "elementwise"
        name = public_name(p.name)
        default = "" if p.default is REQUIRED else " = ..."
        if keyword.iskeyword(name) or (optional and not default and not starred):
            return "*args: Any, **kwargs: Any", "Any"
        optional = optional or bool(default)
        parts.append(f"{name}: {type_of(p, numbers)}{default}")
    if row.out:
        parts += ([] if starred else ["*"]) + ["out: Tensor | None = ..."]
    returns = row.schema.returns
    if len(returns) == 1:
        result = "tuple[Tensor, ...]" if returns[0].is_list else "Tensor"
    else:
        result = "Any"  # a named tuple
    return ", ".join(parts), result


def of_function(name: str, function: Any) -> str:
    """The stub of a function that isn't a row, from its own signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
    parts, starred = [], False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        default = "" if p.default is p.empty else " = ..."
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        starred = starred or p.kind is p.VAR_POSITIONAL
        parts.append(f"{star}{p.name}: {annotated(p.annotation)}{default}")
    result = annotated(signature.return_annotation)
    if result == "Any" and name.startswith("is_"):
        result = "_bool"
    elif result == "Any" and ("", name) in COMPOSITES:
        result = "Tensor" if name in TENSORS else "Any"
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


#: Functions made of operations whose one result is a tensor.
TENSORS = frozenset(
    {"arange", "as_tensor", "atleast_1d", "bilinear", "cat", "cdist", "concat", "concatenate",
     "conv1d", "conv2d", "conv3d", "cov", "dropout", "einsum", "empty", "empty_like", "eye",
     "from_numpy", "full", "full_like", "hstack", "dstack", "vstack", "linspace", "logspace",
     "matmul", "normal", "ones", "ones_like", "outer", "quantile", "rand", "rand_like",
     "randint", "randn", "randn_like", "randperm", "scalar_tensor", "softmax", "stack", "stft",
     "tensor", "tensordot", "tile", "tril_indices", "triu_indices", "zeros", "zeros_like",
     "prelu", "relu", "selu", "pinverse", "inverse"}
)  # fmt: skip
_PLAIN = {"int", "float", "bool", "str", "None", "Any", "dtype", "Tensor", "bool | None"}


def annotated(annotation: Any) -> str:
    """An annotation where the stub knows its words."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    text = text if text in _PLAIN else "Any"
    return re.sub(r"\b(bool|float|int)\b", r"_\1", text)


def functions() -> Iterator[str]:
    """The stubs of all functions of the top level."""
    by_name: dict[str, list[Any]] = {}
    for rows in ops.ROWS.values():
        for row in rows:
            if row.public and "" in row.namespace:
                short = row.name.rpartition(".")[2].removeprefix("linalg_")
                by_name.setdefault(short, []).append(row)
    for space, name in sorted(ops.PUBLIC):
        if space or keyword.iskeyword(name):
            continue
        if name in by_name and ("", name) not in COMPOSITES:
            forms = list(dict.fromkeys(of_row(row) for row in by_name[name]))
            for parameters, result in forms:
                mark = "@overload\n" if len(forms) > 1 else ""
                yield f"{mark}def {name}({parameters}) -> {result}: ..."
        else:
            yield of_function(name, ops.PUBLIC[(space, name)])


def others(taken: set[str]) -> Iterator[str]:
    """Names that aren't operations: modules, classes, dtypes, settings, numbers."""
    for name, place in sorted(MODULES.items()):
        if (name[0] == "_" and name != "_C") or "." in name:
            continue
        folder, _, last = place.rpartition(".")
        yield f"from .{folder} import {last} as {name}"
    for name, module in sorted(HOMES.items()):
        if name not in taken:
            yield f"from .{module} import {name} as {name}"
    for name in sorted(vars(rushlight)):
        value = vars(rushlight)[name]
        if name[0] == "_" or name in taken or name in MODULES:
            continue
        if name in HOMES:
            continue
        home = getattr(value, "__module__", None)
        if home in ("typing", "builtins", "__future__"):
            continue
        if isinstance(value, ModuleType):
            continue  # of the package's inside, or among the lazy ones
        if isinstance(value, rushlight.dtype):
            yield f"{name}: dtype"
        elif isinstance(value, (int, float)) or value is None:
            kind = "None" if value is None else f"_{type(value).__name__}"
            yield f"{name}: {kind}"
        elif home and home.startswith("rushlight.") and hasattr(sys.modules.get(home), name):
            yield f"from {home.replace('rushlight', '', 1)} import {name} as {name}"
        elif isinstance(value, (rushlight.layout, rushlight.memory_format, rushlight.Generator)):
            yield f"{name}: {type(value).__name__}"
        else:
            yield f"{name}: Any"


def text() -> str:
    """The whole stub."""
    found = list(functions())
    taken = {line.split("def ", 1)[1].partition("(")[0] for line in found}
    rest = list(others(taken))
    imports = sorted(line for line in rest if line.startswith("from"))
    values = sorted(line for line in rest if not line.startswith("from"))
    start = ["from ._torch.types import Number as Number", "", "__version__: str"]
    switches = [
        f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
        for name in importlib.import_module("rushlight.amp.switches").NAMES
    ]
    parts = [*imports, *start, *values, "", *found, *sorted(set(switches))]
    return HEAD + "\n".join(parts) + "\n"


def main() -> int:
    """Writes the stub, and what `help` says; 0."""
    PATH.write_text(text())
    return help_texts.main()


if __name__ == "__main__":
    sys.exit(main())
