"""Training steps of small perceptrons (overhead) and of one for MNIST (matrix products)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.registry import Job, workload
from benchmarks.workloads.data import labels, uniform, weights
from benchmarks.workloads.training import (
    BETA1,
    BETA2,
    EPSILON,
    Descent,
    Training,
    by_jax,
    compiled,
    eagerly,
)


@dataclass(frozen=True)
class Task:
    """Layer sizes, batch size, learning rate."""

    sizes: list[int]
    batch: int
    rate: float

    def inputs(self) -> Any:
        return uniform(31, self.batch, self.sizes[0])

    def targets(self) -> Any:
        return labels(32, self.batch, self.sizes[-1])

    def weights(self) -> list[Any]:
        return weights(33, self.sizes)


SMALL = Task([4, 64, 64, 2], batch=32, rate=0.01)
SMALL_ADAM = Task([4, 64, 64, 2], batch=32, rate=0.001)
MNIST = Task([784, 512, 512, 10], batch=128, rate=0.01)
MNIST_ADAM = Task([784, 512, 512, 10], batch=128, rate=0.001)


def network(torch: Any, task: Task) -> Any:
    """Linear layers with ReLU between them, holding the task's starting weights."""
    layers: list[Any] = []
    for fan_in, fan_out in pairwise(task.sizes):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for parameter, array in zip(model.parameters(), task.weights(), strict=True):
            parameter.copy_(torch.tensor(array))
    return model


def by_modules(task: Task, optimizer_name: str) -> Callable[[Any], Training]:
    """Training steps with nn.Sequential, cross_entropy and an optimizer."""

    def prepare(torch: Any) -> Training:
        model = network(torch, task)
        optimizer = getattr(torch.optim, optimizer_name)(model.parameters(), lr=task.rate)
        cross_entropy = torch.nn.functional.cross_entropy
        data = [torch.tensor(task.inputs()), torch.tensor(task.targets())]

        def step(x: Any, target: Any) -> Any:
            optimizer.zero_grad()
            loss = cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            return loss

        return Training(step, data, list(model.parameters()), optimizer)

    return prepare


def by_descent(task: Task, optimizer_name: str) -> Callable[[Any], Descent]:
    """The same steps for JAX."""

    def describe(jax: Any) -> Descent:
        np = jax.numpy

        def loss(params: Any, x: Any, target: Any) -> Any:
            h = x
            for layer in range(0, len(params) - 2, 2):
                h = jax.nn.relu(h @ params[layer].T + params[layer + 1])
            logs = jax.nn.log_softmax(h @ params[-2].T + params[-1])
            return -logs[np.arange(task.batch), target].mean()

        data = [task.inputs(), task.targets()]
        return Descent(loss, data, task.weights(), optimizer_name, task.rate)

    return describe


Update = Callable[[list[Any], Sequence[Any]], None]


def sgd(np: Any, rate: float) -> Update:
    """Plain gradient descent on arrays, in place."""

    def update(params: list[Any], grads: Sequence[Any]) -> None:
        for p, g in zip(params, grads, strict=True):
            p -= rate * g

    return update


def adam(np: Any, rate: float) -> Update:
    """Adam (Kingma and Ba 2015, algorithm 1) on arrays, in place."""
    first: list[Any] = []
    second: list[Any] = []
    count = 0

    def update(params: list[Any], grads: Sequence[Any]) -> None:
        nonlocal count
        if not first:
            first.extend(np.zeros_like(p) for p in params)
            second.extend(np.zeros_like(p) for p in params)
        count += 1
        size, root = rate / (1 - BETA1**count), (1 - BETA2**count) ** 0.5
        for p, g, m, v in zip(params, grads, first, second, strict=True):
            m *= BETA1
            m += (1 - BETA1) * g
            v *= BETA2
            v += (1 - BETA2) * g * g
            p -= size * m / (np.sqrt(v) / root + EPSILON)

    return update


Rule = Callable[[Any, float], Update]


def by_autograd(task: Task, rule: Rule) -> Callable[[Any], Job]:
    """The same steps in HIPS autograd, the update on plain arrays."""

    def make(autograd: Any) -> Job:
        anp = autograd.numpy

        params = task.weights()
        x, target = task.inputs(), task.targets()
        rows = anp.arange(task.batch)
        update = rule(anp, task.rate)
        kept: list[Any] = [0.0]

        def loss_of(params: Any) -> Any:
            h = x
            for layer in range(0, len(params) - 2, 2):
                h = anp.dot(h, anp.transpose(params[layer])) + params[layer + 1]
                # Not anp.maximum, whose gradient is float64 for float32 arrays.
                h = h * (h > 0)
            scores = anp.dot(h, anp.transpose(params[-2])) + params[-1]
            scores = scores - anp.max(scores, 1, keepdims=True)
            logs = anp.log(anp.sum(anp.exp(scores), 1))
            return anp.mean(logs - scores[rows, target])

        both = autograd.value_and_grad(loss_of)

        def run(n: int) -> None:
            for _ in range(n):
                kept[0], grads = both(params)
                update(params, grads)

        def value() -> Sequence[float]:
            return [float(kept[0]), *(float((p * p).sum() ** 0.5) for p in params)]

        return Job(run, value)

    return make


def by_numpy(task: Task, rule: Rule) -> Callable[[Any], Job]:
    """The same steps in NumPy, gradients written by hand: the floor for an engine over NumPy."""

    def make(np: Any) -> Job:
        params = task.weights()
        x, target = task.inputs(), task.targets()
        rows = np.arange(task.batch)
        update = rule(np, task.rate)
        kept: list[Any] = [0.0]

        def step() -> None:
            acts = [x]
            for layer in range(0, len(params) - 2, 2):
                acts.append(np.maximum(acts[-1] @ params[layer].T + params[layer + 1], 0.0))
            scores = acts[-1] @ params[-2].T + params[-1]
            scores -= scores.max(1, keepdims=True)
            g = np.exp(scores)
            sums = g.sum(1, keepdims=True)
            kept[0] = (np.log(sums[:, 0]) - scores[rows, target]).mean()
            g /= sums
            g[rows, target] -= 1
            g /= task.batch
            grads: list[Any] = []
            for layer in range(len(params) - 2, -1, -2):
                h = acts[layer // 2]
                grads += [g.sum(0), g.T @ h]
                if layer:
                    g = (g @ params[layer]) * (h > 0)
            update(params, grads[::-1])

        def run(n: int) -> None:
            for _ in range(n):
                step()

        def value() -> Sequence[float]:
            return [float(kept[0]), *(float((p * p).sum() ** 0.5) for p in params)]

        return Job(run, value)

    return make


for _name, _task, _optimizer, _rule, _eager, _aim in (
    ("mlp small/sgd", SMALL, "SGD", sgd, 3.0, 20.0),
    ("mlp small/adam", SMALL_ADAM, "Adam", adam, 3.0, 20.0),
    ("mlp mnist/sgd", MNIST, "SGD", sgd, 1.0, 1.0),
    ("mlp mnist/adam", MNIST_ADAM, "Adam", adam, 1.0, 1.0),
):
    _layers = "-".join(map(str, _task.sizes))
    _new = workload(
        _name,
        f"{_layers} ReLU network, batch {_task.batch}, {_optimizer}: zero_grad, cross-entropy, "
        "backward, step",
        unit="step",
        check_runs=5,
        restart=True,
        rtol=1e-4,
        aim={"rushlight": _eager, "rushlight-compiled": _eager, "rushlight-step": _aim},
    )(eagerly(by_modules(_task, _optimizer)))
    _new.written_for("torch-step")(compiled(by_modules(_task, _optimizer)))
    _new.written_for("jax")(by_jax(by_descent(_task, _optimizer)))
    _new.written_for("autograd")(by_autograd(_task, _rule))
    _new.written_for("numpy")(by_numpy(_task, _rule))
