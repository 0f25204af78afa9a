"""Results that are like another tensor are dense, in the order of its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

ROW = torch.arange(3.0).reshape(1, 3)
LIKE: list[Callable[[Any], Any]] = [
    torch.zeros_like,
    torch.rand_like,
    lambda x: x.clone(),
    lambda x: x.to(torch.float64),
    lambda x: x.to(torch.uint8),
    lambda x: x.flip(0),
    lambda x: x.sort(0).values,
    lambda x: x.nan_to_num(),
    lambda x: torch.complex(x, x),
    torch.nn.functional.gelu,
]


@pytest.mark.parametrize("like", LIKE)
def test_of_an_expanded_tensor(like: Callable[[Any], Any]) -> None:
    """An expanded dimension stays where it is among the others."""
    assert like(ROW.expand(2, 3)).stride() == (3, 1)
    assert like(ROW.t().expand(3, 2)).stride() == (2, 1)
    turned = torch.arange(6.0).reshape(2, 3).t()
    assert like(turned).stride() == (1, 3)
    assert like(turned.expand(2, 3, 2)).stride() == (6, 1, 3)
    assert like(turned[:, None].expand(3, 4, 2)).stride() == (1, 3, 12)
    assert like(turned[::2]).stride() == (1, 2)


@pytest.mark.parametrize("like", LIKE[2:4])
def test_the_elements_stay(like: Callable[[Any], Any]) -> None:
    """A copy has the elements in their places."""
    spread = torch.arange(6.0).reshape(2, 3).t()[:, None].expand(3, 4, 2)
    assert like(spread).tolist() == spread.tolist()


def test_in_order() -> None:
    """What is filled by a mask or rolled lies in C order."""
    turned = torch.arange(6.0).reshape(2, 3).t()
    assert turned.masked_fill(turned > 2, 0).stride() == (2, 1)
    assert turned.roll(1, 0).stride() == (2, 1)
