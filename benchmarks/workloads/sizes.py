"""The sizes of the networks in `steps`, and the weights that they start with in every system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.workloads.training import Shape, starting


@dataclass(frozen=True)
class Size:
    """Sizes of a network, its learning rate and the shapes of its parameters in their order."""

    batch: int
    rate: float
    places: int = 1
    features: int = 0
    classes: int = 10
    heads: int = 1
    layers: int = 1
    decay: float = 0.0
    channels: tuple[int, int] = (0, 0)
    shapes: tuple[Shape, ...] = ()
    # The parameters that lie around 1: weights of normalisations.
    ones: frozenset[int] = field(default_factory=frozenset)

    def weights(self) -> list[Any]:
        """Arrays for the parameters."""
        arrays: list[Any] = starting(50, self.shapes, self.ones.__contains__)
        return arrays


def _gpt(c: int, places: int, classes: int, layers: int) -> tuple[Shape, ...]:
    block: tuple[Shape, ...] = (
        *((c,), (c,), (3 * c, c), (3 * c,), (c, c), (c,)),
        *((c,), (c,), (4 * c, c), (4 * c,), (c, 4 * c), (c,)),
    )
    return ((classes, c), (places, c), *(block * layers), (c,), (c,), (classes, c))


LSTM = Size(
    batch=12,
    rate=0.1,
    places=32,
    features=128,
    shapes=((512, 128), (512, 128), (512,), (512,), (10, 128), (10,)),
)
GPT = Size(
    batch=12,
    rate=1e-3,
    places=64,
    features=128,
    classes=65,
    heads=4,
    layers=2,
    decay=0.1,
    shapes=_gpt(128, 64, 65, 2),
    ones=frozenset({2, 8, 14, 20, 26}),
)
CNN = Size(
    batch=64,
    rate=0.05,
    channels=(16, 32),
    shapes=((16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 800), (10,)),
)
ODE = Size(batch=64, rate=1e-3, places=10, features=64, shapes=((64, 2), (64,), (2, 64), (2,)))
