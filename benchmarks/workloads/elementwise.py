"""Value and gradient of elementwise functions on large arrays: bandwidth and allocation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.registry import Job, workload


def places(size: int) -> list[int]:
    """Where the gradient is looked at."""
    return [0, size // 3, size // 2, size - 1]


def on_tensors(size: int) -> Callable[[Any], Job]:
    """A maker of sum(exp(-x * x) * sin(x) + tanh(x)) and its gradient, in PyTorch's names."""

    def make(torch: Any) -> Job:
        x = torch.linspace(0.0, 2.0, size).requires_grad_()
        kept: list[Any] = [None]

        def run(n: int) -> None:
            for _ in range(n):
                x.grad = None
                y = (torch.exp(-x * x) * torch.sin(x) + torch.tanh(x)).sum()
                y.backward()
                kept[0] = y

        def value() -> Sequence[float]:
            return [kept[0].item(), *(x.grad[i].item() for i in places(size))]

        return Job(run, value)

    return make


def by_autograd(size: int) -> Callable[[Any], Job]:
    """The same in HIPS autograd."""

    def make(autograd: Any) -> Job:
        anp = autograd.numpy

        x = anp.linspace(0.0, 2.0, size, dtype=anp.float32)
        both = autograd.value_and_grad(
            lambda x: anp.sum(anp.exp(-x * x) * anp.sin(x) + anp.tanh(x))
        )
        kept: list[Any] = [None, None]

        def run(n: int) -> None:
            for _ in range(n):
                kept[:] = both(x)

        return Job(run, lambda: [float(kept[0]), *(float(kept[1][i]) for i in places(size))])

    return make


def by_numpy(size: int) -> Callable[[Any], Job]:
    """The same with the gradient written by hand, a fresh array for every intermediate result."""

    def make(np: Any) -> Job:
        x = np.linspace(0.0, 2.0, size, dtype=np.float32)
        kept: list[Any] = [None, None]

        def run(n: int) -> None:
            for _ in range(n):
                e, s, t = np.exp(-x * x), np.sin(x), np.tanh(x)
                total = (e * s + t).sum()
                kept[:] = total, e * np.cos(x) - 2 * x * e * s + (1 - t * t)

        return Job(run, lambda: [float(kept[0]), *(float(kept[1][i]) for i in places(size))])

    return make


for _size, _name in ((10**5, "1e5"), (10**6, "1e6"), (10**7, "1e7")):
    _new = workload(
        f"elementwise/{_name}",
        f"sum(exp(-x * x) * sin(x) + tanh(x)) of {_size:,} float32 and its gradient, per element",
        unit="element",
        units=_size,
        check_runs=2 if _size < 10**7 else 1,
        rtol=1e-4,
        series="elementwise",
        size=_size,
        long=_size == 10**7,
        most_rounds=5 if _size == 10**7 else None,
    )(on_tensors(_size))
    _new.written_for("autograd")(by_autograd(_size))
    _new.written_for("numpy")(by_numpy(_size))
