"""Coins whose chances are a tensor: what is refused, and that nothing is asked of no coins."""

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
