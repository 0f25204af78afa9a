"""TD(λ) against the plain idiom, and true online TD(λ) against the λ-returns that define it."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.optim import SGD, TDLambda

GAMMA, LAMBDA, LR = 0.9, 0.7, 0.1


def episode() -> tuple[Any, list[float]]:
    rl.manual_seed(2)
    return rl.randn(8, 3, dtype=rl.float64), rl.randn(7).tolist()


def learn(optimizer: Any, w: Any, step: Any) -> list[float]:
    features, rewards = episode()
    before = 0.0
    for t, reward in enumerate(rewards):
        optimizer.zero_grad()
        value = features[t] @ w
        value.backward()
        last = t == len(rewards) - 1
        ahead = 0.0 if last else (features[t + 1] @ w.detach()).item()
        delta = reward + GAMMA * ahead - value.item()
        step(delta, value.item(), before)
        before = ahead
    return w.tolist()


def fresh() -> Any:
    return nn.Parameter(rl.zeros(3, dtype=rl.float64))


def test_accumulating_traces_are_the_idiom_that_writes_the_gradient() -> None:
    w = fresh()
    optimizer = TDLambda([w], lr=LR, gamma=GAMMA, lambd=LAMBDA)
    ours = learn(optimizer, w, lambda delta, v, old: optimizer.step(delta))
    p, trace = fresh(), rl.zeros(3, dtype=rl.float64)
    sgd = SGD([p], lr=LR)

    def by_hand(delta: float, v: float, old: float) -> None:
        trace.mul_(GAMMA * LAMBDA).add_(p.grad)
        p.grad = -delta * trace
        sgd.step()

    assert ours == pytest.approx(learn(sgd, p, by_hand), rel=1e-12)


def online_lambda_returns() -> list[float]:
    """The online λ-return algorithm: at each horizon all updates anew, from the start."""
    features, rewards = episode()
    steps = len(rewards)
    # weights[t]: those with which the state at t was first valued.
    weights = [rl.zeros(3, dtype=rl.float64)]
    for horizon in range(1, steps + 1):
        w = rl.zeros(3, dtype=rl.float64)
        for t in range(horizon):
            total, discount, returns = 0.0, 1.0, []
            for n in range(1, horizon - t + 1):
                total += discount * rewards[t + n - 1]
                discount *= GAMMA
                end = t + n
                value = 0.0 if end == steps else (features[end] @ weights[end - 1]).item()
                returns.append(total + discount * value)
            mixed = LAMBDA ** (len(returns) - 1) * returns[-1]
            mixed += sum((1 - LAMBDA) * LAMBDA**k * g for k, g in enumerate(returns[:-1]))
            w = w + LR * (mixed - (features[t] @ w).item()) * features[t]
        weights.append(w)
    return weights[-1].tolist()


def test_dutch_traces_give_the_online_lambda_returns() -> None:
    w = fresh()
    optimizer = TDLambda([w], lr=LR, gamma=GAMMA, lambd=LAMBDA, trace="dutch")
    ours = learn(optimizer, w, lambda delta, v, old: optimizer.step(delta, v=v, v_old=old))
    assert ours == pytest.approx(online_lambda_returns(), rel=1e-10)


def test_replacing_traces_stop_at_one() -> None:
    w = nn.Parameter(rl.zeros(3))
    optimizer = TDLambda([w], lr=1.0, gamma=1.0, lambd=0.5, trace="replacing")
    for place in (0, 0, 1):
        optimizer.zero_grad()
        w[place].backward()
        optimizer.step(0.0)
    assert optimizer.state[w]["trace"].tolist() == [0.5, 1.0, 0.0]
    optimizer.reset()
    assert optimizer.state[w]["trace"].tolist() == [0, 0, 0]


def test_what_makes_no_sense_is_refused() -> None:
    w = nn.Parameter(rl.zeros(3))
    with pytest.raises(ValueError, match="trace should be one of"):
        TDLambda([w], trace="eternal")
    with pytest.raises(ValueError, match="Invalid lambd value"):
        TDLambda([w], lambd=1.5)
    w.sum().backward()
    with pytest.raises(ValueError, match="need the predictions"):
        TDLambda([w], trace="dutch").step(1.0)
