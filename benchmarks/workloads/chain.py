"""Long graphs: what a node costs from its making to its end, and whether that stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.registry import Job, Workload, workload
from benchmarks.workloads.data import uniform

TINY = {"rushlight": 2.0, "rushlight-compiled": 3.5}


def chain_of(length: int) -> Callable[[Any], Job]:
    """A maker of: build y = y * c so many times, walk back, and let the graph go."""

    def make(torch: Any) -> Job:
        x = torch.tensor(uniform(1, 4, low=0.5, high=1.5), requires_grad=True)
        c = torch.tensor(uniform(2, 4, low=0.9999999, high=1.0000001))
        g = torch.tensor(uniform(3, 4, low=0.5, high=1.5))

        def once() -> None:
            # The graph must end within the time taken: it does, with this function's names.
            y = x
            for _ in range(length):
                y = y * c
            y.backward(g)

        def run(n: int) -> None:
            for _ in range(n):
                x.grad = None
                once()

        return Job(run, lambda: list(x.grad.tolist()))

    return make


def autograd_chain_of(length: int) -> Callable[[Any], Job]:
    """The same chain in HIPS autograd."""

    def make(autograd: Any) -> Job:
        x = uniform(1, 4, low=0.5, high=1.5)
        c = uniform(2, 4, low=0.9999999, high=1.0000001)
        g = uniform(3, 4, low=0.5, high=1.5)
        kept: list[Any] = [None]

        def chain(y: Any) -> Any:
            for _ in range(length):
                y = y * c
            return y

        def run(n: int) -> None:
            for _ in range(n):
                vjp, _value = autograd.make_vjp(chain)(x)
                kept[0] = vjp(g)

        return Job(run, lambda: list(kept[0].tolist()))

    return make


def _enter(name: str, length: int, *, autograd: bool = True, **settings: Any) -> Workload:
    about = f"chain of {length:,} products of four elements: build, backward, free"
    new = workload(name, about, units=length, rtol=1e-4, aim=TINY, **settings)(chain_of(length))
    if autograd:
        new.written_for("autograd")(autograd_chain_of(length))
    return new


FIFTY = _enter("chain/50", 50, unit="node")
TWENTY_THOUSAND = _enter("chain/20000", 20_000, unit="node", check_runs=1, long=True)
NODES_4 = _enter("nodes/1e4", 10**4, unit="node", series="nodes", size=10**4, check_runs=1)
# HIPS autograd would spend seconds a turn here and tell nothing that chain/20000 has not told.
NODES_5 = _enter(
    "nodes/1e5",
    10**5,
    autograd=False,
    unit="node",
    series="nodes",
    size=10**5,
    check_runs=1,
    most_rounds=5,
)
NODES_6 = _enter(
    "nodes/1e6",
    10**6,
    autograd=False,
    unit="node",
    series="nodes",
    size=10**6,
    check_runs=1,
    most_rounds=3,
    long=True,
)
