"""Operator schemas: the one-line texts by which rows declare signatures, in PyTorch's grammar.

    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor"

A schema gives the name, the overload, the parameters with their types and defaults, and the returns
with their aliasing (`Tensor(a)`: a view, `Tensor(a!)`: written).
"""

from __future__ import annotations

import re
from typing import Final

REQUIRED: Final = object()  # the default of a parameter that has none

# Compiled when a schema is parsed for the first time, which importing the package needn't do.
_PARAM: Final = (
    r"(?P<base>[A-Za-z]+)(?:\((?P<alias>[a-z]\d*!?)\))?(?P<opt_item>\?)?"
    r"(?P<list>\[(?P<size>\d*)\])?(?P<opt>\?)?\s+(?P<name>\w+)(?:=(?P<default>.+))?$"
)
_RETURN: Final = (
    r"(?P<base>[A-Za-z]+)(?:\((?P<alias>[a-z]\d*!?)\))?(?P<list>\[\])?(?:\s+(?P<name>\w+))?$"
)


class Parameter:
    """One parameter: `type` is the base type ("Tensor", "int", "Scalar", …)."""

    __slots__ = ("name", "type", "optional", "is_list", "list_size", "default", "kw_only", "alias")

    def __init__(
        self,
        name: str,
        type: str,
        optional: bool,
        is_list: bool,
        list_size: int | None,
        default: object,
        kw_only: bool,
        alias: str,
    ) -> None:
        self.name = name
        self.type = type
        self.optional = optional
        self.is_list = is_list
        self.list_size = list_size
        self.default = default
        self.kw_only = kw_only
        self.alias = alias

    @property
    def is_tensor(self) -> bool:
        """A single tensor, not a list of them."""
        return self.type == "Tensor" and not self.is_list

    @property
    def text(self) -> str:
        """The parameter as error messages list it: `tuple of ints dim`."""
        kind = _MESSAGE_TYPES.get(self.type, self.type)
        if self.is_list:
            kind = "tuple of " + _PLURALS.get(self.type, self.type + "s")
        shown = f"{kind} {public_name(self.name)}"
        if self.default is not REQUIRED:
            shown += f" = {_default_text(self)}"
        return shown


_MESSAGE_TYPES: Final = {"Scalar": "Number", "ScalarType": "torch.dtype", "Device": "torch.device",
                         "Layout": "torch.layout", "MemoryFormat": "torch.memory_format",
                         "Generator": "torch.Generator", "Dimname": "name"}  # fmt: skip
_PLURALS: Final = {"int": "ints", "float": "floats", "bool": "bools", "Tensor": "Tensors",
                   "Scalar": "Scalars"}  # fmt: skip


def _default_text(p: Parameter) -> str:
    if p.is_list and isinstance(p.default, tuple):
        return "(" + ", ".join(map(str, p.default)) + ("," if len(p.default) == 1 else "") + ")"
    return f'"{p.default}"' if isinstance(p.default, str) else str(p.default)


class Return:
    """One result: `alias` is "a" for a view, "a!" for a written argument, "" for a fresh tensor."""

    __slots__ = ("type", "alias", "is_list", "name")

    def __init__(self, type: str, alias: str, is_list: bool, name: str) -> None:
        self.type = type
        self.alias = alias
        self.is_list = is_list
        self.name = name


class Schema:
    """A parsed operator schema."""

    __slots__ = ("text", "name", "overload", "params", "returns", "positions")

    def __init__(
        self,
        text: str,
        name: str,
        overload: str,
        params: tuple[Parameter, ...],
        returns: tuple[Return, ...],
    ) -> None:
        self.text = text
        self.name = name
        self.overload = overload
        self.params = params
        self.returns = returns
        self.positions = {p.name: i for i, p in enumerate(params)}

    @property
    def is_view(self) -> bool:
        """Whether a result shares the memory of the first argument."""
        return any(r.alias == "a" for r in self.returns)

    @property
    def signature(self) -> str:
        """The signature as "invalid combination of arguments" messages list it."""
        parts: list[str] = []
        starred = False
        for p in self.params:
            if p.kw_only and not starred:
                parts.append("*")
                starred = True
            parts.append(p.text)
        return "(" + ", ".join(parts) + ")"


def public_name(name: str) -> str:
    """The name under which a user passes a parameter: schemas say `self`, functions say `input`."""
    return "input" if name == "self" else name


def parse(text: str) -> Schema:
    """The schema written in `text`.

    Raises:
        ValueError: where the text doesn't follow the grammar; it names the part.
    """
    head = re.match(r"([\w.]+?)(?:\.(\w+))?\((.*)\)\s*->\s*(.+)$", text.strip())
    if head is None:
        raise ValueError(f"not an operator schema: {text!r}")
    name, overload, inside, results = head[1], head[2] or "", head[3], head[4]
    params: list[Parameter] = []
    kw_only = False
    for piece in _split(inside):
        if piece == "*":
            kw_only = True
            continue
        params.append(_parameter(piece, kw_only, text))
    results = results.strip()
    inner = results[1:-1] if results.startswith("(") else results
    returns = tuple(_return(piece, text) for piece in _split(inner))
    return Schema(text.strip(), name, overload, tuple(params), returns)


def _split(inside: str) -> list[str]:
    if "(" not in inside and "[" not in inside:
        return [piece.strip() for piece in inside.split(",")] if inside.strip() else []
    pieces: list[str] = []
    depth = 0
    start = 0
    for i, c in enumerate(inside):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            pieces.append(inside[start:i].strip())
            start = i + 1
    last = inside[start:].strip()
    if last:
        pieces.append(last)
    return pieces


def _parameter(piece: str, kw_only: bool, text: str) -> Parameter:
    m = re.match(_PARAM, piece)
    if m is None:
        raise ValueError(f"not a parameter: {piece!r} in {text!r}")
    default = _value(m["default"]) if m["default"] is not None else REQUIRED
    size = int(m["size"]) if m["size"] else None
    if size is not None and isinstance(default, int) and not isinstance(default, bool):
        default = (default,) * size
    return Parameter(
        m["name"],
        m["base"],
        bool(m["opt"] or (m["opt_item"] and not m["list"])),
        m["list"] is not None,
        size,
        default,
        kw_only,
        m["alias"] or "",
    )


def _value(text: str) -> object:
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    if text.startswith("["):
        return tuple(_value(v) for v in _split(text[1:-1]))
    if text[0] in "\"'":
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _return(piece: str, text: str) -> Return:
    m = re.match(_RETURN, piece)
    if m is None:
        raise ValueError(f"not a result: {piece!r} in {text!r}")
    return Return(m["base"], m["alias"] or "", m["list"] is not None, m["name"] or "")
