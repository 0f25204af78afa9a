"""What is found among the objects of a process is found when they are frozen (`gc.freeze`)."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import rushlight as torch
from rushlight.utils import swap_tensors


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_the_graph_of_a_leaf_is_found() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    gc.freeze()
    assert x._use_count() == 2
    del y
    assert x._use_count() == 1


def test_a_graph_from_before_a_swap_has_no_way_back() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    gc.freeze()
    swap_tensors(x, torch.zeros(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
        y.backward()


def test_a_number_that_a_compiled_step_puts_away_is_a_number() -> None:
    notes: list[object] = [None, None]
    gc.collect()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (x * x).sum()
        notes[0] = loss.item()
        return loss * 2

    compiled = torch.compile(step)
    gc.freeze()
    for k in range(4):
        compiled(torch.full((3,), float(k)))
        assert type(notes[0]) is float and notes[0] == 3 * k * k
