"""Losses as loop formulas: what they are by element or by row, and their totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._formula import ir as G
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
    if form.options.check_values is not None and not form.key:
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
    function = form.bound(form.required)

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
        return (G.total(shared.counted(each(a), x.shape)),)

    return LoopFormula(i, x.shape, body, ended=True)


# ---- of class numbers ----------------------------------------------------------------------------


def _classes(logits: Value, target: Value, reduction: int, ignored: int) -> bool:
    return bool(
        type(logits) is Value and type(target) is Value and len(logits.shape) == 2
        and target.dtype.name == "int64" and logits.dtype.name in FLOATS and ignored < 0
        and reduction in (1, 2) and target.shape == logits.shape[:1] and in_order(target)
        and in_order(logits)
    )  # fmt: skip


def _entropy(i: Instruction) -> LoopFormula | None:
    """_cross_entropy(logits, target, reduction, ignored), and backward with g before."""
    logits, target, reduction, ignored = i.inputs[-4:]
    back = i.rule == "cross_entropy_backward"
    if not _classes(logits, target, reduction, ignored):
        return None
    if back and (type(i.inputs[0]) is not Value or i.inputs[0].shape):
        return None
    rows = logits.shape[0]
    out = i.outputs[0]
    assert out is not None

    def body(a: Arguments, shared: Shared) -> tuple[Any, ...]:
        x, classes = a[-4], a[-3]
        if x not in shared.known:
            top = G.row_top(x)
            e = G.exp(x - top)
            shared.known[x] = top, e, G.row_sum(e)
        top, e, s = shared.known[x]
        if not back:
            shared.factors[out.number] = 1.0 / rows if reduction == 1 else 1.0
            return (G.total(G.log(s) + top - G.pick(x, classes)),)
        scale = a[0] * (1.0 / rows) if reduction == 1 else a[0]
        p = e * (1.0 / s)
        return (G.where(G.one_hot(classes), p - 1.0, p) * scale,)

    found = LoopFormula(i, logits.shape, body, split=1, ended=not back)
    found.whole.add(target.number)
    if not back:
        found.fixed.add(logits.number)
    return found


def _likelihood(i: Instruction) -> LoopFormula | None:
    """nll_loss(x, target, weight, reduction, ignored), and backward with g before."""
    x, target, weight, reduction, ignored = i.inputs[-5:]
    back = i.rule == "nll_loss_backward"
    out = i.outputs[0]
    if weight is not None or not _classes(x, target, reduction, ignored) or len(i.outputs) != 1:
        return None
    if out is None or (back and (type(i.inputs[0]) is not Value or i.inputs[0].shape)):
        return None
    rows = x.shape[0]
    if not back:

        def picked(a: Arguments, shared: Shared) -> tuple[Symbol, ...]:
            shared.factors[out.number] = 1.0 / rows if reduction == 1 else 1.0
            return (G.total(-G.pick(a[0], a[1])),)

        found = LoopFormula(i, x.shape, picked, split=1, ended=True)
        found.fixed.add(x.number)
    else:

        def placed(a: Arguments, _: Shared) -> tuple[Symbol, ...]:
            scale = a[0] / float(rows) if reduction == 1 else a[0]
            return (G.where(G.one_hot(a[2]), -scale, 0.0),)

        found = LoopFormula(i, x.shape, placed, split=1, read=(i.inputs[0], target))
    found.whole.add(target.number)
    return found


def target_of(i: Instruction) -> tuple[Value, int] | None:
    """The class numbers of a loss and their limit, which are checked before anything runs."""
    if i.rule in ("cross_entropy", "cross_entropy_backward"):
        return i.inputs[-3], i.inputs[-4].shape[1]
    if i.rule in ("nll_loss", "nll_loss_backward"):
        return i.inputs[-4], i.inputs[-5].shape[1]
    return None


MAKERS: Final[dict[str, Maker]] = {
    "cross_entropy": _entropy, "cross_entropy_backward": _entropy,
    "nll_loss": _likelihood, "nll_loss_backward": _likelihood,
}  # fmt: skip
