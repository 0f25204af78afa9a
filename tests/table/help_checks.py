"""What the help of public names says and lacks: `python -m tests.table.help_checks`.

Asked of functions, methods and classes: a first line, every parameter explained, shapes (where
tensors come or go), what is returned, what is refused, and an example that runs.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from enum import EnumMeta
from types import ModuleType
from typing import Any

import rushlight
from tests.table.public_names import public_names

PARTS = ("summary", "parameters", "shapes", "returns", "raises", "example")
#: A heading: the rest of its line, and the indented lines below, are what it says.
HEADING = re.compile(r"^([A-Z][A-Za-z ]*)(?: \([^)]*\))?:(?: |$)")
ENTRY = re.compile(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*): ?(.*)$")
#: Words of types: a parameter of which nothing else is said isn't explained.
TYPE_WORDS = {
    "any", "bool", "by", "callable", "complex", "device", "dtype", "float", "generator", "int",
    "layout", "name", "none", "sequence", "str", "tensor", "tuple", "true", "false", "mean", "sum",
    "memory_format", "list", "dict", "type", "untypedstorage",
}  # fmt: skip
#: Modules whose names aren't all promised (`public-names.txt`), but explained like those that are.
MORE_MODULES = (
    "distributed", "distributed.algorithms", "distributed.algorithms.ddp_comm_hooks",
    "distributed.checkpoint", "distributed.checkpoint.state_dict", "distributed.device_mesh",
    "distributed.elastic.multiprocessing", "distributed.elastic.multiprocessing.errors",
    "distributed.fsdp", "distributed.fsdp.wrap", "distributed.optim", "distributed.tensor",
    "distributed.tensor.parallel", "fx", "hub", "jit", "library", "multiprocessing", "testing",
)  # fmt: skip
#: What programs are for whose examples nothing is imported.
FUNCTIONS = ("function", "builtin_function_or_method", "method", "method_descriptor")


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading of a text; those before the first below an empty one."""
    found: dict[str, list[str]] = {"": []}
    here = found[""]
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            here = found.setdefault(heading[1].lower(), [])
            line = line[heading.end() :]
        here.append(line)
    return found


def explained(lines: list[str]) -> set[str]:
    """The parameters that a section explains, in more than the words of their types."""
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            names = entry[1].replace("*", "").split(", ")
            line = entry[2]
        for name in names:
            meanings[name] = f"{meanings.get(name, '')} {line}"
    return {
        name for name, said in meanings.items()
        if set(re.findall(r"[a-z_]{2,}", said.lower())) - TYPE_WORDS
    }  # fmt: skip


def text_of(value: Any) -> str:
    """The documentation of a value itself, not of what it inherits from."""
    is_bare = isinstance(value, type) and vars(value).get("__doc__") is None
    own = None if is_bare else value.__doc__
    return inspect.cleandoc(own) if isinstance(own, str) else ""


def parameters_of(value: Any, is_method: bool = False) -> list[str]:
    """The names of the parameters that a caller may give; none of an enumeration's."""
    if isinstance(value, EnumMeta):
        return []  # its members are what is used
    try:
        found = dict(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return []
    if is_method and found:
        found.pop(next(iter(found)))  # the tensor, whatever its name
    return [
        name for name, p in found.items()
        if name not in ("self", "cls") and name[0] != "_" and p.kind is not p.VAR_KEYWORD
    ]  # fmt: skip


def result_of(value: Any) -> str:
    """The annotation of what a function gives; empty where there is none."""
    try:
        found = inspect.signature(value).return_annotation
    except (TypeError, ValueError):
        return ""
    return "" if found is inspect.Signature.empty else str(found)


def has_tensors(value: Any, said: dict[str, list[str]]) -> bool:
    """Whether tensors come or go."""
    if isinstance(value, type) and not issubclass(value, rushlight.nn.Module):
        return False
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    given = "\n".join(said.get("parameters", []) + said.get("returns", []))
    return "Tensor" in signature + given or issubclass(
        value if isinstance(value, type) else object, rushlight.nn.Module
    )


def lacks(value: Any, is_method: bool = False) -> list[str]:
    """What the help of a value lacks, of `PARTS`; nothing is asked of plain values."""
    kind = type(value).__name__
    is_class = isinstance(value, type)
    is_function = kind in FUNCTIONS
    if isinstance(value, ModuleType):
        return [] if text_of(value) else ["summary"]
    if not (is_class or is_function or isinstance(value, property)):
        return []
    text = text_of(value)
    if not text or text.splitlines()[0][-1] not in ".:?!;…":
        return ["summary", "example"]
    if is_class and issubclass(value, BaseException):
        return []
    said = sections(text)
    missing: list[str] = []
    known = explained(said.get("parameters", []))
    unexplained = [] if isinstance(value, property) else [
        name for name in parameters_of(value, is_method) if name not in known
    ]  # fmt: skip
    if unexplained:
        missing.append(f"parameters({','.join(unexplained)})")
    result = result_of(value)
    if not isinstance(value, property) and "NoReturn" not in result:
        if has_tensors(value, said) and not said.get("shapes"):
            missing.append("shapes")
        if is_function and result not in ("None", "'None'") and not said.get("returns"):
            missing.append("returns")
        if parameters_of(value, is_method) and not said.get("raises"):
            missing.append("raises")
    if "NoReturn" not in result and not examples(text):
        missing.append("example")
    return missing


def examples(text: str) -> list[doctest.Example]:
    """The examples of a text whose output says something."""
    return doctest.DocTestParser().get_examples(text)


def failures(name: str, text: str) -> str:
    """What differs when the examples of a text run; empty where all do as they say."""
    space = {
        "torch": rushlight, "nn": rushlight.nn, "F": rushlight.nn.functional,
        "optim": rushlight.optim, "dist": rushlight.distributed, "__name__": "example",
    }  # fmt: skip
    found = doctest.DocTest(examples(text), space, name, None, 0, text)
    said: list[str] = []
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    rushlight.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(found, out=said.append)
    if rushlight.distributed.is_initialized():  # the example's own group of one process
        rushlight.distributed.destroy_process_group()
    return "".join(said)


def explained_names() -> set[str]:
    """The public names, and those of `MORE_MODULES` that Python's own library doesn't explain."""
    found = public_names()
    for place in MORE_MODULES:
        module = importlib.import_module(f"rushlight.{place}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            where = "__name__" if isinstance(value, ModuleType) else "__module__"
            home = getattr(value, where, None) or ""
            if name[0] != "_" and home.partition(".")[0] in ("", "rushlight", "torch"):
                found.add(f"rushlight.{place}.{name}")
    return found


def explained_values() -> Iterator[tuple[str, Any]]:
    """The names that are to be explained, and what they name."""
    for name in sorted(explained_names()):
        value: Any = rushlight
        for part in name.split(".")[1:]:
            found = inspect.getattr_static(value, part, None)
            if isinstance(value, type) and isinstance(found, property):
                value = found
            elif hasattr(value, part):
                value = getattr(value, part)
            else:
                value = importlib.import_module(name)
        yield name, value


def gaps() -> dict[str, list[str]]:
    """The names whose help lacks something, and what."""
    found = (
        (name, lacks(value, name.startswith("rushlight.Tensor.")))
        for name, value in explained_values()
    )
    return {name: missing for name, missing in found if missing}


def main() -> int:
    """Prints what is lacking; 0 where nothing is."""
    found = gaps()
    print("".join(f"{name}: {' '.join(said)}\n" for name, said in found.items()), end="")
    print(f"{len(found)} of {len(explained_names())} names lack something")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
