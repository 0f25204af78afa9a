"""Memory that may only be read isn't filled with random numbers, whoever draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

FILLS: dict[str, Callable[[Any], Any]] = {
    "normal_": lambda x: x.normal_(),
    "normal_ with a mean": lambda x: x.normal_(2.0, 3.0),
    "uniform_": lambda x: x.uniform_(),
    "exponential_": lambda x: x.exponential_(),
    "log_normal_": lambda x: x.log_normal_(),
    "cauchy_": lambda x: x.cauchy_(),
    "geometric_": lambda x: x.geometric_(0.5),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "random_": lambda x: x.random_(),
}


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
@pytest.mark.parametrize("size", [3, 24, 70_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FILLS)
def test_a_fill_of_memory_that_may_only_be_read_raises(name: str, dtype: Any, size: int) -> None:
    torch.randn(1 << 17)  # from many numbers on they are drawn by machine code
    array = np.full(size, 0.5, dtype)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        FILLS[name](torch.from_numpy(array))
    assert (array == 0.5).all()
