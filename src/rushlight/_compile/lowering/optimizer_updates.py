"""The rules of optimizers as formulas on a parameter, its gradient and its state.

A `Rule` says which tensors of the state are swept with the parameter, what the formula is, and
which Python expressions over the options `o` give its numbers. The steps are those of
`_array.optimizers.updates`, in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..._formula import ir as G
from ...optim.adadelta import Adadelta
from ...optim.adagrad import Adagrad
from ...optim.adamax import Adamax
from ...optim.rmsprop import RMSprop


@dataclass(frozen=True)
class Rule:
    """An update: of which state, by which formula, with which numbers."""

    names: tuple[str, ...]
    body: Callable[..., Any]
    scalars: tuple[str, ...]
    counted: bool = False  # whether each parameter's `step` counts
    rates: bool = False  # whether the last two numbers are Adam's, of the rate and both betas


def decayed(rule: Rule, text: str = "o['weight_decay']") -> Rule:
    """The rule on a gradient with the weights' decay in it."""

    def body(p: Any, g: Any, *rest: Any) -> Any:
        return rule.body(p, g + p * rest[-1], *rest[:-1])

    return Rule(rule.names, body, (*rule.scalars, text), rule.counted, rule.rates)


# ---- others --------------------------------------------------------------------------------------


def _rmsprop(p: Any, g: Any, v: Any, lr: Any, alpha: Any, rest: Any, eps: Any) -> Any:
    v_new = v * alpha + g * rest * g
    return G.into(p, p - g * lr / (G.sqrt(v_new) + eps)), G.into(v, v_new)


def _rmsprop_moving(p: Any, g: Any, v: Any, b: Any, lr: Any, alpha: Any, rest: Any, eps: Any,
                    momentum: Any) -> Any:  # fmt: skip
    v_new = v * alpha + g * rest * g
    b_new = b * momentum + g / (G.sqrt(v_new) + eps)
    return G.into(p, p - b_new * lr), G.into(v, v_new), G.into(b, b_new)


def _centred(v: Any, g: Any, mean: Any, alpha: Any, rest: Any, eps: Any) -> tuple[Any, Any, Any]:
    v_new = v * alpha + g * rest * g
    mean_new = mean + (g - mean) * rest
    return v_new, mean_new, G.sqrt(v_new - mean_new * mean_new) + eps


def _rmsprop_centred(p: Any, g: Any, v: Any, mean: Any, lr: Any, alpha: Any, rest: Any,
                     eps: Any) -> Any:  # fmt: skip
    v_new, mean_new, divisor = _centred(v, g, mean, alpha, rest, eps)
    return G.into(p, p - g * lr / divisor), G.into(v, v_new), G.into(mean, mean_new)


def _rmsprop_both(p: Any, g: Any, v: Any, mean: Any, b: Any, lr: Any, alpha: Any, rest: Any,
                  eps: Any, momentum: Any) -> Any:  # fmt: skip
    v_new, mean_new, divisor = _centred(v, g, mean, alpha, rest, eps)
    b_new = b * momentum + g / divisor
    return (
        G.into(p, p - b_new * lr), G.into(v, v_new), G.into(mean, mean_new), G.into(b, b_new)
    )  # fmt: skip


def _adagrad(p: Any, g: Any, total: Any, lr: Any, eps: Any) -> Any:
    total_new = total + g * g
    return G.into(p, p - g * lr / (G.sqrt(total_new) + eps)), G.into(total, total_new)


def _adadelta(p: Any, g: Any, v: Any, steps: Any, lr: Any, rho: Any, rest: Any, eps: Any) -> Any:
    v_new = v * rho + g * rest * g
    step = G.sqrt(steps + eps) / G.sqrt(v_new + eps) * g
    steps_new = steps * rho + step * rest * step
    return G.into(p, p - step * lr), G.into(v, v_new), G.into(steps, steps_new)


def _adamax(p: Any, g: Any, m: Any, most: Any, first: Any, beta2: Any, eps: Any, rate: Any,
            _: Any) -> Any:  # fmt: skip
    m_new = m + (g - m) * first
    most_new = G.maximum(most * beta2, G.absolute(g) + eps)
    return G.into(p, p - m_new * rate / most_new), G.into(m, m_new), G.into(most, most_new)


def rule_of(optimizer: Any, o: dict[str, Any]) -> Rule | None:
    """The rule of an optimizer for one group of its parameters; None where there is none."""
    rule: Rule | None = None
    alpha = ("o['lr']", "o['alpha']", "1 - o['alpha']", "o['eps']")
    if type(optimizer) is RMSprop and 1 - o["alpha"] < 0.5:
        moving, centred = o["momentum"] > 0, bool(o["centered"])
        names = ("square_avg", *(("grad_avg",) if centred else ()),
                 *(("momentum_buffer",) if moving else ()))  # fmt: skip
        body = (
            (_rmsprop_both if moving else _rmsprop_centred) if centred
            else (_rmsprop_moving if moving else _rmsprop)
        )  # fmt: skip
        rule = Rule(names, body, (*alpha, *(("o['momentum']",) if moving else ())), counted=True)
    elif type(optimizer) is Adagrad and not o["lr_decay"]:
        rule = Rule(("sum",), _adagrad, ("o['lr']", "o['eps']"), counted=True)
    elif type(optimizer) is Adadelta:
        rho = ("o['lr']", "o['rho']", "1 - o['rho']", "o['eps']")
        rule = Rule(("square_avg", "acc_delta"), _adadelta, rho, counted=True)
    elif type(optimizer) is Adamax:
        scalars = ("1 - b1", "b2", "o['eps']", "", "")
        rule = Rule(("exp_avg", "exp_inf"), _adamax, scalars, counted=True, rates=True)
    if rule is not None and o["weight_decay"]:
        return decayed(rule)
    return rule


RULED: Final = (RMSprop, Adagrad, Adadelta, Adamax)
