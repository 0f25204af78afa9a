"""Triangular systems where neither OpenBLAS nor SciPy is at hand: blocks by LAPACK, against
substitution row by row."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.linalg import triangular

SIZES = [(6, 1), (7, 3), (33, 5), (64, 2), (65, 64), (130, 17), (5, 4), (6, 0)]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangular, "_find_solver", lambda dtype: None)


def both(monkeypatch: pytest.MonkeyPatch, *args: Any) -> tuple[Any, Any]:
    with np.errstate(all="ignore"), monkeypatch.context() as patch:
        found = triangular.solve_triangular(*args)
        patch.setattr(triangular, "_WORTH", 1 << 30)
        return found, triangular.solve_triangular(*args)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_blocks_equal_rows(
    monkeypatch: pytest.MonkeyPatch,
    turned: bool,
    unit: bool,
    left: bool,
    upper: bool,
    size: tuple[int, int],
    dtype: str,
) -> None:
    n, columns = size
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((n, n)) / n + 2 * np.eye(n)).astype(dtype)
    b = rng.standard_normal((n, columns) if left else (columns, n)).astype(dtype)
    if np.iscomplexobj(a):
        a += 1j * rng.standard_normal((n, n)).astype(a.real.dtype) / n
    a = np.ascontiguousarray(a.T).T if turned else a
    before = a.copy()
    found, exact = both(monkeypatch, a, b, upper, left, unit)
    bound = 1e-4 if dtype in ("f4", "c8") else 1e-11
    np.testing.assert_allclose(found, exact, rtol=bound, atol=bound)
    assert found.dtype == exact.dtype and (a == before).all()


@pytest.mark.parametrize("special", [0.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [(9, 9), (9, 4), (0, 0), (19, 19), "b"])
@pytest.mark.parametrize("upper", [False, True])
def test_what_is_not_finite_or_zero_goes_where_substitution_takes_it(
    monkeypatch: pytest.MonkeyPatch, upper: bool, place: Any, special: float
) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((20, 20)) + 5 * np.eye(20), rng.standard_normal((20, 3))
    if place == "b":
        b[11, 1] = special
    else:
        a[place[::-1] if upper else place] = special
    found, exact = both(monkeypatch, a, b, upper)
    np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-11)


def test_a_matrix_by_itself_is_solved_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    plain = triangular._solve_block

    def note(a: Any, x: Any, unit: bool) -> bool:
        sizes.append(len(a))
        return plain(a, x, unit)

    monkeypatch.setattr(triangular, "_solve_block", note)
    triangular.solve_triangular(np.eye(100), np.ones((100, 2)), False)
    assert sizes == [50, 50]
