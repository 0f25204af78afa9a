"""Products of matrices in every layout, with every ending, at sizes around the tiles."""

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from rushlight._array.kernels.gemm import WORDS
from rushlight._native.emitted import gemm
from rushlight._native.llvm.emit import F32, F64

POINTER, INTEGER = ctypes.c_void_p, ctypes.c_int64
KINDS = {"f4": (F32, ctypes.c_float, 2e-6), "f8": (F64, ctypes.c_double, 1e-14)}
SIZES = [
    (1, 1, 1), (2, 3, 0), (6, 16, 5), (7, 17, 9), (5, 100, 300), (13, 65, 1), (32, 2, 64),
    (33, 63, 31), (12, 128, 257), (40, 700, 530), (35, 1050, 20), (300, 70, 600), (261, 5, 33),
]  # fmt: skip


def product(
    a: Any, b: Any, c: Any, alpha: float = 1.0, beta: float = 0.0, bias: Any = None, relu: int = 0
) -> None:
    type, number, _ = KINDS[a.dtype.str[1:]]
    types = [POINTER] * 3 + [INTEGER] * 8 + [number, number, POINTER, INTEGER]
    run = ctypes.CFUNCTYPE(None, *types)(gemm.load(type))
    strides = [s // a.itemsize for s in (*a.strides, *b.strides, c.strides[0])]
    sizes = [*c.shape, a.shape[1]]
    added = None if bias is None else bias.ctypes.data
    run(a.ctypes.data, b.ctypes.data, c.ctypes.data, *sizes, *strides, alpha, beta, added, relu)


def matrix(rng: np.random.Generator, rows: int, columns: int, turned: bool, dtype: str) -> Any:
    made = rng.standard_normal((columns, rows) if turned else (rows, columns)).astype(dtype)
    return made.T if turned else made


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", KINDS)
def test_a_product_equals_numpys(
    dtype: str, size: tuple[int, ...], turned: tuple[int, int]
) -> None:
    rng = np.random.default_rng(0)
    m, n, k = size
    a = matrix(rng, m, k, bool(turned[0]), dtype)
    b = matrix(rng, k, n, bool(turned[1]), dtype)
    bias = rng.standard_normal(n).astype(dtype)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    bound = KINDS[dtype][2] * (abs(a).astype("f8") @ abs(b).astype("f8") + 4)
    # A frame of other numbers around the result must stay as it was; beta 0 doesn't read it.
    around = np.full((m + 1, n + 3), np.nan, dtype)
    c = around[:m, :n]
    product(a, b, c)
    assert (abs(c - exact) <= bound).all()
    assert np.isnan(around[m:]).all() and np.isnan(around[:, n:]).all()
    before = rng.standard_normal((m, n)).astype(dtype)
    c[:] = before
    product(a, b, c, -0.5, 2.0, bias, 1)
    assert (abs(c - np.maximum(-0.5 * exact + 2.0 * before + bias, 0)) <= 4 * bound).all()


@pytest.mark.parametrize("dtype", KINDS)
def test_nan_and_infinity_go_through_sums_and_relu(dtype: str) -> None:
    a = np.array([[1.0, np.inf], [np.nan, 0.0], [-1.0, -np.inf], [0.0, 1.0]], dtype)
    b = np.ones((2, 20), dtype)
    c = np.empty((4, 20), dtype)
    product(a, b, c, relu=1)
    assert np.isposinf(c[0]).all() and np.isnan(c[1]).all()
    assert (c[2] == 0).all() and (c[3] == 1).all()


def test_a_frame_is_packed_as_it_is_read() -> None:
    assert struct.calcsize(WORDS) == 8 * len(gemm.FRAME)
