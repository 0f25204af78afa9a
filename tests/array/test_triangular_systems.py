"""Triangular systems by BLAS, by SciPy and row by row: one solution."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array.kernels import openblas
from rushlight._array.linalg import lapack, triangular

SIZES = [(1, 1), (2, 5), (13, 1), (13, 4), (30, 1), (30, 7), (65, 64), (200, 150)]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Says which of the three ways `solve_triangular` goes."""
    triangular._find_solver.cache_clear()

    def choose(way: str) -> None:
        triangular._find_solver.cache_clear()
        openblas.triangular_solver.cache_clear()
        monkeypatch.undo()
        if way != "openblas":
            monkeypatch.setattr(openblas, "find", lambda: None)
        if way == "rows":
            monkeypatch.setattr(lapack, "routine", lambda name, dtype: None)

    yield choose
    monkeypatch.undo()
    triangular._find_solver.cache_clear()
    openblas.triangular_solver.cache_clear()


def lay(x: Any, layout: str) -> Any:
    """The same matrix, as it may lie in memory."""
    if layout == "columns":
        return np.asfortranarray(x)
    if layout == "apart":
        return np.repeat(np.repeat(x, 2, -1), 3, -2)[..., ::3, ::2]
    if layout == "backwards":
        return np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]
    if layout == "unaligned":
        raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        raw[...] = x
        return raw
    return x


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("layout", ["rows", "columns", "apart", "backwards", "unaligned"])
@pytest.mark.parametrize("left", [True, False])
def test_the_three_ways_have_one_solution(ways: Any, dtype: str, layout: str, left: bool) -> None:
    rng = np.random.default_rng(4)
    for n, m in SIZES:
        for batch in ((), (2,), (3, 2)) if n < 60 else ((),):
            a = rng.standard_normal((*batch, n, n)).astype(dtype)
            b = rng.standard_normal((*batch, n, m) if left else (*batch, m, n)).astype(dtype)
            if dtype[0] == "c":
                a, b = a * np.array(1 + 0.5j, dtype), b * np.array(1 - 2j, dtype)
            a *= np.array(0.3 / n, dtype)  # both triangles have numbers, of which one is read
            np.einsum("...ii->...i", a)[...] += 1
            a, b = lay(a, layout), lay(b, layout)
            before = a.copy(), b.copy()
            for upper in (True, False):
                for unit in (True, False):
                    found = []
                    for way in ("openblas", "scipy", "rows"):
                        ways(way)
                        found.append(triangular.solve_triangular(a, b, upper, left, unit))
                    triangle = np.triu(a) if upper else np.tril(a)
                    if unit:
                        np.einsum("...ii->...i", triangle)[...] = 1
                    for x in found:
                        assert x.dtype == b.dtype and x.shape == b.shape
                        assert x.swapaxes(-1, -2).flags.c_contiguous
                        made = triangle @ x if left else x @ triangle
                        near = 1e-4 if dtype in ("f4", "c8") else 1e-11
                        np.testing.assert_allclose(made, b, rtol=near, atol=near)
            assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@pytest.mark.parametrize("way", ["openblas", "scipy", "rows"])
def test_a_zero_pivot_gives_nothing_finite(ways: Any, way: str) -> None:
    ways(way)
    a = np.diag([2.0, 0.0, *[1.0] * 18])
    for left in (True, False):
        b = np.ones((20, 3) if left else (3, 20))
        x = triangular.solve_triangular(a, b, False, left)
        assert not np.isfinite(x[1] if left else x[:, 1]).any()


@pytest.mark.parametrize("way", ["openblas", "scipy", "rows"])
def test_systems_without_elements_have_solutions_without_elements(ways: Any, way: str) -> None:
    ways(way)
    for n, m in ((0, 3), (20, 0), (0, 0)):
        x = triangular.solve_triangular(np.zeros((n, n)), np.zeros((n, m)), True)
        assert x.shape == (n, m)
        x = triangular.solve_triangular(np.zeros((n, n)), np.zeros((m, n)), True, False)
        assert x.shape == (m, n)


def test_systems_leave_openblas_its_threads(ways: Any) -> None:
    ways("openblas")
    library = openblas.find()
    if library is None:
        pytest.skip("NumPy came without OpenBLAS")
    count = library.scipy_openblas_get_num_threads64_()
    library.scipy_openblas_set_num_threads64_(3)
    try:
        for n in (20, 200):
            triangular.solve_triangular(np.eye(n), np.ones((n, n)), True)
            assert library.scipy_openblas_get_num_threads64_() == 3
    finally:
        library.scipy_openblas_set_num_threads64_(count)


def test_numpys_openblas_solves_where_it_is_there() -> None:
    if openblas.find() is None:
        pytest.skip("NumPy came without OpenBLAS")
    for dtype in ("f4", "f8", "c8", "c16"):
        assert openblas.triangular_solver(np.dtype(dtype)) is not None
    assert openblas.triangular_solver(np.dtype("i8")) is None
