"""The sizes of the networks in `steps`, and the weights that they start with in every system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.workloads.data import labels, uniform
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
    # The shapes of what goes in and of what should come out; whole numbers are below `classes`.
    given: Shape = ()
    wanted: Shape = ()
    whole: bool = False
    # The parameters that lie around 1: weights of normalisations.
    ones: frozenset[int] = field(default_factory=frozenset)

    def weights(self) -> list[Any]:
        """Arrays for the parameters."""
        arrays: list[Any] = starting(50, self.shapes, self.ones.__contains__)
        return arrays

    def data(self) -> list[Any]:
        """Inputs and targets: class numbers where there is one of them for a row."""
        given = self._classes(1, self.given) if self.whole else uniform(1, *self.given)
        wanted = self.wanted == self.given and not self.whole
        return [given, uniform(2, *self.wanted) if wanted else self._classes(2, self.wanted)]

    def _classes(self, seed: int, shape: Shape) -> Any:
        count = 1
        for size in shape:
            count *= size
        return labels(seed, count, self.classes).reshape(shape)


def recurrent(batch: int, places: int, features: int) -> Size:
    """An LSTM layer and a linear one, SGD."""
    gates = 4 * features
    return Size(
        batch=batch,
        rate=0.1,
        places=places,
        features=features,
        given=(places, batch, features),
        wanted=(batch,),
        shapes=(
            *((gates, features), (gates, features), (gates,), (gates,)),
            *((10, features), (10,)),
        ),
    )


def transformer(batch: int, places: int, features: int, heads: int, layers: int = 2) -> Size:
    """A GPT of 65 words, AdamW."""
    c, words = features, 65
    block: tuple[Shape, ...] = (
        *((c,), (c,), (3 * c, c), (3 * c,), (c, c), (c,)),
        *((c,), (c,), (4 * c, c), (4 * c,), (c, 4 * c), (c,)),
    )
    norms = [2 + 12 * layer + place for layer in range(layers) for place in (0, 6)]
    return Size(
        batch=batch,
        rate=1e-3,
        places=places,
        features=c,
        classes=words,
        heads=heads,
        layers=layers,
        decay=0.1,
        given=(batch, places),
        wanted=(batch, places),
        whole=True,
        shapes=((words, c), (places, c), *(block * layers), (c,), (c,), (words, c)),
        ones=frozenset([*norms, 2 + 12 * layers]),
    )


def convolutional(batch: int, first: int, second: int) -> Size:
    """Two convolutions of 3 x 3 and a linear layer for pictures of 28 x 28, SGD."""
    return Size(
        batch=batch,
        rate=0.05,
        channels=(first, second),
        given=(batch, 1, 28, 28),
        wanted=(batch,),
        shapes=(
            *((first, 1, 3, 3), (first,), (second, first, 3, 3), (second,)),
            *((10, 25 * second), (10,)),
        ),
    )


def differential(batch: int, places: int, features: int) -> Size:
    """A field of two layers, followed for some steps, Adam."""
    return Size(
        batch=batch,
        rate=1e-3,
        places=places,
        features=features,
        given=(batch, 2),
        wanted=(batch, 2),
        shapes=((features, 2), (features,), (2, features), (2,)),
    )


LSTM = recurrent(batch=12, places=32, features=128)
GPT = transformer(batch=12, places=64, features=128, heads=4)
CNN = convolutional(batch=64, first=16, second=32)
ODE = differential(batch=64, places=10, features=64)
