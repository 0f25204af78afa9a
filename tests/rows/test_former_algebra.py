"""`lu`, `lu_unpack`, `cholesky` and `cov`: what is said first, and how often."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rushlight as torch

EYE = torch.eye(2)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_lu_names_its_parts() -> None:
    with pytest.raises(TypeError, match=r"_lu_with_info\(\): argument 'pivot' must be bool, not f"):
        EYE.lu(2.0)
    with pytest.raises(TypeError, match=r"_lu_with_info\(\): argument 'input' \(position 1\)"):
        torch.lu([1])
    with pytest.raises(TypeError, match=r"_lu_no_infos\(\) got an unexpected keyword argument"):
        torch.lu(EYE, foo=1)


def test_lu_writes_into_as_many_tensors_as_it_returns() -> None:
    out = (torch.zeros(3, 3), torch.zeros(3, dtype=torch.int32))
    assert torch.lu(EYE, out=out) is out
    assert torch.equal(out[0], EYE)
    with pytest.raises(TypeError, match="expected tuple of 2 elements but got 1"):
        torch.lu(EYE, out=(torch.zeros(2, 2),))
    with pytest.raises(TypeError, match="argument 'out' must be tuple of Tensors, not Tensor"):
        torch.lu(EYE, out=torch.zeros(2, 2))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_too_few_or_many_places_for_results_are_refused(count: int) -> None:
    out = tuple(torch.zeros(1) for _ in range(count))
    pivots = torch.ones(2, dtype=torch.int32)
    with pytest.raises(TypeError, match=f"expected tuple of 3 elements but got {count}"):
        torch.lu_unpack(EYE, pivots, out=out)
    with pytest.raises(TypeError, match=f"expected tuple of 4 elements but got {count}"):
        torch.linalg.lstsq(EYE, EYE, out=out)


def test_pivots_outside_of_the_matrix_are_refused() -> None:
    with pytest.raises(RuntimeError, match="must be between 1 and LU"):
        torch.lu_unpack(EYE, torch.zeros(2, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="Expected tensor with 2 or more dimensions"):
        torch.lu_unpack(torch.zeros(2), torch.zeros(2))


def test_element_types_are_looked_at_before_shapes_in_lu_solve() -> None:
    line = torch.zeros(3)
    with pytest.raises(RuntimeError, match=r"Expected a floating point or complex .* Got Long"):
        torch.linalg.lu_solve(line.long(), line, line)
    with pytest.raises(RuntimeError, match="pivots should be a Tensor of scalar type"):
        torch.linalg.lu_solve(line, line, line)


def test_nothing_is_factored_whatever_its_shape() -> None:
    assert torch.zeros(0).cholesky().shape == (0,)


def test_covariances_without_freedom_warn_once() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom") as said:
        torch.cov(torch.ones(1))
    assert len(said) == 1
    with pytest.raises(RuntimeError, match="weights sum to zero"):
        torch.cov(torch.ones(2), fweights=torch.tensor([0, 0]))


def test_what_was_factored_before_a_minor_that_is_not_positive_is_given() -> None:
    a = torch.tensor([[4.0, 2, 3], [2, 1, 5], [3, 5, 9]])
    factors, info = torch.linalg.cholesky_ex(torch.stack([a, torch.eye(3) * 4]))
    assert info.tolist() == [2, 0]
    assert factors.tolist() == [
        [[2, 0, 0], [1, 0, 0], [1.5, 5, 9]],
        [[2, 0, 0], [0, 2, 0], [0, 0, 2]],
    ]
    assert torch.linalg.cholesky_ex(a, upper=True)[0].tolist() == factors[0].T.tolist()


def test_the_gradient_of_a_singular_matrix_s_logarithm_is_not_finite() -> None:
    for x in (torch.ones(2, 2), torch.stack([torch.eye(2), torch.zeros(2, 2)])):
        x.requires_grad_()
        torch.linalg.slogdet(x)[1].sum().backward()
        assert not bool(x.grad.isfinite().all())
    assert x.grad[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    found = torch.linalg.slogdet(x)[1].sum()
    with pytest.raises(RuntimeError, match="input matrix is singular"):
        torch.autograd.grad(found, x, create_graph=True)
