"""Writes what `help` says of functions and methods: `python -m tests.table.help_texts`.

Signatures are those by which calls are told apart; where there are none, the Python function's own.
"""

from __future__ import annotations

import inspect
import keyword
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from rushlight._base.schema import REQUIRED, Parameter, public_name
from rushlight._native.cpython.unbound import function_of
from rushlight._table import PUBLIC, ROWS, TENSOR_METHODS, Row
from rushlight._table.calls import overload_texts
from rushlight._table.calls.overload_texts import Signature, signatures
from rushlight._table.calls.signature_kinds import kind_of
from rushlight._tensor.help_texts import DIGITS, MARK, PATH, RULE, START, TextSignature, own_doc
from rushlight._tensor.public_functions import FACES, method_of
from tests.table import help_classes, help_parts, report
from tests.table.help_parts import Shown

TYPES = {
    "Scalar": "int | float | complex", "ScalarType": "dtype", "Device": "device | str | int",
    "Layout": "layout", "MemoryFormat": "memory_format", "SymInt": "int", "object": "Any",
    "Storage": "UntypedStorage", "name": "str",
}  # fmt: skip
#: What stands for a default that messages show in another way.
DEFAULTS = {"at::Reduction::Mean": "1", "torch.strided": "None"}
#: The parameters of those that look at all they are given by themselves.
OWN = {"torch.from_numpy": "(ndarray)"}
#: Where PyTorch documents another signature than the first: its number.
MAIN = {
    "torch.cumulative_trapezoid": 1, "torch.gradient": 2, "torch.histogram": 1,
    "torch.trapezoid": 1, "torch.trapz": 1, "torch.where": 1, "torch.squeeze": 1,
    "Tensor.all": 1, "Tensor.any": 1, "Tensor.histogram": 1,
}  # fmt: skip
#: Signatures that PyTorch documents for several at once, in the form of those in `_table/calls`.
WHOLE = """
torch.argsort torch.sort: (@in, int dim=-1, bool descending=False, *, bool stable=False @and_out)
Tensor.argsort Tensor.sort: (int dim=-1, bool descending=False, *, bool stable=False)
torch.bartlett_window torch.blackman_window torch.hann_window: (int window_length, bool
    periodic=True, *, @new)
torch.kaiser_window: (int window_length, bool periodic=True, float beta=12.0, *, @new)
torch.div torch.divide: (@in, Tensor other, *, str? rounding_mode=None @and_out)
Tensor.div Tensor.div_ Tensor.divide Tensor.divide_: (Tensor other, *, str? rounding_mode=None)
torch.eye: (int n, int? m=None, *, Tensor out=None, @new)
torch.round: (@in, *, int decimals=0 @and_out)
Tensor.round Tensor.round_: (*, int decimals=0)
torch.std torch.var: (@in, int[1]? dim=None, *, Scalar? correction=1, bool keepdim=False @and_out)
torch.std_mean torch.var_mean: (@in, int[1]? dim=None, *, Scalar? correction=1, bool
    keepdim=False)
torch.rand_like torch.randn_like: (@in, *, Generator? generator=None, @new, MemoryFormat?
    memory_format=None)
torch.randperm: (int n, *, Generator? generator=None, Tensor out=None, @new)
Tensor.std Tensor.var: (int[1]? dim=None, *, Scalar? correction=1, bool keepdim=False)
Tensor.max Tensor.min Tensor.median Tensor.nanmedian: (int? dim=None, bool keepdim=False)
Tensor.mean Tensor.prod Tensor.sum: (int[1]? dim=None, bool keepdim=False, *, ScalarType?
    dtype=None)
Tensor.squeeze Tensor.squeeze_: (int[1]? dim=None)
Tensor.scatter_: (int dim, Tensor index, Tensor src, *, str? reduce=None)
linalg.matrix_norm: (@in, str ord="fro", int[] dim={-2,-1}, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None)
"""
#: The longest line of running text.
WIDTH = 88


def type_of(p: Parameter) -> str:
    """What a parameter takes, as an annotation."""
    found = TYPES.get(p.type, p.type)
    if p.is_list:
        found = f"Sequence[{found}]" + (f" | {found}" if p.list_size else "")
    optional = p.optional or p.default in (None, "None")
    return f"{found} | None" if optional and found != "Any" else found


def default_of(p: Parameter) -> str:
    """The default of a parameter as Python writes it."""
    text = p.default if isinstance(p.default, str) else repr(p.default)
    if text.startswith("{"):
        return f"({', '.join(text[1:-1].split(','))})"
    return DEFAULTS.get(text, text)


def name_of(p: Parameter) -> str:
    """The name of a parameter; one that Python keeps for itself has a line at its end."""
    name = public_name(p.name)
    return f"{name}_" if keyword.iskeyword(name) else name


def parameters(params: Iterable[Parameter], annotated: bool) -> str:
    """The parameters in brackets, as Python writes them."""
    parts: list[str] = []
    for p in params:
        if p.kw_only and "*" not in parts:
            parts.append("*")
        of_type = f": {type_of(p)}" if annotated else ""
        equal = " = " if annotated else "="
        default = "" if p.default is REQUIRED else equal + default_of(p)
        parts.append(f"{name_of(p)}{of_type}{default}")
    return f"({', '.join(parts)})"


def is_python(text: str) -> bool:
    """Whether Python takes parameters in this order."""
    try:
        compile(f"def function{text}: ...", "signature", "exec")
    except SyntaxError:
        return False
    return True


def own_parameters(function: Any) -> str:
    """The parameters of a Python function; empty where it takes anything."""
    signature = inspect.signature(function)
    if isinstance(signature, TextSignature):
        return ""
    found = signature.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in found):
        return ""
    plain = [
        p.replace(annotation=p.empty, default=p.default if is_literal(p.default) else None)
        for p in found
    ]
    return str(inspect.Signature(plain))


def is_literal(default: Any) -> bool:
    """Whether CPython reads a default in the text of a builtin."""
    if isinstance(default, tuple):
        return all(map(is_literal, default))
    return default is None or default is inspect.Parameter.empty or type(default) in (
        bool, int, float, str,
    )  # fmt: skip


# ---- texts ------------------------------------------------------------------------------------


def said_of(function: Any, name: str) -> help_parts.Own:
    """What the function itself says: its first lines, and the parts of its help."""
    text = inspect.cleandoc(own_doc(function) or "") or f"See `{name}`."
    text, _, special = text.partition("Special: ")
    own = help_parts.taken_apart(text)
    if special:
        own.lines.extend(["", *textwrap.wrap(f"Special values: {special.strip()}", WIDTH)])
    return own


def shown_parameters(chosen: list[Signature], own: list[Shown]) -> list[Shown]:
    """The parameters of all signatures, those of the main one first, or else a function's own."""
    found: dict[str, Shown] = {}
    for signature in chosen:
        for p in signature.params:
            default = "" if p.default is REQUIRED else default_of(p)
            found.setdefault(name_of(p), Shown(name_of(p), type_of(p), default, p.kw_only))
    if own and {p.name for p in own} - found.keys():
        return own
    return list(found.values())


def own_shown(function: Any, is_method: bool) -> list[Shown]:
    """The parameters of a Python function."""
    found = list(inspect.signature(function).parameters.values())
    return [
        Shown(
            p.name,
            "" if p.annotation in (p.empty, "Any", "object") else str(p.annotation),
            "" if p.default is p.empty else repr(p.default),
            p.kind is p.KEYWORD_ONLY,
        )
        for p in found[is_method:]
        if p.kind is not p.VAR_KEYWORD and p.name[0] != "_"
    ]  # fmt: skip


@cache
def rows_by_name() -> dict[str, list[Row]]:
    """The public rows by the short name of the function."""
    found: dict[str, list[Row]] = {}
    for name, rows in ROWS.items():
        short = name.rpartition(".")[2]
        for row in rows:
            if row.public or row.method:
                for space in row.namespace:
                    found.setdefault(f"{space}.{short}", []).append(row)
    return found


def of_rows(key: str) -> Iterator[str]:
    """Element types, formulas and gradients of the rows of a name."""
    rows = rows_by_name().get(key, [])
    if not rows:
        return
    types = report.element_types(rows[0])
    if types:
        yield from ("", f"Element types: {types}.")
    if rows[0].kind == "elementwise" and len(rows[0].op.tensors) > 1:
        yield "The tensors are broadcast to one shape and promoted to one type."
    shown = list(dict.fromkeys(line for row in rows for line in report.formulas(row)))
    results = [line for line in shown if line.startswith("out: ")]
    gradients = [line for line in shown if line not in results]
    if results:
        yield from ("", "Formula:")
        yield from (textwrap.indent(line, "    ") for line in results)
    if gradients:
        yield from ("", "Gradient (g: of the result):")
        yield from (textwrap.indent(line, "    ") for line in gradients)
    if any(r.alias == "a" for r in rows[0].schema.returns):
        yield from ("", "The result is a view: it shares the memory of the tensor.")


def body(name: str, function: Any, chosen: list[Signature], key: str, signed: bool) -> str:
    """The text of a name after its signature; `signed`: that of the table, not its own."""
    own = said_of(function, name)
    rows = rows_by_name().get(key.removesuffix("_") if key[0] == "." else key, [])
    is_method = name.startswith("Tensor.")
    anything = takes_anything(function)
    own_ones = [] if anything or (chosen and signed) else own_shown(function, is_method)
    shown = shown_parameters(chosen, own_ones)
    if not shown and rows and anything:
        shown = shown_parameters([rows[0].schema], [])[is_method:]  # type: ignore[list-item]
    seen = help_parts.example(name, shown_parameters(chosen[:1], own_ones) or shown)
    lines = [*own.lines, *help_parts.parameters(name, shown, own)]
    if len(chosen) > 1:
        lines += ["", "Also called as:"]
        short = name.rpartition(".")[2]
        lines += [f"    {short}{parameters(s.params, False)}" for s in chosen[1:]]
    lines += help_parts.part("Shapes", help_parts.shapes(name, shown, rows, own))
    lines += help_parts.part("Returns", help_parts.returns(name, own, rows, seen))
    if any(p.name == "out" for p in shown):
        lines += ["", "With `out` the result is written there, and has no gradient."]
    lines += of_rows(key)
    errors = own.parts.get("Raises", []) + list(help_parts.errors(shown, seen))
    if not any("TypeError" in line for line in errors):
        errors.append("    TypeError: for arguments that fit none of these calls.")
    lines += help_parts.part("Raises", errors)
    if own.parts.get("Example"):
        lines += help_parts.part("Example", own.parts["Example"])
    elif seen is not None:
        lines += help_parts.shown_example(seen)
    return help_parts.joined(lines)


def in_order(found: Iterable[Signature], name: str) -> list[Signature]:
    """The signatures that are shown, the main one first."""
    shown = [s for s in found if not s.deprecated and is_python(parameters(s.params, False))]
    whole = whole_texts().get(name)
    if whole is not None:
        return [*overload_texts.read(whole), *shown]
    main = MAIN.get(name, 0)
    if not main:
        simple = (i for i, s in enumerate(shown) if not any(map(is_needed_by_name, s.params)))
        main = next(simple, 0)
    return shown[main : main + 1] + shown[:main] + shown[main + 1 :]


def is_needed_by_name(p: Parameter) -> bool:
    """Whether a call must name a parameter."""
    return p.kw_only and p.default is REQUIRED


@cache
def whole_texts() -> dict[str, str]:
    """The signatures that stand for several, by name."""
    return overload_texts.entries(WHOLE.replace(" @and_out", ", Tensor out=None"))


def builtins() -> Iterator[tuple[str, str]]:
    """The entries of the functions that are builtins, and of those that take anything."""
    for space, name in sorted(PUBLIC):
        if space == "private":
            continue
        key = f"{space or 'torch'}.{name}"
        face = FACES[space, name]
        function = function_of(face)
        kind = kind_of(space, name)
        chosen = in_order(signatures(kind, name), key) if kind not in ("", "python") else []
        is_builtin = type(face) is BuiltinFunctionType
        row = rows_by_name().get(f"{space}.{name}")
        text = parameters(chosen[0].params, not is_builtin) if chosen else own_parameters(function)
        if not text and row:
            text = parameters(row[0].schema.params, not is_builtin)
        text = OWN.get(key, text)
        if text and not is_builtin:
            text += result_of(row)
        if not is_builtin and own_parameters(function):
            text = ""  # the function's own signature says more
        if text or own_parameters(function):
            yield key, text + RULE + body(key, function, chosen, f"{space}.{name}", bool(text))


def methods() -> Iterator[tuple[str, str]]:
    """The entries of the methods whose Python function takes anything."""
    for name in sorted(TENSOR_METHODS):
        function: Any = method_of(name, TENSOR_METHODS[name])
        if name[:2] == "__" or not inspect.isfunction(function):
            continue
        key = f"Tensor.{name}"
        row = rows_by_name().get(f".{name.removesuffix('_')}")
        if not takes_anything(function):
            yield key, RULE + body(key, function, [], f".{name}", False)
            continue
        chosen = in_order(signatures("method", name), key)
        if chosen:
            text = "(self, " + parameters(chosen[0].params, True)[1:]
        elif row:
            text = "(self, " + parameters(row[0].schema.params[1:], True)[1:]
        else:
            continue
        text = text.replace("(self, )", "(self)") + result_of(row)
        yield key, text + RULE + body(key, function, chosen, f".{name}", True)


def result_of(rows: list[Row] | None) -> str:
    """What the rows of a name give, as an annotation."""
    returns = rows[0].schema.returns if rows else ()
    if len(returns) != 1:
        return ""
    return " -> tuple[Tensor, ...]" if returns[0].is_list else " -> Tensor"


def takes_anything(function: Any) -> bool:
    """Whether the signature of a function says nothing of its parameters."""
    found = inspect.signature(function)
    if isinstance(found, TextSignature):
        return True
    several = {p.name for p in found.parameters.values() if p.kind is p.VAR_POSITIONAL}
    unsaid = any(
        p.kind is p.VAR_KEYWORD or type(p.default) is object for p in found.parameters.values()
    )
    return "args" in several or (unsaid and not several)


def text() -> str:
    """The whole file."""
    found = sorted(
        [*builtins(), *methods(), *help_classes.entries()], key=lambda entry: entry[0].encode()
    )
    entries = "\n" + "".join(f"{START[1:]}{name}\n{said}\n" for name, said in found) + START
    return shortened(entries)


def shortened(entries: str) -> str:
    """The entries after the lines that occur in them several times."""
    lines = entries.split("\n")
    often = [line for line, n in Counter(lines).items() if n > 1 and len(line) > 7]
    often = [line for line in often if line[0] != START[1]]
    assert len(often) < len(DIGITS) ** 2
    marks = {
        line: MARK + DIGITS[number // len(DIGITS)] + DIGITS[number % len(DIGITS)]
        for number, line in enumerate(often)
    }
    short = "\n".join(marks.get(line, line) for line in lines)
    return "\n".join(often) + short


def main() -> int:
    """Writes the file; 0, or 1 where an example doesn't run."""
    Path(PATH).write_text(text(), encoding="utf-8")
    for broken in help_parts.BROKEN:
        print("this example doesn't run:", broken)
    return bool(help_parts.BROKEN)


if __name__ == "__main__":
    sys.exit(main())
