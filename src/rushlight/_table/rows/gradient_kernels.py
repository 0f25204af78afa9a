"""Gradients that arrays compute by a kernel of their own, and Tensors in recorded operations.

    self=lambda xp, g, groups: call_row(xp, _unshuffle, g, groups)
    grad_output=calling(lambda: avg_pool2d)
    joint=record_gradient(_gradients, override=raw.attention_backward)

A gradient that is an operation itself is a call of that operation's row: `calling` where it takes
arguments by the names of its own parameters. Else the row tells it in
operations, and names the function of arrays that overrides them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._array import numpy_namespace
from ..._base.generated_code import define
from ..._base.lazy import Function
from ..._base.schema import Schema, parse
from ..._formula.words import Formula
from .formulas import parameters_of

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import AnyCallable
    from .row import Row


def call_row(xp: ModuleType, row: Row, *args: Any) -> Any:
    """`row` on all of its arguments: its function of arrays, or the operation, recorded."""
    return xp.overridden(row.op.raw, row, *args)


def calling(row: Callable[[], Row], **given: Callable[..., Any]) -> Any:
    """Says that a gradient is that row's operation, on `g` and on arguments of the same names.

    `given` has functions for what has no argument: `size=lambda self_shape: self_shape[1:]`.
    """
    return _Calling(row, given)


class _Calling(Formula):
    __slots__ = ()

    def generate(self, name: str, key: str, schema: Schema) -> Any:
        """The formula of both worlds."""
        row: Row = self.function()
        given = self.override
        reads: dict[str, None] = {}
        values = ["g"]
        for p in parse(row.text).params[1:]:
            names = parameters_of(given[p.name]) if p.name in given else (p.name,)
            reads |= dict.fromkeys(names)
            values.append(f"{p.name}_of({', '.join(names)})" if p.name in given else p.name)
        source = f"def {name}(xp, g, {', '.join(reads)}):\n"
        source += f"    return call_row(xp, row, {', '.join(values)})\n"
        space = {"call_row": call_row, "row": row}
        space |= {f"{p}_of": function for p, function in given.items()}
        made = define(name, source, f"{__file__} <{name}>", space)
        made.text = f"{row.name}({', '.join(values)})"
        return made


def record_gradient(function: AnyCallable, *, override: Any) -> Any:
    """Says that a gradient is told in operations on Tensors, and what computes it on arrays.

    Both take the same arguments; the names of the first one's parameters say what they are, as
    those of a formula do. `g_<result>` is the gradient of the result of that name, None where none
    has come.
    """
    return _Recorded(function, override)


class _Recorded(Formula):
    __slots__ = ()

    def generate(self, name: str, key: str, schema: Schema) -> Any:
        """The formula of both worlds."""
        names = parameters_of(self.function)
        places = {f"g_{result.name}": f"gs[{k}]" for k, result in enumerate(schema.returns)}
        read = dict.fromkeys("gs" if p in places else p for p in names)
        given = ", ".join(places.get(p, p) for p in names)
        source = f"def {name}(xp, {', '.join(read)}):\n"
        source += f"    if xp is ARRAYS:\n        return override({given})\n"
        source += f"    return xp.overridden(override, told, {given})\n"
        override = self.override
        if type(override) is Function:
            override = override.find()
        space = {"ARRAYS": numpy_namespace, "override": override, "told": self.function}
        made = define(name, source, f"{__file__} <{name}>", space)
        made.formula = self.function
        made.plain = override
        return made
