"""Reductions: sum, mean, product, extremes, norms, variances."""

from __future__ import annotations

from typing import Any

from .._array import reduce as raw
from ._row import linear

sum = linear(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    lambda x, dtype: raw.sum(x, None, False, dtype),
    self=lambda xp, g, self_shape: xp.broadcast_to(g, self_shape),
    doc="The sum of all elements; of integers as int64.",
)
sum_dim = linear(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    raw.sum,
    self=lambda xp, g, self_shape, dim, keepdim: xp.expand_reduced(g, self_shape, dim, keepdim),
    samples=lambda mk: [(mk(3, 4), (1,)), (mk(3, 4), (0, 1), True), (mk(2, 3, 4), (-1,))],
    doc="The sum over the dimensions `dim`.",
)


def _count(shape: tuple[int, ...], dim: Any) -> int:
    return raw.reduced_count(shape, raw.axes_of(len(shape), dim))


mean = linear(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    lambda x, dtype: raw.mean(x, None, False, dtype),
    self=lambda xp, g, self_shape: xp.broadcast_to(g / _count(self_shape, None), self_shape),
    doc="The mean of all elements.",
)
mean_dim = linear(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    raw.mean,
    self=lambda xp, g, self_shape, dim, keepdim: xp.expand_reduced(
        g / _count(self_shape, dim), self_shape, dim, keepdim
    ),
    samples=lambda mk: [(mk(3, 4), (1,)), (mk(3, 4), (0, 1), True), (mk(2, 3, 4), (-1,))],
    doc="The mean over the dimensions `dim`.",
)
