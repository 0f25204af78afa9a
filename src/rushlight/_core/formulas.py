"""Calls of formulas: what a node sends to its inputs.

Formulas run on one of two namespaces: on raw arrays, or on Tensors where the backward is recorded
or watched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.types import ndarray as _ndarray
from .._base import errors
from .mode import Mode, current
from .node import CHECKED, PACKED, Node
from .op import CALL_G, CALL_G_SAVED, PICK_G, PICK_G0, PICK_GS, PICK_NEED, PICK_XP
from .saved import unpack, unpack_all
from .storage import TensorBase

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, Arguments

ndarray: Final = _ndarray
REFUSES: Final = (PICK_G,)  # the picks of a formula that only says that there is none


class Worlds:
    """The two namespaces that formulas run on; the table hands them in."""

    __slots__ = ("raw", "traced")

    raw: Any
    traced: Any

    def __init__(self) -> None:
        self.raw = None
        self.traced = None


WORLDS: Final = Worlds()


def fix_gradient(node: Node, i: int, r: Any, traced: bool) -> Any:
    """A gradient brought to its input's shape and dtype."""
    fixes = node.fix
    if fixes is None or r is None:
        return r
    fix = fixes[i]
    if fix is None:
        return r
    world = choose_world() if traced else WORLDS.raw
    shape, dtype = fix
    if shape is not None:
        if node.special & (PACKED | CHECKED):  # what a hook has unpacked may have any shape
            check_fits(node, i, r._raw.shape if isinstance(r, TensorBase) else r.shape, shape)
        r = world.sum_to(r, shape)
    if dtype is not None:
        r = world.to_dtype(r, dtype)
    return r


def check_fits(node: Node, i: int, have: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuses a gradient that can't be summed to the shape of its input.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    lead = len(have) - len(shape)
    fits = lead >= 0
    for k, n in enumerate(shape):
        if fits and n != 1 and n != have[lead + k]:
            fits = False
    if not fits:
        raise RuntimeError(errors.invalid_gradient(type(node).__name__, i, have, shape))


def choose_world() -> Any:
    """The namespace of a backward over Tensors: a recorder's own, where it isn't part of a graph.

    What it computes there are the digits of the raw namespace.
    """
    mode: Mode = current()
    if mode.recorder is not None and mode.carrying:
        return mode.recorder.world
    return WORLDS.traced


def call_formula(node: Node, formula: AnyCallable, picks: tuple[int, ...], g: Any, need: Any,
                 traced: bool, values: Arguments | None = None) -> Any:  # fmt: skip
    """Calls a formula with whatever its parameters asked for.

    `values` are the saved values of a node that hooks have packed; None: they are read here.
    """
    arguments: list[Any] = []
    for pick in picks:
        if pick >= 0:
            arguments.append(unpack(node, pick, traced) if values is None else values[pick])
        elif pick == PICK_G:
            arguments.append(g)
        elif pick == PICK_XP:
            arguments.append(WORLDS.traced if traced else WORLDS.raw)
        elif pick == PICK_NEED:
            arguments.append(need)
        elif pick == PICK_GS:
            arguments.append(g)
        else:
            arguments.append(output_gradient(node, g, PICK_G0 - pick, traced))
    if traced:
        mode: Mode = current()
        if mode.recorder is not None and mode.carrying:
            return mode.recorder.formula(formula, arguments)
    try:
        return formula(*arguments)
    except (TypeError, ValueError):
        if node.special & (PACKED | CHECKED):  # what has been saved may have any shape
            refuse_shapes(arguments)
        if node.special & PACKED:
            name = type(node).__name__
            raise RuntimeError(errors.describe_unpacked(name)) from None
        raise


def refuse_shapes(arguments: Arguments) -> None:
    """Refuses arrays that can't be broadcast together.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    whole: Any = None
    for value in arguments:
        if isinstance(value, ndarray):
            problem = None if whole is None else errors.broadcast(whole, value.shape)
            if problem is not None:
                raise RuntimeError(problem)
            whole = value.shape


def output_gradient(node: Node, grads: Any, k: int, traced: bool) -> Any:
    """The gradient of output `k`, zeros where nothing has arrived."""
    if node.op.n_out == 1:
        return grads
    g = grads[k]
    if g is not None:
        return g
    meta = node.out_meta
    assert meta is not None
    shape, dtype = meta[k]
    return (choose_world() if traced else WORLDS.raw).zeros(shape, dtype)


def input_gradients(
    node: Node, g: Any, need: list[bool], traced: bool, fit: bool = True
) -> list[Any]:
    """What a node sends to each of its inputs (None: nothing), for gradients `g` of its outputs.

    Without `fit` they come as the formulas give them, not summed and cast to their inputs.
    """
    op = node.op
    if op.kind == "custom":
        return node.call(g if type(g) is list else [g], need, traced)
    world = choose_world() if traced else WORLDS.raw
    values = unpack_all(node, traced) if node.special & PACKED else None
    if node.conj:
        g = [None if x is None else world.conj(x) for x in g] if type(g) is list else world.conj(g)
    if op.joint is not None and True not in need:
        if values is None:
            look_at_all(node, traced)
        grads: list[Any] = [None] * len(need)
    elif op.joint is not None:
        grads = list(call_formula(node, op.joint, op.joint_picks, g, need, traced, values))
    else:
        grads = []
        for i in range(len(need)):
            if need[i] and op.formulas[i] is not None:
                form = op.forms[i]
                picks: Any = op.picks[i]
                if form == CALL_G:
                    picks = (PICK_G,)
                elif form == CALL_G_SAVED:
                    picks = (PICK_G, picks)
                grads.append(call_formula(node, op.formulas[i], picks, g, need, traced, values))
            else:
                if values is None and node.next[i] is not None and op.forms[i] != CALL_G:
                    look_at(node, i, traced)
                grads.append(None)
    if node.conj:
        grads = [None if r is None else world.conj(r) for r in grads]
    if fit and node.fix is not None:
        grads = [fix_gradient(node, i, r, traced) if need[i] else None for i, r in enumerate(grads)]
    return grads


def look_at_all(node: Node, traced: bool) -> None:
    """Unpacks what the formulas of a node read that no gradient has reached."""
    op = node.op
    if node.special & PACKED:
        unpack_all(node, traced)
    elif op.joint is not None:
        for k in op.joint_picks:
            if k >= 0:
                unpack(node, k, traced)
    elif op.kind != "custom":
        for i, child in enumerate(node.next):
            if child is not None and op.formulas[i] is not None and op.forms[i] != CALL_G:
                look_at(node, i, traced)


def look_at(node: Node, i: int, traced: bool) -> None:
    """Unpacks what a formula reads whose result nobody wants: it may have been written since.

    As in PyTorch a node unpacks all that it saved for its live edges before it computes anything.
    """
    picks = node.op.picks[i]
    if picks == REFUSES:
        node.op.formulas[i](None)
    for k in (picks,) if node.op.forms[i] == CALL_G_SAVED else picks:
        if k >= 0:
            unpack(node, k, traced)
