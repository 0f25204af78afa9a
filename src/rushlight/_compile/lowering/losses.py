"""Losses as meanings: what they are by element or by row, and their totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._array.kernels import element_formulas as E
from ..._formula import ir as G
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Value
from .lowering_rule import Meaning, Shared

Maker = Callable[[Instruction], Meaning | None]


def _pair(x: Any, target: Any, out: Any) -> bool:
    """Whether two values are floats of one dtype, as the result is."""
    if any(type(v) is not Value for v in (x, target, out)):
        return False
    return bool(x.dtype == target.dtype == out.dtype and x.dtype.name in FLOATS)


def loss(formula: Callable[..., Any], extra: int = 0, skipped: int = 0) -> Maker:
    """(x, target, ..., reduction, numbers): a formula by element, reduced.

    `skipped` operands before the reduction must be None: weights.
    """

    def make(i: Instruction) -> Meaning | None:
        x, target, *rest = i.inputs
        out = i.outputs[0]
        rest = rest or [1]  # the mean, without saying so
        if not _pair(x, target, out) or x.shape != target.shape or out is None:
            return None
        if any(y is not None for y in rest[:skipped]) or len(rest) != skipped + 1 + extra:
            return None
        reduction, numbers = rest[skipped], rest[skipped + 1 :]
        if any(not y > 0 for y in numbers):
            return None
        if reduction == 0:
            return Meaning(i, out.shape, lambda a, _: (formula(a[0], a[1], *numbers),))
        factor = 1.0 / size_of(x.shape) if reduction == 1 else 1.0

        def body(a: list[Any], shared: Shared) -> tuple[Any, ...]:
            shared.factors[out.number] = factor
            return (G.total(shared.counted(formula(a[0], a[1], *numbers), x.shape)),)

        return Meaning(i, x.shape, body, ended=True)

    return make


def slope(formula: Callable[..., Any], extra: int = 0, skipped: int = 0) -> Maker:
    """(g, x, target, ..., reduction, numbers): a slope by element times the gradient."""

    def make(i: Instruction) -> Meaning | None:
        g, x, target, *rest = i.inputs
        out = i.outputs[0]
        if not _pair(x, target, out) or not _pair(g, x, out) or x.shape != target.shape:
            return None
        if any(y is not None for y in rest[:skipped]) or len(rest) != skipped + 1 + extra:
            return None
        reduction, numbers = rest[skipped], rest[skipped + 1 :]
        if out is None or any(not y > 0 for y in numbers) or out.shape != x.shape:
            return None
        share = float(size_of(x.shape)) if reduction == 1 else 1.0

        def body(a: list[Any], _: Shared) -> tuple[Any, ...]:
            scale = a[0] if share == 1 else a[0] / share
            return (formula(a[1], a[2], *numbers) * scale,)

        return Meaning(i, out.shape, body)

    return make


def _squares_slope(i: Instruction) -> Meaning | None:
    """mse_loss_backward(g, x, target, reduction)."""
    g, x, target, reduction = i.inputs
    out = i.outputs[0]
    if not _pair(x, target, out) or not _pair(g, x, out) or out is None:
        return None
    share = 2.0 / max(1, size_of(out.shape)) if reduction == 1 else 2.0
    return Meaning(i, out.shape, lambda a, _: ((a[1] - a[2]) * (a[0] * share),))


# ---- of class numbers ----------------------------------------------------------------------------


def _classes(logits: Any, target: Any, reduction: Any, ignored: Any) -> bool:
    return bool(
        type(logits) is Value and type(target) is Value and len(logits.shape) == 2
        and target.dtype.name == "int64" and logits.dtype.name in FLOATS and ignored < 0
        and reduction in (1, 2) and target.shape == logits.shape[:1] and in_order(target)
        and in_order(logits)
    )  # fmt: skip


def _entropy(i: Instruction) -> Meaning | None:
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

    def body(a: list[Any], shared: Shared) -> tuple[Any, ...]:
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

    found = Meaning(i, logits.shape, body, split=1, ended=not back)
    found.whole.add(target.number)
    if not back:
        found.fixed.add(logits.number)
    return found


def _likelihood(i: Instruction) -> Meaning | None:
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

        def picked(a: list[Any], shared: Shared) -> tuple[Any, ...]:
            shared.factors[out.number] = 1.0 / rows if reduction == 1 else 1.0
            return (G.total(-G.pick(a[0], a[1])),)

        found = Meaning(i, x.shape, picked, split=1, ended=True)
        found.fixed.add(x.number)
    else:

        def placed(a: list[Any], _: Shared) -> tuple[Any, ...]:
            scale = a[0] / float(rows) if reduction == 1 else a[0]
            return (G.where(G.one_hot(a[2]), -scale, 0.0),)

        found = Meaning(i, x.shape, placed, split=1, read=(i.inputs[0], target))
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
    "mse_loss": loss(E.squares), "mse_loss_backward": _squares_slope,
    "smooth_l1_loss": loss(E.smooth_l1, 1), "smooth_l1_loss_backward": slope(E.smooth_l1_slope, 1),
    "huber_loss": loss(E.bounded_squares, 1), "huber_loss_backward": slope(E.bounded_slope, 1),
    "logits_loss": loss(E.logits, 0, 2),
    "binary_cross_entropy_logits_backward": slope(E.logits_slope, 0, 2),
    "binary_cross_entropy_backward": slope(E.probabilities_slope, 0, 1),
    "soft_margin_loss": loss(E.soft_margin),
    "soft_margin_loss_backward": slope(E.soft_margin_slope),
}  # fmt: skip
