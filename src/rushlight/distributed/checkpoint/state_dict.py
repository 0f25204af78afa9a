"""State dictionaries of models and optimizers by the names of parameters: whole, or in pieces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...nn.modules._state import _IncompatibleKeys
from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ..fsdp import api
from ..fsdp.fully_sharded_data_parallel import FullyShardedDataParallel
from .whole_states import cut_like, gather, of_the_first

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
    "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip

_WRAPPERS = ("module.", "_orig_mod.", "_checkpoint_wrapped_module.", "_fsdp_wrapped_module.")


@dataclass
class StateDictOptions:
    """How dictionaries are put together.

    Parameters:
        full_state_dict: whether what is cut over ranks is gathered; what is loaded is cut again.
        cpu_offload: whether tensors go to the memory of the CPU; with `full_state_dict`, whether
            rank 0 alone is given them, and the others an empty dictionary.
        ignore_frozen_params: whether parameters that need no gradient are left out.
        keep_submodule_prefixes, dsd_fqn_modifiers: nothing here.
        strict: whether loading refuses names that are missing or unexpected.
        broadcast_from_rank0: whether rank 0's dictionary is loaded on all ranks.
        flatten_optimizer_state_dict: whether an optimizer's dictionary has one level, with names as
            "state.weight.exp_avg".
    Raises: TypeError: for other parameters.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(2, 1)
        >>> frozen = model.bias.requires_grad_(False)
        >>> options = states.StateDictOptions(ignore_frozen_params=True)
        >>> list(states.get_model_state_dict(model, options=options))
        ['weight']
    """

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


def _choose(options: StateDictOptions | None) -> StateDictOptions:
    """The options, or those without any.

    Raises: ValueError, for a dictionary that comes from rank 0 and isn't whole.
    """
    chosen = options or StateDictOptions()
    if chosen.broadcast_from_rank0 and not chosen.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return chosen


def _kind(model: Module, chosen: StateDictOptions) -> contextlib.AbstractContextManager[None]:
    """A context in which FullyShardedDataParallel gives the kind of dictionaries asked for.

    It gathers whole ones itself; that of rank 0 alone is left to `gather`.
    """
    if not FullyShardedDataParallel.fsdp_modules(model):
        return contextlib.nullcontext()
    kind = api.StateDictType.FULL_STATE_DICT
    if not chosen.full_state_dict:
        kind = api.StateDictType.SHARDED_STATE_DICT
    return FullyShardedDataParallel.state_dict_type(model, kind)


def get_model_state_dict(
    model: Module, *, submodules: object = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The model's state by the plain names of its parameters and buffers.

    Parameters:
        model: the module; what wraps it or its parts leaves no trace in the names.
        submodules: nothing here.
        options: a `StateDictOptions`; None means its defaults.
    Returns: a dictionary of tensors, which share the model's memory unless they are gathered.
    Raises: ValueError: for options that don't go together.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> list(states.get_model_state_dict(nn.Linear(2, 1)))
        ['weight', 'bias']
    """
    chosen = _choose(options)
    frozen = {_plain(model, n) for n, p in model.named_parameters() if not p.requires_grad}
    with _kind(model, chosen):
        held = model.state_dict()
    state = {_plain(model, name): value for name, value in held.items()}
    if chosen.ignore_frozen_params:
        state = {name: value for name, value in state.items() if name not in frozen}
    if not chosen.full_state_dict and not chosen.cpu_offload:
        return state
    return gather(state, chosen.full_state_dict, chosen.cpu_offload)


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> object:
    """Loads what `get_model_state_dict` gave.

    Parameters:
        model: the module.
        model_state_dict: tensors by the plain names; an empty one changes nothing.
        options: a `StateDictOptions`; None means its defaults.
    Returns: the missing and the unexpected names, as `load_state_dict` gives them.
    Raises:
        RuntimeError: where a name is missing or unexpected, and `strict` holds; for another shape.
        ValueError: for options that don't go together.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(1, 1)
        >>> kept = {"weight": torch.ones(1, 1), "bias": torch.zeros(1)}
        >>> states.set_model_state_dict(model, kept)
        <All keys matched successfully>
    """
    chosen = _choose(options)
    if not model_state_dict and not chosen.broadcast_from_rank0:
        return _IncompatibleKeys([], [])
    given = model_state_dict
    if chosen.broadcast_from_rank0:
        given = of_the_first(given)
    with _kind(model, chosen):
        own = model.state_dict()
        named = {_plain(model, name): name for name in own}
        state = {named.get(name, name): value for name, value in given.items()}
        if chosen.full_state_dict:
            # What isn't given stays, but where it had to come from rank 0.
            base = {} if chosen.broadcast_from_rank0 else own
            state = base | {name: cut_like(own.get(name), value) for name, value in state.items()}
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
    """The optimizers' states and groups, with parameters by name instead of by number.

    An optimizer that has not stepped yet steps once, by nothing, so that it has a state.

    Parameters:
        model: the module whose parameters they step.
        optimizers: one optimizer or several.
        submodules: nothing here.
        options: a `StateDictOptions`; None means its defaults.
    Returns: a dictionary of "state" and "param_groups".
    Raises:
        ValueError: for options that don't go together.
        KeyError: for a parameter that the model hasn't.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(2, 1)
        >>> held = states.get_optimizer_state_dict(model, torch.optim.Adam(model.parameters()))
        >>> list(held["state"]["weight"]), held["param_groups"][0]["params"]
        (['step', 'exp_avg', 'exp_avg_sq'], ['weight', 'bias'])
    """
    chosen = _choose(options)
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in _all(optimizers):
        _with_state(optimizer)
        named = _name_parameters(model, optimizer)
        state.update(named["state"])
        groups += named["param_groups"]
    if chosen.full_state_dict or chosen.cpu_offload:
        both: dict[str, Any] = {"state": state, "param_groups": groups}
        both = gather(both, chosen.full_state_dict, chosen.cpu_offload)
        if not both:
            return {}
        state, groups = both["state"], both["param_groups"]
    if chosen.flatten_optimizer_state_dict:
        flat = {f"state.{n}.{k}": v for n, parts in state.items() for k, v in parts.items()}
        for group in groups:
            for name in group["params"]:
                flat |= {f"param_groups.{name}.{k}": v for k, v in group.items() if k != "params"}
        return flat
    return {"state": state, "param_groups": groups}


def _name_parameters(model: Module, optimizer: Optimizer) -> dict[str, Any]:
    """An optimizer's dictionary with the parameters by their names."""
    if FullyShardedDataParallel.fsdp_modules(model):
        return FullyShardedDataParallel.optim_state_dict(model, optimizer)
    names = {id(p): _plain(model, n) for n, p in model.named_parameters()}
    held = optimizer.state_dict()
    order = [names[id(p)] for g in optimizer.param_groups for p in g["params"]]
    return {
        "state": {order[place]: value for place, value in held["state"].items()},
        "param_groups": [
            {**group, "params": [order[place] for place in group["params"]]}
            for group in held["param_groups"]
        ],
    }


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

    Parameters:
        model: the module whose parameters the optimizers step.
        optimizers: one optimizer or several.
        optim_state_dict: the dictionary, of two levels or flat.
        options: a `StateDictOptions`; None means its defaults.
    Raises:
        RuntimeError: where a parameter of the optimizer is in no group of the dictionary.
        ValueError: for options that don't go together.
        KeyError: for a dictionary without groups, and for a parameter that the model hasn't.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(2, 1)
        >>> held = states.get_optimizer_state_dict(model, optim.SGD(model.parameters(), lr=0.5))
        >>> other = optim.SGD(model.parameters(), lr=0.1)
        >>> states.set_optimizer_state_dict(model, other, held)
        >>> other.param_groups[0]["lr"]
        0.5
    """
    chosen = _choose(options)
    names = {id(p): _plain(model, n) for n, p in model.named_parameters()}
    given = optim_state_dict
    if chosen.broadcast_from_rank0:
        given = of_the_first(given)
    if given and "param_groups" not in given:
        given = _unflatten(given)
    for optimizer in _all(optimizers):
        if FullyShardedDataParallel.fsdp_modules(model):
            FullyShardedDataParallel.optim_state_dict_to_load(
                model, optimizer, given, load_directly=True
            )
            continue
        held = optimizer.state_dict()
        order = [names[id(p)] for g in optimizer.param_groups for p in g["params"]]
        for group in held["param_groups"]:
            own = [order[place] for place in group["params"]]
            found = next((g for g in given["param_groups"] if set(own) <= set(g["params"])), None)
            if found is None:
                raise RuntimeError(f"no group of the dictionary has the parameters {own}")
            group.update({k: v for k, v in found.items() if k != "params"})
        parameters = [p for g in optimizer.param_groups for p in g["params"]]
        held["state"] = {
            place: {key: cut_like(parameters[place], v) for key, v in given["state"][name].items()}
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
    """The states of the model and of the optimizers.

    Parameters:
        model: the module.
        optimizers: one optimizer or several, which step its parameters.
        submodules: nothing here.
        options: a `StateDictOptions`; None means its defaults.
    Returns: what `get_model_state_dict` and `get_optimizer_state_dict` give.
    Raises: ValueError: for options that don't go together. KeyError: for a parameter that the model
        hasn't.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(2, 1)
        >>> weights, steps = states.get_state_dict(model, optim.SGD(model.parameters()))
        >>> list(weights), list(steps)
        (['weight', 'bias'], ['state', 'param_groups'])
    """
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
    """Loads what `get_state_dict` gave.

    Parameters:
        model: the module.
        optimizers: one optimizer or several, which step its parameters.
        model_state_dict, optim_state_dict: the two dictionaries.
        options: a `StateDictOptions`; None means its defaults.
    Returns: the missing and the unexpected names, as `load_state_dict` gives them.
    Raises:
        RuntimeError: where a name is missing or unexpected, and `strict` holds; for another shape,
            and where a parameter of the optimizer is in no group of the dictionary.
        ValueError: for options that don't go together.
        KeyError: for a dictionary without groups, and for a parameter that the model hasn't.
    Example:
        >>> from rushlight.distributed.checkpoint import state_dict as states
        >>> model = nn.Linear(2, 1)
        >>> steps = optim.SGD(model.parameters())
        >>> weights, state = states.get_state_dict(model, steps)
        >>> states.set_state_dict(model, steps, model_state_dict=weights, optim_state_dict=state)
        <All keys matched successfully>
    """
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
