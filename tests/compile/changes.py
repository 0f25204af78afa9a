"""Changes to a `World` between two calls of its step, by name."""

from __future__ import annotations

import copy
import gc
import math
from collections.abc import Callable
from typing import Any

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F
from tests.compile.worlds import World

Change = Callable[[World], Any]


class Subclass(torch.Tensor):
    """A tensor of a user's kind."""


class Twice(nn.Module):
    """A parametrization."""

    def forward(self, x: Any) -> Any:
        return x * 2


def attribute(path: str, make: Callable[[World], Any]) -> Change:
    """Sets an attribute at a path from the world on."""

    def change(w: World) -> None:
        *way, name = path.split(".")
        owner: Any = w
        for step in way:
            owner = getattr(owner, step)
        setattr(owner, name, make(w))

    return change


def option(name: str, value: Any) -> Change:
    """Sets an option of all parameter groups."""

    def change(w: World) -> None:
        for group in w.optimizer.param_groups:
            group[name] = value

    return change


def first_rows(n: int) -> Change:
    def change(w: World) -> None:
        w.x, w.y = w.x[:n], w.y[:n]

    return change


def states(rule: Callable[[str, Any], Any]) -> Change:
    """Replaces tensors of the optimizer's state."""

    def change(w: World) -> None:
        for entry in w.optimizer.state.values():
            for name, value in list(entry.items()):
                if isinstance(value, torch.Tensor):
                    entry[name] = rule(name, value)

    return change


def one_step_counted(w: World) -> None:
    for entry in list(w.optimizer.state.values())[:1]:
        if "step" in entry:
            entry["step"].add_(7)


def extra_parameter(w: World) -> None:
    del w.model.extra
    w.model.extra = nn.Parameter(torch.ones(8))


def extra_parameter_trained(w: World) -> None:
    extra_parameter(w)
    w.optimizer.add_param_group({"params": [w.model.extra]})


def gradients(make: Callable[[Any], Any]) -> Change:
    def change(w: World) -> None:
        for p in w.model.parameters():
            p.grad = make(p)

    return change


def shared_gradients(first: Any, second: Any) -> Change:
    """Has two parameters' gradients lie in one memory."""

    def change(w: World) -> None:
        base = torch.ones(16)
        w.model.tied.grad, w.model.a.bias.grad = base[first], base[second]

    return change


def patched_step(w: World) -> None:
    real = w.optimizer.step
    w.optimizer.step = lambda *a, **k: (w.log.append("step"), real(*a, **k))[1]


def node_hook(w: World) -> None:
    node = w.model.a.weight.expand_as(w.model.a.weight).grad_fn.next_functions[0][0]
    node.register_hook(lambda *a: w.log.append("node"))
    w.log.append(0)
    gc.collect()


def ones_for_all(w: World) -> dict[str, Any]:
    return {k: torch.ones_like(v) for k, v in w.model.state_dict().items()}


def to_the_end(w: World) -> None:
    w.model._modules["a"] = w.model._modules.pop("a")


DATA: dict[str, Change] = {
    "nothing": lambda w: None,
    "fewer rows": first_rows(3),
    "one row": first_rows(1),
    "no rows": first_rows(0),
    "double input": lambda w: setattr(w, "x", w.x.double()),
    "turned input": lambda w: setattr(w, "x", torch.randn(4, 6).t()),
    "sliced input": lambda w: setattr(w, "x", torch.randn(12, 8)[::2, 2:6]),
    "input inside of a parameter": attribute("x", lambda w: w.model.b.weight.detach().view(6, 4)),
    "input requires grad": lambda w: w.x.requires_grad_(True),
    "input with a history": lambda w: setattr(w, "x", w.x.requires_grad_(True) * 2),
    "input of inference": lambda w: setattr(w, "x", torch.inference_mode()(torch.ones)(6, 4)),
    "wrong shape": lambda w: setattr(w, "x", torch.randn(6, 5)),
    "class out of range": lambda w: w.y.fill_(9),
    "ignored classes": lambda w: w.y[:2].fill_(-100),
    "nan": lambda w: w.x[0].fill_(math.nan),
    "inf": lambda w: w.x[0].fill_(math.inf),
    "subclass": lambda w: setattr(w, "x", w.x.as_subclass(Subclass)),
    "parameter": lambda w: setattr(w, "x", nn.Parameter(w.x)),
    "list": lambda w: setattr(w, "x", w.x.tolist()),
    "array": lambda w: setattr(w, "x", w.x.numpy()),
    "none": lambda w: setattr(w, "x", None),
    "seed": lambda w: torch.manual_seed(77),
    "collected": lambda w: gc.collect(),
}
MODEL: dict[str, Change] = {
    "eval": lambda w: w.model.eval(),
    "dropout eval": lambda w: w.model.d.eval(),
    "norm eval": lambda w: w.model.n.eval(),
    "dropout p": attribute("model.d.p", lambda w: 0.9),
    "norm momentum": attribute("model.n.momentum", lambda w: 0.7),
    "norm without momentum": attribute("model.n.momentum", lambda w: None),
    "norm eps": attribute("model.l.eps", lambda w: 1.0),
    "norm without statistics": attribute("model.n.track_running_stats", lambda w: False),
    "norm counts": lambda w: w.model.n.num_batches_tracked.fill_(100),
    "gain": attribute("model.gain", lambda w: -2.0),
    "mode": attribute("model.mode", lambda w: "relu"),
    "entry of a list": lambda w: w.model.flags.__setitem__(0, False),
    "another list": attribute("model.flags", lambda w: [False]),
    "entry of a dict": lambda w: w.model.table.__setitem__("k", 5.0),
    "empty dict": lambda w: w.model.table.clear(),
    "number for none": attribute("model.extra", lambda w: 3.0),
    "tensor for none": attribute("model.extra", lambda w: torch.ones(8)),
    "parameter for none": extra_parameter,
    "frozen": lambda w: w.model.a.weight.requires_grad_(False),
    "all frozen": lambda w: w.model.requires_grad_(False),
    "other data": attribute("model.a.weight.data", lambda w: torch.ones(8, 4)),
    "turned data": attribute("model.a.weight.data", lambda w: torch.ones(4, 8).t()),
    "shared data": attribute("model.a.bias.data", lambda w: w.model.tied.data),
    "double": lambda w: (w.model.double(), setattr(w, "x", w.x.double())),
    "bfloat16": lambda w: (w.model.bfloat16(), setattr(w, "x", w.x.bfloat16())),
    "new parameter": attribute("model.a.weight", lambda w: nn.Parameter(torch.ones(8, 4))),
    "no bias": attribute("model.a.bias", lambda w: None),
    "tied": attribute("model.a.bias", lambda w: w.model.tied),
    "buffer": attribute("model.scale", lambda w: torch.full((8,), 3.0)),
    "buffer in place": lambda w: w.model.scale.mul_(2),
    "buffer is a parameter": attribute("model.scale", lambda w: w.model.tied.detach()),
    "buffer wants a gradient": lambda w: w.model.scale.requires_grad_(True),
    "no buffer": lambda w: w.model._buffers.pop("scale"),
    "new layer": attribute("model.a", lambda w: nn.Linear(4, 8)),
    "no norm": attribute("model.n", lambda w: nn.Identity()),
    "several layers": attribute("model.a", lambda w: nn.Sequential(nn.Linear(4, 8), nn.ReLU())),
    "forward of a layer": attribute("model.a.forward",
                                    lambda w: lambda x: F.linear(x, w.model.a.weight)),
    "forward": attribute("model.forward", lambda w: lambda x: w.model.b(torch.ones(6, 8))),
    "parametrization": lambda w: torch.nn.utils.parametrize.register_parametrization(
        w.model.a, "weight", Twice()),
    "spectral norm": lambda w: torch.nn.utils.parametrizations.spectral_norm(w.model.a),
    "pruned": lambda w: torch.nn.utils.prune.l1_unstructured(w.model.a, "weight", 0.5),
    "loaded": lambda w: w.model.load_state_dict(ones_for_all(w)),
    "assigned": lambda w: w.model.load_state_dict(ones_for_all(w), assign=True),
    "order of layers": to_the_end,
    "a copy is changed": lambda w: copy.deepcopy(w.model).a.weight.data.fill_(3),
    "copied step": lambda w: copy.deepcopy(w.step),
}  # fmt: skip
HOOKS: dict[str, Change] = {
    "forward hook": lambda w: w.model.a.register_forward_hook(
        lambda m, i, o: (w.log.append(1), o * 2)[1]),
    "forward pre hook": lambda w: w.model.a.register_forward_pre_hook(
        lambda m, i: (w.log.append(1), (i[0] * 2,))[1]),
    "hook of the model": lambda w: w.model.register_forward_hook(
        lambda m, i, o: w.log.append(tuple(o.shape))),
    "backward hook": lambda w: w.model.b.register_full_backward_hook(
        lambda m, i, o: w.log.append(len(o))),
    "backward pre hook": lambda w: w.model.b.register_full_backward_pre_hook(
        lambda m, o: w.log.append(len(o))),
    "tensor hook": lambda w: w.model.a.weight.register_hook(
        lambda g: (w.log.append(1), g * 0.5)[1]),
    "hook after accumulation": lambda w: w.model.a.weight.register_post_accumulate_grad_hook(
        lambda p: w.log.append(1)),
    "hook of a node": node_hook,
    "optimizer pre hook": lambda w: w.optimizer.register_step_pre_hook(
        lambda *a: w.log.append(2)),
    "optimizer post hook": lambda w: w.optimizer.register_step_post_hook(
        lambda *a: w.log.append(3)),
    "optimizer patched": patched_step,
    "zero_grad patched": attribute("optimizer.zero_grad",
                                   lambda w: lambda *a, **k: w.log.append("zero")),
    "scheduler": lambda w: optim.lr_scheduler.ExponentialLR(w.optimizer, 0.5),
}  # fmt: skip
OPTIMIZER: dict[str, Change] = {
    f"{name} = {value}": option(name, value)
    for name, value in [
        ("lr", 0.2), ("lr", 1), ("momentum", 0.3), ("momentum", 0.0), ("weight_decay", 0.3),
        ("weight_decay", 0.0), ("maximize", True), ("betas", (0.5, 0.8)), ("eps", 0.1),
        ("nesterov", True), ("dampening", 0.5), ("amsgrad", True), ("foreach", True),
        ("fused", True), ("differentiable", True),
    ]
} | {
    "lr is a tensor": lambda w: option("lr", torch.tensor(0.1))(w),
    "lr of one group": lambda w: w.optimizer.param_groups[-1].__setitem__("lr", 0.3),
    "another group": lambda w: w.optimizer.add_param_group(
        {"params": [nn.Parameter(torch.ones(2))]}),
    "another group in use": extra_parameter_trained,
    "one parameter less": lambda w: w.optimizer.param_groups[0]["params"].pop(),
    "new groups": attribute("optimizer.param_groups",
                            lambda w: [dict(g) for g in w.optimizer.param_groups]),
    "state loaded": lambda w: w.optimizer.load_state_dict(
        copy.deepcopy(w.optimizer.state_dict())),
    "no state": lambda w: w.optimizer.state.clear(),
    "state of one gone": lambda w: w.optimizer.state.pop(w.model.a.weight, None),
    "state replaced": states(lambda name, t: t * 0.5 if t.dim() else t),
    "steps replaced": states(lambda name, t: t + 100 if name == "step" else t),
    "one step counted": one_step_counted,
}  # fmt: skip
GRADIENTS: dict[str, Change] = {
    "none": gradients(lambda p: None),
    "ones": gradients(torch.ones_like),
    "of one": attribute("model.a.weight.grad", lambda w: torch.ones(8, 4)),
    "turned": attribute("model.a.weight.grad", lambda w: torch.ones(4, 8).t()),
    "shared": shared_gradients(slice(0, 8), slice(0, 8)),
    "overlapping": shared_gradients(slice(0, 8), slice(4, 12)),
    "kept": lambda w: w.kept.extend(p.grad for p in w.model.parameters()),
}
CHANGES = {
    f"{kind}: {name}": change
    for kind, changes in [("data", DATA), ("model", MODEL), ("hooks", HOOKS),
                          ("optimizer", OPTIMIZER), ("gradients", GRADIENTS)]
    for name, change in changes.items()
}  # fmt: skip
