"""What the library itself shows a step changes: functions, hooks, settings, random streams."""

import warnings
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F
from rushlight.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from tests.compile.twins import Scenario, Twin, check

SCENARIOS: list[Scenario] = []
X = torch.tensor([-1.0, 0.5, 2.0])


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_changes_in_the_library_is_seen(scenario: Scenario, native: bool) -> None:
    check(scenario, native)


@scenario
def functions_are_patched(twin: Twin) -> None:
    step = twin(lambda x: F.relu(x) + torch.tanh(x) + x.sigmoid())
    step.warm(X)
    for owner, name in ((F, "relu"), (torch, "tanh"), (torch.Tensor, "sigmoid")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, lambda x: x * 5)
            step(X, times=3)
        step(X, times=2)


@scenario
def methods_of_layers_are_patched(twin: Twin) -> None:
    model = nn.Linear(3, 2).requires_grad_(False)
    step = twin(lambda x: model(x))
    step.warm(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nn.Linear, "forward", lambda self, x: x * 5)
        step(X, times=3)
    step.warm(X)
    model.forward = lambda x: x * 9  # type: ignore[method-assign]
    step(X, times=3)


@scenario
def a_subclass_of_a_layer_has_the_layers_attributes(twin: Twin) -> None:
    class Norm(nn.LayerNorm):
        def forward(self, x: Any) -> Any:
            return super().forward(x) * 2

    class Drop(nn.Dropout):
        pass

    norm, drop = Norm(3).requires_grad_(False), Drop(0.5)
    step = twin(lambda x: drop(norm(x)))
    step.warm(X)
    norm.eps = 10.0
    step(X, times=4)
    drop.p = 0.0
    step(X, times=4)


@scenario
def hooks_for_all_modules(twin: Twin) -> None:
    layer = nn.ReLU()
    step = twin(lambda x: layer(x))
    step.warm(X)
    handle = register_module_forward_hook(lambda m, i, o: o * 5)
    try:
        step(X, times=3)
    finally:
        handle.remove()
    handle = register_module_forward_pre_hook(lambda m, i: (i[0] * 7,))
    try:
        step(X, times=3)
    finally:
        handle.remove()
    step(X, times=2)


@scenario
def the_default_type(twin: Twin) -> None:
    one = twin(lambda x: (torch.ones(3) * x.double().sum(), torch.full((2,), 1.5)))
    two = twin(lambda x: x.to(torch.get_default_dtype()) * 1)
    one.warm(X)
    two.warm(X)
    torch.set_default_dtype(torch.float64)
    try:
        one(X, times=3)
        two(X, times=3)
    finally:
        torch.set_default_dtype(torch.float32)
    one(X, times=2)


@scenario
def settings_that_are_asked(twin: Twin) -> None:
    threads = torch.get_num_threads()
    torch.manual_seed(3)
    one = twin(lambda x: x + (2.0 if torch.are_deterministic_algorithms_enabled() else 1.0))
    two = twin(lambda x: x * torch.get_num_threads())
    three = twin(lambda x: x * (torch.initial_seed() % 100))
    for step in (one, two, three):
        step(X, times=4)
    torch.manual_seed(5)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads + 1)
    try:
        for step in (one, two, three):
            step(X, times=3)
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_num_threads(threads)


@scenario
def random_streams(twin: Twin) -> None:
    drop = nn.Dropout(0.5)

    def step(x: Any) -> Any:
        noise = torch.rand(3) + torch.randn_like(x) + F.dropout(x, 0.3)
        return drop(x) + noise + torch.randint(0, 9, (3,)) + torch.randperm(3)

    calls = twin(step)
    calls(X, times=5)
    torch.manual_seed(5)
    calls(X, times=2)
    state = torch.get_rng_state()
    calls(X)
    torch.set_rng_state(state)
    calls(X)


@scenario
def modes(twin: Twin) -> None:
    w = torch.ones(3, requires_grad=True)
    step = twin(lambda x: x @ w * torch.ones(1))
    step.warm(X)
    for mode in (torch.no_grad, torch.inference_mode, torch.autograd.detect_anomaly,
                 lambda: torch.autocast("cpu", dtype=torch.bfloat16)):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with mode():
                step(X, times=2)
        step(X, times=2)


@scenario
def optimizers_are_patched(twin: Twin) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    calls = twin(step)
    calls.warm(X)
    real = optimizer.step
    optimizer.step = lambda *a: (twin.note("step"), real(*a))[1]  # type: ignore
    calls(X, times=3)
    del optimizer.step
    calls.warm(X)
    optimizer.zero_grad = lambda *a: twin.note("zero")  # type: ignore[method-assign]
    calls(X, times=3)
    twin.note(w)


def test_hooks_do_not_run_once_more_while_a_module_is_recorded() -> None:
    model = nn.Linear(3, 1)
    calls: list[int] = []
    model.register_full_backward_pre_hook(lambda *_: calls.append(1))
    model.weight.register_hook(lambda g: calls.append(2))
    compiled = torch.compile(model)
    x = X.clone().requires_grad_(True)
    for _ in range(4):
        compiled(x).sum().backward()
    assert calls == [1, 2] * 4


def test_a_users_backward_with_effects_runs_once_for_each_backward() -> None:
    calls: list[int] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            calls.append(1)
            return grads[0] * 2

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x: Any) -> Any:
            return Double.apply(self.w * x)

    compiled = torch.compile(Model())
    for _ in range(6):
        compiled(X).sum().backward()
    assert len(calls) == 6
