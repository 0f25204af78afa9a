"""Whole steps, eager and compiled: fused elementwise work, and networks of several kinds.

Sizes are small enough that what surrounds the matrix products counts. The twins for JAX are in
`steps_jax`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads import steps_jax
from benchmarks.workloads.data import uniform
from benchmarks.workloads.sizes import CNN, GPT, LSTM, ODE, Size
from benchmarks.workloads.training import Training, enter, fill


def elementwise(count: int) -> Callable[[Any], Training]:
    """Value and gradient of sum(tanh(x w) + exp(-x x))."""

    def prepare(torch: Any) -> Training:
        x = torch.tensor(uniform(1, count)).requires_grad_()
        factor = torch.tensor(uniform(2, count))

        def step(w: Any) -> Any:
            x.grad = None
            y = (torch.tanh(x * w) + torch.exp(-x * x)).sum()
            y.backward()
            return y

        return Training(step, [factor], [x])

    return prepare


def recurrent(torch: Any, size: Size = LSTM) -> Training:
    """An LSTM over a sequence, classified by its last state."""
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(size.features, size.features)
            self.head = nn.Linear(size.features, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(x)[0][-1])

    model = Model()
    fill(torch, model.parameters(), size.weights())
    data = [torch.tensor(array) for array in size.data()]
    optimizer = torch.optim.SGD(model.parameters(), lr=size.rate)
    cross_entropy = nn.functional.cross_entropy

    def step(x: Any, target: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    return Training(step, data, list(model.parameters()), optimizer)


def transformer(torch: Any, size: Size = GPT) -> Training:
    """A language model of decoder blocks, trained by AdamW."""
    nn = torch.nn
    attend = nn.functional.scaled_dot_product_attention
    c = size.features

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(c)
            self.qkv = nn.Linear(c, 3 * c)
            self.proj = nn.Linear(c, c)
            self.norm2 = nn.LayerNorm(c)
            self.up = nn.Linear(c, 4 * c)
            self.gelu = nn.GELU()
            self.down = nn.Linear(4 * c, c)

        def forward(self, x: Any) -> Any:
            batch, places, _ = x.shape
            parts = self.qkv(self.norm1(x)).split(c, dim=2)
            split = (batch, places, size.heads, c // size.heads)
            q, k, v = (part.view(split).transpose(1, 2) for part in parts)
            y = attend(q, k, v, is_causal=True)
            x = x + self.proj(y.transpose(1, 2).reshape(batch, places, c))
            return x + self.down(self.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.token = nn.Embedding(size.classes, c)
            self.place = nn.Embedding(size.places, c)
            self.blocks = nn.Sequential(*(Block() for _ in range(size.layers)))
            self.norm = nn.LayerNorm(c)
            self.head = nn.Linear(c, size.classes, bias=False)

        def forward(self, index: Any, places: Any) -> Any:
            return self.head(self.norm(self.blocks(self.token(index) + self.place(places))))

    model = Model()
    fill(torch, model.parameters(), size.weights())
    data = [torch.tensor(array) for array in size.data()]
    places = torch.arange(size.places)
    optimizer = torch.optim.AdamW(model.parameters(), lr=size.rate, weight_decay=size.decay)
    cross_entropy = nn.functional.cross_entropy

    def step(index: Any, target: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(index, places).view(-1, size.classes), target.view(-1))
        loss.backward()
        optimizer.step()
        return loss

    return Training(step, data, list(model.parameters()), optimizer)


def convolutional(torch: Any, size: Size = CNN) -> Training:
    """Two convolutions with pooling and a linear layer, on pictures of 28 x 28."""
    nn = torch.nn
    first, second = size.channels
    model = nn.Sequential(
        nn.Conv2d(1, first, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * 25, size.classes),
    )
    fill(torch, model.parameters(), size.weights())
    data = [torch.tensor(array) for array in size.data()]
    optimizer = torch.optim.SGD(model.parameters(), lr=size.rate)
    cross_entropy = nn.functional.cross_entropy

    def step(x: Any, target: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    return Training(step, data, list(model.parameters()), optimizer)


def differential(torch: Any, size: Size = ODE) -> Training:
    """A neural differential equation: Runge-Kutta steps of order four, and back through them."""
    nn = torch.nn
    field = nn.Sequential(nn.Linear(2, size.features), nn.Tanh(), nn.Linear(size.features, 2))
    fill(torch, field.parameters(), size.weights())
    data = [torch.tensor(array) for array in size.data()]
    optimizer = torch.optim.Adam(field.parameters(), lr=size.rate)
    h = 1 / size.places

    def step(start: Any, end: Any) -> Any:
        optimizer.zero_grad()
        y = start
        for _ in range(size.places):
            k1 = field(y)
            k2 = field(y + h / 2 * k1)
            k3 = field(y + h / 2 * k2)
            k4 = field(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss = ((y - end) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(step, data, list(field.parameters()), optimizer)


for _power in (5, 6, 7):
    enter(
        f"steps/elementwise-1e{_power}",
        f"value and gradient of sum(tanh(x w) + exp(-x x)), 1e{_power} elements",
        elementwise(10**_power),
        steps_jax.elementwise(10**_power),
        aim=4.0,
        long=_power > 5,
    )

enter(
    "steps/lstm",
    f"LSTM of {LSTM.features} over {LSTM.places} places, batch {LSTM.batch}, SGD",
    recurrent,
    steps_jax.recurrent,
    aim=2.0,
    long=True,
)
enter(
    "steps/gpt",
    f"{GPT.layers}-layer GPT, batch {GPT.batch}, {GPT.places} places, {GPT.features} features, "
    f"{GPT.heads} heads, AdamW",
    transformer,
    steps_jax.transformer,
    aim=2.0,
    long=True,
)
enter(
    "steps/cnn",
    f"convolutions to {CNN.channels[0]} and {CNN.channels[1]} channels, 28 x 28, batch "
    f"{CNN.batch}, SGD",
    convolutional,
    steps_jax.convolutional,
    aim=2.0,
    long=True,
)
enter(
    "steps/ode",
    f"{ODE.places} steps of Runge-Kutta 4 through 2-{ODE.features}-2, batch {ODE.batch}, Adam",
    differential,
    steps_jax.differential,
    aim=2.0,
    long=True,
)
