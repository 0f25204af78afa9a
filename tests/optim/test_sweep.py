"""The raw updates: blocks and whole arrays give the same bits, layouts don't matter."""

import sys
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight import optim
from rushlight._array import kernels
from rushlight._array.optimizers import updates as sweep
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
    return [np.array(a, dtype=np.float32) for a in draws]


OPTIONS: dict[str, dict[str, Any]] = {
    "sgd": {},
    "adam": {"amsgrad": True, "weight_decay": 0.1, "maximize": True},
    "momentum": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1, "maximize": True},
}


def _run_told(optimizer: Any, options: dict[str, Any], arrays: list[Any]) -> None:
    """One step of a rule as its optimizer tells it, on arrays."""
    made = optimizer([Parameter(rl.zeros(1))], lr=0.1, **options)
    group = made.param_groups[0]
    update = made._chosen(group, False)
    key = False if optimizer is optim.SGD else 3.0
    numbers = constants(arrays[0].dtype, (*made._numbers(group), *made._factors(group, key)))
    update.run(*[[a] for a in arrays[: 2 + len(update.states)]], numbers)


def _run(rule: str, arrays: list[Any]) -> None:
    p, g, m, v, _ = ([a] for a in arrays)
    if rule in OPTIONS:
        _run_told(optim.Adam if rule == "adam" else optim.SGD, OPTIONS[rule], arrays)
    elif rule == "rmsprop":
        sweep.rmsprop_(p, g, v, None, m, lr=0.1, alpha=0.9, eps=1e-8, momentum=0.9)
    else:
        sweep.adagrad_(p, g, v, [0.1], eps=1e-8, weight_decay=0.1)


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam", "rmsprop", "adagrad"])
def test_blocks_give_the_bits_of_the_pieces(rule: str) -> None:
    whole = _arrays(5, LARGE)
    pieces = [a[-100:].copy() for a in whole]
    _run(rule, whole)
    _run(rule, pieces)
    for a, b in zip(whole, pieces):
        assert a[-100:].tobytes() == b.tobytes()


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam", "rmsprop", "adagrad"])
def test_transposed_arrays_are_updated_in_place(rule: str) -> None:
    straight = _arrays(5, 200, 300)
    turned = [np.asfortranarray(a) for a in straight]
    _run(rule, straight)
    _run(rule, turned)
    for a, b in zip(straight, turned):
        assert (a == b).all()


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam", "rmsprop", "adagrad"])
def test_zero_dimensional_and_empty_arrays_work(rule: str) -> None:
    single, vector = _arrays(5), _arrays(5, 1)
    _run(rule, single)
    _run(rule, vector)
    assert single[0].item() == vector[0].item()
    _run(rule, _arrays(5, 0))


def test_a_gradient_is_never_written() -> None:
    for rule in ("sgd", "momentum", "adam", "rmsprop", "adagrad"):
        arrays = _arrays(5, 50)
        grad = arrays[1].copy()
        _run(rule, arrays)
        assert (arrays[1] == grad).all()
