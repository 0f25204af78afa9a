"""Optimisers: twenty steps under each option, printing, errors, state."""

import torch
from observation import each, near, outcome


def _twenty(kind, parameters_of_options, **fixed) -> None:
    for options in parameters_of_options:
        w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        b = torch.tensor(0.5, requires_grad=True)
        try:
            opt = kind([w, b], **{**fixed, **options})
            for k in range(20):
                opt.zero_grad()
                loss = ((w * torch.tensor([1.0, 2.0, 0.5]) + b - k * 0.1) ** 2).sum() + (
                    w**4
                ).mean()
                loss.backward()
                opt.step()
            print(options, near(w), near(b), near(loss))
        except Exception as error:
            print(options, type(error).__name__, error)


def sgd_options() -> None:
    _twenty(
        torch.optim.SGD,
        (
            {},
            {"momentum": 0.9},
            {"momentum": 0.9, "nesterov": True},
            {"weight_decay": 0.1},
            {"momentum": 0.5, "dampening": 0.3},
            {"maximize": True, "lr": 1e-4},
            {"foreach": True},
            {"foreach": False},
            {"momentum": 0.9, "weight_decay": 0.01, "nesterov": True},
            {"lr": 0.0},
        ),
        lr=0.01,
    )


def adam_options() -> None:
    _twenty(
        torch.optim.Adam,
        (
            {},
            {"lr": 0.1},
            {"betas": (0.5, 0.9)},
            {"eps": 0.1},
            {"weight_decay": 0.1},
            {"amsgrad": True},
            {"maximize": True},
            {"foreach": True},
            {"lr": 0.05, "weight_decay": 0.1, "amsgrad": True},
            {"lr": torch.tensor(0.01)},
        ),
    )


def adamw_options() -> None:
    _twenty(
        torch.optim.AdamW,
        ({}, {"lr": 0.1}, {"weight_decay": 0.5}, {"amsgrad": True}, {"weight_decay": 0.0}),
    )


def other_optimisers() -> None:
    for name in ("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"):
        print(name)
        _twenty(getattr(torch.optim, name), ({}, {"lr": 0.05}))
    _twenty(torch.optim.RMSprop, ({"momentum": 0.5}, {"centered": True}, {"alpha": 0.5}))


def optimisers_print() -> None:
    w = torch.ones(1, requires_grad=True)
    print(torch.optim.SGD([w], lr=0.1), torch.optim.Adam([w]), torch.optim.AdamW([w], lr=1e-2))
    print(
        torch.optim.SGD(
            [{"params": [w]}, {"params": [torch.ones(1, requires_grad=True)], "lr": 0.5}],
            lr=0.1,
            momentum=0.9,
        )
    )


def constructor_errors() -> None:
    w = torch.ones(1, requires_grad=True)
    O = torch.optim
    each(
        empty=lambda: O.SGD([], lr=0.1),
        tensor=lambda: O.SGD(w, lr=0.1),
        negative=lambda: O.SGD([w], lr=-1),
        momentum=lambda: O.SGD([w], lr=1, momentum=-1),
        decay=lambda: O.SGD([w], lr=1, weight_decay=-1),
        nesterov=lambda: O.SGD([w], lr=1, nesterov=True),
        betas=lambda: O.Adam([w], betas=(1.0, 0.9)),
        eps=lambda: O.Adam([w], eps=-1),
        nonleaf=lambda: O.SGD([w * 2], lr=1),
        number=lambda: O.SGD([5], lr=1),
        no_lr=lambda: len(O.SGD([w]).param_groups),
        twice=lambda: O.SGD([w, w], lr=1),
        groups=lambda: O.SGD([{"params": [w]}, {"params": [w]}], lr=1),
        a_set=lambda: O.SGD({"params": {w}} and [{"params": {w}}], lr=1),
        frozen=lambda: len(O.SGD([torch.ones(1)], lr=1).param_groups),
        kind=lambda: O.SGD([w], 0.1, 0.9).defaults["momentum"],
    )


def step_skips_parameters_without_gradient() -> None:
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    opt = torch.optim.Adam([a, b], lr=0.1)
    (a * 2).backward()
    opt.step()
    print(a, b, len(opt.state))
    opt.zero_grad()
    print(a.grad)
    (a * 2).backward()
    opt.zero_grad(set_to_none=False)
    print(a.grad)


def step_with_a_closure() -> None:
    w = torch.tensor([2.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)

    def closure():
        opt.zero_grad()
        loss = (w**2).sum()
        loss.backward()
        print("grad enabled", torch.is_grad_enabled())
        return loss

    print(opt.step(closure), w)
    print(opt.step())


def lbfgs_with_a_closure() -> None:
    w = torch.tensor([2.0, -1.5], requires_grad=True)
    opt = torch.optim.LBFGS([w], lr=0.5, max_iter=5)

    def closure():
        opt.zero_grad()
        loss = (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2
        loss.backward()
        return loss

    for _ in range(3):
        print(near(opt.step(closure), 4))


def parameter_groups() -> None:
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    opt = torch.optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.1)
    (a + b).backward()
    opt.step()
    print(a, b, [g["lr"] for g in opt.param_groups], sorted(opt.param_groups[0]))
    opt.add_param_group({"params": [torch.ones(1, requires_grad=True)], "lr": 7})
    print(len(opt.param_groups))
    outcome(opt.add_param_group, [a])
    outcome(opt.add_param_group, {"params": [a]})
    opt.param_groups[0]["lr"] = 0.5
    opt.step()
    print(a)


def parameters_that_come_later() -> None:
    for name in ("SGD", "Adam", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop"):
        first, second, third = (torch.ones(2, requires_grad=True) for _ in range(3))
        opt = getattr(torch.optim, name)([first], lr=0.1)
        opt.add_param_group({"params": [second]})
        opt.param_groups[0]["params"].append(third)
        for p in (first, second, third):
            p.grad = torch.tensor([1.0, -2.0])
        opt.step()
        opt.step()
        print(name, [near(p, 5) for p in (first, second, third)])
    opt = torch.optim.Adagrad([first], initial_accumulator_value=0.5)
    opt.add_param_group({"params": [second], "initial_accumulator_value": 4.0})
    opt.step()
    print([near(opt.state[p]["sum"], 5) for p in (first, second)])


def a_learning_rate_with_dimensions() -> None:
    for name in ("SGD", "Adam", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop"):
        for rate in ([0.1], [[0.1]]):
            leaf = torch.ones(2, requires_grad=True)
            opt = getattr(torch.optim, name)([leaf], lr=torch.tensor(rate), differentiable=True)
            leaf.grad = torch.tensor([1.0, -2.0])
            outcome(opt.step)
            written = leaf.clone()
            written.grad = leaf.grad
            opt.param_groups[0]["params"][0] = written
            opt.step()
            print(name, near(written.detach(), 5), written.requires_grad)
    w = torch.ones(2, dtype=torch.float32, requires_grad=True)
    opt = torch.optim.LBFGS([w], lr=torch.tensor([[0.1]], dtype=torch.float64))
    w.grad = torch.ones(2)
    opt.step(lambda: (w * w).sum())
    print(near(w.detach(), 4))


def the_state_of_an_optimiser() -> None:
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    (w * 2).sum().backward()
    opt.step()
    print(opt.state_dict())
    adam = torch.optim.Adam([w])
    adam.step()
    print(adam.state_dict()["state"], list(adam.state[w]), adam.state_dict()["param_groups"])


def loading_the_state_of_an_optimiser() -> None:
    def make():
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        return w, torch.optim.Adam([w], lr=0.1)

    w, opt = make()
    for _ in range(3):
        opt.zero_grad()
        (w**2).sum().backward()
        opt.step()
    v, other = make()
    other.load_state_dict(opt.state_dict())
    v.data.copy_(w.data)
    for p, o in ((w, opt), (v, other)):
        o.zero_grad()
        (p**2).sum().backward()
        o.step()
    print(w.equal(v), near(v))
    outcome(other.load_state_dict, {"state": {}, "param_groups": []})
    outcome(other.load_state_dict, {"state": {}, "param_groups": [{"params": [0, 1]}]})


def hooks_of_optimisers() -> None:
    w = torch.ones(1, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    opt.register_step_pre_hook(lambda o, args, kwargs: print("pre"))
    opt.register_step_post_hook(lambda o, args, kwargs: print("post", w))
    w.grad = torch.ones(1)
    opt.step()


def schedulers() -> None:
    S = torch.optim.lr_scheduler
    for make in (
        lambda o: S.StepLR(o, 2, 0.5),
        lambda o: S.MultiStepLR(o, [2, 4], 0.1),
        lambda o: S.ExponentialLR(o, 0.9),
        lambda o: S.CosineAnnealingLR(o, 5),
        lambda o: S.LambdaLR(o, lambda e: 1 / (1 + e)),
        lambda o: S.LinearLR(o, total_iters=3),
        lambda o: S.ConstantLR(o, 0.5, 2),
        lambda o: S.PolynomialLR(o, 4, 2.0),
        lambda o: S.OneCycleLR(o, 1.0, total_steps=7),
        lambda o: S.CyclicLR(o, 0.1, 1.0, 2),
        lambda o: S.CosineAnnealingWarmRestarts(o, 3),
        lambda o: S.MultiplicativeLR(o, lambda e: 0.5),
    ):
        w = torch.ones(1, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.8, momentum=0.9)
        scheduler = make(opt)
        rates = []
        for _ in range(6):
            rates.append(opt.param_groups[0]["lr"])
            opt.step()
            scheduler.step()
        print(type(scheduler).__name__, near(rates), near(scheduler.get_last_lr()))


def a_scheduler_before_the_optimiser_warns() -> None:
    opt = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.8)
    s = torch.optim.lr_scheduler.StepLR(opt, 1)
    s.step()
    opt.step()
    print(opt.param_groups[0]["lr"])


def reduce_on_plateau() -> None:
    opt = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    s = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    for value in (1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5):
        s.step(value)
        print(near(opt.param_groups[0]["lr"]), end=" ")
    print()


def updating_by_hand() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        loss = (w**2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    print(w, w.is_leaf, w._version)


def stepping_between_forward_and_backward_is_found() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    loss = (w**2).sum()
    w.grad = torch.ones(2)
    opt.step()
    outcome(loss.backward)
