"""What each operation of the table supports: `rushlight.coverage()`."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .._core.engine import WORLDS
from . import ROWS, TENSOR_METHODS, Row
from .modes.batching_rules import rule_of
from .rows.composite import COMPOSITES

if TYPE_CHECKING:
    from types import ModuleType

FORWARD_MODE: Final = {
    "elementwise": "formula",
    "linear": "itself",
    "multilinear": "itself",
    "selection": "two passes",
    "general": "two passes",
}


class Support(NamedTuple):
    """What one overload supports; empty where it supports nothing of the sort."""

    operator: str
    forward: str  # the kind of the row
    gradient: str  # the arguments that have one
    second: str  # which orders of gradients can be differentiated again
    tangent: str  # how forward mode gets its tangents
    vmap: str  # how it runs on a batch: by a rule, or in a loop over the examples
    inplace: str
    out: str


class Coverage(tuple[Support, ...]):
    """One line per overload; prints as a table."""

    __slots__ = ()

    HEAD: Final = Support(
        "operator",
        "forward",
        "gradient",
        "second order",
        "forward mode",
        "vmap",
        "in-place",
        "out=",
    )

    def __repr__(self) -> str:
        lines = [self.HEAD, *self]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.HEAD))]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines
        )

    @property
    def summary(self) -> str:
        """How many there are, in one sentence."""
        public = [s for s in self if s.forward != "composed"]
        composed = len(self) - len(public)
        return (
            f"{len(public)} overloads with a forward, {sum(bool(s.gradient) for s in public)} with "
            f"a gradient, {sum(s.second == 'yes' for s in public)} with gradients of every order, "
            f"{sum(bool(s.tangent) for s in public)} with forward mode, "
            f"{sum(s.vmap == 'rule' for s in public)} with a batching rule; {composed} functions "
            "composed of them."
        )


def coverage() -> Coverage:
    """What every public operation supports: gradients, forward mode, vmap, in-place, out=.

    Functions that are composed of other operations stand last; they inherit from those what they
    support.

    Returns: Coverage: a list of `Support`, which prints as a table.
    Example:
        >>> [s.forward for s in torch.coverage() if s.operator == "add.Tensor"]
        ['elementwise']
    """
    found = [support(row) for rows in ROWS.values() for row in rows if is_public(row)]
    known = {s.operator.partition(".")[0] for s in found}
    for namespace, name in COMPOSITES:
        shown = f"{namespace}.{name}" if namespace else name
        if namespace != "private" and not name.startswith("_") and shown not in known:
            found.append(Support(shown, "composed", "", "", "", "", "", ""))
    found.sort(key=lambda s: (s.forward == "composed", s.operator.lower(), s.operator))
    return Coverage(found)


def is_public(row: Row) -> bool:
    """Whether a user can call the row by name, as a function or as a method."""
    name = row.schema.name
    if name.startswith("_"):
        return False
    return (row.public and set(row.namespace) != {"private"}) or (row.method and not row.public)


def support(row: Row) -> Support:
    """What one row supports."""
    schema = row.schema
    name = f"{schema.name}.{schema.overload}" if schema.overload else schema.name
    formulas = [f for f in row.formulas.values() if f is not None]
    gradient = ", ".join(
        "input" if p == "self" else p for p, f in row.formulas.items() if f is not None
    )
    if row.joint is not None:
        formulas.append(row.joint)
        gradient = ", ".join(
            "input" if p.name == "self" else p.name for p in schema.params if p.type == "Tensor"
        )
    second = ""
    if formulas:
        second = "no" if any(missing(f) for f in formulas) else "yes"
    tangent = FORWARD_MODE[row.kind] if formulas else ""
    if schema.is_view and formulas:
        tangent = "itself"
    if row.jvp is not None and formulas:
        tangent = "rule"
    batch = rule_of(row)
    return Support(
        name,
        "view" if schema.is_view else row.kind,
        gradient,
        second,
        tangent,
        "" if batch == "none" else batch,
        "yes" if row.inplace or (row.method and f"{schema.name}_" in TENSOR_METHODS) else "",
        "yes" if row.out and row.public else "",
    )


def missing(formula: object) -> list[str]:
    """The names that a formula asks of `xp` and that one of the two namespaces lacks."""
    worlds = (WORLDS.raw, WORLDS.traced)
    return sorted({n for n in vocabulary(formula) if not all(has(w, n) for w in worlds)})


def has(world: ModuleType, name: str) -> bool:
    """Whether a namespace has a name, computed ones included."""
    try:
        getattr(world, name)
    except AttributeError:
        return False
    return True


_GENERATED: Final = ("loss", "rows", "norm")


def vocabulary(formula: Any) -> set[str]:
    """The names that a formula, and the functions of the table that it calls, ask of `xp`."""
    found: set[str] = set()
    seen: set[Any] = set()
    # Of one that is generated: see `_formula`.
    one = next((t for t in (getattr(formula, kind, None) for kind in _GENERATED) if t), formula)
    stack = [getattr(one, "function", None) or getattr(one, "formula", one)]
    while stack:
        function = stack.pop()
        code = getattr(function, "__code__", None)
        if not isinstance(code, CodeType) or code in seen:
            continue
        seen.add(code)
        for inner in _walk_nested(code):
            found.update(_words_used(inner))
            for name in inner.co_names:
                called = function.__globals__.get(name)
                if isinstance(called, FunctionType) and "._table." in called.__module__:
                    stack.append(called)
        for cell in function.__closure__ or ():
            if isinstance(cell.cell_contents, FunctionType):
                stack.append(cell.cell_contents)
    return found


def _walk_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _walk_nested(constant)


def _words_used(code: CodeType) -> Iterator[str]:
    """The attributes taken of the variable `xp`."""
    holds_xp = False
    for step in dis.get_instructions(code):
        if holds_xp and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(step.argval)
        last = step.argval[-1] if isinstance(step.argval, tuple) and step.argval else step.argval
        holds_xp = step.opname.startswith("LOAD_") and last == "xp"
