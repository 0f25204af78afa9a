"""Numbers and types that operations refuse, or take where there is nothing to compute."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def test_sums_to_integers_have_no_gradients() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    for reduce in (torch.sum, torch.prod, torch.nansum):
        with pytest.raises(RuntimeError, match="Autograd not support dtype: Int"):
            reduce(x, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="Autograd not support dtype: Long"):
        torch.cumsum(x, 0, dtype=torch.int64)
    assert not x.to(torch.int32).requires_grad and not x.bool().requires_grad


def test_nothing_is_divided_by_zero() -> None:
    empty = torch.ones(0, dtype=torch.int32)
    assert (empty % 0).shape == (0,) and (empty // torch.tensor(0)).shape == (0,)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.ones(1, dtype=torch.int32) % 0


def test_powers_of_integers() -> None:
    with pytest.raises(RuntimeError, match="cannot be converted to type int16_t"):
        torch.ones(2, dtype=torch.int16) ** 2**62
    assert (torch.ones(2, dtype=torch.int16) ** 200).tolist() == [1, 1]


def test_batches_that_do_not_broadcast() -> None:
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match"):
        (torch.rand(3, 2, 3) > 0.5) @ torch.ones(2, 2, 2)


def test_distances_and_norms_say_what_they_take() -> None:
    cdist: Any = torch.cdist
    amax: Any = torch.amax
    x = torch.ones(2, 2)
    with pytest.raises(TypeError, match=r"'x2' \(position 2\) must be Tensor, not int"):
        cdist(x, 1)
    with pytest.raises(TypeError, match=r"'p' \(position 3\) must be float, not str"):
        cdist(x, x, "a")
    with pytest.raises(TypeError, match=r"'ord' \(position 2\) must be Number, not list"):
        torch.norm(x, [2])
    with pytest.raises(TypeError, match=r"'dim' \(position 3\) must be tuple of ints, not float"):
        torch.norm(x, 2, 1.5)
    assert amax(x, None).item() == 1


def test_reversed_flips_the_first_dimension() -> None:
    assert reversed(torch.tensor([[1, 2], [3, 4]])).tolist() == [[3, 4], [1, 2]]
    assert reversed(torch.tensor(1)).item() == 1


def test_nonzero_names_what_it_does_not_take() -> None:
    nonzero: Any = torch.nonzero
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nonzero(torch.ones(2), True)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'dim'"):
        nonzero(torch.ones(2), dim=1)
