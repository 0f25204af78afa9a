"""NumPy's numbers, and tensors of one number, as arguments: they count as Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F

LONG = torch.arange(300.0)
PLANE = torch.arange(900.0).reshape(1, 1, 30, 30)

#: Calls that are given small whole numbers, whose results don't fit the numbers' own type.
CALLS: dict[str, Callable[[Callable[[int], Any]], torch.Tensor | tuple[torch.Tensor, ...]]] = {
    "chunk": lambda n: torch.chunk(LONG, n(2), n(0)),
    "chunk, a method": lambda n: LONG.chunk(n(2), dim=n(0)),
    "unsafe_chunk": lambda n: torch.unsafe_chunk(LONG, n(2)),
    "tensor_split": lambda n: torch.tensor_split(LONG, int(n(2)), n(0)),
    "split": lambda n: torch.split(LONG, [n(100), n(100), n(100)]),
    "stft": lambda n: torch.stft(
        LONG, n(100), n(50), n(100), window=torch.ones(100), return_complex=True
    ),
    "resize_": lambda n: LONG.clone().resize_(n(100)),
    "resize_ to several": lambda n: LONG.clone().resize_(n(100), n(2)),
    "sum_to_size": lambda n: torch.ones(4, 4).sum_to_size(n(4)),
    "sum_to_size of several": lambda n: torch.ones(4, 4).sum_to_size((n(1), n(4))),
    "tensordot": lambda n: torch.tensordot(torch.ones(4, 4), torch.ones(4, 4), ([n(1)], [n(0)])),
    "fractional_max_pool2d": lambda n: F.fractional_max_pool2d(
        PLANE, n(2), output_size=n(20), _random_samples=torch.full((1, 1, 2), 0.5)
    ),
    "affine_grid": lambda n: F.affine_grid(
        torch.ones(1, 2, 3), [n(1), n(1), n(20), n(20)], align_corners=False
    ),
    "group_norm": lambda n: F.group_norm(torch.arange(600.0).reshape(1, 200, 3), n(2)),
    "cross_entropy": lambda n: F.cross_entropy(
        torch.arange(600.0).reshape(2, 300) / 300, torch.tensor([200, 3]), ignore_index=n(200)
    ),
    "nll_loss": lambda n: F.nll_loss(
        torch.arange(600.0).reshape(2, 300), torch.tensor([200, 3]), ignore_index=n(200)
    ),
}
KINDS: dict[str, Callable[[int], Any]] = {
    "uint8": np.uint8,
    "int16": np.int16,
    "a tensor": lambda n: torch.tensor(n, dtype=torch.uint8),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_a_number_of_a_small_type_counts_as_pythons(name: str, kind: str) -> None:
    found, expected = CALLS[name](KINDS[kind]), CALLS[name](int)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for a, b in pairs:
        assert torch.equal(a, b)


def test_a_permutation_of_a_small_number_is_drawn() -> None:
    torch.manual_seed(0)
    found = torch.randperm(np.uint8(200))
    torch.manual_seed(0)
    assert torch.equal(found, torch.randperm(200))
    assert found.dtype is torch.int64


@pytest.mark.parametrize("value", [np.float32(2), np.bool_(1), 2.5])
def test_what_is_no_whole_number_is_refused_by_name(value: object) -> None:
    x, target = torch.ones(2, 3), torch.tensor([0, 1])
    kind = type(value).__name__ if type(value) is float else f"numpy.{type(value).__name__}"
    with pytest.raises(TypeError) as caught:
        F.cross_entropy(x, target, ignore_index=value)
    assert str(caught.value) == (
        f"cross_entropy_loss(): argument 'ignore_index' (position 5) must be int, not {kind}"
    )
    with pytest.raises(TypeError) as caught:
        F.nll_loss(x, target, ignore_index=value)
    assert str(caught.value) == (
        f"nll_loss_nd(): argument 'ignore_index' (position 5) must be int, not {kind}"
    )


def test_a_generator_takes_pythons_integers_alone() -> None:
    g = torch.Generator()
    for value in (torch.tensor(3), True, 3.0, "3", None):
        with pytest.raises(RuntimeError, match="manual_seed expected a long, but got"):
            g.manual_seed(value)
    with pytest.raises(TypeError, match="an integer is required"):
        g.manual_seed(np.int64(3))
    assert g.manual_seed(3).initial_seed() == 3


def test_parameters_of_distributions_are_pythons_numbers_or_tensors() -> None:
    for value in (np.uint8(1), np.float32(1), np.bool_(1), 1j):
        with pytest.raises(ValueError, match="must all be instances of Number"):
            torch.distributions.Normal(value, 1.0)
    assert torch.distributions.Normal(np.float64(1), 1.0).loc == 1
