"""Pairs and chains of arrays: vector products, distances between rows, the order of a product."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ..._base import errors
from ..._native.ufunc_loops import NORMS
from ..elementwise.activations import relu
from ..reduce.norm import vector_norm
from ..reduce.reduce import axis_of, name_of
from ..reduce.row_sums import ones
from .matmul import matrix_product

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array

_MANY = 25  # from this many rows on, PyTorch finds Euclidean distances by a matrix product


def count(shape: tuple[int, ...]) -> int:
    """The number of elements of an array of that shape."""
    return math.prod(shape)


def cross(a: Array, b: Array, dim: int = -1) -> Array:
    """The vector product along `dim`.

    Raises:
        RuntimeError: where the dimension hasn't size three, or shapes don't fit.
    """
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(a.ndim, dim)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[axis]} and "
            f"{b.shape[axis]}"
        )
    problem = errors.broadcast(a.shape, b.shape)
    if problem is not None:
        raise RuntimeError(problem)
    if a.dtype.kind == "b":
        raise NotImplementedError(errors.not_implemented("cross", "Bool"))
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {name_of(a.dtype)} but found {name_of(b.dtype)}")
    return cross3(a, b, axis)


def cross3(a: Array, b: Array, dim: int) -> Array:
    """The vector product along `dim`, of shapes and types that are known to fit."""
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    out = np.empty(shape, np.result_type(a, b))
    a, b, result = (x if dim in (-1, x.ndim - 1) else np.moveaxis(x, dim, -1) for x in (a, b, out))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        target = result[..., k]
        np.multiply(a[..., i], b[..., j], target)
        target -= a[..., j] * b[..., i]
    return out


def _by_product(x: Array, y: Array) -> TensorLike:
    """The distances as the roots of |x|² - 2 x y + |y|²."""
    one = ones(x.shape[-1], x.dtype)
    first, second = (x * x) @ one, (y * y) @ one
    turned = (y * -2).swapaxes(-1, -2)
    # Of columns and rows NumPy makes no call of BLAS, and takes three times as long.
    column = x.shape[-1] == 1
    squares = np.multiply(x, turned, order="C") if column else matrix_product(x, turned)
    if NORMS is None or not NORMS.add_squares(squares, first, second):
        squares += first[..., :, None]
        squares += second[..., None, :]
        squares = relu(squares)
    return np.sqrt(squares, squares)


def cdist(x: Array, y: Array, p: float = 2.0) -> TensorLike:
    """The p-norm distances between the rows of stacks of matrices that broadcast.

    Types are looked at where there are distances to compute.

    Raises:
        RuntimeError: for a negative order, and for stacks and types that don't fit.
        NotImplementedError: for half precision.
    """
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    batch = x.shape[:-2]
    if batch != y.shape[:-2]:
        problem = errors.broadcast(batch, y.shape[:-2])
        if problem is not None:
            raise RuntimeError(problem)
        batch = np.broadcast_shapes(batch, y.shape[:-2])
    shape = batch + (x.shape[-2], y.shape[-2])
    if not count(shape) or not x.shape[-1]:
        return np.zeros(shape, x.dtype)
    if x.dtype.itemsize == 2:
        raise NotImplementedError(errors.not_implemented("cdist", name_of(x.dtype)))
    if x.dtype != y.dtype:
        raise RuntimeError(f"expected scalar type {name_of(x.dtype)} but found {name_of(y.dtype)}")
    if p == 2 and (x.shape[-2] > _MANY or y.shape[-2] > _MANY):
        return _by_product(x, y)
    difference = x[..., :, None, :] - y[..., None, :, :]
    if p == 2:
        return np.sqrt(np.vecdot(difference, difference, order="C"))
    return np.ascontiguousarray(vector_norm(difference, p, (-1,)))


@functools.lru_cache(256)
def chain_order(sizes: tuple[int, ...]) -> list[list[int]]:
    """Where to split each part of a chain of matrices so that multiplying takes the least work.

    Of equally good places it is the first, but for three matrices the second, as in PyTorch.
    """
    n = len(sizes) - 1
    later = -1 if n == 3 else 1
    work = [[0] * n for _ in range(n)]
    splits = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            work[i][j], place = min(
                (work[i][k] + work[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], later * k)
                for k in range(i, j)
            )
            splits[i][j] = abs(place)
    return splits
