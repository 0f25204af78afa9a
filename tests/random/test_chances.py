"""Coins and normals whose parameters are tensors: what is refused, and the types drawn in."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def test_chances_that_do_not_spread_over_the_tensor_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"expanded size of the tensor \(1\) must match"):
        torch.zeros(3, 1, 2).bernoulli_(torch.zeros(3, 2))
    with pytest.raises(RuntimeError, match=r"expand\(torch.FloatTensor\{\[2, 3\]\}, size=\[3\]\)"):
        torch.zeros(3).bernoulli_(torch.zeros(2, 3))


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_no_coins_need_no_chances(dtype: Any) -> None:
    none = torch.zeros(0, dtype=dtype)
    assert torch.bernoulli(none).dtype is dtype
    assert torch.bernoulli(none, 0.5).dtype is dtype


def test_complex_coins_are_refused_before_their_chances() -> None:
    coins = torch.zeros(2, dtype=torch.complex64)
    with pytest.raises(NotImplementedError, match="bernoulli_tensor_cpu_self_"):
        coins.bernoulli_(torch.tensor([2, 3]))


def test_a_lower_bound_by_its_place_goes_with_an_upper_one_by_its_name() -> None:
    x = torch.zeros(50).random_(3, to=8)
    assert 3 <= float(x.min()) <= float(x.max()) < 8
    with pytest.raises(RuntimeError, match="'from' to be less than 'to', but got from=2 >= to=2"):
        x.random_(2, to=2)


@pytest.mark.parametrize("kind", [torch.int8, torch.bool, torch.float32, torch.float64])
def test_normals_are_drawn_in_the_type_that_they_are_written_to(kind: torch.dtype) -> None:
    ones = torch.ones(20).to(kind)
    for out in (torch.float32, torch.float64, torch.complex64, torch.complex32):
        torch.manual_seed(3)
        drawn = torch.normal(ones, ones, out=torch.empty(0, dtype=out))
        torch.manual_seed(3)
        expected = torch.empty(20, dtype=out).normal_() + 1
        drawn, expected = drawn.to(torch.complex128), expected.to(torch.complex128)
        assert (drawn - expected).abs().max().item() < 1e-2
        assert bool(drawn.imag.any()) == out.is_complex
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.normal(ones, ones, out=torch.empty(0, dtype=torch.int64))


def test_complex_means_are_not_written_among_real_numbers() -> None:
    means = torch.ones(3, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="ComplexFloat can't be cast to the desired output"):
        torch.normal(means, 1.0, out=torch.zeros(3))
