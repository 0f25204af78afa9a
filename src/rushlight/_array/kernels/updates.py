"""Optimizer updates by kernels, in place; each function says whether it did the update."""

from __future__ import annotations

from typing import Any

from . import formulas
from .launch import Kernel, floating, ready

__all__ = ["adam", "sgd", "sgd_with"]

_SGD = Kernel(formulas.sgd, "f", "f", "s")
_DECAYED = Kernel(formulas.sgd_decayed, "f", "f", "s", "s")
_MOMENTUM = Kernel(formulas.sgd_momentum, "f", "f", "f", "s", "s", "s", "s")
_NESTEROV = Kernel(formulas.sgd_nesterov, "f", "f", "f", "s", "s", "s", "s")
_ADAM = Kernel(formulas.adam, "f", "f", "f", "f", *"ssssss")
_ADAM_DECAYED = Kernel(formulas.adam_decayed, "f", "f", "f", "f", *"sssssss")
_ADAMW = Kernel(formulas.adamw, "f", "f", "f", "f", *"sssssss")


def _takes(p: Any, *others: Any) -> bool:
    return floating(p.dtype) and all(o is None or o.size == p.size for o in others) and ready()


def sgd(p: Any, g: Any, rate: float) -> bool:
    """p ← p - rate g."""
    if not _takes(p, g):
        return False
    return _SGD.flat(p.dtype, (p, g, float(rate)), (p,), p.size)


def sgd_with(
    p: Any, g: Any, buffer: Any, rate: float, decay: float, momentum: float, undamped: float,
    nesterov: bool,
) -> bool:  # fmt: skip
    """The update with decay, and with momentum where there is a buffer: see `sweep.sgd_`."""
    if not _takes(p, g, buffer):
        return False
    if buffer is None:
        return _DECAYED.flat(p.dtype, (p, g, float(rate), float(decay)), (p,), p.size)
    kernel = _NESTEROV if nesterov else _MOMENTUM
    numbers = (float(rate), float(decay), float(momentum), float(undamped))
    return kernel.flat(p.dtype, (p, g, buffer, *numbers), (buffer, p), p.size)


def adam(
    p: Any, g: Any, m: Any, v: Any, numbers: tuple[float, ...], decay: float, mode: int
) -> bool:
    """`numbers` as the formula's from `first` to `scale`; `mode` 0: no decay, 1: in the gradient,
    2: decoupled, where `decay` is the factor for the parameter."""
    if not _takes(p, g, m, v):
        return False
    kernel = (_ADAM, _ADAM_DECAYED, _ADAMW)[mode]
    values = [float(x) for x in numbers]
    if mode:
        values.append(float(decay))
    return kernel.flat(p.dtype, (p, g, m, v, *values), (m, v, p), p.size)
