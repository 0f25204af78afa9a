"""Functions that a program replaces are found by those who look them up when they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import distributions, nn
from rushlight.utils import data

HALF = torch.full((3,), 0.5)
COUNTS = torch.full((3,), 4.0)
ITEMS = data.TensorDataset(torch.arange(6))


def loaded() -> Any:
    return next(iter(data.DataLoader(ITEMS, batch_size=6, shuffle=True)))


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("randperm", loaded),
        ("randperm", lambda: list(data.SubsetRandomSampler([4, 5]))),
        ("randperm", lambda: nn.init.sparse_(torch.empty(4, 4), 0.5)),
        ("randint", lambda: list(data.RandomSampler([1, 2], replacement=True))),
        ("multinomial", lambda: list(data.WeightedRandomSampler([0.1, 0.9], 3))),
        ("multinomial", lambda: distributions.Categorical(HALF).sample()),
        ("normal", lambda: distributions.Normal(HALF, HALF).sample()),
        ("bernoulli", lambda: distributions.Bernoulli(HALF).sample()),
        ("poisson", lambda: distributions.Poisson(HALF).sample()),
        ("poisson", lambda: distributions.NegativeBinomial(COUNTS, HALF).sample()),
        ("binomial", lambda: distributions.Binomial(COUNTS, HALF).sample()),
        ("rand", lambda: distributions.Uniform(HALF, COUNTS).sample()),
        ("rand", lambda: distributions.VonMises(HALF, HALF).sample()),
        ("randn", lambda: distributions.LKJCholesky(3).sample()),
        ("empty", lambda: distributions.MultivariateNormal(HALF, torch.eye(3)).rsample()),
        ("empty", lambda: nn.Linear(2, 2)),
    ],
)
def test_what_is_replaced_is_called(
    name: str, run: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    function = getattr(torch, name)

    def replacement(*args: Any, **kwargs: Any) -> Any:
        seen.append(args)
        return function(*args, **kwargs)

    monkeypatch.setattr(torch, name, replacement)
    run()
    assert seen


def test_a_split_looks_in_its_own_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data.dataset, "randperm", lambda n, generator: torch.arange(n))
    first, second = data.random_split(ITEMS, [2, 4])
    assert (first.indices, second.indices) == ([0, 1], [2, 3, 4, 5])
