"""What the formulas of a row read, what its nodes save for them, and the code generated of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.lazy import Function
from ..._base.schema import REQUIRED, Schema
from ..._core.op import (
    ARG,
    CALL_G,
    CALL_G_SAVED,
    CALL_GENERAL,
    DTYPE,
    FREED,
    OUT,
    PICK_G,
    PICK_G0,
    PICK_GS,
    PICK_NEED,
    PICK_XP,
    SHAPE,
    Op,
)
from ..._formula.words import Formula

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._base.annotations import AnyCallable


def generate_functions(row: Any, schema: Schema) -> None:
    """Puts the functions that are made of formulas in the places of these: see `_formula`."""
    if isinstance(row.raw, Formula):
        row.raw = _generate(row.name, "", row.raw, schema)
    for formulas in (row.formulas, row.declared.at_defaults or {}):
        for key, formula in formulas.items():
            if isinstance(formula, Formula):
                formulas[key] = _generate(row.name, "" if key == "raw" else key, formula, schema)
    if isinstance(row.joint, Formula):
        row.joint = _generate(row.name, "joint", row.joint, schema)


def _generate(name: str, key: str, formula: Any, schema: Schema) -> AnyCallable:
    """The function of a row, or of its gradient for the argument `key`."""
    called = f"{name}_{key}_gradient" if key else name
    if type(formula) is not Formula:
        return formula.generate(called, key, schema)
    from ..._array.elementwise.generated import generate

    numbers = {p.name: p.default for p in schema.params if not p.is_tensor}
    arrays = tuple(p for p in parameters_of(formula.function) if p not in numbers)
    defaults = {key: x for key, x in numbers.items() if x is not REQUIRED}
    override = formula.override
    if type(override) is Function:
        override = override.find()
    return generate(called, formula.function, arrays, defaults, override, narrow=formula.narrow)


def check_formulas(schema: Schema, formulas: Mapping[str, object]) -> None:
    for name in formulas:
        p = schema.positions.get(name)
        if p is None or schema.params[p].type != "Tensor":
            raise ValueError(f"{schema.text}: no tensor argument {name!r} to differentiate")


def lay_out(op: Op, schema: Schema, formulas: dict[str, Any], joint: AnyCallable | None) -> None:
    """Decides what nodes of `op` save, and how each formula's parameters are filled."""
    edges = ([op.lists] if op.lists >= 0 else []) + list(op.tensors)
    wanted: dict[tuple[int, int, str], int] = {}  # entry -> mask
    asks: list[tuple[Any, list[Any]]] = []
    per_edge = [formulas.get(schema.params[pos].name) for pos in edges]
    for formula, bits in [(f, 1 << pos) for f, pos in zip(per_edge, edges)] + [(joint, -1)]:
        if formula is None:
            continue
        wants = [_resolve(name, schema) for name in parameters_of(formula)]
        asks.append((formula, wants))
        for want in wants:
            if isinstance(want, tuple):
                # A number is kept whatever wants a gradient, as in PyTorch.
                number = want[0] == ARG and not schema.params[want[1]].type.startswith("Tensor")
                wanted[want] = -1 if number else wanted.get(want, 0) | bits
    given = sum(formula is not None for formula in per_edge)
    op.records = given > 0 or joint is not None
    only_tensors = op.lists < 0 and len(schema.params) == len(op.tensors) and op.n_out == 1
    kinds_ok = all(entry[0] in (ARG, OUT) for entry in wanted)
    all_or_none = given in (0, len(per_edge))  # the fast path asks once per operation
    op.simple = only_tensors and kinds_ok and all_or_none and joint is None
    op.simple = op.simple and len(op.tensors) in (1, 2)
    if op.simple:
        entries = [(ARG, pos, schema.params[pos].name) for pos in op.tensors]
        entries.append((OUT, 0, "result"))
    else:
        entries = sorted(wanted, key=lambda e: (e[0] == OUT, e[0], e[1]))
    op.entries = tuple(entries)
    op.n_args = sum(1 for e in entries if e[0] != OUT)
    op.masks = tuple(wanted.get(e, 0) for e in entries)
    op.freed = tuple(FREED for _ in entries)
    op.saves_out = any(e[0] == OUT and wanted.get(e, 0) for e in entries)
    place = {e: k for k, e in enumerate(entries)}
    picks_of = {
        id(formula): tuple(place[w] if isinstance(w, tuple) else w for w in wants)
        for formula, wants in asks
    }
    forms: list[int] = []
    picks: list[Any] = []
    for formula in per_edge:
        if formula is None:
            forms.append(CALL_GENERAL)
            picks.append(())
            continue
        found = picks_of[id(formula)]
        if found == (PICK_G,) and not getattr(formula, "refuses", False):
            forms.append(CALL_G)
            picks.append(0)
        elif len(found) == 2 and found[0] == PICK_G and found[1] >= 0:
            forms.append(CALL_G_SAVED)
            picks.append(found[1])
        else:
            forms.append(CALL_GENERAL)
            picks.append(found)
    op.formulas = tuple(per_edge)
    op.forms = tuple(forms)
    op.picks = tuple(picks)
    op.joint = joint
    op.joint_picks = picks_of[id(joint)] if joint is not None else ()


def parameters_of(formula: AnyCallable) -> tuple[str, ...]:
    """The parameter names of a plain function: `inspect`'s answer, a hundred times quicker."""
    code = formula.__code__
    return code.co_varnames[: code.co_argcount]


def _resolve(name: str, schema: Schema) -> Any:
    """What a formula's parameter is filled with: a pick below zero, or an entry to save."""
    fixed = {"g": PICK_G, "xp": PICK_XP, "need": PICK_NEED, "gs": PICK_GS}
    if name in fixed:
        return fixed[name]
    if name[0] == "g" and name[1:].isdigit():
        return PICK_G0 - int(name[1:])
    if name in schema.positions:
        return (ARG, schema.positions[name], name)
    if name == "out":
        return (OUT, 0, schema.returns[0].name or "result")
    for k, result in enumerate(schema.returns):
        if result.name == name:
            return (OUT, k, name)
    for suffix, kind in (("_shape", SHAPE), ("_dtype", DTYPE)):
        stem = name.removesuffix(suffix)
        if stem != name and stem in schema.positions:
            return (kind, schema.positions[stem], name)
    legal = list(fixed) + list(schema.positions) + ["out"]
    legal += [r.name for r in schema.returns if r.name]
    legal += [p + s for p in schema.positions for s in ("_shape", "_dtype")]
    import difflib

    near = difflib.get_close_matches(name, legal, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{schema.text}: a formula asks for {name!r}, which is not a name here{hint}")
