"""Losses as loop formulas: what they are by element or by row, and their totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..._formula import ir as G
from ..._formula.class_losses import GRADIENTS, LOSSES
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Value
from .lowering_rule import LoopFormula, Shared

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._formula.ir import Symbol

Maker = Callable[[Instruction], LoopFormula | None]


def _pair(x: Value, target: Value, out: Value) -> bool:
    """Whether two values are floats of one dtype, as the result is."""
    if any(type(v) is not Value for v in (x, target, out)):
        return False
    return bool(x.dtype == target.dtype == out.dtype and x.dtype.name in FLOATS)


def by_element(i: Instruction) -> LoopFormula | None:
    """A loss that is told by element, or its gradient; None for what is neither.

    See `_array.nn.generated_losses`. Weights and what refuses values stay with the arrays' code.
    """
    form = getattr(i.function, "loss", None)
    out = i.outputs[0]
    if form is None or out is None or not in_order(out):
        return None
    if form.formula.check_values is not None and not form.key:
        return None
    places = {p: k for k, p in enumerate(form.names)}
    given = {**form.fixed, **dict(zip(form.names, i.inputs))}
    x, *others = [given[p] for p in form.required]
    if any(given[p] is not None for p in form.tensors if p not in form.required):
        return None
    if not _pair(x, x, out) or any(not _pair(x, y, out) or y.shape != x.shape for y in others):
        return None
    reduction, numbers = given["reduction"], [given[p] for p in form.numbers]
    if any(type(n) not in (int, float) for n in (reduction, *numbers)):
        return None
    function = form.bind(form.required)

    def each(a: Arguments) -> Symbol:
        return function(*[a[places[p]] for p in form.required], *numbers)

    size = float(size_of(x.shape)) if reduction == 1 else 1.0
    if form.key:
        if not _pair(given["g"], x, out) or out.shape != x.shape:
            return None
        return LoopFormula(i, out.shape, lambda a, _: (each(a) * (a[0] / size),))
    if reduction == 0:
        return LoopFormula(i, out.shape, lambda a, _: (each(a),))

    def body(a: Arguments, shared: Shared) -> tuple[Symbol, ...]:
        shared.factors[out.number] = 1.0 / size
        return (G.total(shared.count(each(a), x.shape)),)

    return LoopFormula(i, x.shape, body, ended=True)


# ---- of class numbers ----------------------------------------------------------------------------


def _classes(logits: Value, target: Value, reduction: int, ignored: int) -> bool:
    return bool(
        type(logits) is Value and type(target) is Value and len(logits.shape) == 2
        and target.dtype.name == "int64" and logits.dtype.name in FLOATS and ignored < 0
        and reduction in (1, 2) and target.shape == logits.shape[:1] and in_order(target)
        and in_order(logits)
    )  # fmt: skip


def _by_class(i: Instruction) -> LoopFormula | None:
    """cross_entropy(x, target, reduction, ignored), nll_loss(x, target, weight, …), or a gradient.

    A gradient has g before.
    """
    back = i.rule in GRADIENTS
    logits, target, *weight, reduction, ignored = i.inputs[back:]
    out = i.outputs[0]
    if weight not in ([], [None]) or not _classes(logits, target, reduction, ignored):
        return None
    if out is None or len(i.outputs) != 1:
        return None
    g = i.inputs[0]
    if back and (type(g) is not Value or g.shape):
        return None

    def each(a: Arguments, shared: Shared) -> tuple[Symbol, ...]:
        shared.factors[out.number] = 1.0 / logits.shape[0] if reduction == 1 else 1.0
        return (G.total(LOSSES[i.rule](a[0], a[1], None)),)

    def slopes(a: Arguments, _: Shared) -> tuple[Symbol, ...]:
        count = G.cast(G.row_count(a[0]), a[0].dtype)
        scale = a[0] * (1.0 / count) if reduction == 1 else a[0]
        return (GRADIENTS[i.rule](scale, a[1], a[2], None),)

    read = (g, target) if i.rule == "nll_loss_backward" else None
    found = LoopFormula(
        i, logits.shape, slopes if back else each, split=1, ended=not back, read=read
    )
    found.whole.add(target.number)
    if not back:
        found.fixed.add(logits.number)
    return found


def target_of(i: Instruction) -> tuple[Value, int] | None:
    """The class numbers of a loss and their limit, which are checked before anything runs."""
    if i.rule in ("cross_entropy", "cross_entropy_backward"):
        return i.inputs[-3], i.inputs[-4].shape[1]
    if i.rule in ("nll_loss", "nll_loss_backward"):
        return i.inputs[-4], i.inputs[-5].shape[1]
    return None


MAKERS: Final[dict[str, Maker]] = dict.fromkeys((*LOSSES, *GRADIENTS), _by_class)
