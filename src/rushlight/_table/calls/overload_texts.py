"""The signatures of PyTorch's functions and methods; read only to explain misuse.

One entry for the names that share their signatures, in the order in which they are tried:

    acos acosh: (@in @out)
    add: (@in, Scalar alpha, Tensor other @out)|deprecated (@in, Tensor other, *, …)

The types are those of `schema.py`; a `SymInt` is an int for which whatever has an index may stand.
`@in`, ` @out` and `@new` stand for the parts that come again and again. A deprecated signature is
tried like any other, and never shown.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from ..._base.schema import REQUIRED, Parameter

_SHORT: Final = {
    "@in": "Tensor input",
    " @out": ", *, Tensor out=None",
    "@new": "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=False, bool? requires_grad=False",
}
# Compiled when a text is asked for: most programs make no mistake.
_SIGNATURE: Final = r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)(\|deprecated)?"
_PART: Final = (
    r"(?P<type>\w+)(?P<item>\?)?(?P<list>\[(?P<size>\d*)\])?(?P<none>\?)? (?P<name>\w+)"
    r"(?:=(?P<default>.*))?"
)
_SHOWN: Final = {"SymInt": "int", "Scalar": "Number", "ScalarType": "torch.dtype",
                 "Device": "torch.device", "Layout": "torch.layout",
                 "MemoryFormat": "torch.memory_format",
                 "Generator": "torch.Generator", "Storage": "torch.Storage"}  # fmt: skip


class Signature:
    """One signature: its parameters, how many a call needs and may have, and its text."""

    __slots__ = ("params", "deprecated", "least", "positional", "text")

    def __init__(self, params: list[Parameter], deprecated: bool) -> None:
        self.params = params
        self.deprecated = deprecated
        self.least = sum(p.default is REQUIRED for p in params)
        self.positional = sum(not p.kw_only for p in params)
        shown: list[str] = []
        for p in params:
            if p.kw_only and "*" not in shown:
                shown.append("*")
            default = "" if p.default is REQUIRED else f" = {p.default}"
            shown.append(f"{type_text(p)} {p.name}{default}")
        self.text = "(" + ", ".join(shown) + ")"


def type_text(p: Parameter) -> str:
    """The type of a parameter as messages name it."""
    if p.is_list:
        return f"tuple of {p.type}s"
    return _SHOWN.get(p.type, p.type)


@functools.cache
def signatures(kind: str, name: str) -> tuple[Signature, ...]:
    """The signatures of a name of kind `torch`, `method`, `nn`, `fft`, `linalg` or `special`.

    Those of a method don't have the tensor itself. Empty for a name that isn't known.
    """
    if kind == "method":
        return _of_method(name)
    key = name if kind == "torch" else f"{kind}.{name}"
    return tuple(read(_texts()[0 if kind == "torch" else 2].get(key, "")))


def _of_method(name: str) -> tuple[Signature, ...]:
    own = _texts()[1].get(name)
    if own is not None:
        return tuple(read(own))
    found = tuple(
        Signature([p for p in s.params[1:] if p.name != "out"], s.deprecated)
        for s in signatures("torch", name)
        if s.params and s.params[0].type == "Tensor" and s.params[0].name in ("input", "self")
    )
    if not found and name.endswith("_") and not name.endswith("__"):
        return signatures("method", name[:-1])
    return found


@functools.cache
def _texts() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    from .function_signatures import TORCH
    from .method_signatures import METHODS, MODULES

    return entries(TORCH), entries(METHODS), entries(MODULES)


def entries(text: str) -> dict[str, str]:
    """The signatures of each name, as texts."""
    found: dict[str, str] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        names, _, rest = line.partition(": ")
        for short, long in _SHORT.items():
            rest = rest.replace(short, long)
        found.update(dict.fromkeys(names.split(), rest))
    return found


def read(text: str) -> list[Signature]:
    """The signatures in a text."""
    return [Signature(_parameters(m[1]), bool(m[2])) for m in re.finditer(_SIGNATURE, text)]


def _parameters(text: str) -> list[Parameter]:
    found: list[Parameter] = []
    kw_only = False
    for part in re.split(r", (?![^{]*\})", text) if text else ():
        if part == "*":
            kw_only = True
            continue
        m = re.fullmatch(_PART, part)
        assert m is not None, part
        default: object = REQUIRED if m["default"] is None else m["default"]
        none = bool(m["none"] or (m["item"] and not m["list"])) or default == "None"
        size = int(m["size"]) if m["size"] else None
        found.append(
            Parameter(m["name"], m["type"], none, m["list"] is not None, size, default, kw_only, "")
        )
    return found


@functools.cache
def python_signature(kind: str, name: str) -> tuple[str, str] | None:
    """The qualified name and the parameters of a function that is Python there and differs here."""
    from .method_signatures import PYTHON

    for line in PYTHON.replace("\n    ", " ").strip().splitlines():
        head, _, rest = line.partition(": ")
        if head == f"{kind} {name}":
            qualified, _, inside = rest.partition("(")
            return qualified, f"({inside}"
    return None
