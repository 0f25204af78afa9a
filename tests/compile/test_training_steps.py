"""Whole training steps: a compiled step leaves every bit as an eager one does."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

Made = tuple[Callable[..., Any], tuple[Any, ...], list[Any]]


def _state(*modules: nn.Module) -> list[Any]:
    return [t for m in modules for t in (*m.parameters(), *m.buffers())]


def perceptron(rule: str) -> Made:
    model = nn.Sequential(
        nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 3)
    )
    kinds: dict[str, Any] = {
        "sgd": lambda p: optim.SGD(p, lr=0.1),
        "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True),
        "adam": lambda p: optim.Adam(p, lr=0.01),
        "adamw": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
        "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, centered=True),
        "adagrad": lambda p: optim.Adagrad(p, lr=0.01),
    }
    optimizer = kinds[rule](model.parameters())
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step, (x, y), _state(model)


def convolutions() -> Made:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(36, 5),
    )  # fmt: skip
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(6, 1, 8, 8), torch.randint(0, 5, (6,))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, (x, y), _state(model)


def recurrence() -> Made:
    lstm, head = nn.LSTM(5, 7, batch_first=True), nn.Linear(7, 2)
    optimizer = optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)
    x, y = torch.randn(4, 6, 5), torch.randn(4, 2)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        out, _ = lstm(x)
        loss = F.mse_loss(head(out[:, -1]), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, (x, y), _state(lstm, head)


def cells() -> Made:
    cell, head = nn.GRUCell(5, 7), nn.Linear(7, 2)
    optimizer = optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    x, y = torch.randn(6, 4, 5), torch.randn(4, 2)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        state = torch.zeros(4, 7)
        for t in range(6):
            state = cell(x[t], state)
        loss = F.smooth_l1_loss(head(state), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, (x, y), _state(cell, head)


def transformer() -> Made:
    model = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True)
    optimizer = optim.Adam(model.parameters(), lr=0.001)
    x, y = torch.randn(3, 5, 16), torch.randn(3, 5, 16)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, (x, y), _state(model)


def causal_attention() -> Made:
    embed, qkv, head = nn.Embedding(11, 16), nn.Linear(16, 48), nn.Linear(16, 11, bias=False)
    norm = nn.LayerNorm(16)
    optimizer = optim.AdamW([p for m in (embed, qkv, head, norm) for p in m.parameters()], lr=1e-3)
    tokens, y = torch.randint(0, 11, (2, 6)), torch.randint(0, 11, (2, 6))

    def step(tokens: Any, y: Any) -> Any:
        optimizer.zero_grad()
        x = embed(tokens) + torch.arange(6).unsqueeze(-1) / 6
        parts = (t.view(2, 6, 2, 8).transpose(1, 2) for t in qkv(norm(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + seen.transpose(1, 2).reshape(2, 6, 16)
        loss = F.cross_entropy(head(x).view(-1, 11), y.view(-1))
        loss.backward()
        optimizer.step()
        return loss

    return step, (tokens, y), _state(embed, qkv, head, norm)


def two_optimizers() -> Made:
    maker = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    of_maker = optim.Adam(maker.parameters(), lr=1e-3)
    of_judge = optim.Adam(judge.parameters(), lr=1e-3)
    x = torch.randn(8, 2)

    def step(x: Any) -> Any:
        z = torch.randn(8, 4)
        of_judge.zero_grad()
        entropy = F.binary_cross_entropy_with_logits
        first = entropy(judge(x), torch.ones(8, 1))
        first = first + entropy(judge(maker(z).detach()), torch.zeros(8, 1))
        first.backward()
        of_judge.step()
        of_maker.zero_grad()
        second = entropy(judge(maker(z)), torch.ones(8, 1))
        second.backward()
        of_maker.step()
        return first, second

    return step, (x,), _state(maker, judge)


def temporal_differences() -> Made:
    model = nn.Sequential(nn.Linear(6, 10), nn.Sigmoid(), nn.Linear(10, 1))
    params = list(model.parameters())
    traces = [torch.zeros_like(p) for p in params]
    s, after, reward = torch.randn(6), torch.randn(6), torch.tensor(0.3)

    def step(s: Any, after: Any, reward: Any) -> Any:
        v = model(s)
        grads = torch.autograd.grad(v.sum(), params)
        with torch.no_grad():
            delta = (reward + 0.9 * model(after) - v).reshape(())
            for p, trace, g in zip(params, traces, grads):
                trace.mul_(0.8).add_(g)
                p.add_(0.1 * delta * trace)
        return v.detach()

    return step, (s, after, reward), params + traces


def by_hand() -> Made:
    w, b = torch.randn(5, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    x, y = torch.randn(7, 5), torch.randn(7, 3)

    def step(x: Any, y: Any) -> Any:
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad = None
        return loss

    return step, (x, y), [w, b]


def gradient_of_a_gradient() -> Made:
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(9, 3)

    def step(x: Any) -> Any:
        x = x.clone().requires_grad_()
        y = model(x)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        loss = (slope**2).sum() + (y**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"loss": loss.detach(), "slope": slope.detach()}

    return step, (x,), _state(model)


def accumulation() -> Made:
    model = nn.Linear(3, 2)
    optimizer = optim.SGD(model.parameters(), lr=1e-2)
    x = torch.randn(8, 3)

    def step(x: Any) -> Any:
        optimizer.zero_grad(set_to_none=False)
        for k in range(2):
            loss = model(x[4 * k : 4 * k + 4]).pow(2).mean()
            (loss / 2).backward()
        optimizer.step()
        return loss

    return step, (x,), _state(model)


def writes_in_place() -> Made:
    w, x = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
    optimizer = optim.SGD([w], lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        y = torch.zeros(4, 4)
        y[0] = x[0] * w[0]
        y[1:] = (x @ w)[1:]
        y[2, 2] = 1.5
        y = y.relu() * 2
        part = y[:2]
        part.add_(w[:2])
        loss = y.sum()
        loss.backward()
        optimizer.step()
        return loss

    return step, (x,), [w]


STEPS: dict[str, Callable[[], Made]] = {
    **{f"perceptron with {r}": lambda r=r: perceptron(r) for r in
       ("sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad")},
    **{f.__name__: f for f in (
        convolutions, recurrence, cells, transformer, causal_attention, two_optimizers,
        temporal_differences, by_hand, gradient_of_a_gradient, accumulation, writes_in_place)},
}  # fmt: skip


def _bits(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach().numpy().tobytes()
    if isinstance(x, (tuple, list)):
        return [_bits(y) for y in x]
    return {k: _bits(v) for k, v in x.items()} if isinstance(x, dict) else x


@pytest.mark.parametrize("name", STEPS)
def test_a_compiled_step_gives_the_bits_of_an_eager_one_for_fifty_calls(name: str) -> None:
    torch.manual_seed(7)
    step, args, state = STEPS[name]()
    start = torch.get_rng_state()
    expected = [_bits(step(*args)) for _ in range(50)]
    torch.manual_seed(7)
    other, other_args, other_state = STEPS[name]()
    torch.set_rng_state(start)
    compiled = torch.compile(other, options={"native": False})
    found = [_bits(compiled(*other_args)) for _ in range(50)]
    assert compiled.program is not None, compiled.explain()
    assert compiled.calls["recorded"] <= 3
    assert compiled.calls["eager"] == 0
    assert found == expected
    for p, q in zip(state, other_state):
        assert _bits(p) == _bits(q)
        assert (p.grad is None) == (q.grad is None)
        assert p.grad is None or _bits(p.grad) == _bits(q.grad)


def _close(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(found, torch.Tensor):
        scale = float(expected.detach().abs().max()) + 1e-3
        return float((found.detach() - expected.detach()).abs().max()) <= tolerance * scale
    if isinstance(found, (tuple, list)):
        return all(_close(x, y, tolerance) for x, y in zip(found, expected))
    if isinstance(found, dict):
        return all(_close(found[k], expected[k], tolerance) for k in expected)
    return found == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", STEPS)
def test_a_native_step_stays_with_the_eager_one_for_fifty_calls(name: str) -> None:
    torch.manual_seed(7)
    step, args, state = STEPS[name]()
    start = torch.get_rng_state()
    expected = [step(*args) for _ in range(50)]
    torch.manual_seed(7)
    other, other_args, other_state = STEPS[name]()
    torch.set_rng_state(start)
    compiled = torch.compile(other)
    found = [compiled(*other_args) for _ in range(50)]
    assert compiled.program is not None, compiled.explain()
    assert _close(found[:10], expected[:10], 1e-5)
    assert _close(found, expected, 1e-3)
    for p, q in zip(state, other_state):
        # Adam steps as far for a gradient of rounding errors (a key's bias has no other) as for one
        # that means something: those elements go their own ways.
        far = (q - p).abs() > 1e-3 * (p.abs().max() + 1e-3)
        assert float(far.float().mean()) < 0.4


def test_learning_rates_and_step_counts_are_no_constants_of_a_program() -> None:
    def run(compiling: bool) -> Any:
        torch.manual_seed(3)
        model = nn.Linear(4, 2)
        optimizer = optim.Adam(model.parameters(), lr=0.1)
        schedule = optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        x = torch.randn(5, 4)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        call = torch.compile(step, options={"native": False}) if compiling else step
        for _ in range(12):
            call(x)
            schedule.step()
        if compiling:
            assert call.calls["recorded"] == 2
        return [_bits(p) for p in model.parameters()], optimizer.state_dict()["state"][0]["step"]

    assert run(True) == run(False)


def test_returned_tensors_are_new_in_each_call() -> None:
    w = torch.randn(3, requires_grad=True)

    def step(x: Any) -> Any:
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    compiled = torch.compile(step)
    losses = [compiled(torch.full((3,), float(k))) for k in range(5)]
    assert len({id(x) for x in losses}) == 5
    assert losses[4].item() == pytest.approx(4 * w.sum().item(), rel=1e-6)
    assert losses[4].requires_grad and losses[4].grad_fn is not None
    grads = []
    for k in range(4):
        compiled(torch.full((3,), float(k)))
        grads.append(w.grad)
    assert [g[0].item() for g in grads] == [0.0, 1.0, 2.0, 3.0]


def test_an_argument_that_gets_a_gradient_within_the_step_has_its_hooks_watched() -> None:
    def grads(compiled: bool) -> list[float]:
        leaf = torch.ones(3, requires_grad=True)

        def step(b: Any) -> Any:
            out = b * 0.3
            leaf.grad = None
            (leaf.sum() * 0.01 + out.sum()).backward(retain_graph=True)
            return out

        run = torch.compile(step) if compiled else step
        found = []
        for k in range(10):
            if k == 7:
                leaf.register_hook(lambda g: g * 2)
            run(leaf)
            assert leaf.grad is not None
            found.append(leaf.grad[0].item())
        return found

    assert grads(True) == grads(False)


class _Halves(nn.Module):
    """Of which only one half is used."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.spare = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.used(x)


@pytest.mark.parametrize("zeroes", [False, True])
@pytest.mark.parametrize("rule", [torch.optim.Adam, torch.optim.SGD])
def test_parameters_without_gradients_are_swept_past_until_they_have_some(
    rule: Any, zeroes: bool
) -> None:
    model = _Halves()
    pair = [(m, rule(m.parameters(), lr=0.1)) for m in (model, deepcopy(model))]

    def make(model: Any, optimizer: Any) -> Any:
        def step(x: Any) -> Any:
            if zeroes:
                optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return step

    steps = [make(*pair[0]), torch.compile(make(*pair[1]))]
    x = torch.randn(3, 4)
    for given in (False, True, False):
        for m, _ in pair:
            m.spare.weight.grad = torch.ones(4, 4) if given else None
        for _ in range(5):
            for step in steps:
                step(x)
        for p, q in zip(pair[0][0].parameters(), pair[1][0].parameters(), strict=True):
            assert torch.allclose(p, q, rtol=1e-5, atol=1e-6)
    machine = steps[1].machine
    assert machine is None or not machine.plan.list_left()


@pytest.mark.parametrize("rule", [torch.optim.Adam, torch.optim.AdamW, torch.optim.Adamax])
@pytest.mark.parametrize("first", [0.0, 1e-3, 0.5, 0.500001, 0.9])
def test_averages_move_by_any_part(rule: Any, first: float) -> None:
    layer = nn.Linear(5, 3).double()
    pair = [
        (m, rule(m.parameters(), lr=0.01, betas=(first, 0.9))) for m in (layer, deepcopy(layer))
    ]

    def make(layer: Any, optimizer: Any) -> Any:
        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = (layer(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return step

    steps = [make(*pair[0]), torch.compile(make(*pair[1]))]
    x = torch.randn(4, 5, dtype=torch.float64)
    for k in range(15):
        if k in (6, 10):
            for _, optimizer in pair:
                optimizer.param_groups[0]["betas"] = (0.9 if k == 6 else 0.3, 0.99)
        for step in steps:
            step(x)
    for p, q in zip(pair[0][0].parameters(), pair[1][0].parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-12, atol=1e-14)


def test_a_gradient_that_lies_otherwise_is_swept() -> None:
    weight = torch.randn(4, 6, requires_grad=True)
    pair = [(w, torch.optim.Adam([w], lr=0.1)) for w in (weight, weight.detach().clone())]
    pair[1][0].requires_grad_()

    def make(weight: Any, optimizer: Any) -> Any:
        def step(x: Any) -> Any:
            (g,) = torch.autograd.grad((x @ weight.tanh()).tanh().sum(), weight, create_graph=True)
            weight.grad = (g * g).t().contiguous().t().detach() * 1.0
            optimizer.step()

        return step

    steps = [make(*pair[0]), torch.compile(make(*pair[1]))]
    x = torch.randn(3, 4)
    for _ in range(6):
        for step in steps:
            step(x)
    assert torch.allclose(pair[0][0], pair[1][0], rtol=1e-5, atol=1e-6)
