"""What a compiled step returns: views, detached and used-up results, and what is done to them."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.utils.checkpoint import checkpoint
from tests.compile.twins import Twin, check, seen

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])


def exponential(x: Any) -> Any:
    y = (x * 2).exp()
    return y, y.detach(), y.t(), y[0]


def used_up(x: Any) -> Any:
    y = x.exp()
    y.sum().backward() if x.requires_grad else None
    return y


def used_up_and_more(x: Any) -> Any:
    y = x.exp()
    y.sum().backward() if x.requires_grad else None
    return y * y


def written(x: Any) -> Any:
    y = x.exp()
    y.mul_(2)
    return y


def written_by_a_view(x: Any) -> Any:
    y = x * 2
    y[0].add_(1)
    return y, y[1:]


def without_gradients(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
        z = y.view(-1)
    return y, z, x * 3


RESULTS: dict[str, Callable[[Any], Any]] = {
    "whole quotients": lambda x: (x * 2) // 3,
    "whole quotients and others": lambda x: (x * 2, (x * 2) // 3, x > 0),
    "remainders": lambda x: x % 2,
    "comparisons": lambda x: x * 2 > 1,
    "places": lambda x: (x * 2).argmax(),
    "rounded": lambda x: ((x * 2).round(), x.sign(), x.floor(), x.trunc()),
    "whole numbers": lambda x: (x * 2).long(),
    "in containers": lambda x: {"a": x.exp(), "b": [x.floor(), x.argmax(0)]},
    "the input": lambda x: x,
    "the input twice": lambda x: (x, x, x * 2),
    "detached": lambda x: x.detach(),
    "a view of what is detached": lambda x: x.detach().t(),
    "flat": lambda x: x.view(-1),
    "turned": lambda x: (x.t(), x * 2),
    "one result twice": lambda x: (lambda y: (y, y))(x * 2),
    "parts": lambda x: (x * 2).split(1),
    "rows": lambda x: x.unbind(0),
    "expanded": lambda x: x.sum().expand(3),
    "a view of a view": lambda x: x.t()[1:].t(),
    "views of a result": exponential,
    "used up": used_up,
    "used up, and computed with": used_up_and_more,
    "written": written,
    "written by a view": written_by_a_view,
    "without gradients": without_gradients,
    "a gradient": lambda x: torch.autograd.grad((x * x).sum(), x)[0],
    "a new leaf": lambda x: x.detach().clone().requires_grad_(),
}


def tensors(x: Any) -> list[Any]:
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return [t for y in x for t in tensors(y)] if isinstance(x, (list, tuple)) else []


def leaf(x: Any) -> tuple[Any, Any]:
    return x.requires_grad_(), x


def inner(x: Any) -> tuple[Any, Any]:
    return x.requires_grad_() * 1.5, x


def plain(x: Any) -> tuple[Any, Any]:
    return x, x


def batch(x: Any) -> tuple[Any, Any]:
    whole = torch.cat([x, x + 1, x * 2])
    return whole[2:5], whole


def used_afterwards(twin: Twin, given: Any, result: Any, start: Any) -> None:
    """Notes all that tells results apart, differentiates them, and writes them."""
    found = tensors(result)
    twin.note([[j for j, u in enumerate(found) if u is t] for t in found])
    twin.note([(t is given, t._base is given, t._is_view(), t.is_leaf) for t in found])
    twin.note([[j for j, u in enumerate(found) if u is t._base] for t in found])
    try:
        sum((t * t).sum() for t in found if t.requires_grad).backward()  # type: ignore[union-attr]
    except (RuntimeError, AttributeError) as error:
        twin.note(type(error).__name__)
    twin.note(seen(start.grad))
    for t in found:
        try:
            with torch.no_grad():
                t.add_(1)
        except RuntimeError as error:
            twin.note(str(error))
    twin.note([t._version for t in (*found, given)])
    twin.note([seen(t) for t in (*found, given)])


@BOTH
@pytest.mark.parametrize("make", [plain, leaf, inner, batch], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_what_an_eager_step_returns(name: str, make: Any, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        step = twin(lambda x: RESULTS[name](x))
        for _ in range(5):
            given, start = make(torch.randn(3, 4))
            result = step(given)
            if result is not None:
                used_afterwards(twin, given, result, start)

    check(scenario, native)


@BOTH
@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x.exp(),
        lambda x: (lambda y: (y, (y * y).sum()))(x.exp()),
        lambda x: (lambda y: (y.detach(), (y * y).sum()))(x.exp()),
        lambda x: (lambda y: (y.detach()[:1], (y * y).sum()))(x.exp()),
        lambda x: (lambda y: (y, y * 3))(x * 2),
    ],
    ids=["itself", "and its square", "detached", "a part", "not needed"],
)
def test_a_result_that_is_written_before_its_backward_is_noticed(
    compute: Any, native: bool
) -> None:
    def scenario(twin: Twin) -> None:
        w = torch.randn(3, requires_grad=True)

        @twin
        def step(x: Any) -> Any:
            return compute(x * w)

        for _ in range(5):
            w.grad = None
            found = tensors(step(torch.randn(3)))
            with torch.no_grad():
                found[0].mul_(2)
            try:
                sum(t.sum() for t in found if t.requires_grad).backward()  # type: ignore[union-attr]
                twin.note(w.grad.tolist())
            except RuntimeError as error:
                twin.note("modified by an inplace operation" in str(error))

    check(scenario, native)


class Counting(nn.Module):
    """Counts, and averages, how often its checkpointed body runs."""

    def __init__(self, reentrant: bool, counted: bool) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh())
        self.register_buffer("average", torch.zeros(()))
        self.times = 0
        self.counted = counted
        self.reentrant = reentrant

    def body(self, x: Any) -> Any:
        if self.counted:
            self.times += 1
        self.average.mul_(0.9).add_(1.0)
        return self.inner(x)

    def forward(self, x: Any) -> Any:
        return checkpoint(self.body, x, use_reentrant=self.reentrant)


@BOTH
@pytest.mark.parametrize("whole", [False, True], ids=["module", "step"])
@pytest.mark.parametrize("counted", [False, True], ids=["averaged", "counted"])
@pytest.mark.parametrize("reentrant", [False, True], ids=["saved", "reentrant"])
def test_a_checkpointed_body_runs_as_often_as_in_an_eager_step(
    reentrant: bool, counted: bool, whole: bool, native: bool
) -> None:
    def scenario(twin: Twin) -> None:
        module = Counting(reentrant, counted)

        def step(x: Any) -> Any:
            loss = module(x).sum()
            loss.backward()
            return loss.detach()

        call = twin(step if whole else module)
        for _ in range(6):
            x = torch.randn(5, 3, requires_grad=True)
            result = call(x)
            twin.note([module.times, module.average.item()])
            if not whole:
                result.sum().backward()
            twin.note([module.times, *map(seen, module.buffers())])
            twin.note([seen(p.grad) for p in module.parameters()])

    check(scenario, native)


@BOTH
def test_hooks_of_saved_tensors_run_as_often_as_in_an_eager_step(native: bool) -> None:
    def scenario(twin: Twin) -> None:
        counts = [0, 0]

        def pack(t: Any) -> Any:
            counts[0] += 1
            return t

        def unpack(t: Any) -> Any:
            counts[1] += 1
            return t

        w = torch.randn(3, requires_grad=True)

        @twin
        def step(x: Any) -> Any:
            with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
                return (x * w).exp()

        for _ in range(5):
            y = step(torch.randn(3))
            twin.note(list(counts))
            y.sum().backward()
            twin.note(list(counts))

    check(scenario, native)


@BOTH
@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid", "sqrt", "softmax"])
def test_a_backward_leaves_results_as_they_are_and_may_run_again(name: str, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        arguments = (-1,) if name == "softmax" else ()
        step = twin(lambda x: getattr(x * x + 1, name)(*arguments))
        for _ in range(5):
            x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
            y = step(x)
            for _ in range(2):
                twin.note(torch.autograd.grad((y * y).sum(), x, retain_graph=True)[0])
                twin.note(y)

    check(scenario, native)


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("name", ["SGD", "SparseAdam", "Adam"])
def test_a_sparse_gradient_stays_one(name: str, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        table = torch.ones(5, 2, requires_grad=True)
        optimizer = getattr(torch.optim, name)([table], lr=0.1)

        def step(n: Any) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.embedding(n, table, sparse=True).exp().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = twin(step)
        for k in range(5):
            run(torch.tensor([1, k % 3, 1]))
            twin.note([table.grad.is_sparse, table.grad.to_dense(), table])

    check(scenario, native)


@BOTH
def test_gradients_may_come_as_numbers_of_numpy_and_in_any_layout(native: bool) -> None:
    def scenario(twin: Twin) -> None:
        single = twin(lambda x: sum(v * k for k, v in enumerate(x.unbind())))
        table = twin(lambda x: torch.stack([x * 2, x.exp()]))
        x = torch.arange(1.0, 5.0, dtype=torch.float64, requires_grad=True)
        for _ in range(5):
            y, z = single(x), table(x)
            for total in (y.sin(), z.sum(), (z.t() * 2)[::2].sum(), (z.flip(1) * y).sum()):
                twin.note(torch.autograd.grad(total, x, retain_graph=True)[0])

    check(scenario, native)
