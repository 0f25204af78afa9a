"""Temporal differences with eligibility traces: `.grad` is rewritten between backward and step.

Also the one workload whose data comes from the system's own random stream: equal check values say
that the same seed gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.registry import Job, workload

STEPS = 29
GAMMA, LAMBDA, ALPHA = 0.99, 0.8, 0.5


@workload(
    "td lambda/step",
    "TD(lambda) with a 6-16-1 value network, states one at a time, traces written on p.grad",
    unit="step",
    units=STEPS,
    check_runs=2,
    rtol=1e-4,
    aim={"rushlight": 3.0, "rushlight-compiled": 3.0},
)
def td_lambda(torch: Any) -> Job:
    torch.manual_seed(5)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    states = torch.randn(STEPS + 1, 6)
    rewards = torch.randn(STEPS + 1)
    start = [p.detach().clone() for p in params]

    def episode() -> None:
        # Every episode starts anew: long repetition would drive the weights out of range.
        with torch.no_grad():
            for p, first in zip(params, start, strict=True):
                p.copy_(first)
        traces = [torch.zeros_like(p) for p in params]
        for t in range(STEPS):
            optimizer.zero_grad()
            v = model(states[t])
            v.backward()
            with torch.no_grad():
                delta = rewards[t] + GAMMA * model(states[t + 1]) - v
            for trace, p in zip(traces, params, strict=True):
                trace[:] = GAMMA * LAMBDA * trace + p.grad
                p.grad[:] = -ALPHA * delta * trace
            optimizer.step()

    def run(n: int) -> None:
        for _ in range(n):
            episode()

    def value() -> Sequence[float]:
        return [float(p.detach().norm()) for p in params]

    return Job(run, value)
