"""Products with few columns, against NumPy; nothing is written beside them."""

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from rushlight._native.emitted import skinny_gemm as narrow
from rushlight._native.llvm.emit import F32, F64

KINDS = {"f4": (F32, 2e-6), "f8": (F64, 1e-14)}
ROWS = [1, 8, 16, 17, 33]
DEPTHS = [0, 1, 15, 16, 64, 67]


def product(form: str, a: Any, b: Any, c: Any, bias: Any = None, relu: int = 0) -> None:
    size = a.itemsize
    m, n = c.shape
    apart = (a.strides[0], b.strides[1]) if form == "dots" else (a.strides[1], b.strides[0])
    words = [a.ctypes.data, b.ctypes.data, c.ctypes.data, 0 if bias is None else bias.ctypes.data,
             m, n, a.shape[1], *(s // size for s in apart), c.strides[0] // size, relu]  # fmt: skip
    frame = struct.pack(f"{len(narrow.FRAME)}q", *words)
    address = narrow.load(KINDS[a.dtype.str[1:]][0], form)
    ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64)(address)(frame, 0)


def matrices(m: int, n: int, k: int, dtype: str, turned: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((k, m + 3)).astype(dtype)[:, :m].T if turned else rng.standard_normal(
        (m, k + 2)).astype(dtype)[:, :k]  # fmt: skip
    b = rng.standard_normal((k, n + 1)).astype(dtype)[:, :n] if turned else rng.standard_normal(
        (n, k + 5)).astype(dtype)[:, :k].T  # fmt: skip
    room = np.full((m, n + 2), 77, dtype)
    return a, b, room


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("n", [1, 2, narrow.MOST])
def test_dots_with_bias_and_without_equal_numpys(dtype: str, n: int) -> None:
    for m in ROWS:
        for k in DEPTHS:
            a, b, room = matrices(m, n, k, dtype, False)
            bias = np.linspace(-1, 1, n).astype(dtype)
            exact = a.astype("f8") @ b.astype("f8")
            bound = KINDS[dtype][1] * (abs(a).astype("f8") @ abs(b).astype("f8") + 4)
            product("dots", a, b, room[:, :n])
            assert (abs(room[:, :n] - exact) <= bound).all()
            product("dots", a, b, room[:, :n], bias, 1)
            assert (abs(room[:, :n] - np.maximum(exact + bias, 0)) <= bound).all()
            assert (room[:, n:] == 77).all()


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("n", [1, 3, narrow.MOST])
def test_outer_products_summed_equal_numpys(dtype: str, n: int) -> None:
    for m in ROWS:
        for k in DEPTHS:
            a, b, room = matrices(m, n, k, dtype, True)
            exact = a.astype("f8") @ b.astype("f8")
            bound = KINDS[dtype][1] * (abs(a).astype("f8") @ abs(b).astype("f8") + 4)
            product(f"outer {n}", a, b, room[:, :n])
            assert (abs(room[:, :n] - exact) <= bound).all()
            assert (room[:, n:] == 77).all()


def test_nan_stays_nan() -> None:
    a, b, room = matrices(8, 2, 20, "f4", False)
    a = a.copy()
    a[3, 4] = np.nan
    product("dots", a, b, room[:, :2], np.zeros(2, "f4"), 1)
    assert np.isnan(room[3, :2]).all()
    assert not np.isnan(room[:3, :2]).any()
