"""The sweeps of the rarer optimizers do what their tensor operations do, whatever the layout."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import optim
from rushlight._array.optimizers.rule import SMALL
from rushlight.optim._plain import with_gradient

RULES: list[tuple[Any, dict[str, Any]]] = [
    (optim.NAdam, {"lr": 0.1, "weight_decay": 0.1}),
    (optim.NAdam, {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (optim.RAdam, {"lr": 0.1, "betas": (0.4, 0.9), "maximize": True}),
    (optim.RAdam, {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (optim.Adamax, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    (optim.Adadelta, {"rho": 0.5, "weight_decay": 0.1, "maximize": True}),
    (optim.Adadelta, {}),
    (optim.Rprop, {"lr": 0.1, "maximize": True}),
    (optim.ASGD, {"lr": 0.1, "t0": 3, "weight_decay": 0.1, "maximize": True}),
    (optim.Adafactor, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
]


def parameters() -> list[rl.nn.Parameter]:
    rl.manual_seed(0)
    shapes = [(3, 4), (), (SMALL + 5,), (2, 3, 4), (0, 2)]
    values = [rl.randn(shape, dtype=rl.float64) for shape in shapes]
    values.append(rl.randn(5, 4, dtype=rl.float64).t())
    return [rl.nn.Parameter(value) for value in values]


def trained(rule: Any, options: dict[str, Any]) -> list[Any]:
    params = parameters()
    if rule is optim.Adafactor:
        params = [p for p in params if p.numel()]
    optimizer = rule(params, **options)
    for step in range(8):
        for p in params:
            p.grad = rl.sin(p.detach() * (step + 1))
        optimizer.step()
    return [p.detach() for p in params] + [
        value for p in params for value in optimizer.state[p].values()
    ]


@pytest.mark.parametrize(("rule", "options"), RULES)
def test_a_sweep_gives_what_the_tensor_operations_give(
    rule: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = trained(rule, options)
    if rule is optim.Adafactor:  # whose `_sweep` looks at the states for either way
        monkeypatch.setattr(optim.adafactor, "PLAIN", ())
    else:
        monkeypatch.setattr(rule, "_sweep", lambda self, group: with_gradient(group["params"]))
    plain = trained(rule, options)
    for a, b in zip(swept, plain, strict=True):
        assert rl.allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("rule", "options"), RULES)
def test_a_state_goes_through_its_dictionary_in_the_middle(
    rule: Any, options: dict[str, Any]
) -> None:
    def run(changes: bool) -> list[Any]:
        p = rl.nn.Parameter(rl.linspace(-1, 1, 12).reshape(3, 4))
        optimizer = rule([p], **options)
        for step in range(6):
            if changes and step == 3:
                state = optimizer.state_dict()
                optimizer = rule([p])
                optimizer.load_state_dict(state)
            p.grad = rl.cos(p.detach())
            optimizer.step()
        return p.tolist()

    assert run(True) == run(False)
