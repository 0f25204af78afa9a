"""The parts of the help of functions and methods: what `help_texts` composes.

Meanings of parameters come from the function's own text, else from `help_parameters.txt`; shapes
from `help_shapes.txt` or from the kind of the row; an example from `help_examples.txt`, or it is
found by trying simple arguments. What is said of results and errors is seen when the example runs.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from fnmatch import fnmatchcase
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

import rushlight
from rushlight._table import Row
from tests.table.stub_results import RESULTS

HERE = Path(__file__).parent
#: Headings under which a function's own text may say these parts.
OWN = re.compile(r"^(Parameters|Shapes|Returns|Raises|Example):(?: |$)")
ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*)$")
WIDTH = 88


class Shown(NamedTuple):
    """A parameter as it is shown."""

    name: str
    type: str
    default: str  # empty where there is none
    by_name: bool


@cache
def table(file: str) -> list[tuple[str, list[str], str]]:
    """The lines of a file `name @patterns: text` as (name, patterns, text)."""
    found = []
    for line in (HERE / file).read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            head, _, text = line.partition(": ")
            name, _, patterns = head.partition("@")
            found.append((name.strip(), patterns.split(), text))
    return found


def is_meant(key: str, pattern: str) -> bool:
    """Whether a pattern means a function: by its whole name, or by the last part of it."""
    short = key.rpartition(".")[2]
    whole = key if "." in pattern else short
    return fnmatchcase(whole, pattern) or fnmatchcase(short.rstrip("_"), pattern)


def meaning(key: str, name: str) -> str:
    """What a parameter of a function means; empty where nobody says."""
    general = ""
    for known, patterns, text in table("help_parameters.txt"):
        if known == name:
            if any(is_meant(key, p) for p in patterns):
                return text
            if not patterns:
                general = text
    return general


class Own(NamedTuple):
    """What a function's own text says, taken apart."""

    lines: list[str]
    parts: dict[str, list[str]]

    def meanings(self) -> dict[str, str]:
        """The parameters that it explains."""
        found: dict[str, str] = {}
        for line in self.parts.get("Parameters", []):
            entry = ENTRY.match(line)
            if entry:
                found.update(dict.fromkeys(entry[1].split(", "), entry[2]))
        return found


def taken_apart(text: str) -> Own:
    """A text without its parts, and these."""
    lines: list[str] = []
    parts: dict[str, list[str]] = {}
    here = lines
    for line in text.strip().splitlines():
        heading = OWN.match(line)
        if heading:
            here = parts.setdefault(heading[1], [])
            rest = line[heading.end() :]
            here += [f"    {rest}"] if rest else []
        elif here is not lines and line and line[0] != " ":
            if here and here[-1] == "":  # a new paragraph
                here = lines
                lines += ["", line]
            else:
                here.append(f"    {line}")
        else:
            here.append(line)
    return Own(lines, {name: trimmed(part) for name, part in parts.items()})


def trimmed(lines: list[str]) -> list[str]:
    """Lines without empty ones at the end."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def parameters(key: str, shown: list[Shown], own: Own) -> Iterator[str]:
    """The part that explains the parameters."""
    if not shown:
        yield from part("Parameters", own.parts.get("Parameters", []))
        return
    yield from ("", "Parameters:")
    said = own.meanings()
    for p in shown:
        default = f" = {p.default}" if p.default else ""
        only = " (by name)" if p.by_name else ""
        kind = f" {p.type}" if p.type else ""
        yield f"    {p.name}:{kind}{default}{only}".rstrip()
        text = said.get(p.name) or meaning(key, p.name)
        if text:
            said_here = textwrap.wrap(f"{text[0].upper()}{text[1:]}", WIDTH - 8)
            yield from (f"        {line}" for line in said_here)


# ---- shapes and results -----------------------------------------------------------------------


def shapes(key: str, shown: list[Shown], rows: list[Row], own: Own) -> list[str]:
    """What is said of shapes."""
    if "Shapes" in own.parts:
        return own.parts["Shapes"]
    said = said_in("help_shapes.txt", key)
    if said:
        return said
    names = {p.name for p in shown}
    tensors = sum(p.type.startswith("Tensor") and p.name != "out" for p in shown)
    tensors += key.startswith("Tensor.")
    if key.endswith("_"):
        several = "; other tensors are broadcast to it" if tensors > 1 else ""
        return [f"    this tensor keeps its shape{several}."]
    if "keepdim" in names:
        return ["    the input's without `dim`, or with size 1 there where `keepdim` is true."]
    if rows and rows[0].kind == "elementwise":
        if len(rows[0].op.tensors) > 1:
            return ["    the tensors are broadcast to one shape, which is the result's."]
        return ["    the result has the input's."]
    return []


def said_in(file: str, key: str) -> list[str]:
    """What a file of patterns says of a name, as a line of a part."""
    for _, patterns, text in table(file):
        if any(is_meant(key, p) for p in patterns):
            return [f"    {line}" for line in textwrap.wrap(text, WIDTH - 4)]
    return []


def part(heading: str, lines: list[str]) -> list[str]:
    """A part under its heading; nothing where it has no lines."""
    if not lines:
        return []
    if len(lines) == 1 and heading in ("Shapes", "Returns"):
        return ["", f"{heading}: {lines[0].strip()}"]
    return ["", f"{heading}:", *lines]


def joined(lines: list[str]) -> str:
    """Lines as a text, without empty ones that follow each other."""
    text = "\n".join(line.rstrip() for line in lines).strip()
    return re.sub(r"\n{3,}", "\n\n", text)


class Seen(NamedTuple):
    """What came of an example."""

    source: str
    output: str
    result: Any


def returns(key: str, own: Own, rows: list[Row], seen: Seen | None) -> list[str]:
    """What is said of the result: what the text, the table and the example say."""
    if "Returns" in own.parts:
        return own.parts["Returns"]
    if key.endswith("_") and key.startswith("Tensor."):
        return ["    Tensor: this tensor, with its new elements."]
    if key.endswith("_"):
        return ["    Tensor: the input, with its new elements."]
    named = ["    (" + ", ".join(f"{r.name}: Tensor" for r in rows[0].schema.returns) + ")"] if (
        rows and len(rows[0].schema.returns) > 1 and all(r.name for r in rows[0].schema.returns)
    ) else []  # fmt: skip
    if seen is not None:
        result = seen.result
        fields = getattr(type(result), "_fields", getattr(type(result), "__match_args__", ()))
        if isinstance(result, tuple) and fields:
            return ["    (" + ", ".join(f"{field}: Tensor" for field in fields) + ")"]
        if isinstance(result, rushlight.Tensor):
            view = any(r.alias == "a" for r in rows[0].schema.returns) if rows else False
            kept = ", of the same memory" if view else ""
            return [f"    Tensor{kept}"]
        if type(result) is tuple or type(result) is list:
            return named or [f"    {type(result).__name__} of {kinds(result)}"]
        if result is not None:
            return [f"    {type(result).__name__}"]
    known = RESULTS.get(key.rpartition(".")[2], "").replace("_int", "int").replace("_bool", "bool")
    return [f"    {known}"] if known and known != "None" else named


def kinds(values: Any) -> str:
    """The types of some values, each once."""
    names = dict.fromkeys(type(v).__name__ for v in values)
    if len(names) == 1 and len(values) > 1:
        return f"{len(values)} {next(iter(names))}s"
    return ", ".join(names) or "nothing"


# ---- examples ---------------------------------------------------------------------------------


@cache
def given_examples() -> dict[str, str]:
    """The examples that are written by hand, by name."""
    return {name: text for name, _, text in table("help_examples.txt")}


def space() -> dict[str, Any]:
    """What an example sees."""
    nn = rushlight.nn
    return {"torch": rushlight, "nn": nn, "F": nn.functional, "__name__": "example"}


FIRST = (
    "torch.tensor([0.5, 1.0, 2.0])", "torch.tensor([0.0, 0.5])", "torch.tensor([1.5, 2.0])",
    "torch.tensor([1, 2, 6])", "torch.tensor([True, False])",
    "torch.tensor([[4.0, 1.0], [1.0, 3.0]])", "torch.tensor([1 + 2j, 3 - 1j])",
    "torch.tensor([[1, 2], [3, 4]])",
)  # fmt: skip
SECOND = (
    "torch.tensor([2.0, 1.0, 4.0])", "torch.tensor([1.0, 0.25])", "torch.tensor([1.0, 3.0])",
    "torch.tensor([3, 2, 1])", "torch.tensor([True, True])",
    "torch.tensor([[2.0, 0.0], [1.0, 1.0]])", "torch.tensor([1j, 1 + 0j])",
    "torch.tensor([[1, 0], [0, 1]])",
)  # fmt: skip
MATRIX = 5
#: Arguments that are tried for parameters that must be given.
ARGUMENTS = {
    "dim": "0", "dim0": "0", "dim1": "1", "size": "(2, 2)", "value": "2.0", "n": "2", "k": "1",
    "exponent": "2", "min": "1.0", "max": "1.0", "index": "torch.tensor([1, 0])",
    "mask": "torch.tensor([True, False])", "p": "2", "dims": "(1, 0)", "chunks": "2",
    "fill_value": "7.0", "upscale_factor": "2", "threshold": "1.0", "weight": "0.5",
}  # fmt: skip
SECONDS = {"other", "end", "vec2", "tensor1", "tensor2", "mat2", "vec", "input2", "x2", "target",
           "y", "B", "b", "values", "source", "src", "tensor"}  # fmt: skip
FIRSTS = {"input", "x", "A", "x1", "input1", "a", "self", "obj", "M"}


def attempts(key: str, shown: list[Shown], has_dim: bool) -> Iterator[str]:
    """Calls that may work."""
    order = list(range(len(FIRST)))
    if has_dim or key.startswith("linalg."):
        order = [MATRIX, *(i for i in order if i != MATRIX)]
    for number in order:
        for extra in (", dim=1", "") if has_dim else ("",):
            args: list[str] = []
            for p in shown:
                if p.default or (p.type.startswith("Sequence") and p.name == "out"):
                    continue
                text = FIRST[number] if p.name in FIRSTS else (
                    SECOND[number] if p.name in SECONDS else ARGUMENTS.get(p.name, "")
                )  # fmt: skip
                if not text:
                    return
                args.append(f"{p.name}={text}" if p.by_name else text)
            if key.startswith("Tensor."):
                yield f"{FIRST[number]}.{key[7:]}({', '.join(args)}{extra})".replace("(, ", "(")
            else:
                place = key if key.startswith("torch.") else f"torch.{key}"
                yield f"{place.replace('torch.nn.functional', 'F')}({', '.join(args)}{extra})"


def as_method(source: str, key: str) -> str | None:
    """An example of a function as one of the method of its name: `torch.f(x, 1)` as `x.f(1)`."""
    *before, last = source.split(" ;; ")
    try:
        call = ast.parse(last, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    first = call.args[0]
    if isinstance(first, (ast.List, ast.Tuple, ast.Constant, ast.Starred, ast.UnaryOp)):
        return None
    rest = [ast.get_source_segment(last, a) or "" for a in (*call.args[1:],)]
    rest += [f"{k.arg}={ast.get_source_segment(last, k.value)}" for k in call.keywords]
    text = f"{ast.get_source_segment(last, first)}.{key[7:]}({', '.join(rest)})"
    return " ;; ".join([*before, text])


def run(source: str, warned: Literal["error", "ignore"] = "error") -> Seen | None:
    """What an example shows; None where it doesn't run, or warns."""
    known = space()
    said = StringIO()
    result = None
    rushlight.manual_seed(0)
    try:
        with warnings.catch_warnings(), redirect_stdout(said):
            warnings.simplefilter(warned)
            for statement in source.split(" ;; "):
                if is_expression(statement):
                    result = eval(statement, known)
                    if result is not None and statement is source.split(" ;; ")[-1]:
                        print(repr(result))
                else:
                    exec(statement, known)
    except (Exception, SystemExit):
        return None
    finally:
        rushlight.set_default_dtype(rushlight.float32)
    if result is not None and not said.getvalue():
        said.write(repr(result) + "\n")
    return Seen(source, said.getvalue().rstrip(), result)


def is_expression(statement: str) -> bool:
    """Whether a statement is an expression."""
    try:
        ast.parse(statement, mode="eval")
    except SyntaxError:
        return False
    return True


def is_good(seen: Seen | None) -> bool:
    """Whether an example shows something, in a few lines, without nan."""
    return seen is not None and 0 < len(seen.output) < 500 and not re.search(
        r"\bnan\b|<.* at 0x|\binf\b", seen.output
    )  # fmt: skip


#: Those whose results are not the same twice.
VARYING = {"data_ptr", "seed", "initial_seed", "empty", "empty_like", "new_empty", "empty_strided",
           "new_empty_strided", "empty_permuted", "resize_", "__hash__", "storage",
           "untyped_storage", "get_rng_state"}  # fmt: skip


@cache
def of_function(name: str) -> str | None:
    """The example of the function that a method is like."""
    return FOUND.get(f"torch.{name}") or FOUND.get(f"linalg.{name}") or FOUND.get(f"special.{name}")


#: The examples of functions that have been found.
FOUND: dict[str, str] = {}
#: The examples written by hand that don't run.
BROKEN: list[str] = []


def example(key: str, shown: list[Shown]) -> Seen | None:
    """The example of a name."""
    short = key.rpartition(".")[2]
    hand = given_examples().get(key)
    if hand is None and key.startswith(("special.", "nn.functional.")):
        other = given_examples().get(f"torch.{short}")
        place = key.replace("nn.functional.", "F.").replace("special.", "torch.special.")
        hand = other.replace(f"torch.{short}(", f"{place}(") if other else None
    if hand is not None:
        seen = run(hand, "ignore")
        if seen is None:
            BROKEN.append(f"{key}: {hand}")
            return None
        FOUND[key] = hand
        return seen
    if short in VARYING:
        return None
    tries: list[str] = []
    if key.startswith("Tensor."):
        source = of_function(short) or of_function(short.rstrip("_"))
        method = as_method(source, key) if source else None
        tries += [method] if method else []
    has_dim = any(p.name == "dim" and p.default for p in shown)
    tries += attempts(key, shown, has_dim)
    spare = None
    for source in tries:
        seen = run(source)
        if is_good(seen):
            FOUND[key] = source
            return seen
        if spare is None and seen is not None and seen.output and "0x" not in seen.output:
            spare = seen if len(seen.output) < 500 else None
    if spare is not None:
        FOUND[key] = spare.source
    return spare


def shown_example(seen: Seen) -> Iterator[str]:
    """The part that shows an example."""
    yield from ("", "Example:")
    for statement in seen.source.split(" ;; "):
        yield f"    >>> {statement}"
    yield from (f"    {line}" if line else "    <BLANKLINE>" for line in seen.output.splitlines())


# ---- errors -----------------------------------------------------------------------------------


def raised(source: str) -> type[BaseException] | None:
    """The error of an example; None where it runs."""
    known = space()
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            for statement in source.split(" ;; "):
                exec(statement, known)
    except Exception as error:
        return type(error)
    return None


def errors(shown: list[Shown], seen: Seen | None) -> Iterator[str]:
    """Errors that are seen when an example is called in a wrong way."""
    if seen is None:
        return
    *before, last = seen.source.split(" ;; ")
    try:
        call = ast.parse(last, mode="eval").body
    except SyntaxError:
        return
    if not isinstance(call, ast.Call):
        return

    def changed(change: Any) -> type[BaseException] | None:
        again = ast.parse(last, mode="eval").body
        assert isinstance(again, ast.Call)
        change(again)
        return raised(" ;; ".join([*before, ast.unparse(again)]))

    names = [p.name for p in shown]
    called = ast.unparse(call.func)
    is_method = called.startswith("torch.tensor(") or not called.startswith(("torch.", "F."))
    if "dim" in names:
        place = names.index("dim")

        def far(again: ast.Call) -> None:
            again.keywords = [k for k in again.keywords if k.arg != "dim"]
            if place < len(again.args):
                again.args[place] = ast.Constant(99)
            else:
                again.keywords.append(ast.keyword("dim", ast.Constant(99)))

        error = changed(far)
        if error is not None and issubclass(error, (IndexError, RuntimeError)):
            yield f"    {error.__name__}: where there is no dimension `dim`."
    tensors = [p for p in shown if p.type.startswith("Tensor") and p.name != "out"]
    if len(tensors) + is_method > 1 and tensors:
        index = names.index(tensors[-1].name)

        def unlike(again: ast.Call) -> None:
            if index < len(again.args):
                again.args[index] = ast.parse("torch.ones(3, 5, 7)", mode="eval").body

        error = changed(unlike)
        if error is not None and issubclass(error, (IndexError, RuntimeError, ValueError)):
            yield f"    {error.__name__}: for shapes or types that don't go together."
    short = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if short.endswith("_") and is_method:

        def leaf(again: ast.Call) -> None:
            assert isinstance(again.func, ast.Attribute)
            again.func.value = ast.Call(
                ast.Attribute(again.func.value, "requires_grad_", ast.Load()), [], []
            )

        error = changed(leaf)
        if error is RuntimeError:
            yield "    RuntimeError: for a leaf that requires gradients, where they are recorded."
