"""Complex halves: powers that need no computing, the warning, types of numbers."""

from __future__ import annotations

import warnings

import pytest

import rushlight as torch

pytest.importorskip("ml_dtypes", minversion="0.6")


def halves() -> torch.Tensor:
    return torch.tensor([1.5, -2, 0.5]).to(torch.chalf)


def test_powers_of_one_and_by_zero_and_one_are_known() -> None:
    x = halves()
    assert (x**1).tolist() == x.tolist() and (x**0).tolist() == [1, 1, 1]
    assert torch.pow(1 + 0j, x.real).dtype is torch.chalf
    assert torch.pow(1, torch.ones(2).to(torch.float8_e5m2)).dtype is torch.float8_e5m2


@pytest.mark.parametrize(
    ("exponent", "kernel"),
    [(0.5, "sqrt_vml_cpu"), (-0.5, "rsqrt_cpu"), (-1, "reciprocal_cpu"), (2, "pow"), (2j, "pow")],
)
def test_other_powers_name_the_kernel_that_lacks_them(exponent: complex, kernel: str) -> None:
    for call in (lambda: halves() ** exponent, lambda: torch.pow(halves(), exponent)):
        with pytest.raises(NotImplementedError, match=f'"{kernel}" not implemented for'):
            call()


def test_each_new_one_warns_where_warnings_are_always_given() -> None:
    x = halves()
    torch.set_warn_always(True)
    try:
        for make in (lambda: torch.zeros(2, dtype=torch.chalf), lambda: x + 1, x.clone):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                make()
            assert any("ComplexHalf support" in str(w.message) for w in caught)
    finally:
        torch.set_warn_always(False)


def test_complex_numbers_beside_a_default_type_of_16_bits() -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.half)
        assert torch.full((2,), 1j).dtype is torch.complex64
        assert torch.tensor(1j).dtype is torch.chalf
        torch.set_default_dtype(torch.bfloat16)
        assert torch.full((2,), 1j).dtype is torch.complex64
        with pytest.raises(RuntimeError, match="invalid default scalar type for complex"):
            torch.tensor(1j)
        torch.set_default_dtype(torch.double)
        assert torch.full((2,), 1j).dtype is torch.complex128
        assert torch.Storage is torch.DoubleStorage
    finally:
        torch.set_default_dtype(before)
    assert torch.Storage is torch.FloatStorage
