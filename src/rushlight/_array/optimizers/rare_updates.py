"""The updates of the rarer optimizers on raw arrays. See `sweep`, whose conventions hold here."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .updates import FLOAT32, FLOAT64, SMALL, _constants, _in_blocks

_add = np.add
_subtract = np.subtract
_multiply = np.multiply
_divide = np.divide
_sqrt = np.sqrt
_negative = np.negative
_maximum = np.maximum
_copyto = np.copyto

_Arrays = Sequence[Any]
#: What the sweeps take.
PLAIN: Final = (FLOAT32, FLOAT64)
#: The kinds of weight decay.
NO_DECAY: Final = 0
COUPLED: Final = 1
DECOUPLED: Final = 2


def _each(rule: Callable[..., None], arrays: tuple[Any, ...], *rest: Any) -> None:
    """`rule` on one parameter: at once if it is small, else in blocks."""
    first = arrays[0]
    if first.ndim and first.size <= SMALL:
        rule(*arrays, *rest, None, None)
    else:
        _in_blocks(rule, arrays, *rest)


def _towards(m: Any, g: Any, part: Any, rest: Any, near: bool, u: Any) -> Any:
    """m ← m + part·(g - m), by lerp's two formulas; gives the scratch that it used."""
    d = _subtract(g, m, u)
    if near:
        _add(m, _multiply(d, part, d), m)
    else:
        _subtract(g, _multiply(d, rest, d), m)
    return d


# -- NAdam and RAdam ----------------------------------------------------------------------------


def nadam_(
    params: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_avg_sqs: _Arrays,
    factors: Sequence[tuple[float, float, float]],
    *,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    kind: int,
    maximize: bool,
) -> None:
    """One step of NAdam: `factors` are the gradient's, the average's, and 1 - beta2**count.

    Source: Dozat 2016.
    """
    dtype = params[0].dtype
    fixed = _constants(dtype, 1 - beta1, beta1, beta2, 1 - beta2, eps, decay)
    flags = (kind, 1 - beta1 < 0.5, maximize)
    last = None
    for place, p in enumerate(params):
        if factors[place] != last:
            last = factors[place]
            k = fixed + _constants(dtype, *last)
        _each(_nadam, (p, grads[place], exp_avgs[place], exp_avg_sqs[place]), k, flags)


def _nadam(p: Any, g: Any, m: Any, v: Any, k: list[Any], flags: Any, t: Any, u: Any) -> None:
    part, rest, beta2, second, eps, decay, of_grad, of_average, correction = k
    g, d = _averages(p, g, m, v, part, rest, beta2, second, decay, flags, t, u)
    d = _divide(v, correction, d)
    d = _add(_sqrt(d, d), eps, d)
    s = _multiply(g, of_grad, t)
    _add(p, _divide(s, d, s), p)
    _multiply(m, of_average, s)
    _add(p, _divide(s, d, s), p)


def _averages(
    p: Any, g: Any, m: Any, v: Any, part: Any, rest: Any, beta2: Any, second: Any, decay: Any,
    flags: Any, t: Any, u: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """The decays, then the averages of g and of its square; gives g and the scratch."""
    kind, near, maximize = flags
    if maximize:
        g = _negative(g, t)
    if kind == COUPLED:
        g = _add(g, _multiply(p, decay, u), t)
    elif kind == DECOUPLED:
        _multiply(p, decay, p)
    d = _towards(m, g, part, rest, near, u)
    _multiply(v, beta2, v)
    d = _multiply(g, second, d)
    _add(v, _multiply(d, g, d), v)
    return g, d


def radam_(
    params: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_avg_sqs: _Arrays,
    factors: Sequence[tuple[float, float, float]],
    *,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    kind: int,
    maximize: bool,
) -> None:
    """One step of RAdam: `factors` are both corrections and the rectification, or 0 before it.

    Source: Liu et al. 2020, algorithm 2.
    """
    dtype = params[0].dtype
    fixed = _constants(dtype, 1 - beta1, beta1, beta2, 1 - beta2, eps, decay, lr)
    flags = (kind, 1 - beta1 < 0.5, maximize)
    last = None
    for place, p in enumerate(params):
        if factors[place] != last:
            last = factors[place]
            k = fixed + _constants(dtype, *last)
        rectified = last[2] != 0 if last is not None else False
        _each(_radam, (p, grads[place], exp_avgs[place], exp_avg_sqs[place]), k, flags, rectified)


def _radam(
    p: Any, g: Any, m: Any, v: Any, k: list[Any], flags: Any, rectified: bool, t: Any, u: Any
) -> None:
    part, rest, beta2, second, eps, decay, lr, first, root, rectification = k
    _, d = _averages(p, g, m, v, part, rest, beta2, second, decay, flags, t, u)
    s = _divide(m, first, t)
    _multiply(s, lr, s)
    if rectified:
        d = _add(_sqrt(v, d), eps, d)
        _multiply(s, _divide(root, d, d), s)
        _multiply(s, rectification, s)
    _subtract(p, s, p)


# -- Adamax and Adadelta ------------------------------------------------------------------------


def adamax_(
    params: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_infs: _Arrays,
    rates: Sequence[float],
    *,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adamax; `rates` are corrected for the averages' start.

    Source: Kingma and Ba 2015, algorithm 2.
    """
    dtype = params[0].dtype
    fixed = _constants(dtype, 1 - beta1, beta1, beta2, eps, weight_decay)
    flags = (bool(weight_decay), 1 - beta1 < 0.5, maximize)
    last = None
    for place, p in enumerate(params):
        if rates[place] != last:
            last = rates[place]
            k = fixed + _constants(dtype, last)
        _each(_adamax, (p, grads[place], exp_avgs[place], exp_infs[place]), k, flags)


def _adamax(p: Any, g: Any, m: Any, most: Any, k: list[Any], flags: Any, t: Any, u: Any) -> None:
    part, rest, beta2, eps, weight_decay, rate = k
    decays, near, maximize = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    d = _towards(m, g, part, rest, near, u)
    _multiply(most, beta2, most)
    d = _add(np.absolute(g, d), eps, d)
    _maximum(most, d, out=most)
    d = _multiply(m, rate, d)
    _subtract(p, _divide(d, most, d), p)


def adadelta_(
    params: _Arrays,
    grads: _Arrays,
    square_avgs: _Arrays,
    acc_deltas: _Arrays,
    *,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adadelta.

    Source: Zeiler 2012, algorithm 1.
    """
    k = _constants(params[0].dtype, lr, rho, 1 - rho, eps, weight_decay)
    flags = (bool(weight_decay), maximize)
    for arrays in zip(params, grads, square_avgs, acc_deltas, strict=True):
        _each(_adadelta, arrays, k, flags)


def _adadelta(p: Any, g: Any, v: Any, acc: Any, k: list[Any], flags: Any, t: Any, u: Any) -> None:
    lr, rho, rest, eps, weight_decay = k
    decays, maximize = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    _multiply(v, rho, v)
    d = _multiply(g, rest, u)
    _add(v, _multiply(d, g, d), v)
    d = _sqrt(_add(v, eps, d), d)
    # The gradient's own scratch may be what holds it: the step is built beside it.
    s = _add(acc, eps) if t is None or g is t else _add(acc, eps, t)
    _divide(_sqrt(s, s), d, s)
    _multiply(s, g, s)
    _multiply(acc, rho, acc)
    d = _multiply(s, rest, d)
    _add(acc, _multiply(d, s, d), acc)
    _subtract(p, _multiply(s, lr, s), p)


# -- Rprop and ASGD -----------------------------------------------------------------------------


def rprop_(
    params: _Arrays,
    grads: _Arrays,
    befores: _Arrays,
    sizes: _Arrays,
    *,
    etas: tuple[float, float],
    limits: tuple[float, float],
    maximize: bool,
) -> None:
    """One step of Rprop: `befores` are the last gradients, `sizes` the present step sizes.

    Source: Riedmiller and Braun 1993.
    """
    k = _constants(params[0].dtype, *etas, *limits, 0.0)
    for arrays in zip(params, grads, befores, sizes, strict=True):
        _each(_rprop, arrays, k, maximize)


def _rprop(
    p: Any, g: Any, before: Any, size: Any, k: list[Any], maximize: bool, t: Any, u: Any
) -> None:
    shorter, longer, least, most, zero = k
    if maximize:
        g = _negative(g, t)
    d = _multiply(g, before, u)
    turned = d < zero
    stays = d > zero
    d.fill(1.0)
    _copyto(d, longer, where=stays)
    _copyto(d, shorter, where=turned)
    _multiply(size, d, size)
    _maximum(size, least, out=size)
    np.minimum(size, most, out=size)
    _copyto(before, g)
    # Where the sign changed the step is skipped, and the next one counts as unchanged.
    _copyto(before, zero, where=turned)
    d = np.sign(before, d)
    _subtract(p, _multiply(d, size, d), p)


def asgd_(
    params: _Arrays,
    grads: _Arrays,
    averages: _Arrays,
    rates: Sequence[tuple[float, float]],
    *,
    lambd: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of averaged SGD; `rates` are each parameter's rate and the average's.

    Source: Polyak and Juditsky 1992.
    """
    dtype = params[0].dtype
    flags = (bool(weight_decay), maximize)
    last = None
    for place, p in enumerate(params):
        if rates[place] != last:
            last = rates[place]
            eta, mu = last
            k = _constants(dtype, 1 - lambd * eta, eta, mu, weight_decay)
        _each(_asgd, (p, grads[place], averages[place]), k, flags, mu == 1)


def _asgd(p: Any, g: Any, ax: Any, k: list[Any], flags: Any, starts: bool, t: Any, u: Any) -> None:
    shrink, eta, mu, weight_decay = k
    decays, maximize = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    _multiply(p, shrink, p)
    d = _multiply(g, eta, u)
    _subtract(p, d, p)
    if starts:
        _copyto(ax, p)
    else:
        d = _subtract(p, ax, d)
        _add(ax, _multiply(d, mu, d), ax)


# -- Adafactor ----------------------------------------------------------------------------------


def adafactor_(
    p: Any,
    g: Any,
    rows: Any,
    columns: Any,
    *,
    lr: float,
    share: float,
    rate: float,
    least: float,
    smallest: float,
    longest: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adafactor on one array of two dimensions or more.

    Source: Shazeer and Stern 2018, algorithm 4.
    """
    count = p.size
    scale = max(smallest, _length(p) / count**0.5) * rate
    if weight_decay:
        _multiply(p, np.array(1 - lr * weight_decay, p.dtype), p)
    squares = _multiply(g, g)
    for kept, axis in ((rows, -1), (columns, -2)):
        mean = squares.mean(axis, keepdims=True)
        _subtract(mean, kept, mean)
        _add(kept, _multiply(mean, np.array(share, p.dtype), mean), kept)
    shown = _maximum(rows.mean(-2, keepdims=True), np.array(least, p.dtype))
    d = _multiply(rows / shown, columns, squares)
    _maximum(d, np.array(least * least, p.dtype), out=d)
    _divide(g, _sqrt(d, d), d)
    factor = -scale / max(1.0, _length(d) / (count**0.5 * longest))
    if maximize:
        factor = -factor
    _add(p, _multiply(d, np.array(factor, p.dtype), d), p)


def _length(array: Any) -> float:
    flat = array.reshape(-1)
    return math.sqrt(float(np.dot(flat, flat)))
