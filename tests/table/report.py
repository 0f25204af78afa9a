"""Writes the reference pages: `python -m tests.table.report` (`--check` only compares them).

The pages depend on the table alone, so that the same table gives the same pages everywhere.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from rushlight._array import types as T
from rushlight._array.elementwise.ufuncs import FORMULAS
from rushlight._base import dtypes as D
from rushlight._base.schema import REQUIRED, Parameter, public_name
from rushlight._core.apply import apply_n
from rushlight._core.storage import new_tensor
from rushlight._formula.text import write
from rushlight._table import ROWS, Row
from rushlight._table.coverage import coverage, is_public, support
from rushlight._table.rows.composite import COMPOSITES, METHODS
from tests.table._expected_failures import EXPECTED
from tests.table._samples import TYPES, Maker, all_rows, given_samples, normalised

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
NOTICE = "<!-- Written by `python -m tests.table.report` from the table: edit the rows instead. -->"
LONGEST = 160  # a formula longer than this is named, not shown


def pages() -> dict[str, str]:
    """The pages by file name."""
    return {"coverage.md": coverage_page(), "operators.md": operators_page()}


# ---- what is supported ------------------------------------------------------------------------


def coverage_page() -> str:
    """What every operator supports."""
    table = coverage()
    rows = [s for s in table if s.forward != "composed"]
    composed = sorted(s.operator for s in table if s.forward == "composed")
    lines = [
        NOTICE, "", "# What is supported", "", table.summary, "",
        "`rushlight.coverage()` gives the same table. A gradient lists the arguments that have "
        "one. In forward mode a tangent goes through the row's own formulas (`formula`), through "
        "the operation applied to tangents (`itself`), a rule of the row's own (`rule`), or "
        "through two backward passes. Under vmap an operation runs on the whole batch by a rule, "
        "or in a loop over the examples. The element types are those in which the row's first "
        "sample runs: bool, int (8 to 64 bits), half (float16 and bfloat16), float (32 and 64 "
        "bits), complex (64 and 128). Every cell is tested, from the row, by `tests/table/`; "
        "`tests/compare/operators/` compares operators with PyTorch.", "",
        "| " + " | ".join([*table.HEAD, "element types"]) + " |",
        "|" + "---|" * (len(table.HEAD) + 1),
    ]  # fmt: skip
    types: dict[str, str] = {}
    for row in filter(is_public, all_rows()):
        types.setdefault(support(row).operator, element_types(row))
    lines += [
        "| " + " | ".join([f"`{s.operator}`", *s[1:], types[s.operator]]) + " |" for s in rows
    ]
    lines += ["", "## Composed of these", ""]
    lines += wrapped(", ".join(f"`{name}`" for name in composed))
    lines += ["", "## Known failures", ""]
    lines += [f"- `{name}`: {reason}" for name, reason in sorted(EXPECTED.items())] or ["None."]
    return "\n".join(lines) + "\n"


GROUPS = {
    "bool": (D.bool_,),
    "int": (D.uint8, D.int8, D.int16, D.int32, D.int64),
    "half": (D.float16, D.bfloat16),
    "float": (D.float32, D.float64),
    "complex": (D.complex64, D.complex128),
}


def element_types(row: Row) -> str:
    """The groups of element types in which the row's first sample runs."""
    usual = TYPES.get(row.dtypes) or (D.BY_NAME[row.dtypes],)
    mk = Maker(1, usual[0])
    first = normalised(row, given_samples(row, mk)[0])
    tensors = [a for a in first if isinstance(a, T.ndarray)]
    tensors += [a for part in first if isinstance(part, list) for a in part]
    if not tensors:
        return ""
    of_type = tensors[0].dtype if not mk.asked_default else T.to_raw(usual[0])

    def given(arg: Any, dtype: D.dtype) -> Any:
        if isinstance(arg, list):
            return [given(a, dtype) for a in arg]
        if not isinstance(arg, T.ndarray):
            return arg
        return new_tensor(arg.astype(T.to_raw(dtype)) if arg.dtype == of_type else arg.copy())

    def runs(dtype: D.dtype) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                apply_n(row.op, [given(a, dtype) for a in first])
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                return False
        return True

    return ", ".join(name for name, types in GROUPS.items() if any(map(runs, types)))


def wrapped(text: str, width: int = 100) -> list[str]:
    """Lines of at most `width` characters."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines


# ---- every operator ---------------------------------------------------------------------------


def operators_page() -> str:
    """Signature, meaning, formulas and special values of every operator."""
    names = sorted((n for n, rows in ROWS.items() if any(map(is_shown, rows))), key=str.lower)
    lines = [
        NOTICE, "", "# Operators", "",
        "Each with its signatures, what it gives, its formula (`out`) where it is told in the "
        "vocabulary of formulas, and the formulas of its gradients as the engine runs them: `g` is "
        "the incoming gradient, `out` the result, `xp` the namespace of the arrays; a part that is "
        "used more than once has a name and its line below. Broadcasting, conversion of types and "
        "complex conjugation are the engine's "
        "business and stand in no formula.", "",
    ]  # fmt: skip
    for name in names:
        lines += section(name, [row for row in ROWS[name] if is_shown(row)])
    lines += ["## Composed functions", "", "Written with the operators above, in plain Python.", ""]
    for (namespace, name), function in sorted(COMPOSITES.items(), key=lambda item: item[0]):
        if namespace != "private" and not name.startswith("_") and name not in ROWS:
            lines.append(composed_line(namespace, name, function))
    return "\n".join(lines) + "\n"


def is_shown(row: Row) -> bool:
    """Whether users call a row, or a function of its name that is composed around its formula."""
    return is_public(row) or (forward_formula(row) is not None and bool(composed_around(row)))


def composed_around(row: Row) -> list[tuple[str, str]]:
    """The public functions that have a row's name, by namespace and name."""
    short = row.schema.name.removeprefix("_")
    if short != row.schema.name and short in ROWS:
        return []
    return [key for key in COMPOSITES if key[1] == short and key[0] != "private"]


def section(name: str, rows: list[Row]) -> list[str]:
    """The part of the page about one operator, all overloads."""
    calls = dict.fromkeys(call for row in rows for call in signatures(row))
    lines = [f"## {name.removeprefix('_')}", "", "```text", *calls, "```", ""]
    said: set[str] = set()
    for row in rows:
        doc = " ".join(row.doc.split())
        text, _, special = doc.partition("Special: ")
        for line in (text.strip(), f"Special: {special.strip()}" if special else ""):
            if line and line not in said:
                said.add(line)
                lines += [line, ""]
    shown = [line for row in rows for line in formulas(row)]
    if shown:
        lines += ["```python", *dict.fromkeys(shown), "```", ""]
    return lines


def signatures(row: Row) -> Iterator[str]:
    """The calls that the row answers."""
    schema = row.schema
    short = schema.name.rpartition(".")[2]
    if not is_public(row):
        for namespace, name in composed_around(row):
            place = f"torch.{namespace}." if namespace else "torch."
            yield f"{place}{name}({call_text(COMPOSITES[namespace, name])})"
        return
    params = ", ".join(parameters(schema.params))
    if row.public:
        for namespace in row.namespace:
            if namespace != "private":
                place = f"torch.{namespace}." if namespace else "torch."
                out = ", out=None" if row.out and "*, " in params else ", *, out=None"
                yield f"{place}{short}({params}{out if row.out else ''})"
    first = schema.params[0]
    if row.method and first.name == "self" and first.is_tensor:
        rest = ", ".join(parameters(schema.params[1:]))
        yield f"Tensor.{short}({rest})"
    if row.inplace:
        rest = ", ".join(parameters(schema.params[1:]))
        yield f"Tensor.{short}_({rest})"


def parameters(params: tuple[Parameter, ...]) -> Iterator[str]:
    """The parameters as Python writes them."""
    starred = False
    for p in params:
        if p.kw_only and not starred:
            yield "*"
            starred = True
        default = "" if p.default is REQUIRED else f"={p.default!r}"
        yield public_name(p.name) + default


def formulas(row: Row) -> Iterator[str]:
    """The result and the gradients of the row's arguments, as code where that is short."""
    forward = forward_formula(row)
    if forward is not None:
        by_element = " by element," if hasattr(row.raw, "loss") else ""
        yield f"out:{by_element} {written(forward)}"
    for name, formula in row.formulas.items():
        if formula is not None:
            yield f"{public_name(name)}: {formula_text(formula)}"
    if row.joint is not None:
        tensors = ", ".join(public_name(p.name) for p in row.schema.params if p.type == "Tensor")
        yield f"{tensors}: {formula_text(row.joint)}"


def forward_formula(row: Row) -> Any:
    """What a row computes, in the vocabulary of formulas; None where it isn't told so."""
    op, raw = row.op, row.raw
    for kind in ("rows", "loss", "norm"):
        if hasattr(raw, kind):
            return getattr(raw, kind).function
    return op.formula or FORMULAS.get(raw)


def formula_text(formula: Any) -> str:
    """The expression that a formula returns; its name and first line where it is longer."""
    loss = getattr(formula, "loss", None)  # of one by element
    if loss is not None:
        return f"the slope by element, times g: {written(loss.function)}"
    if hasattr(formula, "text"):  # of one that calls a row
        return str(formula.text)
    formula = getattr(formula, "rows", getattr(formula, "norm", formula))  # of one along rows
    if hasattr(formula, "function"):
        return written(formula.function)
    if hasattr(formula, "numbers"):  # of one that is generated
        return written(formula.formula)
    formula = getattr(formula, "formula", formula)  # of one that is recorded on Tensors
    source, tree = parsed(inspect.getsourcefile(formula) or "")
    node = definition(tree, formula.__code__)
    body: ast.expr | None = None
    if isinstance(node, ast.Lambda):
        body = node.body
    elif isinstance(node, ast.FunctionDef):
        steps = [s for s in node.body if not is_docstring(s)]
        if len(steps) == 1 and isinstance(steps[0], ast.Return):
            body = steps[0].value
    if body is not None:
        text = " ".join((ast.get_source_segment(source, body) or "").split())
        text = text.replace("( ", "(").replace(" )", ")")
        if text and len(text) <= LONGEST:
            return text
    doc = inspect.getdoc(formula)
    name = formula.__name__.strip("_")
    return f"see `{name}`" + (f": {doc.splitlines()[0]}" if doc else "") if name else "…"


def written(formula: Any) -> str:
    """A formula in the vocabulary: its result, then its named parts, each on its line."""
    result, parts = write(formula)
    return result + "".join(f"\n    {name} = {part}" for name, part in parts.items())


@cache
def parsed(path: str) -> tuple[str, ast.Module]:
    """The text of a file and its syntax tree."""
    text = Path(path).read_text(encoding="utf-8")
    return text, ast.parse(text)


@cache
def functions(tree: ast.Module) -> list[ast.Lambda | ast.FunctionDef]:
    """All functions of a file."""
    return [n for n in ast.walk(tree) if isinstance(n, (ast.Lambda, ast.FunctionDef))]


def definition(tree: ast.Module, code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    """Where the function of some code is written."""
    names = list(code.co_varnames[: code.co_argcount])
    inside = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
    for node in functions(tree):
        starts = {node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))}
        if code.co_firstlineno not in starts or [a.arg for a in node.args.args] != names:
            continue
        first = (node.lineno, node.col_offset)
        last = (node.end_lineno or 0, node.end_col_offset or 0)
        if all(first <= place <= last for place in inside):
            return node
    return None


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a string that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def composed_line(namespace: str, name: str, function: Any) -> str:
    """One composed function in one line."""
    place = f"torch.{namespace}." if namespace else "torch."
    doc = (inspect.getdoc(function) or "").split("\n")[0]
    method = " Also a method." if METHODS.get(name) is function else ""
    return f"- `{place}{name}({call_text(function)})`: {doc}{method}"


def call_text(function: Any) -> str:
    """The parameters of a function, without types."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "…"
    plain = [
        p.replace(annotation=inspect.Parameter.empty, default=plain_default(p.default))
        for p in found.parameters.values()
    ]
    bare = inspect.Signature([p.replace(default=p.default) for p in plain])
    return str(bare)[1:-1]


def plain_default(default: Any) -> Any:
    """A default that prints the same in every process."""
    simple = (int, float, str, tuple, D.dtype, type(None))
    return default if default is inspect.Parameter.empty or isinstance(default, simple) else ...


# ---- files ------------------------------------------------------------------------------------


def outdated() -> list[str]:
    """The names of the pages that differ from what the table says."""
    found = []
    for name, text in pages().items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(name)
    return found


def main() -> int:
    """Writes the pages; with --check, 1 where one is not up to date."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--check", action="store_true", help="write nothing")
    if options.parse_args().check:
        stale = outdated()
        print("\n".join(stale) or "up to date")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}: {len(text.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
