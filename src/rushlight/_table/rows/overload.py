"""Overloads that have most of what they are from the row of tensors.

remainder_scalar = overload(
    remainder, "remainder.Scalar(Tensor self, Scalar other) -> Tensor", samples=…,
)
"""

from __future__ import annotations

from typing import Any, Final

from .row import PROMOTIONS, Row, declare

_PROMOTED: Final = {kind: name for name, kind in PROMOTIONS.items()}
#: What an overload has from the row that it is one of, where it isn't told.
_INHERITED: Final = ("doc", "formula", "dtypes", "namespace", "public", "wide", "refuses_values",
                     "given_numbers", "out_rules", "inplace", "method")  # fmt: skip


def overload(of: Row, schema: str, raw: Any = None, **declared: Any) -> Row:
    """Declares an overload, of which only what differs is told; a number's has no method."""
    parameters = schema.partition("(")[2].rpartition(") ->")[0].split(", ")
    tensors = [p.split()[1].partition("=")[0] for p in parameters if p.startswith("Tensor")]
    fields = {name: getattr(of, name) for name in _INHERITED}
    if "(Scalar" in schema:
        fields["method"] = fields["inplace"] = False
    fields |= {name: f for name, f in of.formulas.items() if name in tensors}
    fields |= {"promote": _PROMOTED[of.declared.promote], "check": of.declared.check}
    return declare(of.kind, schema, of.raw if raw is None else raw, **(fields | declared))
