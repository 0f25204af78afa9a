"""The lines of the stubs: functions and methods with all their signatures and results."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import rushlight
from rushlight._base.schema import REQUIRED, Parameter, public_name
from rushlight._core.storage import TensorBase
from rushlight._native.cpython.unbound import function_of
from rushlight._table import PUBLIC, TENSOR_METHODS
from rushlight._table.calls.overload_texts import Signature, signatures
from rushlight._table.calls.signature_kinds import kind_of
from rushlight._tensor import tensor as tensor_module
from rushlight._tensor.public_functions import FACES
from tests.table import help_texts
from tests.table.stub_results import FLAGGED, NAMED, RESULTS, WHOLE, WORDS

TYPES = {
    "Tensor": "Tensor", "int": "_int", "SymInt": "_int", "float": "_float", "bool": "_bool",
    "str": "str", "Scalar": "Scalar", "ScalarType": "DTypeLike", "Device": "DeviceLike",
    "Layout": "_layout", "MemoryFormat": "memory_format", "Generator": "Generator",
    "Storage": "UntypedStorage", "object": "Any", "name": "str",
}  # fmt: skip
#: The words of annotations in the sources, as the stubs write them.
ANNOTATIONS = {
    "bool": "_bool", "int": "_int", "float": "_float", "dtype": "DTypeLike", "layout": "_layout",
    "Shape": "Sequence[_int]",
}  # fmt: skip
KNOWN = frozenset(
    ("_bool", "_int", "_float", "str", "None", "Any", "object", "DTypeLike", "Tensor", "Sequence",
     "tuple", "list", "Scalar", "DeviceLike", "_layout", "memory_format", "Callable", "NoReturn",
     "RemovableHandle", "Generator")
)  # fmt: skip
#: What parameters take that the sources leave open, by name.
OPEN = {
    "input": "Tensor", "target": "Tensor", "inplace": "_bool", "dim": "_int | None",
    "other": "Tensor | Scalar", "weight": "Tensor | None", "gradient": "Tensor | None",
    "indices": "Tensor",
}  # fmt: skip


def words(found: Iterable[str]) -> str:
    """The type that has these words alone."""
    return f"Literal[{', '.join(map(repr, found))}]"


def type_of(p: Parameter, numbers: bool, key: str) -> str:
    """What a parameter takes, as an annotation."""
    space, _, _ = key.rpartition(".")
    for name in (f"{key}.{p.name}", f"{space}.{p.name}", p.name):
        if name in WORDS and p.type == "str":
            found = words(WORDS[name])
            break
    else:
        found = TYPES[p.type]
    if p.is_list:
        whole = p.type in ("int", "SymInt", "float") and p.list_size
        found = f"Sequence[{found}]" + (f" | {found}" if whole else "")
    elif p.is_tensor and numbers:
        found += " | Scalar"
    optional = p.optional or p.default in (None, "None")
    optional = optional and found != "Any"
    return f"{found} | None" if optional else found


def default_of(p: Parameter) -> str:
    """The default of a parameter where it is a plain number, word or None; else an ellipsis."""
    text = help_texts.default_of(p)
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return "..."
    return text if len(text) < 12 else "..."


def of_signature(sig: Signature, key: str, result: str, takes_numbers: bool) -> list[str]:
    """One signature as the stubs write it; two where sizes may be given one by one."""
    method = key.startswith("Tensor.")
    parts, starred, optional = (["self"] if method else []), False, False
    for i, p in enumerate(sig.params):
        if p.kw_only and not starred:
            parts.append("*")
            starred = True
        name = public_name(p.name)
        if keyword.iskeyword(name):
            name = f"__{name}"
        default = "" if p.default is REQUIRED else f" = {default_of(p)}"
        if optional and not default and not starred:
            parts.append("*")
            starred = True
        optional = optional or bool(default)
        numbers = takes_numbers and (method or i > 0)
        parts.append(f"{name}: {type_of(p, numbers, key)}{default}")
    found = [f"({', '.join(parts)}) -> {result}"]
    positional = [p for p in sig.params if not p.kw_only]
    if len(positional) == 1 and positional[0].is_list and positional[0].type in ("int", "SymInt"):
        one_by_one = [f"*{public_name(positional[0].name)}: _int", *parts[1 + method :]]
        rest = [part for part in one_by_one if part != "*"]
        found.append(f"({', '.join([*parts[:method], *rest])}) -> {result}")
    return found


def result_of(key: str, names: set[str]) -> str:
    """What a function with these parameters gives."""
    space, _, name = key.rpartition(".")
    named = name if space in ("torch", "Tensor") else key
    if named in NAMED and (not NAMED[named] or NAMED[named] in names):
        return f"return_types.{named.replace('.', '_')}"
    return RESULTS.get(key, RESULTS.get(name, "Tensor"))


@cache
def number_takers() -> frozenset[str]:
    """The functions whose operands may be numbers."""
    found = (row for rows in help_texts.ROWS.values() for row in rows)
    return frozenset(
        row.name.rpartition(".")[2] for row in found if row.numbers and row.kind == "elementwise"
    )


def forms(key: str, name: str, found: Iterable[Signature]) -> list[str]:
    """All signatures of a name, each once."""
    numbers = name.strip("_") in number_takers()
    texts: dict[str, None] = {}
    for sig in found:
        if sig.deprecated or any(p.type == "name" and key != "torch.tensor" for p in sig.params):
            continue
        result = result_of(key, {p.name for p in sig.params})
        texts.update(dict.fromkeys(of_signature(sig, key, result, numbers)))
    return list(texts)


# ---- functions that are Python ------------------------------------------------------------------


def annotated(annotation: Any, name: str, key: str) -> str:
    """The annotation of a parameter in the sources, in the words of the stubs."""
    space = key.rpartition(".")[0]
    for place in (f"{key}.{name}", f"{space}.{name}", name):
        if place in WORDS:
            return words(WORDS[place])
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    if text in ("Any", "object", "_empty"):
        return OPEN.get(name, "Any")
    text = text.replace("D.", "")
    text = re.sub(r"\w+", lambda m: ANNOTATIONS.get(m[0], m[0]), text)
    if not KNOWN.issuperset(re.findall(r"[A-Za-z_]\w*", text)):
        return OPEN.get(name, "Any")
    return text


def of_python(function: Any, key: str) -> list[str]:
    """The signatures of a function from its own."""
    signature = inspect.signature(function)
    parts, starred = [], False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        default = "" if p.default is p.empty else f" = {default_text(p.default)}"
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        starred = starred or p.kind is p.VAR_POSITIONAL
        said = "" if p.name == "self" else f": {annotated(p.annotation, p.name, key)}"
        left_open = said in ("", ": Any") or said.endswith("| None")
        said += "" if left_open or p.default is not None else " | None"
        parts.append(f"{star}{p.name}{said}{default}")
    name = key.rpartition(".")[2]
    result = result_of(key, set(signature.parameters))
    if result == "Tensor" and key not in RESULTS and name not in RESULTS:
        said = annotated(signature.return_annotation, "", key)
        result = {"Any": "Tensor", "object": "Tensor", "DTypeLike": "dtype"}.get(said, said)
    whole = ", ".join(parts)
    if key in FLAGGED:
        return list(flagged(whole, FLAGGED[key]))
    return [f"({whole}) -> {result}"]


def flagged(parameters: str, flag: str) -> Iterator[str]:
    """The signatures of a function that gives a pair where `flag` is set."""
    before, _, after = parameters.partition(f"{flag}: _bool = False")
    yield f"({before}{flag}: Literal[False] = False{after}) -> Tensor"
    # By its place as well, where nothing before it can be left out.
    star = "*, " if "=" in before else ""
    yield f"({before}{star}{flag}: Literal[True]{after}) -> tuple[Tensor, Tensor]"
    yield f"({before}{flag}: _bool = False{after}) -> Tensor | tuple[Tensor, Tensor]"


def default_text(default: object) -> str:
    """A default where it is short and plain; else an ellipsis."""
    plain = type(default) in (bool, int, float, str) or default is None
    return repr(default) if plain and repr(default) not in ("inf", "nan") else "..."


# ---- the lines ----------------------------------------------------------------------------------


def defined(name: str, found: list[str]) -> Iterator[str]:
    """The lines that define a function with these signatures."""
    for form in found:
        if len(found) > 1:
            yield "@overload"
        yield f"def {name}{form}: ..."


def of_function(space: str, name: str) -> list[str]:
    """The signatures of a public function of the table."""
    key = f"{space or 'torch'}.{name}"
    whole = WHOLE.get(key) or WHOLE.get(name)
    if whole:
        return [form.replace("@self", "input: Tensor") for form in whole]
    kind = kind_of(space, name)
    found = forms(key, name, signatures(kind, name)) if kind not in ("", "python") else []
    return found or of_python(function_of(FACES[space, name]), key)


def functions(space: str) -> Iterator[str]:
    """The stubs of all functions of a namespace."""
    for where, name in sorted(PUBLIC):
        if where == space and not keyword.iskeyword(name):
            yield from defined(name, of_function(space, name))


def written_methods() -> set[str]:
    """What the class of tensors says in its own source."""
    assert tensor_module.__file__ is not None
    tree = ast.parse(Path(tensor_module.__file__).read_text())
    (of_tensors,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    nodes = list(ast.walk(of_tensors))
    found = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    return found | {ast.unparse(n.target) for n in nodes if isinstance(n, ast.AnnAssign)}


def of_method(name: str) -> list[str]:
    """The signatures of a method."""
    key = f"Tensor.{name}"
    whole = WHOLE.get(key) or WHOLE.get(name)
    if whole:
        return [form.replace("@self", "self") for form in whole]
    found = forms(key, name, signatures("method", name))
    if found:
        return found
    function = getattr(rushlight.Tensor, name)
    return of_python(function_of(function), key)


def methods() -> Iterator[str]:
    """The stubs of the methods that the table and the modules above attach."""
    tensor = rushlight.Tensor
    taken = {*written_methods(), *vars(TensorBase), *dir(object)}
    names = {*TENSOR_METHODS, *dir(tensor)} - taken
    for name in sorted(names):
        if name.startswith("__") or not hasattr(tensor, name) or name in ("acc", "run"):
            continue
        value = inspect.getattr_static(tensor, name)
        if inspect.ismemberdescriptor(value) or inspect.isgetsetdescriptor(value):
            continue
        if isinstance(value, bool):
            yield f"{name}: _bool"
        elif callable(getattr(tensor, name)):
            yield from defined(name, of_method(name))
        else:
            yield f"{name}: {ATTRIBUTES.get(name, 'Any')}"


#: Attributes that are no methods.
ATTRIBUTES = {
    **dict.fromkeys(("H", "T", "mH", "mT"), "Tensor"), "is_cpu": "_bool", "is_meta": "_bool",
    "layout": "_layout", "names": "tuple[str | None, ...]", "grad_dtype": "dtype | None",
    "volatile": "_bool",
}  # fmt: skip


def named_results() -> Iterator[str]:
    """The classes of named results."""
    for named in NAMED:
        name = named.replace(".", "_")
        kind = getattr(rushlight.return_types, name)
        fields = [public_name(field) for field in fields_of(kind)]
        yield f"class {name}(NamedTuple):"
        yield from (f"    {field}: Tensor" for field in fields)


def fields_of(kind: Any) -> list[str]:
    """The names of the fields of a class of named results, in their order."""
    several = range(kind.n_sequence_fields)
    numbered = kind(several)
    found = {getattr(numbered, name): name for name in dir(kind) if not name.startswith(("_", "n_"))
             and name not in ("count", "index")}  # fmt: skip
    return [found[i] for i in several]
