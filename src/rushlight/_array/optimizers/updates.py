"""Optimizer updates on raw arrays: in place, few calls per parameter, blocks that fit the cache.

Each rule is written once, on arrays of one shape, with `t` and `u` as scratch. Small arrays pass
None for the scratch, which makes NumPy allocate (cheaper there than looking for a view of the right
shape); large ones are walked in blocks, so that a rule's ten passes cost one trip to memory.

The order of operations is PyTorch's, so float32 results are equal up to the single rounding of its
fused multiply-add, which NumPy doesn't have. See Note [One rounding] for where it is made up for.

Note [One rounding]
PyTorch's `add(…, alpha=…)` rounds product and sum once. A product of two float32 numbers is exact
in float64, so computing there and rounding at the end gives the same digits, at two to seven times
the price. It pays where it can be seen: in programs so small that everything else (see Note [Tiny
products] in `tiny`) is equal to the digit too. So SGD does it for parameters of up to `TINY`
elements.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .. import kernels

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)

# Up to here a rule lets NumPy allocate its temporaries; from here on it works in blocks.
SMALL: Final = 8192
# Up to here SGD rounds once per multiply-add. See Note [One rounding].
TINY: Final = 48
# Elements per block: six float32 arrays of this length fit a 1 MB second-level cache.
BLOCK: Final = 32768

_add = np.add
_subtract = np.subtract
_multiply = np.multiply
_divide = np.divide
_sqrt = np.sqrt
_negative = np.negative
_maximum = np.maximum
_copyto = np.copyto

_Arrays = Sequence[Any]


def _constants(dtype: Any, *values: float) -> list[Any]:
    """0-d arrays: a ufunc takes them at half the price of a Python number."""
    return [np.array(value, dtype) for value in values]


class _Scratch(threading.local):
    """Two blocks per dtype and thread, kept: fresh ones would cost page faults at every step."""

    def __init__(self) -> None:
        self.blocks: dict[Any, tuple[Any, Any]] = {}


_kept: Final = _Scratch()


def _scratch(dtype: Any) -> tuple[Any, Any]:
    pair = _kept.blocks.get(dtype)
    if pair is None:
        pair = _kept.blocks[dtype] = (np.empty(BLOCK, dtype), np.empty(BLOCK, dtype))
    return pair


def _in_blocks(rule: Callable[..., None], arrays: tuple[Any, ...], *rest: Any) -> None:
    """`rule` on a large parameter, block by block; `arrays` may hold None.

    0-d parameters come here too: a ufunc without `out` would give scalars for them, not arrays.
    """
    first = arrays[0]
    for array in arrays:
        if array is not None and not array.flags.c_contiguous:
            rule(*arrays, *rest, None, None)
            return
    flat = [None if array is None else array.reshape(-1) for array in arrays]
    size = first.size
    t, u = _scratch(first.dtype)
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        parts = [None if array is None else array[start:stop] for array in flat]
        rule(*parts, *rest, t[: stop - start], u[: stop - start])


# -- SGD ----------------------------------------------------------------------------------------


def sgd_(
    params: _Arrays,
    grads: _Arrays,
    buffers: _Arrays | None,
    fresh: Sequence[bool],
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
) -> None:
    """One step of stochastic gradient descent on arrays of one dtype.

    `buffers`: the momentum of each parameter (None without momentum); where `fresh`, the buffer
    holds nothing yet and takes the gradient.

    Source: Sutskever et al. 2013 in PyTorch's variant, where the rate multiplies the velocity.
    """
    dtype = params[0].dtype
    if buffers is None and not weight_decay:
        # The commonest case, two calls per parameter.
        (rate,) = _constants(dtype, -lr if maximize else lr)
        wide: Any = None
        for p, g in zip(params, grads, strict=True):
            size = p.size
            if size <= TINY:
                if wide is None:
                    wide = rate.astype(FLOAT64)
                _subtract(p, _multiply(g, wide), p, casting="unsafe")
            elif size <= SMALL:
                _subtract(p, _multiply(g, rate), p)
            elif size < kernels.LEAST or not kernels.updates.sgd(p, g, -lr if maximize else lr):
                _in_blocks(_descend, (p, g), rate)
        return
    k = _constants(dtype, lr, momentum, 1 - dampening, weight_decay)
    flags = (bool(weight_decay), dampening != 0, nesterov, maximize)
    for place, p in enumerate(params):
        buffer = None if buffers is None else buffers[place]
        new = buffers is not None and fresh[place]
        if p.size <= SMALL:
            _sgd(p, grads[place], buffer, new, k, flags, None, None, p.size <= TINY)
        elif (
            p.size < kernels.LEAST
            or new
            or maximize
            or not kernels.updates.sgd_with(
                p, grads[place], buffer, lr, weight_decay, momentum, 1 - dampening, nesterov
            )
        ):
            _in_blocks(_sgd, (p, grads[place], buffer), new, k, flags)


def _descend(p: Any, g: Any, rate: Any, t: Any, u: Any) -> None:
    _subtract(p, _multiply(g, rate, t), p)


def _sgd(
    p: Any, g: Any, buffer: Any, new: bool, k: list[Any], flags: Any, t: Any, u: Any,
    once: bool = False,
) -> None:  # fmt: skip
    lr, momentum, undamped, weight_decay = k
    if once:
        lr, wide_momentum, undamped, weight_decay = (value.astype(FLOAT64) for value in k)
        decays, damps, nesterov, maximize = flags
        if maximize:
            g = _negative(g)
        if decays:
            g = _add(g, _multiply(p, weight_decay)).astype(p.dtype)
        if buffer is not None:
            if new:
                _copyto(buffer, g)
            else:
                _multiply(buffer, momentum, buffer)
                _add(buffer, _multiply(g, undamped), buffer, casting="unsafe")
            g = _add(g, _multiply(buffer, wide_momentum)).astype(p.dtype) if nesterov else buffer
        _subtract(p, _multiply(g, lr), p, casting="unsafe")
        return
    decays, damps, nesterov, maximize = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    if buffer is not None:
        if new:
            _copyto(buffer, g)
        else:
            _multiply(buffer, momentum, buffer)
            _add(buffer, _multiply(g, undamped, u) if damps else g, buffer)
        g = _add(g, _multiply(buffer, momentum, u), t) if nesterov else buffer
    _subtract(p, _multiply(g, lr, u), p)


def add_scaled_(y: Any, x: Any, alpha: float) -> None:
    """y ← y + alpha·x for float32, rounded once. See Note [One rounding]."""
    wide = _multiply(x, np.array(np.float32(alpha), FLOAT64))
    _add(y, wide, y, casting="unsafe")


# -- Adam ---------------------------------------------------------------------------------------


def adam_(
    params: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_avg_sqs: _Arrays,
    max_exp_avg_sqs: _Arrays | None,
    steps: Sequence[float],
    *,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float = 0.0,
    decoupled: bool = False,
    maximize: bool = False,
) -> None:
    """One step of Adam (AdamW with `decoupled`) on arrays of one dtype.

    `steps`: for each parameter, how many steps this one makes; `max_exp_avg_sqs` turns AMSGrad on.
    `lr` may be a NumPy scalar, whose dtype the corrected rate then has.

    Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019; Reddi et al. 2018.
    """
    dtype = params[0].dtype
    decay = 1 - lr * weight_decay if decoupled else weight_decay
    mode = 0 if not weight_decay else 2 if decoupled else 1
    # lerp's two formulas, which differ in the last digit, as PyTorch's do; its weight alone is in
    # the arrays' precision where the betas have one of their own.
    part = 1 - float(beta1)
    near = part < 0.5
    fixed = _constants(dtype, part if near else beta1, beta2, 1 - beta2, eps, decay)
    flags = (mode, near, maximize)
    step = -1.0
    for place, p in enumerate(params):
        if steps[place] != step:
            step = steps[place]
            rate = lr / (1 - beta1**step)
            k = fixed + _constants(dtype, rate, (1 - beta2**step) ** 0.5)
        most = None if max_exp_avg_sqs is None else max_exp_avg_sqs[place]
        if p.ndim and p.size <= SMALL:
            m, v = exp_avgs[place], exp_avg_sqs[place]
            _adam(p, grads[place], m, v, most, k, flags, None, None)
            continue
        done = (
            p.size >= kernels.LEAST
            and near
            and most is None
            and not maximize
            and kernels.updates.adam(
                p, grads[place], exp_avgs[place], exp_avg_sqs[place],
                (1 - beta1, beta2, 1 - beta2, eps, rate, (1 - beta2**step) ** -0.5), decay, mode,
            )
        )  # fmt: skip
        if not done:
            arrays = (p, grads[place], exp_avgs[place], exp_avg_sqs[place], most)
            _in_blocks(_adam, arrays, k, flags)


def _adam(
    p: Any, g: Any, m: Any, v: Any, most: Any, k: list[Any], flags: Any, t: Any, u: Any
) -> None:
    first, beta2, second, eps, decay, rate, correction = k
    mode, near, maximize = flags
    if maximize:
        g = _negative(g, t)
    if mode == 1:
        g = _add(g, _multiply(p, decay, u), t)
    elif mode == 2:
        _multiply(p, decay, p)
    d = _subtract(g, m, u)
    if near:
        _add(m, _multiply(d, first, d), m)
    else:
        _subtract(g, _multiply(d, first, d), m)
    _multiply(v, beta2, v)
    d = _multiply(g, second, d)
    _add(v, _multiply(d, g, d), v)
    if most is not None:
        _maximum(most, v, out=most)
        v = most
    d = _sqrt(v, d)
    _divide(d, correction, d)
    _add(d, eps, d)
    # From here the gradient isn't needed: its scratch may be reused.
    s = _multiply(m, rate, t)
    _subtract(p, _divide(s, d, s), p)


# -- RMSprop ------------------------------------------------------------------------------------


def rmsprop_(
    params: _Arrays,
    grads: _Arrays,
    square_avgs: _Arrays,
    grad_avgs: _Arrays | None,
    buffers: _Arrays | None,
    *,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    maximize: bool = False,
) -> None:
    """One step of RMSprop on arrays of one dtype; `grad_avgs` makes it the centred version.

    Source: Hinton 2012, lecture 6e; Graves 2013, equations 38-45, for the centred version.
    """
    k = _constants(params[0].dtype, lr, alpha, 1 - alpha, eps, weight_decay, momentum)
    flags = (bool(weight_decay), maximize, 1 - alpha < 0.5)
    for place, p in enumerate(params):
        mean = None if grad_avgs is None else grad_avgs[place]
        buffer = None if buffers is None else buffers[place]
        arrays = (p, grads[place], square_avgs[place], mean, buffer)
        if p.ndim and p.size <= SMALL:
            _rmsprop(*arrays, k, flags, None, None)
        else:
            _in_blocks(_rmsprop, arrays, k, flags)


def _rmsprop(
    p: Any, g: Any, v: Any, mean: Any, buffer: Any, k: list[Any], flags: Any, t: Any, u: Any
) -> None:
    lr, alpha, rest, eps, weight_decay, momentum = k
    decays, maximize, near = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    _multiply(v, alpha, v)
    d = _multiply(g, rest, u)
    _add(v, _multiply(d, g, d), v)
    if mean is None:
        d = _sqrt(v, d)
    else:
        d = _subtract(g, mean, d)
        if near:
            _add(mean, _multiply(d, rest, d), mean)
        else:
            _subtract(g, _multiply(d, alpha, d), mean)
        d = _multiply(mean, mean, d)
        d = _sqrt(_subtract(v, d, d), d)
    _add(d, eps, d)
    if buffer is None:
        s = _multiply(g, lr, t)
        _subtract(p, _divide(s, d, s), p)
    else:
        _multiply(buffer, momentum, buffer)
        _add(buffer, _divide(g, d, d), buffer)
        _subtract(p, _multiply(buffer, lr, d), p)


# -- Adagrad ------------------------------------------------------------------------------------


def adagrad_(
    params: _Arrays,
    grads: _Arrays,
    sums: _Arrays,
    rates: Sequence[float],
    *,
    eps: float,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:
    """One step of Adagrad on arrays of one dtype; `rates` are the rates as decayed so far.

    Source: Duchi, Hazan and Singer 2011.
    """
    dtype = params[0].dtype
    flags = (bool(weight_decay), maximize)
    rate = None
    for place, p in enumerate(params):
        if rates[place] != rate:
            rate = rates[place]
            k = _constants(dtype, rate, eps, weight_decay)
        arrays = (p, grads[place], sums[place])
        if p.ndim and p.size <= SMALL:
            _adagrad(*arrays, k, flags, None, None)
        else:
            _in_blocks(_adagrad, arrays, k, flags)


def _adagrad(p: Any, g: Any, total: Any, k: list[Any], flags: Any, t: Any, u: Any) -> None:
    rate, eps, weight_decay = k
    decays, maximize = flags
    if maximize:
        g = _negative(g, t)
    if decays:
        g = _add(g, _multiply(p, weight_decay, u), t)
    _add(total, _multiply(g, g, u), total)
    d = _add(_sqrt(total, u), eps, u)
    s = _multiply(g, rate, t)
    _subtract(p, _divide(s, d, s), p)
