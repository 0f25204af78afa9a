"""Guards: whatever changes between two calls, a compiled function gives what eager gives."""

import random
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F

SCALE = 2.0
TABLE = {"scale": 3.0}


def warm(step: Any, *args: Any) -> Any:
    """A step after three calls, which must have compiled it."""
    compiled = torch.compile(step)
    for _ in range(3):
        compiled(*args)
    assert compiled.program is not None, compiled.explain()
    return compiled


def recorded(step: Any) -> int:
    count: int = step.calls["recorded"]
    return count


def test_shapes_and_dtypes_are_looked_at() -> None:
    step = warm(lambda x: (x * 2).sum(), torch.ones(3))
    assert step(torch.ones(5)).item() == 10.0
    assert step(torch.ones(3, dtype=torch.float64)).dtype is torch.float64
    assert step(torch.ones(2, 3).t()).item() == 12.0
    assert step(torch.ones(3)).item() == 6.0


def test_globals_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(x: Any) -> Any:
        return x * SCALE

    compiled = warm(step, torch.ones(2))
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert compiled(torch.ones(2)).tolist() == [5.0, 5.0]


def test_entries_of_global_tables_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(x: Any) -> Any:
        return x * TABLE["scale"]

    compiled = warm(step, torch.ones(2))
    monkeypatch.setitem(TABLE, "scale", 7.0)
    assert compiled(torch.ones(2)).tolist() == [7.0, 7.0]


def test_closures_and_defaults_are_looked_at() -> None:
    factor = 2.0

    def step(x: Any, more: float = 1.0) -> Any:
        return x * factor + more

    compiled = warm(step, torch.ones(1))
    factor = 4.0
    assert compiled(torch.ones(1)).item() == 5.0
    step.__defaults__ = (10.0,)
    assert compiled(torch.ones(1)).item() == 14.0


def test_number_arguments_are_looked_at() -> None:
    step = warm(lambda x, k: x * k, torch.ones(1), 2)
    assert step(torch.ones(1), 3).item() == 3.0
    assert step(torch.ones(1), True).item() == 1.0
    assert step(torch.ones(1), 2.0).item() == 2.0
    assert step(torch.ones(1, dtype=torch.int64), 2.5).item() == 2.5


def test_attributes_of_objects_are_looked_at() -> None:
    class Settings:
        scale = 2.0

        def __init__(self) -> None:
            self.shift = 1.0
            self.many = [1.0, 2.0]

    settings = Settings()

    def step(x: Any) -> Any:
        return x * settings.scale + settings.shift + settings.many[1]

    compiled = warm(step, torch.ones(1))
    assert compiled(torch.ones(1)).item() == 5.0
    settings.shift = 2.0
    assert compiled(torch.ones(1)).item() == 6.0
    settings.many[1] = 10.0
    assert compiled(torch.ones(1)).item() == 14.0
    settings.many = [0.0, 0.0]
    assert compiled(torch.ones(1)).item() == 4.0
    settings.scale = 20.0
    assert compiled(torch.ones(1)).item() == 22.0
    del settings.scale
    Settings.scale = 30.0
    assert compiled(torch.ones(1)).item() == 32.0


def test_training_and_evaluation_are_different_programs() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))

    def step(x: Any) -> Any:
        with torch.no_grad():
            return model(x)

    x = torch.ones(64, 4)
    compiled = warm(step, x)
    assert (compiled(x) == 0).any()
    model.eval()
    assert torch.equal(compiled(x), model[0](x).detach())


def test_gradient_mode_is_looked_at() -> None:
    w = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        step = warm(lambda x: x * w, torch.ones(2))
        assert not step(torch.ones(2)).requires_grad
    assert step(torch.ones(2)).requires_grad


def test_requires_grad_of_parameters_is_looked_at() -> None:
    model = nn.Linear(3, 2)
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    x = torch.ones(4, 3)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    compiled = warm(step, x)
    model.weight.requires_grad_(False)
    kept = model.weight.detach().clone()
    compiled(x)
    assert torch.equal(model.weight, kept)


def test_a_rebound_array_is_read_and_a_new_parameter_is_seen() -> None:
    model = nn.Linear(2, 1, bias=False)

    def step(x: Any) -> Any:
        return model(x).detach()

    with torch.no_grad():
        compiled = warm(step, torch.ones(1, 2))
        model.weight.data = torch.full((1, 2), 3.0)
        assert compiled(torch.ones(1, 2)).item() == 6.0
        model.load_state_dict({"weight": torch.full((1, 2), 4.0)})
        assert compiled(torch.ones(1, 2)).item() == 8.0
        model.weight = nn.Parameter(torch.full((1, 2), 5.0))
        assert compiled(torch.ones(1, 2)).item() == 10.0
        model.weight.fill_(6.0)
        assert compiled(torch.ones(1, 2)).item() == 12.0


def test_hooks_and_replaced_layers_are_seen() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    calls: list[int] = []
    with torch.no_grad():
        compiled = warm(lambda x: model(x), torch.ones(1, 2))
        handle = model[0].register_forward_hook(lambda *_: calls.append(1))
        compiled(torch.ones(1, 2))
        compiled(torch.ones(1, 2))
        assert len(calls) == 2
        handle.remove()
        model[1] = nn.Tanh()
        expected = model(torch.ones(1, 2))
        assert torch.equal(compiled(torch.ones(1, 2)), expected)


def test_methods_replaced_on_object_or_class_are_seen() -> None:
    class Double(nn.Module):
        def forward(self, x: Any) -> Any:
            return self.inner(x)

        def inner(self, x: Any) -> Any:
            return 2 * x

    model = Double()
    compiled = warm(lambda x: model(x), torch.ones(1))
    Double.inner = lambda self, x: 3 * x  # type: ignore[method-assign]
    assert compiled(torch.ones(1)).item() == 3.0
    model.inner = lambda x: 4 * x  # type: ignore[method-assign]
    assert compiled(torch.ones(1)).item() == 4.0


def test_a_gradient_that_is_there_already_is_added_to() -> None:
    w = torch.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        return loss

    compiled = torch.compile(step)
    for k in range(1, 7):
        compiled(torch.ones(2))
        assert w.grad is not None and w.grad.tolist() == [k, k]
    w.grad = None
    for k in range(1, 5):
        compiled(torch.ones(2))
        assert w.grad is not None and w.grad.tolist() == [k, k]


def test_one_tensor_given_twice_is_another_structure() -> None:
    def step(a: Any, b: Any) -> Any:
        a.add_(1)
        return a * b

    one, two = torch.ones(2), torch.ones(2)
    compiled = warm(step, one, two)
    one.fill_(1.0)
    assert compiled(one, one).tolist() == [4.0, 4.0]


def test_memory_that_arguments_share_is_seen() -> None:
    def step(a: Any, b: Any) -> Any:
        a.add_(1)
        return a * b

    compiled = warm(step, torch.ones(2), torch.ones(2))
    whole = torch.ones(3)
    expected = step(whole.clone()[:2], whole.clone()[1:])
    fresh = torch.ones(3)
    eager = torch.ones(3)
    expected = step(eager[:2], eager[1:])
    assert torch.equal(compiled(fresh[:2], fresh[1:]), expected)


def test_variants_end_and_the_rest_runs_eagerly() -> None:
    compiled = torch.compile(lambda x, k: x * len(k))
    for k in range(30):
        for _ in range(3):
            assert compiled(torch.ones(1), "x" * k).item() == k
    assert len(compiled.variants) == 8
    assert "variants" in compiled.explain()


def test_random_changes_between_calls_never_show() -> None:
    rng = random.Random(5)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    twin = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    twin.load_state_dict(model.state_dict())
    settings = {"power": 2, "weights": [1.0, 1.0]}

    def make(net: Any) -> Any:
        optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.5)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            error = (net(x) - y).abs() ** settings["power"]
            loss = (error * torch.tensor(settings["weights"])).mean()
            if settings["power"] == 3:
                loss = loss * 2
            loss.backward()
            optimizer.step()
            return loss

        return step, optimizer

    eager, first = make(twin)
    traced, second = make(model)
    compiled = torch.compile(traced, options={"native": False})
    for _ in range(120):
        change = rng.randrange(8)
        if change == 0:
            settings["power"] = rng.choice([2, 3])
        elif change == 1:
            settings["weights"] = [rng.choice([1.0, 2.0]), 1.0]  # type: ignore[assignment]
        elif change == 2:
            training = rng.random() < 0.5
            model.train(training)
            twin.train(training)
        elif change == 3:
            on = rng.random() < 0.5
            for net in (model, twin):
                net[0].weight.requires_grad_(on)
        elif change == 4:
            for optimizer in (first, second):
                optimizer.param_groups[0]["lr"] = 0.01
        elif change == 5:
            state = {k: v.clone() for k, v in twin.state_dict().items()}
            model.load_state_dict(state)
        elif change == 6:
            for net in (model, twin):
                net[3].bias.data = net[3].bias.data.clone()
        n = rng.choice([4, 4, 4, 6])
        x, y = torch.randn(n, 3), torch.randn(n, 2)
        assert torch.equal(compiled(x, y), eager(x, y))
    for p, q in zip(model.state_dict().values(), twin.state_dict().values()):
        assert torch.equal(p, q)
    assert compiled.program is not None
    _ = F


def test_a_mode_that_was_switched_on_and_off_again_is_as_good_as_none() -> None:
    compiled = torch.compile(lambda x: x * 2)
    torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(False)
    for _ in range(3):
        compiled(torch.ones(1))
    assert compiled.program is not None
    with torch.inference_mode():
        assert compiled(torch.ones(1)).is_inference()


def test_an_argument_that_gets_a_gradient_is_looked_at_itself() -> None:
    def step(x: Any) -> Any:
        x.grad = None
        loss = (x * x).sum()
        loss.backward()
        return loss.detach()

    compiled = torch.compile(step)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(4):
        compiled(x)
    other = torch.tensor([3.0, 4.0], requires_grad=True)
    compiled(other)
    assert x.grad is not None and x.grad.tolist() == [2.0, 4.0]
    assert other.grad is not None and other.grad.tolist() == [6.0, 8.0]


def test_a_parameter_given_as_an_argument_is_updated_where_it_is() -> None:
    def step(w: Any, x: Any) -> Any:
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.5 * w.grad)
        return loss.detach()

    compiled = torch.compile(step)
    first = torch.ones(2, requires_grad=True)
    for _ in range(4):
        compiled(first, torch.ones(2))
    second = torch.ones(2, requires_grad=True)
    compiled(second, torch.ones(2))
    assert first.tolist() == [-1.0, -1.0]
    assert second.tolist() == [0.5, 0.5]


def test_data_of_another_type_are_no_hooks() -> None:
    model = torch.nn.Linear(3, 2)
    model.double()
    model.weight.data = torch.ones(4, 3, dtype=torch.float64)
    model.bias.data = torch.zeros(4, dtype=torch.float64)
    step = torch.compile(lambda x: model(x).sum())
    x = torch.ones(2, 3, dtype=torch.float64)
    for _ in range(4):
        assert step(x).item() == 24.0
    assert step.program is not None, step.explain()
