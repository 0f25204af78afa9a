# ruff: noqa: E501  (tables of expressions)
"""`rushlight.optim` and `torch.optim`: 20 steps per option, state dictionaries, texts, errors."""

import copy
import importlib
import pickle
import re
import warnings
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import rushlight  # noqa: E402
import rushlight.optim  # noqa: E402

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def text(value: Any) -> str:
    """`repr` with what differs by nature taken out: addresses and the package's name."""
    return _ADDRESS.sub("0x", repr(value)).replace("rushlight", "torch")


def outcome(expression: str, names: dict[str, Any]) -> str:
    """What an expression gives, or the error it ends in, as text."""
    try:
        return text(eval(expression, names))
    except Exception as error:
        return f"{type(error).__name__}: {text(str(error))}"


def namespace(package: ModuleType) -> dict[str, Any]:
    package.manual_seed(0)
    names: dict[str, Any] = {
        "T": package,
        "nn": package.nn,
        "O": package.optim,
        "S": importlib.import_module(package.__name__ + ".optim.lr_scheduler"),
        "OO": importlib.import_module(package.__name__ + ".optim.optimizer"),
        "copy": copy,
        "pickle": pickle,
        "w": package.nn.Parameter(package.ones(2)),
        "v": package.nn.Parameter(package.ones(3)),
    }
    return names


def run(lines: list[str], setup: str = "") -> None:
    results = []
    for package in (torch, rushlight):
        names = namespace(package)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(setup, names)
            results.append([f"{line} -> {outcome(line, names)}" for line in lines])
    different = [pair for pair in zip(*results, strict=True) if pair[0] != pair[1]]
    assert different == []


OPTIONS = """
SGD() | SGD(lr=0.1, momentum=0.9) | SGD(lr=0.1, momentum=0.9, dampening=0.3)
SGD(lr=0.1, weight_decay=0.1) | SGD(lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True)
SGD(lr=0.1, maximize=True) | SGD(lr=0.1, momentum=0.5, maximize=True, weight_decay=0.1)
SGD(lr=0.1, momentum=0.9, foreach=True) | SGD(lr=T.tensor(0.1)) | SGD(lr=0.1, fused=True)
Adam() | Adam(lr=0.1, betas=(0.4, 0.9)) | Adam(lr=0.1, weight_decay=0.1) | Adam(lr=0.1, amsgrad=True)
Adam(lr=0.1, maximize=True, weight_decay=0.1, amsgrad=True) | Adam(lr=T.tensor(0.1)) | Adam(eps=0.1)
Adam(lr=0.1, decoupled_weight_decay=True, weight_decay=0.1) | Adam(foreach=True) | Adam(fused=True)
AdamW() | AdamW(lr=0.1, amsgrad=True, maximize=True) | AdamW(lr=0.1, weight_decay=0)
RMSprop() | RMSprop(lr=0.1, alpha=0.4, weight_decay=0.1) | RMSprop(centered=True, momentum=0.9)
RMSprop(centered=True, alpha=0.3) | RMSprop(maximize=True, momentum=0.5) | RMSprop(foreach=True)
Adagrad() | Adagrad(lr=0.1, lr_decay=0.1, weight_decay=0.1) | Adagrad(initial_accumulator_value=0.3)
Adagrad(maximize=True) | Adadelta() | Adadelta(rho=0.5, weight_decay=0.1, maximize=True)
Adamax() | Adamax(lr=0.1, weight_decay=0.1, maximize=True) | NAdam() | NAdam(lr=0.1, weight_decay=0.1)
NAdam(decoupled_weight_decay=True, weight_decay=0.1, maximize=True) | RAdam() | RAdam(lr=0.1)
RAdam(weight_decay=0.1, decoupled_weight_decay=True) | RAdam(weight_decay=0.1, betas=(0.5, 0.9))
Rprop() | Rprop(lr=0.1, etas=(0.3, 1.5), step_sizes=(1e-3, 0.2), maximize=True)
ASGD() | ASGD(lr=0.1, weight_decay=0.1, t0=5) | ASGD(maximize=True, lambd=0.1, alpha=0.5)
"""
CASES = [part.strip() for row in OPTIONS.strip().splitlines() for part in row.split("|")]
SHAPES = [(3, 4), (5,), (), (150, 150)]


def trained(package: ModuleType, case: str, dtype: str, steps: int = 20) -> Any:
    """Parameters and the optimizer's state after some steps on a fixed sequence of gradients."""
    kind = getattr(package, dtype)
    package.manual_seed(1)
    params = [
        package.nn.Parameter(package.randn(shape, dtype=package.float64).to(kind))
        for shape in SHAPES
    ]
    names = {"T": package, "params": params}
    call = case.replace("(", "(params, ", 1)
    optimizer = eval("T.optim." + call, names)
    for step in range(steps):
        for place, p in enumerate(params):
            # One parameter joins late, one pauses: step counts differ within the group.
            if (place == 1 and step < 3) or (place == 2 and step % 5 == 2):
                p.grad = None
            else:
                p.grad = package.randn(p.shape, dtype=package.float64).to(kind)
        optimizer.step()
    return params, optimizer


def close(ours: Any, theirs: Any, tolerance: float) -> None:
    ours, theirs = ours.detach(), theirs.detach()
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    a = torch.tensor(ours.double().tolist(), dtype=torch.float64)
    b = torch.tensor(theirs.double().tolist(), dtype=torch.float64)
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance), (a - b).abs().max()


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-6), ("float64", 1e-13)])
@pytest.mark.parametrize("case", CASES)
def test_twenty_steps_end_in_the_same_place(case: str, dtype: str, tolerance: float) -> None:
    theirs, their_optimizer = trained(torch, case, dtype)
    ours, our_optimizer = trained(rushlight, case, dtype)
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, tolerance)
    a_state, b_state = our_optimizer.state_dict(), their_optimizer.state_dict()
    assert text(a_state["param_groups"]) == text(b_state["param_groups"])
    assert text(our_optimizer) == text(their_optimizer)
    assert list(a_state["state"]) == list(b_state["state"])
    for number, kept in b_state["state"].items():
        assert list(a_state["state"][number]) == list(kept)
        for name, value in kept.items():
            if torch.is_tensor(value):
                close(a_state["state"][number][name], value, tolerance)
            else:
                assert a_state["state"][number][name] == value


ERRORS = """
O.SGD(w, lr=.1) | O.SGD([], lr=.1) | O.SGD([3], lr=.1) | O.SGD([w*2], lr=.1) | O.SGD([w,w], lr=.1)
O.SGD({w}, lr=.1) | O.SGD([{'params':{w}}], lr=.1) | O.SGD([{'params':[w]},{'params':[w]}], lr=.1)
O.SGD([{'params':[w]},v], lr=.1) | O.SGD([{'x':[w]}], lr=.1) | O.SGD(3, lr=.1) | O.SGD([('a',w)], lr=.1)
O.SGD([('a',w),v], lr=.1) | O.SGD([v,('a',w)], lr=.1) | O.SGD([('a',w),('b',v)]).state_dict()
O.SGD([{'params':[('a',w)]},{'params':[v]}], lr=.1) | O.SGD([{'params':[v]},{'params':[('a',w)]}])
O.Optimizer([w], {'lr': 3}) | O.Optimizer([w], {'lr': 3}).step() | OO.required
O.Optimizer([w], {'lr': OO.required}) | O.SGD([w], lr=-1.) | O.SGD([w], momentum=-1.)
O.SGD([w], weight_decay=-1.) | O.SGD([w], nesterov=True) | O.SGD([w], foreach=True, fused=True)
O.SGD([w], differentiable=True, fused=True) | O.SGD([w], lr=T.tensor([1.,2.])) | O.SGD([w], betas=1)
O.Adam([w], lr=-1.) | O.Adam([w], eps=-1.) | O.Adam([w], betas=(1.5,.9)) | O.Adam([w], betas=(.9,1.5))
O.Adam([w], weight_decay=-1.) | O.Adam([w], lr=T.tensor(.1), foreach=True) | O.Adam([w], capturable=True).step()
O.Adam([w], betas=(T.tensor(.1),.2)) | O.AdamW([w], betas=(.1,2.)) | O.RMSprop([w], alpha=-1.)
O.RMSprop([w], momentum=-1.) | O.Adagrad([w], lr_decay=-1.) | O.Adagrad([w], initial_accumulator_value=-1.)
O.Adagrad([w], eps=-1.) | O.Adadelta([w], rho=-1.) | O.Adamax([w], betas=(2.,.1)) | O.NAdam([w], momentum_decay=-1.)
O.RAdam([w], eps=-1.) | O.Rprop([w], etas=(1.,.5)) | O.ASGD([w], weight_decay=-1.)
O.NAdam([w], capturable=True).step() | O.ASGD([w], capturable=True).step() | O.Adamax([w], capturable=True).step()
o.add_param_group(3) | o.add_param_group({'params': w}) | o.add_param_group({'params': v, 'lr': 5}) | o
o.load_state_dict({'state':{}, 'param_groups':[]}) | o.state_dict()
O.SGD([w]).load_state_dict({'state':{}, 'param_groups':[{'params':[0,1]}]})
sorted(o.__getstate__()) | O.SGD.step.hooked | o.step(lambda: 5) | pickle.loads(pickle.dumps(o))
copy.deepcopy(o) | o.zero_grad(set_to_none=False) | w.grad | o.zero_grad() | w.grad
"""


def test_texts_and_errors_are_the_same() -> None:
    lines = [part.strip() for row in ERRORS.strip().splitlines() for part in row.split(" | ")]
    run(lines, "o = O.SGD([w], lr=.1, momentum=.9); w.grad = T.ones(2)")


def test_step_hooks_see_and_change_the_same_things() -> None:
    run(
        ["o.step()", "seen", "o.register_step_pre_hook(lambda *a: 3) and o.step()",
         "o.state_dict()['extra']", "o.load_state_dict(o.state_dict())", "seen"],
        "seen = []; o = O.SGD([w], lr=.1)\n"
        "o.register_step_pre_hook(lambda opt, args, kwargs: seen.append(('pre', len(args), kwargs)))\n"
        "o.register_step_post_hook(lambda opt, args, kwargs: seen.append(('post', len(args))))\n"
        "o.register_state_dict_post_hook(lambda opt, d: {**d, 'extra': 1})\n"
        "o.register_load_state_dict_pre_hook(lambda opt, d: seen.append(sorted(d)))\n"
        "o.register_load_state_dict_post_hook(lambda opt: seen.append('loaded'))",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "NAdam"])
def test_a_loaded_state_continues_in_the_same_place(name: str) -> None:
    extra = "momentum=0.9" if name == "SGD" else ""
    case = f"{name}({extra})"
    ours, optimizer = trained(rushlight, case, "float32", 4)
    whole, _ = trained(rushlight, case, "float32", 8)
    copied = copy.deepcopy(optimizer.state_dict())
    fresh = eval("T.optim." + case.replace("(", "(params, ", 1), {"T": rushlight, "params": ours})
    fresh.load_state_dict(copied)
    rushlight.manual_seed(1)
    for p in ours:
        rushlight.randn(p.shape, dtype=rushlight.float64)
    for step in range(8):
        for place, p in enumerate(ours):
            if (place == 1 and step < 3) or (place == 2 and step % 5 == 2):
                p.grad = None
            else:
                grad = rushlight.randn(p.shape, dtype=rushlight.float64)
                p.grad = grad.to(rushlight.float32)
        if step >= 4:
            fresh.step()
    for a, b in zip(ours, whole, strict=True):
        assert a.tolist() == b.tolist()


# AMSGrad, Adamax, Rprop and the centred RMSprop aren't here: torch itself fails after two such steps.
@pytest.mark.parametrize("case", ["SGD(momentum=0.9, weight_decay=0.1)", "Adam()", "Adadelta()",
                                  "Adam(weight_decay=0.1)", "RMSprop(momentum=0.5)", "Adagrad()",
                                  "NAdam()", "RAdam()", "ASGD()"])  # fmt: skip
def test_a_differentiable_step_passes_gradients_through(case: str) -> None:
    results = []
    for package in (torch, rushlight):
        start = package.tensor([1.0, -2.0, 3.0], dtype=package.float64, requires_grad=True)
        names = {"T": package, "params": [start * 1.0]}
        call = case.replace("(", "(params, differentiable=True, lr=0.1, ", 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer = eval("T.optim." + call, names)
        p = names["params"][0]
        for step in range(3):
            p.grad = (start * start * (step + 1)).clone()
            optimizer.step()
        p.sum().backward()
        results.append((p.tolist(), start.grad.tolist()))
    assert results[1][0] == pytest.approx(results[0][0], rel=1e-12)
    assert results[1][1] == pytest.approx(results[0][1], rel=1e-9)


SCHEDULES = """
StepLR(o, 3) | StepLR(o, 2, 0.5) | MultiStepLR(o, [2, 5, 5]) | ConstantLR(o, 0.5, 3) | LinearLR(o, 0.3, 0.9, 4)
ExponentialLR(o, 0.9) | PolynomialLR(o, 6, 2.0) | CosineAnnealingLR(o, 4, 0.01) | LambdaLR(o, lambda e: 0.9 ** e)
MultiplicativeLR(o, lambda e: 0.9) | CosineAnnealingWarmRestarts(o, 3) | CosineAnnealingWarmRestarts(o, 2, 2, 0.01)
OneCycleLR(o, 1.0, 13) | OneCycleLR(o, 1.0, epochs=4, steps_per_epoch=4, anneal_strategy='linear', three_phase=True)
CyclicLR(o, 0.1, 1.0, 3) | CyclicLR(o, 0.1, 1.0, 2, 3, mode='triangular2') | CyclicLR(o, 0.1, 1.0, 3, mode='exp_range', gamma=0.9)
CyclicLR(o, 0.1, 1.0, 3, scale_fn=lambda x: 0.5) | ChainedScheduler([ConstantLR(o, 0.1, 2), ExponentialLR(o, 0.9)])
SequentialLR(o, [ConstantLR(o, 0.1, 2), ExponentialLR(o, 0.9)], [3])
SequentialLR(o, [LinearLR(o, 0.1, 1.0, 4), CosineAnnealingLR(o, 5), StepLR(o, 2)], [4, 8])
SequentialLR(o, [StepLR(o, 2), LambdaLR(o, lambda e: 1 / (1 + e))], [3])
SequentialLR(o, [StepLR(o, 2), CosineAnnealingWarmRestarts(o, 3)], [3])
"""


@pytest.mark.parametrize(
    "expression",
    [part.strip() for row in SCHEDULES.strip().splitlines() for part in row.split(" | ")],
)
def test_a_schedule_sets_the_same_rates(expression: str) -> None:
    results = []
    for package in (torch, rushlight):
        names = namespace(package)
        names.update(vars(names["S"]))
        w, v = names["w"], names["v"]
        groups = [{"params": [w]}, {"params": [v], "lr": 0.5}]
        names["o"] = optimizer = package.optim.SGD(groups, lr=0.2, momentum=0.9)
        seen: list[Any] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scheduler = eval(expression, names)
            seen.append(text(scheduler.state_dict()))
            for _ in range(13):
                optimizer.step()
                scheduler.step()
                momenta = [group["momentum"] for group in optimizer.param_groups]
                seen.append((list(scheduler.get_last_lr()), momenta))
            seen.append(text(scheduler.state_dict()))
            seen.append(text(optimizer.param_groups[1]))
        results.append(seen)
    assert results[1] == results[0]


def test_a_plateau_is_found_at_the_same_time() -> None:
    for options in ("", "mode='max', threshold=0.1", "patience=1, cooldown=2", "factor=0.5, min_lr=0.05",
                    "threshold_mode='abs', patience=0, threshold=0.3"):  # fmt: skip
        results = []
        for package in (torch, rushlight):
            names = namespace(package)
            names["o"] = optimizer = package.optim.SGD([names["w"]], lr=0.2)
            scheduler = eval(f"S.ReduceLROnPlateau(o, {options})", names)
            seen = [text(scheduler.state_dict())]
            for metric in [
                5,
                4,
                4,
                4.1,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
                3.9,
            ]:
                scheduler.step(metric)
                seen.append(text((scheduler.get_last_lr(), optimizer.param_groups[0]["lr"])))
            seen.append(text(scheduler.state_dict()))
            results.append(seen)
        assert results[1] == results[0]


SCHEDULE_ERRORS = """
S.StepLR(3,2) | S.StepLR(o,2,last_epoch=3) | S.ReduceLROnPlateau(o,factor=1.) | S.ReduceLROnPlateau(o,mode='foo')
S.ReduceLROnPlateau(o,threshold_mode='x') | S.ReduceLROnPlateau(o,min_lr=[1,2]) | S.OneCycleLR(o,.1)
S.OneCycleLR(o,.1,total_steps=-1) | S.OneCycleLR(o,.1,epochs=0,steps_per_epoch=2) | S.OneCycleLR(o,.1,epochs=1,steps_per_epoch=-2)
S.OneCycleLR(o,.1,total_steps=10,pct_start=2.) | S.OneCycleLR(o,.1,total_steps=10,anneal_strategy='x')
S.CosineAnnealingWarmRestarts(o,0) | S.CosineAnnealingWarmRestarts(o,1,0) | S.CosineAnnealingWarmRestarts(o,1).step(-1)
S.ConstantLR(o,factor=2.) | S.LinearLR(o,start_factor=2.) | S.LinearLR(o,start_factor=0) | S.LinearLR(o,end_factor=-2.)
S.LambdaLR(o,[1,2]) | S.MultiplicativeLR(o,[1,2]) | S.SequentialLR(o,[],[1]) | S.SequentialLR(o,[S.StepLR(o,1)],[1])
S.SequentialLR(o,[S.StepLR(p,1),S.StepLR(o,2)],[1]) | S.SequentialLR(o,[S.StepLR(o,1),3],[1]) | S.ChainedScheduler([])
S.ChainedScheduler([S.StepLR(o,1),S.StepLR(p,1)]) | S.CyclicLR(o,.1,.2,mode='x')
"""


def test_schedules_refuse_alike() -> None:
    lines = [
        part.strip() for row in SCHEDULE_ERRORS.strip().splitlines() for part in row.split(" | ")
    ]
    run(lines, "o = O.SGD([w], lr=.1, momentum=.9); p = O.SGD([v], lr=.1)")


def test_the_wrong_order_of_steps_is_warned_of() -> None:
    messages = []
    for package in (torch, rushlight):
        names = namespace(package)
        optimizer = package.optim.SGD([names["w"]], lr=0.1)
        scheduler = names["S"].StepLR(optimizer, 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scheduler.step()
            scheduler.step(3)
        messages.append([str(one.message) for one in caught])
    assert messages[1] == messages[0]
