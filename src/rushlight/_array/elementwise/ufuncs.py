"""What NumPy's functions by element, and Python's operators, compute, in the vocabulary."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..._formula import words as W
from .division import pow

#: By the function itself.
FORMULAS: Final[dict[Any, Callable[..., Any]]] = {
    np.add: lambda x, y: x + y, np.subtract: lambda x, y: x - y, np.multiply: lambda x, y: x * y,
    np.true_divide: lambda x, y: x / y, np.negative: lambda x: -x, np.positive: lambda x: x,
    np.square: lambda x: x * x, np.reciprocal: lambda x: 1 / x, np.absolute: abs,
    np.exp: W.exp, np.expm1: W.expm1, np.log: W.log, np.log1p: W.log1p, np.sqrt: W.sqrt,
    np.sin: W.sin, np.cos: W.cos, np.tanh: W.tanh,
    np.power: W.power, np.float_power: W.power, operator.pow: pow.formula,
    np.maximum: W.maximum, np.minimum: W.minimum,
    np.floor: W.floor, np.ceil: W.ceil, np.rint: W.rint, np.trunc: W.trunc,
    np.sign: lambda x: W.where(x == x, W.sign(x), x), np.isnan: lambda x: x != x,
    np.less: lambda x, y: x < y, np.less_equal: lambda x, y: x <= y,
    np.greater: lambda x, y: x > y, np.greater_equal: lambda x, y: x >= y,
    np.equal: lambda x, y: x == y, np.not_equal: lambda x, y: x != y,
    np.logical_not: lambda x: x == 0, np.logical_and: lambda x, y: (x != 0) & (y != 0),
    np.logical_or: lambda x, y: (x != 0) | (y != 0),
    np.logical_xor: lambda x, y: (x != 0) ^ (y != 0), np.invert: lambda x: ~x,
    np.bitwise_and: lambda x, y: x & y, np.bitwise_or: lambda x, y: x | y,
    np.bitwise_xor: lambda x, y: x ^ y,
}  # fmt: skip
