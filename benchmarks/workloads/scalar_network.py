"""A network whose every number is a tensor of its own: the teaching example, all overhead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import uniform

HIDDEN = 4
RATE = 0.05
POINTS = (((0.0, 0.0), 0.0), ((0.0, 1.0), 1.0), ((1.0, 0.0), 1.0), ((1.0, 1.0), 0.0))


def start() -> list[float]:
    """Three numbers per hidden neuron, one outgoing weight each, and the output's bias."""
    values: list[float] = uniform(11, 4 * HIDDEN + 1).tolist()
    return values


@workload(
    "scalar network/step",
    "a 2-4-1 tanh network of 0-d tensors on exclusive or: forward, backward, update",
    unit="step",
    rtol=1e-4,
    restart=True,
    aim={"rushlight": 2.0, "rushlight-compiled": 3.5},
)
def scalar_network(torch: Any) -> Job:
    params = [torch.tensor(value, requires_grad=True) for value in start()]
    points = [
        (torch.tensor(left), torch.tensor(right), torch.tensor(target))
        for (left, right), target in POINTS
    ]
    kept: list[Any] = [None]

    def step() -> None:
        loss = torch.tensor(0.0)
        for left, right, target in points:
            out = params[-1]
            for h in range(HIDDEN):
                a, b, c, v = params[4 * h : 4 * h + 4]
                out = out + v * (a * left + b * right + c).tanh()
            miss = out - target
            loss = loss + miss * miss
        loss.backward()
        with torch.no_grad():
            for p in params:
                p -= RATE * p.grad
                p.grad = None
        kept[0] = loss

    def run(n: int) -> None:
        for _ in range(n):
            step()

    def value() -> Sequence[float]:
        return [kept[0].item(), *(p.item() for p in params)]

    return Job(run, value)


@scalar_network.written_for("autograd")
def scalar_network_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    kept: list[Any] = [start(), 0.0]

    def loss_of(params: Any) -> Any:
        loss = 0.0
        for (left, right), target in POINTS:
            out = params[-1]
            for h in range(HIDDEN):
                a, b, c, v = (params[4 * h + k] for k in range(4))
                out = out + v * anp.tanh(a * left + b * right + c)
            miss = out - target
            loss = loss + miss * miss
        return loss

    both = autograd.value_and_grad(loss_of)

    def run(n: int) -> None:
        for _ in range(n):
            kept[1], grads = both(kept[0])
            kept[0] = [p - RATE * g for p, g in zip(kept[0], grads, strict=True)]

    return Job(run, lambda: [float(kept[1]), *map(float, kept[0])])
