"""The optimizers' rules as functions on lists of tensors."""

import importlib

import torch

_MOMENTS = {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
_CASES = {
    "adam": (
        "exp_avgs exp_avg_sqs max_exp_avg_sqs",
        {"amsgrad": True, "maximize": False, **_MOMENTS},
    ),
    "adamw": (
        "exp_avgs exp_avg_sqs max_exp_avg_sqs",
        {"amsgrad": False, "maximize": True, **_MOMENTS},
    ),
    "adagrad": ("state_sums", {"lr_decay": 0.1, "eps": 1e-8, "maximize": False}),
    "rmsprop": (
        "square_avgs grad_avgs momentum_buffer_list",
        {"alpha": 0.9, "eps": 1e-8, "momentum": 0.5, "centered": True},
    ),
    "adadelta": ("square_avgs acc_deltas", {"rho": 0.9, "eps": 1e-6, "maximize": False}),
    "adamax": ("exp_avgs exp_infs", _MOMENTS),
    "nadam": ("exp_avgs exp_avg_sqs mu_products", {"momentum_decay": 0.004, **_MOMENTS}),
    "radam": ("exp_avgs exp_avg_sqs", _MOMENTS),
    "asgd": ("axs mus etas", {"lambd": 1e-4, "t0": 1e6, "alpha": 0.75}),
}


def _lists(names):
    found = {name: [torch.zeros(3), torch.zeros(3)] for name in names.split()}
    for name in ("mus", "etas", "mu_products"):
        if name in found:
            found[name] = [torch.ones(()), torch.ones(())]
    return found


def _function(name):
    return getattr(importlib.import_module(f"{torch.__name__}.optim.{name}"), name)


def _run(name, names, options, **rest):
    params = [torch.ones(3), torch.arange(3.0)]
    grads = [torch.tensor([0.5, -1.0, 2.0]), torch.tensor([1.0, 2.0, -3.0])]
    lists, steps = _lists(names), [torch.tensor(0.0), torch.tensor(0.0)]
    for _ in range(3):
        _function(name)(params, grads, *lists.values(), steps, **options, **rest)
    print(name, params, steps, params[0].grad)
    print(lists)


def each_rule_is_a_function_of_lists():
    for name, (names, options) in _CASES.items():
        _run(name, names, options, lr=0.1, weight_decay=0.01, foreach=False)


def sgd_makes_its_buffers():
    for options in ({"momentum": 0.0, "nesterov": False}, {"momentum": 0.9, "nesterov": True}):
        params, buffers = [torch.ones(3)], [None]
        for _ in range(2):
            grads = [torch.tensor([0.5, -1.0, 2.0])]
            rest = {"lr": 0.1, "weight_decay": 0.1, "dampening": 0.0, "maximize": False}
            _function("sgd")(params, grads, buffers, foreach=False, **rest, **options)
        print(params, buffers)


def rprop_keeps_its_step_sizes():
    params, prevs, steps = [torch.ones(3)], [torch.zeros(3)], [torch.tensor(0.0)]
    sizes = [torch.full((3,), 0.1)]
    rest = {"step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2}
    for grad in ([1.0, -1.0, 2.0], [1.0, 1.0, -2.0], [1.0, 1.0, 1.0]):
        grads = [torch.tensor(grad)]
        _function("rprop")(params, grads, prevs, sizes, steps, foreach=False, **rest)
    print(params, prevs, sizes, steps)
