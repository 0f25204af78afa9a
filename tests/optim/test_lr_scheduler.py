"""Schedules of the learning rate."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn, optim
from rushlight.optim import lr_scheduler as schedules


def _optimizer(lr: float = 1.0) -> optim.SGD:
    return optim.SGD([nn.Parameter(rl.ones(1))], lr=lr, momentum=0.9)


def _rates(optimizer: Any, scheduler: Any, count: int) -> list[float]:
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(count):
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    return rates


RATES: dict[str, list[float]] = {
    "StepLR(o, 2, 0.5)": [1, 1, 0.5, 0.5, 0.25],
    "MultiStepLR(o, [1, 3, 3])": [1, 0.1, 0.1, 0.001, 0.001],
    "ConstantLR(o, 0.5, 2)": [0.5, 0.5, 1, 1, 1],
    "LinearLR(o, 0.5, 1.0, 2)": [0.5, 0.75, 1, 1, 1],
    "ExponentialLR(o, 0.5)": [1, 0.5, 0.25, 0.125, 0.0625],
    "PolynomialLR(o, 4)": [1, 0.75, 0.5, 0.25, 0],
    "CosineAnnealingLR(o, 2)": [1, 0.5, 0, 0.5, 1],
    "LambdaLR(o, lambda e: 1 / (1 + e))": [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5],
    "MultiplicativeLR(o, lambda e: 0.5)": [1, 0.5, 0.25, 0.125, 0.0625],
    "CosineAnnealingWarmRestarts(o, 2)": [1, 0.5, 1, 0.5, 1],
    "CyclicLR(o, 1.0, 3.0, 2)": [1, 2, 3, 2, 1],
    "SequentialLR(o, [ConstantLR(o, 0.1, 9), ExponentialLR(o, 0.5)], [2])": [
        0.1, 0.1, 1, 0.5, 0.25,
    ],
    "ChainedScheduler([ConstantLR(o, 0.5, 2), ExponentialLR(o, 0.5)])": [
        0.5, 0.25, 0.25, 0.125, 0.0625,
    ],
}  # fmt: skip


@pytest.mark.parametrize("expression", RATES)
def test_a_schedule_sets_its_rates(expression: str) -> None:
    optimizer = _optimizer()
    scheduler = eval(expression, {**vars(schedules), "o": optimizer})
    assert _rates(optimizer, scheduler, 4) == pytest.approx(RATES[expression], abs=1e-9)


def test_one_cycle_moves_rate_and_momentum_against_each_other() -> None:
    optimizer = _optimizer()
    scheduler = schedules.OneCycleLR(optimizer, 1.0, total_steps=10)
    rates = _rates(optimizer, scheduler, 9)
    assert rates[0] == pytest.approx(0.04) and max(rates) == pytest.approx(1.0)
    assert rates[-1] == pytest.approx(4e-6)
    assert optimizer.param_groups[0]["momentum"] == pytest.approx(0.95)
    optimizer.step()
    scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 11 times"):
        scheduler.step()


def test_a_plateau_reduces_the_rate() -> None:
    optimizer = _optimizer()
    scheduler = schedules.ReduceLROnPlateau(optimizer, patience=1)
    for measure, rate in [(1.0, 1.0), (1.0, 1.0), (1.0, 0.1), (0.5, 0.1)]:
        scheduler.step(measure)
        assert optimizer.param_groups[0]["lr"] == pytest.approx(rate)


def test_the_wrong_order_is_warned_of() -> None:
    scheduler = schedules.StepLR(_optimizer(), 1)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before"):
        scheduler.step()


def test_a_schedule_continues_after_loading() -> None:
    optimizer = _optimizer()
    scheduler = schedules.StepLR(optimizer, 2, 0.5)
    _rates(optimizer, scheduler, 3)
    other = _optimizer(optimizer.param_groups[0]["lr"])
    fresh = schedules.StepLR(other, 2, 0.5)
    fresh.load_state_dict(scheduler.state_dict())
    other.step()
    fresh.step()
    assert fresh.get_last_lr() == [0.25] and fresh.last_epoch == 4


def test_refusals_name_the_reason() -> None:
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        schedules.StepLR(3, 1)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified"):
        schedules.StepLR(_optimizer(), 1, last_epoch=3)
    with pytest.raises(ValueError, match=r"Factor should be < 1.0"):
        schedules.ReduceLROnPlateau(_optimizer(), factor=1.0)
