"""Derivatives of derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import uniform, weights

SIZES = [8, 32, 1]
BATCH = 16
LENGTH = 1000


@workload(
    "second order/double backward",
    "y = x^3 on four elements: gradient with create_graph, then its backward",
    unit="pass",
    rtol=1e-4,
)
def double_backward(torch: Any) -> Job:
    x = torch.tensor(uniform(41, 4), requires_grad=True)

    def run(n: int) -> None:
        for _ in range(n):
            x.grad = None
            (slope,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
            slope.sum().backward()

    return Job(run, lambda: list(x.grad.tolist()))


@double_backward.written_for("autograd")
def double_backward_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    x = uniform(41, 4)
    slope = autograd.grad(lambda x: anp.sum(x * x * x))
    curve = autograd.grad(lambda x: anp.sum(slope(x)))
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            kept[0] = curve(x)

    return Job(run, lambda: list(kept[0].tolist()))


@workload(
    "second order/gradient penalty",
    "an 8-32-1 tanh network, batch 16: parameters' gradient of (|d out / d in| - 1)^2",
    unit="pass",
    rtol=1e-3,
)
def gradient_penalty(torch: Any) -> Job:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(SIZES[0], SIZES[1]), nn.Tanh(), nn.Linear(SIZES[1], 1))
    params = list(model.parameters())
    with torch.no_grad():
        for parameter, array in zip(params, weights(42, SIZES), strict=True):
            parameter.copy_(torch.tensor(array))
    x = torch.tensor(uniform(43, BATCH, SIZES[0]), requires_grad=True)
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            model.zero_grad()
            x.grad = None
            (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            loss = (((slope * slope).sum(1).sqrt() - 1) ** 2).mean()
            loss.backward()
            kept[0] = loss

    def value() -> Sequence[float]:
        # The last bias moves no slope: its gradient is zero in some systems and absent in others.
        return [kept[0].item(), *(p.grad.norm().item() for p in params[:-1])]

    return Job(run, value)


@gradient_penalty.written_for("autograd")
def gradient_penalty_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    params = weights(42, SIZES)
    x = uniform(43, BATCH, SIZES[0])
    kept: list[Any] = [None, None]

    def output(x: Any, params: Any) -> Any:
        h = anp.tanh(anp.dot(x, anp.transpose(params[0])) + params[1])
        return anp.sum(anp.dot(h, anp.transpose(params[2])) + params[3])

    slope_of = autograd.grad(output)

    def penalty(params: Any) -> Any:
        slope = slope_of(x, params)
        return anp.mean((anp.sqrt(anp.sum(slope * slope, 1)) - 1) ** 2)

    both = autograd.value_and_grad(penalty)

    def run(n: int) -> None:
        for _ in range(n):
            kept[:] = both(params)

    def value() -> Sequence[float]:
        return [float(kept[0]), *(float((g * g).sum() ** 0.5) for g in kept[1][:-1])]

    return Job(run, value)


@workload(
    "second order/hessian vector product",
    f"Hessian times a vector of Rosenbrock's function in {LENGTH:,} variables",
    unit="pass",
    rtol=1e-3,
)
def hessian_vector(torch: Any) -> Job:
    x = torch.tensor(uniform(44, LENGTH), requires_grad=True)
    v = torch.tensor(uniform(45, LENGTH))
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            low, high = x[:-1], x[1:]
            f = (100 * (high - low**2) ** 2 + (1 - low) ** 2).sum()
            (slope,) = torch.autograd.grad(f, x, create_graph=True)
            (kept[0],) = torch.autograd.grad(slope, x, v)

    def value() -> Sequence[float]:
        return [kept[0].norm().item(), *(kept[0][i].item() for i in (0, LENGTH // 2, -1))]

    return Job(run, value)


@hessian_vector.written_for("autograd")
def hessian_vector_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    x, v = uniform(44, LENGTH), uniform(45, LENGTH)
    kept: list[Any] = [None]

    def rosenbrock(x: Any) -> Any:
        low, high = x[:-1], x[1:]
        return anp.sum(100 * (high - low**2) ** 2 + (1 - low) ** 2)

    product = autograd.hessian_vector_product(rosenbrock)

    def run(n: int) -> None:
        for _ in range(n):
            kept[0] = product(x, v)

    def value() -> Sequence[float]:
        norm = float((kept[0] ** 2).sum() ** 0.5)
        return [norm, *(float(kept[0][i]) for i in (0, LENGTH // 2, -1))]

    return Job(run, value)
