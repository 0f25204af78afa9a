"""The raw updates: blocks and whole arrays give the same bits, layouts don't matter."""

import sys
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight import optim
from rushlight._array import kernels
from rushlight._array.optimizers.rule import BLOCK, constants
from rushlight.nn import Parameter

LARGE = 2 * BLOCK + 5


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here are NumPy's blocks; kernels round once where these round twice."""
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)


def _arrays(count: int, *shape: int) -> list[Any]:
    draw = np.random.default_rng(0)
    draws = [np.abs(draw.standard_normal(shape)) + 0.1 for _ in range(count)]
    draws[2] = draws[2] + 25  # squares that exceed the square of the mean
    return [np.array(a, dtype=np.float32) for a in draws]


RULES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sgd": (optim.SGD, {}),
    "momentum": (optim.SGD, {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1,
                             "maximize": True}),
    "adam": (optim.Adam, {"amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "rmsprop": (optim.RMSprop, {"centered": True, "momentum": 0.9}),
    "adagrad": (optim.Adagrad, {"weight_decay": 0.1}),
    "adadelta": (optim.Adadelta, {"maximize": True}),
    "adamax": (optim.Adamax, {}),
    "nadam": (optim.NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": (optim.RAdam, {"betas": (0.3, 0.5)}),
    "rprop": (optim.Rprop, {}),
    "asgd": (optim.ASGD, {"weight_decay": 0.1}),
}  # fmt: skip
KEYS: dict[str, Any] = {"sgd": False, "momentum": False, "nadam": (3.0, 0.7), "asgd": (0.1, 0.5)}


def _told(rule: str) -> tuple[Any, tuple[float, ...]]:
    """An optimizer's update, and its numbers."""
    kind, options = RULES[rule]
    made = kind([Parameter(rl.zeros(1))], lr=0.1, **options)
    group, key = made.param_groups[0], KEYS.get(rule, 9.0)
    return made._choose(group, key), (*made._numbers(group), *made._factors(group, key))


def _run(rule: str, arrays: list[Any]) -> None:
    update, numbers = _told(rule)
    lists = [[a] for a in arrays[: 2 + len(update.states)]]
    update.run(*lists, constants(arrays[0].dtype, numbers))


@pytest.mark.parametrize("rule", RULES)
def test_generated_code_gives_what_the_formula_says(rule: str) -> None:
    arrays = _arrays(5, 60, 5)
    arrays[1] *= np.where(arrays[0] < 0.6, -1, 1).astype(np.float32)
    update, numbers = _told(rule)
    wide = [a.astype(np.float64) for a in arrays[: 2 + len(update.states)]]
    wanted = update(*wide, *numbers)
    _run(rule, arrays)
    for a, b in zip([arrays[0], *arrays[2:]], wanted, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_blocks_give_the_bits_of_the_pieces(rule: str) -> None:
    whole = _arrays(5, LARGE)
    pieces = [a[-100:].copy() for a in whole]
    _run(rule, whole)
    _run(rule, pieces)
    for a, b in zip(whole, pieces):
        assert a[-100:].tobytes() == b.tobytes()


@pytest.mark.parametrize("rule", RULES)
def test_transposed_arrays_are_updated_in_place(rule: str) -> None:
    straight = _arrays(5, 200, 300)
    turned = [np.asfortranarray(a) for a in straight]
    _run(rule, straight)
    _run(rule, turned)
    for a, b in zip(straight, turned):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rule", RULES)
def test_zero_dimensional_and_empty_arrays_work(rule: str) -> None:
    single, vector = _arrays(5), _arrays(5, 1)
    _run(rule, single)
    _run(rule, vector)
    assert single[0].item() == vector[0].item()
    _run(rule, _arrays(5, 0))


def test_a_gradient_is_never_written() -> None:
    for rule in RULES:
        arrays = _arrays(5, 50)
        grad = arrays[1].copy()
        _run(rule, arrays)
        assert (arrays[1] == grad).all()
