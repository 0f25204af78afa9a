"""Branches on values: each path is a program of its own, and a run that leaves its path leaves no
trace.
"""

import copy
import random
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim


def state_of(model: Any, optimizer: Any) -> list[Any]:
    """Everything that a step may change: parameters, buffers, gradients, the optimizer's state."""
    found = [t.detach().clone() for t in (*model.parameters(), *model.buffers())]
    found += [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    for p in model.parameters():
        for name, x in sorted(optimizer.state.get(p, {}).items()):
            found.append(x.clone() if isinstance(x, torch.Tensor) else (name, x))
    return found


def alike(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(
        torch.allclose(x, y, rtol=0, atol=0, equal_nan=True)
        if isinstance(x, torch.Tensor)
        else x == y
        for x, y in zip(a, b)
    )


def model_of(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3),
                         nn.Linear(8, 1))  # fmt: skip


def clipped_step(model: Any, optimizer: Any, limit: float) -> Any:
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        if norm > limit:
            for p in model.parameters():
                p.grad.mul_(limit / norm)
        optimizer.step()
        return loss

    return step


def skipping_step(model: Any, optimizer: Any, limit: float) -> Any:
    def step(x: Any, y: Any) -> Any:
        loss = ((model(x) - y) ** 2).mean()
        if not torch.isfinite(loss):
            return None
        if loss.item() > limit:
            return loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def late_step(model: Any, optimizer: Any, limit: float) -> Any:
    """Looks at what the optimizer has done, so that a failed run has much to put back."""

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        if model[0].weight.abs().max() > limit:
            with torch.no_grad():
                model[0].weight.mul_(0.5)
            return "shrunk"
        return loss.item()

    return step


def scaled_step(model: Any, optimizer: Any, limit: float) -> Any:
    """Clipping as it is written by hand, with Python's numbers."""

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = (model(x) - y).abs().mean()
        loss.backward()
        total = 0.0
        for p in model.parameters():
            total += p.grad.norm().item() ** 2
        norm = total**0.5
        scale = limit / (norm + 1e-6)
        if scale < 1:
            for p in model.parameters():
                p.grad.mul_(scale)
        optimizer.step()
        return norm

    return step


MAKERS = {
    "clipping": (clipped_step, 2.0), "skipping": (skipping_step, 3.0), "late": (late_step, 0.52),
    "by hand": (scaled_step, 1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("rule", ["sgd", "adam"])
def test_random_outcomes_give_what_an_eager_run_gives_bit_for_bit(name: str, rule: str) -> None:
    make, limit = MAKERS[name]
    sides = []
    for compiled in (False, True):
        model = model_of()
        parameters = model.parameters()
        optimizer: Any = (
            optim.SGD(parameters, lr=0.05, momentum=0.9)
            if rule == "sgd"
            else optim.Adam(parameters, lr=0.02)
        )
        step = make(model, optimizer, limit)
        if compiled:
            step = torch.compile(step, options={"native": False})
        sides.append((model, optimizer, step))
    generator = torch.Generator().manual_seed(5)
    data = []
    for k in range(160):
        size = 4.0 if k % 3 == 0 else 1.0
        x = torch.randn(6, 4, generator=generator) * size
        if k % 17 == 5:
            x[0, 0] = float("nan") if name == "skipping" else 1.0
        data.append((x, torch.randn(6, 1, generator=generator)))
    seen = set()
    start = torch.get_rng_state()
    states = [start, start]
    for x, y in data:
        results = []
        for side, (_, _, step) in enumerate(sides):
            torch.set_rng_state(states[side])
            results.append(step(x.clone(), y))
            states[side] = torch.get_rng_state()
        a, b = results
        assert type(a) is type(b)
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
        assert torch.equal(states[0], states[1])
        assert alike(state_of(*sides[0][:2]), state_of(*sides[1][:2]))
        seen.add(type(a))
    compiled_step: Any = sides[1][2]
    assert len(compiled_step.variants) >= 2, compiled_step.explain()
    assert compiled_step.calls["recorded"] < 30, compiled_step.explain()
    assert compiled_step.calls["eager"] == 0, compiled_step.explain()


@pytest.mark.parametrize("name", MAKERS)
def test_native_programs_leave_their_path_without_a_trace_too(name: str) -> None:
    pytest.importorskip("llvmlite")
    make, limit = MAKERS[name]
    model = model_of()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step: Any = torch.compile(make(model, optimizer, limit))
    eager_model = copy.deepcopy(model)
    eager_optimizer = optim.SGD(eager_model.parameters(), lr=0.05, momentum=0.9)
    eager = make(eager_model, eager_optimizer, limit)
    generator = torch.Generator().manual_seed(6)
    for k in range(120):
        x = torch.randn(6, 4, generator=generator) * (4.0 if k % 3 == 0 else 1.0)
        y = torch.randn(6, 1, generator=generator)
        eager_model.load_state_dict(model.state_dict())
        eager_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        before = torch.get_rng_state()
        found = step(x, y)
        after = torch.get_rng_state()
        torch.set_rng_state(before)
        expected = eager(x, y)
        assert torch.equal(after, torch.get_rng_state())
        if isinstance(found, str) or found is None:
            assert found == expected
        else:
            assert torch.allclose(torch.as_tensor(found), torch.as_tensor(expected), rtol=1e-4)
        for p, q in zip(model.parameters(), eager_model.parameters()):
            assert torch.allclose(p, q, rtol=1e-3, atol=1e-5)
        for p, q in zip(model.buffers(), eager_model.buffers()):
            assert torch.allclose(p.double(), q.double(), rtol=1e-4, atol=1e-5)
    assert len(step.variants) >= 2, step.explain()


def test_a_loop_until_something_is_small_is_compiled_for_each_number_of_rounds() -> None:
    def root(x: Any) -> Any:
        y = x.clone()
        rounds = 0
        while (y * y - x).abs().max() > 1e-6:
            y = 0.5 * (y + x / y)
            rounds += 1
        return y, rounds

    compiled = torch.compile(root, options={"native": False})
    rng = random.Random(1)
    counts = set()
    for _ in range(120):
        x = torch.tensor([rng.choice([0.9, 2.0, 30.0, 500.0])], dtype=torch.float64)
        (a, n), (b, m) = compiled(x), root(x)
        assert torch.equal(a, b)
        assert n == m
        counts.add(n)
    assert len(compiled.variants) == len(counts) >= 3
    assert compiled.calls["recorded"] <= 2 * len(counts) + 3


def test_what_a_branch_raises_comes_through_and_leaves_what_an_eager_run_leaves() -> None:
    weight = torch.zeros(3)

    def step(x: Any) -> Any:
        weight.add_(x)
        if x.sum() < 0:
            raise ValueError(f"negative: {x.tolist()}")
        weight.mul_(2)
        return weight.sum()

    compiled = torch.compile(step, options={"native": False})
    expected = torch.zeros(3)
    rng = random.Random(2)
    raised = 0
    for _ in range(200):
        x = torch.ones(3) * rng.choice([1.0, 2.0, -1.0])
        expected.add_(x)
        if x.sum() < 0:
            with pytest.raises(ValueError, match="negative"):
                compiled(x)
            raised += 1
        else:
            expected.mul_(2)
            assert torch.equal(compiled(x), expected.sum())
        assert torch.equal(weight, expected)
        if weight.abs().max() > 1e6:
            weight.zero_()
            expected.zero_()
    assert raised > 20
    assert compiled.program is not None
    assert compiled.calls["eager"] == 0


def test_numbers_are_those_of_the_place_where_they_were_read() -> None:
    def step(x: Any, y: Any) -> Any:
        before = x.sum().item()
        first = x[0]
        value = first.item()
        x.mul_(2)
        again = first.item()
        if value > 0.5:
            y.add_(value)
        return before, value, again, value * again + 1

    compiled = torch.compile(step, options={"native": False})
    rng = random.Random(3)
    for _ in range(40):
        numbers = [rng.random(), rng.random()]
        x, y = torch.tensor(numbers), torch.zeros(1)
        a, b = torch.tensor(numbers), torch.zeros(1)
        assert compiled(x, y) == step(a, b)
        assert torch.equal(x, a)
        assert torch.equal(y, b)
    assert len(compiled.variants) == 2


def test_a_module_that_branches_is_differentiated_on_the_path_that_it_took() -> None:
    class Gate(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.left = nn.Linear(3, 3)
            self.right = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            h = self.left(x)
            return torch.tanh(h) if h.mean() > 0 else self.right(h)

    torch.manual_seed(1)
    model = Gate()
    compiled: Any = torch.compile(copy.deepcopy(model), options={"native": False})
    for _ in range(60):
        x = torch.randn(2, 3)
        for m in (model, compiled):
            m.zero_grad()
            m(x).sum().backward()
        for p, q in zip(model.parameters(), compiled.parameters()):
            assert (p.grad is None) == (q.grad is None)
            assert p.grad is None or torch.equal(p.grad, q.grad)
    assert len(compiled._step.variants) >= 2


def test_paths_are_bounded_and_the_rest_runs_eagerly() -> None:
    def step(x: Any) -> Any:
        for k in range(40):
            if x.sum() < k:
                return x * k
        return x

    compiled: Any = torch.compile(step, options={"native": False})
    rng = random.Random(4)
    for _ in range(300):
        x = torch.ones(1) * rng.randrange(40)
        assert torch.equal(compiled(x), step(x))
    assert len(compiled.variants) <= 8
    assert compiled.calls["eager"] > 0
    assert "paths" in compiled.explain() or "variants" in compiled.explain()


@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: x * (0.5 * n.item()),
        lambda x, n: sum((x * k for k in range(n.item())), x),
        lambda x, n: x * [1.0, 2.0, 3.0, 4.0][n.item()],
        lambda x, n: x * [1.0, 2.0, 3.0, 4.0][n],
        lambda x, n: x[: n.item()],
        lambda x, n: x[n],
        lambda x, n: x * len("%d" % (n.item() * 500)),  # noqa: UP031
        lambda x, n: x * len(str(n.item() * 500)),
        lambda x, n: x * int(n),
        lambda x, n: x * (n.item() + 1) / 2,
        lambda x, n: x * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[n.item()],
        lambda x, n: x * (1.0 if n.item() in (1, 2) else 2.0),
        lambda x, n: x * max(n.item(), 2),
        lambda x, n: x * (n.item() % 2),
        lambda x, n: x * float(n),
        lambda x, n: x if n else -x,
        lambda x, n: x if not n and x.sum() != 0 else -x,
        lambda x, n: x * (2 if (x > n).any() else 3),
    ],
)  # fmt: skip
def test_whatever_python_does_with_a_number_of_a_tensor_it_does_in_each_call(use: Any) -> None:
    compiled = torch.compile(use, options={"native": False})
    for k in range(30):
        x, n = torch.randn(4), torch.tensor([0, 1, 1, 2, 3, 0, 1][k % 7])
        a, b = compiled(x, n), use(x, n)
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


def test_a_condition_is_printed_with_its_outcome_and_its_line() -> None:
    def step(x: Any) -> Any:
        if x.sum().item() > 2.5:
            return x
        return -x

    compiled: Any = torch.compile(step)
    for _ in range(4):
        compiled(torch.ones(2))
    text = str(compiled.program)
    assert "expect v1.item() > 2.5 -> False" in text


@pytest.mark.parametrize("start", [0, 1])
def test_random_numbers_of_an_abandoned_run_are_drawn_again(start: int) -> None:
    generator = torch.Generator().manual_seed(start)

    def step(x: Any, generator: Any = generator) -> Any:
        noise = torch.rand(3, generator=generator) + torch.randn(3)
        x = x + noise
        if x.sum() > 2.0:
            return x + torch.rand(3)
        return x

    compiled: Any = torch.compile(step, options={"native": False})
    other = torch.Generator().manual_seed(start)
    state = torch.get_rng_state()
    outcomes = []
    for _ in range(100):
        found = compiled(torch.zeros(3))
        mine = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = step(torch.zeros(3), other)
        state = torch.get_rng_state()
        assert torch.equal(found, expected)
        assert torch.equal(mine, state)
        assert torch.equal(generator.get_state(), other.get_state())
        outcomes.append(float(found.sum()) > 2)
    assert 10 < sum(outcomes) < 90


def test_writes_through_a_detached_tensor_are_seen() -> None:
    mean = torch.zeros(3)

    def step(x: Any) -> Any:
        mean.detach().mul_(0.9).add_(x, alpha=0.1)
        if mean.sum() > 1.0:
            mean.detach()[0].fill_(0.0)
        return mean.clone()

    compiled = torch.compile(step, options={"native": False})
    found = [compiled(torch.ones(3) * (1 + k % 3)) for k in range(40)]
    mean.zero_()
    for k, result in enumerate(found):
        assert torch.equal(result, step(torch.ones(3) * (1 + k % 3)))
    assert compiled.calls["eager"] == 0, compiled.explain()
    assert len(compiled.variants) == 2
