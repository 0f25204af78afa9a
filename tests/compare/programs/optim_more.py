"""LBFGS, Adafactor, Muon, SparseAdam, weight averaging."""

import torch
from observation import near, outcome
from torch import nn, optim

swa_utils = optim.swa_utils


def _trained(make, steps=6):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    x = torch.randn(16, 4, dtype=torch.float64)
    y = x.sum(1, keepdim=True).sin()
    optimizer = make(net)
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    kept = sorted({(k, type(v).__name__) for s in optimizer.state.values() for k, v in s.items()})
    print(near(loss), [near(p) for p in net.parameters()], kept)


def lbfgs() -> None:
    for options in ({"max_iter": 5}, {"lr": 0.1, "max_iter": 5, "history_size": 3}, {"line_search_fn": "strong_wolfe", "max_iter": 4},
                    {"lr": 30.0, "line_search_fn": "strong_wolfe", "max_iter": 3}, {"lr": 2.0, "line_search_fn": "strong_wolfe", "max_iter": 3}):  # fmt: skip
        _trained(lambda net, options=options: optim.LBFGS(net.parameters(), **options), 4)
    w, v = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    print(optim.LBFGS([w]))
    outcome(lambda: optim.LBFGS([{"params": [w]}, {"params": [v]}]))
    outcome(lambda: optim.LBFGS([w], lr=-1))


def adafactor() -> None:
    for options in ({}, {"lr": 0.1, "weight_decay": 0.1, "d": 2.0, "eps": (1e-3, 1e-2), "beta2_decay": -0.5, "maximize": True},
                    {"foreach": True}):  # fmt: skip
        _trained(lambda net, options=options: optim.Adafactor(net.parameters(), **options), 20)
    w = nn.Parameter(torch.ones(2))
    for options in ({"lr": -1}, {"d": 0.1}, {"beta2_decay": 1}, {"eps": (-1, 1)}, {"eps": (1, -1)}, {"weight_decay": -1}):
        outcome(lambda options=options: optim.Adafactor([w], **options))


def muon_and_sparse_adam() -> None:
    for options in ({"lr": 0.05}, {"lr": 0.05, "nesterov": False, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0, "ns_steps": 3}):
        torch.manual_seed(0)
        w = nn.Parameter(torch.randn(4, 6))
        optimizer = optim.Muon([w], **options)
        for _ in range(5):
            w.grad = w.detach().cos()
            optimizer.step()
        # The iterations are in bfloat16, where sums differ by their order.
        print((w.detach() * 20).round() / 20)
    v = nn.Parameter(torch.ones(3))
    v.grad = torch.ones(3)
    outcome(lambda: optim.Muon([v]))
    outcome(lambda: optim.SparseAdam([v]).step())
    outcome(lambda: optim.SparseAdam([v], lr=0))


def averaged_models() -> None:
    x = torch.linspace(-1, 1, 64).reshape(16, 4)
    for options in ({}, {"avg_fn": swa_utils.get_ema_avg_fn(0.9)}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)},
                    {"avg_fn": swa_utils.get_swa_avg_fn(), "use_buffers": True}):  # fmt: skip
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Sigmoid())
        averaged = swa_utils.AveragedModel(net, **options)
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            net(x).pow(2).mul(torch.arange(3.0)).sum().backward()
            optimizer.step()
            averaged.update_parameters(net)
        swa_utils.update_bn([x[:8], (x[8:], 1)], averaged)
        print(list(averaged.state_dict()), averaged.n_averaged)
        # Three digits: the fifth of torch's variances changes with the number of its threads.
        print([near(t, 3) for t in (averaged.module[1].running_mean, averaged.module[1].running_var, averaged(x).sum())])


def swalr() -> None:
    w = nn.Parameter(torch.ones(2))
    for options in ({"swa_lr": 0.05}, {"swa_lr": 0.05, "anneal_epochs": 30, "anneal_strategy": "linear"}, {"swa_lr": [0.05], "anneal_epochs": 0}):
        optimizer = optim.SGD([w], lr=0.1)
        scheduler = swa_utils.SWALR(optimizer, **options)
        rates = []
        for _ in range(200):
            optimizer.step()
            scheduler.step()
            rates.append(round(scheduler.get_last_lr()[0], 9))
        print(rates, scheduler.state_dict()["_step_count"])
    outcome(lambda: swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x"))
    outcome(lambda: swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1))
