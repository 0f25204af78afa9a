"""Input data that is the same in every system: no system's own random stream is relied upon."""

from __future__ import annotations

from itertools import pairwise
from typing import Any


def uniform(seed: int, *shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """A float32 array of reproducible values between `low` and `high`."""
    import numpy as np

    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def labels(seed: int, count: int, classes: int) -> Any:
    """An int64 array of reproducible class numbers."""
    import numpy as np

    return np.random.RandomState(seed).randint(0, classes, count).astype(np.int64)


def weights(seed: int, sizes: list[int]) -> list[Any]:
    """Weight and bias arrays of a perceptron, in the layout and scale of `nn.Linear`."""
    arrays: list[Any] = []
    for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        bound = fan_in**-0.5
        arrays.append(uniform(seed + 2 * layer, fan_out, fan_in, low=-bound, high=bound))
        arrays.append(uniform(seed + 2 * layer + 1, fan_out, low=-bound, high=bound))
    return arrays
