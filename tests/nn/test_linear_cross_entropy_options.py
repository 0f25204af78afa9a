"""`linear_cross_entropy` with options says where it ignores them, as PyTorch does."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F

X = torch.ones(4, 3)
WEIGHT = torch.ones(5, 3)
PLACES = torch.tensor([0, 1, 2, 3])


def _call(
    target: torch.Tensor = PLACES, weight: torch.Tensor = WEIGHT, **given: Any
) -> tuple[Any, list[str]]:
    given = {"options": torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)} | given
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = F.linear_cross_entropy(X, weight, target, **given)
        except Exception as error:
            found = error
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (
            {"label_smoothing": 0.5},
            "reduction='mean', label_smoothing=0.5, target.dtype=torch.int64, out_features=()",
        ),
        (
            {"target": torch.ones(4, 5)},
            "reduction='mean', label_smoothing=0.0, target.dtype=torch.float32, out_features=()",
        ),
        (
            {"weight": torch.ones(5, 2, 3), "target": torch.zeros(4, 2, dtype=torch.int64)},
            "reduction='mean', label_smoothing=0.0, target.dtype=torch.int64, out_features=(2,)",
        ),
    ],
)
def test_options_that_are_ignored_are_told(given: dict[str, Any], got: str) -> None:
    found, said = _call(**given)
    assert said == [
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
        "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features == (). "
        f"Got {got}, tracing=False, linear_bias.shape=None."
    ]
    same, nothing = _call(**given, options=None)
    assert torch.equal(found, same) and not nothing


def test_options_that_count_are_not_told_of() -> None:
    for given in ({}, {"reduction": "none"}, {"linear_bias": torch.ones(5)}, {"ignore_index": 2}):
        found, said = _call(**given)
        same, _ = _call(**given, options=None)
        assert torch.allclose(found, same) and not said


def test_what_is_refused_is_warned_of_before() -> None:
    found, said = _call(reduction="foo", linear_bias=torch.ones(5))
    assert str(found) == "foo is not a valid value for reduction"
    assert said[0].endswith("tracing=False, linear_bias.shape=(5,).")
    found, said = _call(target=PLACES.int())
    assert isinstance(found, RuntimeError) and len(said) == 1


def test_anything_may_be_the_options_where_they_are_ignored() -> None:
    found, said = _call(options=5, label_smoothing=0.5)
    assert found.dim() == 0 and len(said) == 1
    found, said = _call(options=5)
    assert isinstance(found, AttributeError) and not said
