"""Optimizer updates on raw arrays: in place, few calls per parameter, blocks that fit the cache.

Each rule is written once, on arrays of one shape, with `t` and `u` as scratch. Small arrays pass
None for the scratch, which makes NumPy allocate (cheaper there than looking for a view of the right
shape); large ones are walked in blocks, so that a rule's ten passes cost one trip to memory.

The order of operations is PyTorch's, so float32 results are equal up to the single rounding of its
fused multiply-add, which NumPy doesn't have. See Note [One rounding] in `rule`.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)

# Up to here a rule lets NumPy allocate its temporaries; from here on it works in blocks.
SMALL: Final = 8192
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
