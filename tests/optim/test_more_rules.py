"""LBFGS, Adafactor's refusals, Muon, SparseAdam, averaged models, swapped parameters."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn, optim
from rushlight.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    update_bn,
)


def rosenbrock(x: rl.Tensor) -> rl.Tensor:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def closure_of(optimizer: Any, loss_of: Any) -> Any:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        return loss

    return closure


def test_lbfgs_with_the_line_search_finds_rosenbrocks_minimum() -> None:
    x = nn.Parameter(rl.zeros(6, dtype=rl.float64))
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe", max_iter=100)
    first = optimizer.step(closure_of(optimizer, lambda: rosenbrock(x)))
    assert first.item() == 5.0
    optimizer.step(closure_of(optimizer, lambda: rosenbrock(x)))
    assert rl.allclose(x.detach(), rl.ones(6, dtype=rl.float64), atol=1e-5)
    assert optimizer.state[x]["func_evals"] < 150


def test_lbfgs_goes_on_from_its_state_dictionary() -> None:
    def run(changes: bool) -> Any:
        x = nn.Parameter(rl.full((3,), 0.5, dtype=rl.float64))
        optimizer = optim.LBFGS([x], lr=0.5, max_iter=3, history_size=2)
        for step in range(4):
            if changes and step == 2:
                state = optimizer.state_dict()
                optimizer = optim.LBFGS([x])
                optimizer.load_state_dict(state)
            optimizer.step(closure_of(optimizer, lambda: (x**4).sum() + x.sum()))
        return x.tolist()

    assert run(True) == pytest.approx(run(False), rel=1e-12)


def test_lbfgs_refuses_groups_and_other_line_searches() -> None:
    v, w = nn.Parameter(rl.ones(2)), nn.Parameter(rl.ones(2))
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optim.LBFGS([{"params": [v]}, {"params": [w]}])
    optimizer = optim.LBFGS([v], line_search_fn="golden")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(closure_of(optimizer, lambda: v.square().sum()))


def test_sparse_adam_refuses_dense_gradients() -> None:
    w = nn.Parameter(rl.ones(2))
    optimizer = optim.SparseAdam([w])
    optimizer.step()
    w.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        optimizer.step()


def test_muon_moves_along_a_nearly_orthogonal_matrix() -> None:
    pytest.importorskip("ml_dtypes")
    rl.manual_seed(0)
    w = nn.Parameter(rl.zeros(6, 4))
    w.grad = rl.randn(6, 4)
    optim.Muon([w], lr=1.0, weight_decay=0.0).step()
    moved = w.detach() / (6 / 4) ** 0.5
    sizes = rl.linalg.svdvals(moved)
    assert bool((sizes > 0.6).all()) and bool((sizes < 1.3).all())
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        optim.Muon([nn.Parameter(rl.ones(2))])


def test_an_averaged_model_holds_the_mean_of_all_it_saw() -> None:
    model = nn.Linear(2, 1)
    plain, exponential = AveragedModel(model), AveragedModel(model, avg_fn=get_ema_avg_fn(0.5))
    several = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5))
    for value in (1.0, 2.0, 6.0):
        nn.init.constant_(model.weight, value)
        for averaged in (plain, exponential, several):
            averaged.update_parameters(model)
    assert plain.module.weight.tolist() == [[3.0, 3.0]] and plain.n_averaged.item() == 3
    assert exponential.module.weight.tolist() == [[3.75, 3.75]] == several.module.weight.tolist()
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        get_ema_avg_fn(2)


def test_update_bn_averages_over_all_batches() -> None:
    model = nn.BatchNorm1d(1)
    model.eval()
    update_bn([rl.tensor([[0.0], [2.0]]), (rl.tensor([[4.0], [10.0]]), "label")], model)
    assert model.running_mean.item() == 4.0 and round(model.running_var.item(), 4) == 10.0
    assert model.momentum == 0.1 and not model.training


def test_swalr_reaches_its_rate_and_stays() -> None:
    w = nn.Parameter(rl.ones(2))
    optimizer = optim.SGD([w], lr=1.0)
    scheduler = SWALR(optimizer, swa_lr=0.2, anneal_epochs=4, anneal_strategy="linear")
    rates = []
    for _ in range(6):
        optimizer.step()
        scheduler.step()
        rates.append(round(scheduler.get_last_lr()[0], 6))
    assert rates == [0.8, 0.6, 0.4, 0.2, 0.2, 0.2]


def test_swapped_in_parameters_move_and_the_own_ones_stay() -> None:
    w, u = nn.Parameter(rl.ones(2)), rl.zeros(2)
    optimizer = optim.Adam([w], lr=0.1)
    w.grad = u.grad = rl.ones(2)
    optimizer.step()
    before, state = w.tolist(), optimizer.state_dict()
    with optim.swap_in_optimizer_params_and_state(optimizer, {"w": u}, state):
        optimizer.step()
    assert w.tolist() == before and rl.allclose(u, rl.full((2,), -0.1))
    assert optimizer.param_groups[0]["params"][0] is w
