"""State dictionaries of models and optimizers by the names of parameters, in one process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
    "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip

_WRAPPERS = ("module.", "_orig_mod.", "_checkpoint_wrapped_module.")


@dataclass
class StateDictOptions:
    """How dictionaries are put together; in one process all of them are whole."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _plain(model: Module, name: str) -> str:
    """A parameter's name without what DistributedDataParallel, compile and wrappers add."""
    from ..data_parallel import DistributedDataParallel

    for wrapper in _WRAPPERS:
        if wrapper == "module." and not isinstance(model, DistributedDataParallel):
            continue
        name = name.replace(wrapper, "")
    return name


def get_model_state_dict(
    model: Module, *, submodules: object = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The model's state by the plain names of its parameters and buffers."""
    chosen = options or StateDictOptions()
    frozen = {n for n, p in model.named_parameters() if not p.requires_grad}
    state: dict[str, Any] = model.state_dict()
    for name in list(state):
        value = state.pop(name)
        if chosen.ignore_frozen_params and name in frozen:
            continue
        if chosen.cpu_offload and hasattr(value, "detach"):
            value = value.detach().cpu()
        state[_plain(model, name)] = value
    return state


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, object], *, options: StateDictOptions | None = None
) -> object:
    """Loads what `get_model_state_dict` gave; gives the missing and the unexpected names."""
    chosen = options or StateDictOptions()
    named = {_plain(model, name): name for name in model.state_dict()}
    state = {named.get(name, name): value for name, value in model_state_dict.items()}
    return model.load_state_dict(state, strict=chosen.strict)


def _all(optimizers: Any) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: object = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The optimizers' states and groups, with parameters by name instead of by number."""
    names = {id(p): _plain(model, n) for n, p in model.named_parameters()}
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in _all(optimizers):
        _with_state(optimizer)
        held = optimizer.state_dict()
        order = [names[id(p)] for g in optimizer.param_groups for p in g["params"]]
        state.update({order[place]: value for place, value in held["state"].items()})
        for group in held["param_groups"]:
            groups.append({**group, "params": [order[place] for place in group["params"]]})
    if options is not None and options.flatten_optimizer_state_dict:
        flat = {f"state.{n}.{k}": v for n, parts in state.items() for k, v in parts.items()}
        for group in groups:
            for name in group["params"]:
                flat |= {f"param_groups.{name}.{k}": v for k, v in group.items() if k != "params"}
        return flat
    return {"state": state, "param_groups": groups}


def _with_state(optimizer: Optimizer) -> None:
    """Gives an optimizer that has not stepped yet a state, by a step that changes nothing."""
    parameters = [p for g in optimizer.param_groups for p in g["params"]]
    if optimizer.state or any(p.grad is not None for p in parameters):
        return
    rates = [g["lr"] for g in optimizer.param_groups]
    for p in parameters:
        p.grad = p.detach().clone().zero_() if p.requires_grad else None
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * 0 if hasattr(group["lr"], "detach") else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Loads what `get_optimizer_state_dict` gave.

    Raises: RuntimeError, where a parameter of the optimizer is in no group of the dictionary.
    """
    names = {id(p): _plain(model, n) for n, p in model.named_parameters()}
    given = optim_state_dict
    if given and "param_groups" not in given:
        given = _unflatten(given)
    for optimizer in _all(optimizers):
        held = optimizer.state_dict()
        order = [names[id(p)] for g in optimizer.param_groups for p in g["params"]]
        for group in held["param_groups"]:
            own = [order[place] for place in group["params"]]
            found = next((g for g in given["param_groups"] if set(own) <= set(g["params"])), None)
            if found is None:
                raise RuntimeError(f"no group of the dictionary has the parameters {own}")
            group.update({k: v for k, v in found.items() if k != "params"})
        held["state"] = {
            place: given["state"][name]
            for place, name in enumerate(order)
            if name in given["state"]
        }
        optimizer.load_state_dict(held)


def _unflatten(flat: dict[str, object]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for key, value in flat.items():
        kind, _, rest = key.partition(".")
        name, _, part = rest.rpartition(".")
        (state if kind == "state" else groups).setdefault(name, {})[part] = value
    return {
        "state": state,
        "param_groups": [{"params": [name], **group} for name, group in groups.items()],
    }


def get_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: object = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of the model and of the optimizers."""
    return (
        get_model_state_dict(model, options=options),
        get_optimizer_state_dict(model, optimizers, options=options),
    )


def set_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, object],
    optim_state_dict: dict[str, object],
    options: StateDictOptions | None = None,
) -> object:
    """Loads what `get_state_dict` gave."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
