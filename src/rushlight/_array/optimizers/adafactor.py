"""Adafactor's update of one array; its averages are of rows and columns."""

import math
from typing import Any

import numpy as np


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
        np.multiply(p, np.array(1 - lr * weight_decay, p.dtype), p)
    squares = np.multiply(g, g)
    for kept, axis in ((rows, -1), (columns, -2)):
        mean = squares.mean(axis, keepdims=True)
        np.subtract(mean, kept, mean)
        np.add(kept, np.multiply(mean, np.array(share, p.dtype), mean), kept)
    shown = np.maximum(rows.mean(-2, keepdims=True), np.array(least, p.dtype))
    d = np.multiply(rows / shown, columns, squares)
    np.maximum(d, np.array(least * least, p.dtype), out=d)
    np.divide(g, np.sqrt(d, d), d)
    factor = -scale / max(1.0, _length(d) / (count**0.5 * longest))
    if maximize:
        factor = -factor
    np.add(p, np.multiply(d, np.array(factor, p.dtype), d), p)


def _length(array: Any) -> float:
    flat = array.reshape(-1)
    return math.sqrt(float(np.dot(flat, flat)))
