"""LAPACK in NumPy's OpenBLAS: what the routines give is what their names say, as SciPy's do."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.kernels import openblas
from rushlight._array.linalg import lapack, openblas_lapack
from tests.native.loops import run_at_once

if openblas.find() is None:
    pytest.skip("NumPy came without OpenBLAS", allow_module_level=True)

SHAPES = [(1, 1), (1, 5), (5, 1), (4, 4), (7, 3), (3, 7), (70, 70), (130, 40), (40, 130)]
TYPES = ["f4", "f8", "c8", "c16"]


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype[0] == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asfortranarray(x.astype(dtype))


def routine(name: str, dtype: str) -> Any:
    found = openblas_lapack.routine(name, np.dtype(dtype))
    assert found is not None
    return found


def near(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    most = 2e-4 if b.dtype.char in "fF" else 1e-11
    scale = max(1.0, float(np.abs(b).max(initial=0)))
    return a.dtype == b.dtype and a.shape == b.shape and bool((np.abs(a - b) < most * scale).all())


def adjoint(x: Any) -> Any:
    return np.conjugate(x).T


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(dtype: str, shape: tuple[int, int]) -> None:
    x = drawn(shape, dtype)
    work = x.copy("F")
    factors, pivots, code = routine("getrf", dtype)(work, 1)
    assert factors is work and code == 0 and pivots.dtype == np.int32
    count = min(shape)
    lower = np.tril(factors, -1)[:, :count] + np.eye(shape[0], count, dtype=dtype)
    again = lower @ np.triu(factors)[:count]
    for k in reversed(range(count)):
        again[[k, pivots[k]]] = again[[pivots[k], k]]
    assert near(again.astype(dtype), x)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_reflectors(dtype: str, shape: tuple[int, int]) -> None:
    x = drawn(shape, dtype, 1)
    rows, columns = shape
    count = min(shape)
    factors, tau = routine("geqrf", dtype)(x.copy("F"), columns * 64, 1)
    r = np.triu(factors)[:count]
    q = routine("orgqr", dtype)(factors[:, :count].copy("F"), tau, 64 * columns, 1)[0]
    assert near((q @ r).astype(dtype), x)
    assert near((adjoint(q) @ q).astype(dtype), np.eye(count, dtype=dtype))
    c = drawn((rows, 6), dtype, 2)
    flag = "C" if dtype[0] == "c" else "T"
    vectors = factors[:, :count].copy("F")
    multiply = routine("ormqr", dtype)
    turned = multiply("L", flag, vectors, tau, c.copy("F"), 64 * 140, 1)[0]
    assert near(turned[:count], (adjoint(q) @ c).astype(dtype))
    back = multiply("L", "N", vectors, tau, turned, 64 * 140, 1)[0]
    assert near(back, c)
    right = multiply("R", "N", vectors, tau, c.T.copy("F"), 64 * 140, 1)[0]
    assert near(right[:, :count], (c.T @ q).astype(dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 5, 90])
def test_positive_matrices(dtype: str, n: int) -> None:
    x = drawn((n, n), dtype, 3)
    x = np.asfortranarray((x @ adjoint(x) + np.eye(n)).astype(dtype))
    kept = x.copy("F")
    for lower in (True, False):
        factor, code = routine("potrf", dtype)(x, lower)
        assert code == 0 and np.array_equal(x, kept)
        half = np.tril(factor) if lower else adjoint(np.triu(factor))
        assert near((half @ adjoint(half)).astype(dtype), x)
        if dtype[0] == "f":
            inverse = routine("potri", dtype)(np.asfortranarray(factor), lower, 1)[0]
            part = np.tril(inverse) if lower else np.triu(inverse).T
            whole = part + np.tril(part, -1).T
            assert near((whole @ x).astype(dtype), np.eye(n, dtype=dtype))
    x[n - 1, n - 1] = -1
    assert routine("potrf", dtype)(x, True)[1] == n


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_least_squares(dtype: str, shape: tuple[int, int]) -> None:
    rows, columns = shape
    a, b = drawn(shape, dtype, 4), drawn((max(shape), 2), dtype, 5)
    expected = (np.linalg.pinv(a) @ b[:rows]).astype(dtype)
    found = routine("gels", dtype)(a.copy("F"), b.copy("F"), "N", 64 * 400, 0, 1)
    assert found[2] == 0 and near(found[1][:columns], expected)
    pivots = np.zeros((columns, 1), np.int32)
    solve = routine("gelsy", dtype)
    found = solve(a.copy("F"), b.copy("F"), pivots, 1e-6, 64 * 400, 0, 1)
    assert found[3] == min(shape) and found[4] == 0 and near(found[1][:columns], expected)
    if min(shape) > 2:  # rank 1
        a[...] = np.outer(np.arange(1, rows + 1), np.arange(1, columns + 1))
        found = solve(a.copy("F"), b.copy("F"), pivots, 1e-4, 64 * 400, 0, 1)
        assert found[3] == 1


def test_arguments_are_kept_unless_they_may_be_written() -> None:
    factor = routine("getrf", "f8")
    x = drawn((6, 6), "f8")
    turned, frozen = np.ascontiguousarray(x), x.copy("F")
    frozen.flags.writeable = False
    odd = np.zeros(6 * 6 * 8 + 1, np.uint8)[1:].view("f8").reshape((6, 6), order="F")
    odd[...] = x
    wide = np.zeros((9, 6), order="F")[:6]
    wide[...] = x
    expected = factor(x.copy("F"), 1)
    for other, may in ((turned, 1), (frozen, 1), (odd, 1), (wide, 1), (x, 0)):
        before = other.copy()
        found = factor(other, may)
        assert found[0] is not other and np.array_equal(other, before)
        assert np.array_equal(found[0], expected[0]) and np.array_equal(found[1], expected[1])


def test_a_zero_pivot_and_what_is_not_a_number() -> None:
    factor = routine("getrf", "f4")
    assert factor(np.zeros((3, 3), "f4", order="F"), 1)[2] == 1
    x = drawn((4, 4), "f4")
    x[1, 1] = np.nan
    assert np.isnan(factor(x, 1)[0]).any()
    assert np.isnan(
        routine("geqrf", "f4")(np.full((3, 2), np.inf, "f4", order="F"), 128, 1)[0]
    ).any()


def test_types_and_names_that_nobody_has() -> None:
    assert openblas_lapack.routine("getrf", np.dtype("f2")) is None
    assert openblas_lapack.routine("getrf", np.dtype("i8")) is None
    assert openblas_lapack.routine("getrf", np.dtype("f8").newbyteorder()) is None
    assert openblas_lapack.routine("nothing", np.dtype("f8")) is None


def test_several_threads_factor_at_once() -> None:
    wrong: list[int] = []

    def run(seed: int) -> None:
        x = drawn((60 + seed, 60 + seed), "f8", seed)
        expected = lapack.routine("getrf", x.dtype)(x.copy("F"), 1)[0]
        for _ in range(30):
            found = lapack.routine("getrf", x.dtype)(x.copy("F"), 1)[0]
            q = lapack.routine("geqrf", x.dtype)(x.copy("F"), 64 * 70, 1)[0]
            if not (near(found, expected) and np.isfinite(q).all()):
                wrong.append(seed)

    run_at_once(run)
    assert not wrong
