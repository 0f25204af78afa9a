"""What one operation on a tiny tensor costs: overhead and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import uniform

TINY = {"rushlight": 2.0, "rushlight-compiled": 3.5}
CHAINED = 200
MIXED = 16


@workload(
    "op/recorded",
    "y = a * b, both need gradients; y.backward(g) with a ready g; four elements",
    unit="op",
    aim=TINY,
)
def recorded(torch: Any) -> Job:
    a = torch.tensor(uniform(1, 4), requires_grad=True)
    b = torch.tensor(uniform(2, 4), requires_grad=True)
    g = torch.tensor(uniform(3, 4))

    def run(n: int) -> None:
        for _ in range(n):
            # Without these two lines every repetition but the first would also add to `.grad`.
            a.grad = None
            b.grad = None
            y = a * b
            y.backward(g)

    def value() -> Sequence[float]:
        return [*a.grad.tolist(), *b.grad.tolist()]

    return Job(run, value)


@recorded.written_for("autograd")
def recorded_by_autograd(autograd: Any) -> Job:
    a, b, g = uniform(1, 4), uniform(2, 4), uniform(3, 4)
    kept: list[Any] = [None, None]

    def run(n: int) -> None:
        for _ in range(n):
            vjp, _value = autograd.make_vjp(lambda a, b: a * b, (0, 1))(a, b)
            kept[:] = vjp(g)

    return Job(run, lambda: [*kept[0].tolist(), *kept[1].tolist()])


@workload(
    "op/forward", "y = a * b, recorded, never walked back; four elements", unit="op", aim=TINY
)
def forward_only(torch: Any) -> Job:
    a = torch.tensor(uniform(1, 4), requires_grad=True)
    b = torch.tensor(uniform(2, 4), requires_grad=True)
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            kept[0] = a * b

    return Job(run, lambda: kept[0].tolist())


@workload(
    "op/chained",
    f"cost of one op inside a chain of {CHAINED}: y = y * b, both need gradients, and backward",
    unit="op",
    units=CHAINED,
    rtol=1e-4,
    aim=TINY,
)
def chained(torch: Any) -> Job:
    a = torch.tensor(uniform(1, 4, low=0.5, high=1.5), requires_grad=True)
    b = torch.tensor(uniform(2, 4, low=0.99, high=1.01), requires_grad=True)
    g = torch.tensor(uniform(3, 4, low=0.5, high=1.5))

    def run(n: int) -> None:
        for _ in range(n):
            a.grad = None
            b.grad = None
            y = a
            for _ in range(CHAINED):
                y = y * b
            y.backward(g)

    return Job(run, lambda: [*a.grad.tolist(), *b.grad.tolist()])


@chained.written_for("autograd")
def chained_by_autograd(autograd: Any) -> Job:
    a = uniform(1, 4, low=0.5, high=1.5)
    b = uniform(2, 4, low=0.99, high=1.01)
    g = uniform(3, 4, low=0.5, high=1.5)
    kept: list[Any] = [None, None]

    def chain(a: Any, b: Any) -> Any:
        y = a
        for _ in range(CHAINED):
            y = y * b
        return y

    def run(n: int) -> None:
        for _ in range(n):
            vjp, _value = autograd.make_vjp(chain, (0, 1))(a, b)
            kept[:] = vjp(g)

    return Job(run, lambda: [*kept[0].tolist(), *kept[1].tolist()])


@workload("op/no-grad", "y = a * b under no_grad; four elements", unit="op", aim=TINY)
def without_recording(torch: Any) -> Job:
    a = torch.tensor(uniform(1, 4), requires_grad=True)
    b = torch.tensor(uniform(2, 4), requires_grad=True)
    kept: list[Any] = [None]

    def run(n: int) -> None:
        with torch.no_grad():
            for _ in range(n):
                kept[0] = a * b

    return Job(run, lambda: kept[0].tolist())


@without_recording.written_for("numpy")
def without_recording_by_numpy(numpy: Any) -> Job:
    a, b = uniform(1, 4), uniform(2, 4)
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            kept[0] = a * b

    return Job(run, lambda: kept[0].tolist())


@without_recording.written_for("autograd")
def without_recording_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    a, b = uniform(1, 4), uniform(2, 4)
    kept: list[Any] = [None]

    def run(n: int) -> None:
        for _ in range(n):
            kept[0] = anp.multiply(a, b)

    return Job(run, lambda: kept[0].tolist())


@workload(
    "op/mixed",
    f"{MIXED} different small ops (4 x 4 and smaller) and their backward, cost of one",
    unit="op",
    units=MIXED,
    rtol=1e-4,
    aim=TINY,
)
def mixed(torch: Any) -> Job:
    x = torch.tensor(uniform(4, 4, 4), requires_grad=True)
    w = torch.tensor(uniform(5, 4, 4), requires_grad=True)
    b = torch.tensor(uniform(6, 4), requires_grad=True)
    kept: list[float] = [0.0]

    def run(n: int) -> None:
        for _ in range(n):
            x.grad = w.grad = b.grad = None
            h = torch.tanh(torch.matmul(x, w) + b)  # 1 2 3
            e = torch.exp(-h)  # 4 5
            s = e / e.sum(1, keepdim=True)  # 6 7
            t = torch.cat([s[:2], h[2:]], 0)  # 8 9 10
            u = torch.relu(t.t() - 0.25)  # 11 12 13
            loss = (u.reshape(16) ** 2).mean()  # 14 15 16
            loss.backward()
            kept[0] = loss

    def value() -> Sequence[float]:
        grads = [float(p.grad.abs().sum()) for p in (x, w, b)]
        return [float(kept[0]), *grads]

    return Job(run, value)


@mixed.written_for("autograd")
def mixed_by_autograd(autograd: Any) -> Job:
    anp = autograd.numpy

    start = (uniform(4, 4, 4), uniform(5, 4, 4), uniform(6, 4))
    kept: list[Any] = [0.0, ()]

    def loss(x: Any, w: Any, b: Any) -> Any:
        h = anp.tanh(anp.matmul(x, w) + b)
        e = anp.exp(-h)
        s = e / anp.sum(e, 1, keepdims=True)
        t = anp.concatenate([s[:2], h[2:]], 0)
        u = anp.transpose(t) - 0.25
        # Not anp.maximum, whose gradient is float64 for float32 arrays.
        u = u * (u > 0)
        return anp.mean(anp.reshape(u, 16) ** 2)

    both = autograd.value_and_grad(loss, (0, 1, 2))

    def run(n: int) -> None:
        for _ in range(n):
            kept[:] = both(*start)

    return Job(run, lambda: [float(kept[0]), *(float(abs(g).sum()) for g in kept[1])])
