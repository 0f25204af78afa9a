"""Training steps: said once in PyTorch's names, once for JAX, and run eagerly or compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.registry import Job, Maker, Workload, workload
from benchmarks.workloads.data import uniform

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Training:
    """A step, the data that each call gets, what it trains, and its optimizer if it has one."""

    step: Callable[..., Any]
    data: Sequence[Any]
    parameters: Sequence[Any]
    optimizer: Any = None


Preparation = Callable[[Any], Training]


def eagerly(prepare: Preparation) -> Maker:
    """A maker of steps that run as they are written."""
    return _maker(prepare, lambda torch, step: step)


def compiled(prepare: Preparation) -> Maker:
    """A maker of whole steps under `torch.compile`: forward, backward and update."""
    return _maker(prepare, lambda torch, step: torch.compile(step))


def _maker(prepare: Preparation, wrap: Callable[[Any, Any], Any]) -> Maker:
    def make(torch: Any) -> Job:
        training = prepare(torch)
        step = wrap(torch, training.step)
        start = [p.detach().clone() for p in training.parameters]
        kept: list[Any] = [None]
        data = training.data

        def run(n: int) -> None:
            for _ in range(n):
                kept[0] = step(*data)

        def value() -> Sequence[float]:
            trained = training.optimizer is not None
            found = [p.detach() if trained else p.grad for p in training.parameters]
            return [kept[0].item(), *(x.norm().item() for x in found)]

        def reset() -> None:
            with torch.no_grad():
                for p, before in zip(training.parameters, start, strict=True):
                    p.copy_(before)
                for state in training.optimizer.state.values() if training.optimizer else ():
                    for moment in state.values():
                        if isinstance(moment, torch.Tensor):
                            moment.zero_()

        return Job(run, value, reset)

    return make


@dataclass(frozen=True)
class Descent:
    """A loss of parameters and data for JAX, where it starts, and how parameters are changed.

    Without a rule only the gradients are wanted.
    """

    loss: Callable[..., Any]
    data: Sequence[Any]
    start: Sequence[Any]
    rule: str | None = None
    rate: float = 0.0
    decay: float = 0.0


def by_jax(describe: Callable[[Any], Descent]) -> Maker:
    """A maker of the same steps as one jitted function of parameters and moments.

    Each step is waited for: other systems are done when a step returns, and a second thread that
    works on one step while the next is prepared would be a second core.
    """

    def make(jax: Any) -> Job:
        np = jax.numpy
        descent = describe(jax)
        both = jax.value_and_grad(descent.loss)

        def update(params: Any, state: Any, *data: Any) -> Any:
            loss, grads = both(params, *data)
            new: list[Any] = []
            if descent.rule is None:
                return loss, params, grads
            if descent.rule == "SGD":
                new = [p - descent.rate * g for p, g in zip(params, grads, strict=True)]
                return loss, new, state
            first, second, count = state
            count = count + 1
            size = descent.rate / (1 - BETA1**count)
            root = np.sqrt(1 - BETA2**count)
            first = [BETA1 * m + (1 - BETA1) * g for m, g in zip(first, grads, strict=True)]
            second = [BETA2 * v + (1 - BETA2) * g * g for v, g in zip(second, grads, strict=True)]
            for p, m, v in zip(params, first, second, strict=True):
                kept = p * (1 - descent.rate * descent.decay)
                new.append(kept - size * m / (np.sqrt(v) / root + EPSILON))
            return loss, new, (first, second, count)

        step = jax.jit(update, donate_argnums=(0, 1) if descent.rule else ())
        now: dict[str, Any] = {}
        data = [np.array(array) for array in descent.data]

        def reset() -> None:
            now["params"] = [np.array(p) for p in descent.start]
            now["state"] = ()
            if descent.rule not in (None, "SGD"):
                zeros = [[np.zeros_like(p) for p in descent.start] for _ in range(2)]
                now["state"] = (*zeros, np.zeros((), np.float32))

        def run(n: int) -> None:
            params, state, loss = now["params"], now["state"], None
            for _ in range(n):
                loss, params, state = jax.block_until_ready(step(params, state, *data))
            now.update(params=params, state=state, loss=loss)

        def value() -> Sequence[float]:
            found = now["params"] if descent.rule else now["state"]
            return [float(now["loss"]), *(float((x * x).sum() ** 0.5) for x in found)]

        reset()
        return Job(run, value, reset)

    return make


Shape = tuple[int, ...]


def starting(seed: int, shapes: Iterable[Shape], ones: Callable[[int], bool] | None = None) -> Any:
    """Arrays of reproducible starting weights, scaled by the inputs that each sums over.

    `ones(place)` says which of them (weights of normalisations) lie around 1 instead.
    """
    arrays = []
    for place, shape in enumerate(shapes):
        inputs = 1
        for size in shape[1:]:
            inputs *= size
        scale = inputs**-0.5 if len(shape) > 1 else 0.1
        array = uniform(seed + place, *shape, low=-scale, high=scale)
        arrays.append(array + 1 if ones is not None and ones(place) else array)
    return arrays


def fill(torch: Any, parameters: Iterable[Any], arrays: Iterable[Any]) -> None:
    """Gives parameters their starting values.

    Raises: ValueError where a shape isn't the array's.
    """
    with torch.no_grad():
        for parameter, array in zip(parameters, arrays, strict=True):
            if tuple(parameter.shape) != array.shape:
                raise ValueError(f"{tuple(parameter.shape)} can't start as {array.shape}")
            parameter.copy_(torch.tensor(array))


def enter(
    name: str,
    about: str,
    prepare: Preparation,
    describe: Callable[[Any], Descent],
    *,
    aim: float,
    **settings: Any,
) -> Workload:
    """Enters a training step in all dialects: eager, compiled, and for JAX.

    `aim` is how many times faster than eager PyTorch the compiled step should be.
    """
    aims = {"rushlight": 1.0, "rushlight-compiled": 1.0, "rushlight-step": aim}
    new = workload(
        name, about, unit="step", check_runs=5, restart=True, rtol=1e-4, aim=aims, **settings
    )(eagerly(prepare))
    new.written_for("torch-step")(compiled(prepare))
    new.written_for("jax")(by_jax(describe))
    return new
