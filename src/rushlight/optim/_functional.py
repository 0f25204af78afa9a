"""The optimizers' rules as functions on lists of tensors: `torch.optim.adam.adam(...)` and its kin.

Each is the step of its class, on the states that the caller keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Final

from . import (
    adadelta as _adadelta,
    adagrad as _adagrad,
    adam as _adam,
    adamax as _adamax,
    adamw as _adamw,
    asgd as _asgd,
    nadam as _nadam,
    radam as _radam,
    rmsprop as _rmsprop,
    rprop as _rprop,
    sgd as _sgd,
)
from ._ground import Tensor, no_grad
from ._rule import RuleOptimizer

if TYPE_CHECKING:
    from .annotations import ParamGroup


__all__ = [
    "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop",
    "sgd",
]  # fmt: skip

_FLAGS: Final = {"foreach": None, "capturable": False, "differentiable": False, "fused": None,
                 "grad_scale": None, "found_inf": None, "has_complex": False, "maximize": False,
                 "has_sparse_grad": False, "decoupled_weight_decay": False}  # fmt: skip
_PAIRS: Final = {"beta1": ("betas", 0), "beta2": ("betas", 1), "etaminus": ("etas", 0),
                 "etaplus": ("etas", 1), "step_size_min": ("step_sizes", 0),
                 "step_size_max": ("step_sizes", 1)}  # fmt: skip
_ALWAYS: Final = {"differentiable": False, "maximize": False, "foreach": None, "capturable": False,
                  "decoupled_weight_decay": False, "lr": 0.0, "weight_decay": 0.0}  # fmt: skip


def _function(
    cls: type[RuleOptimizer], states: str, flags: str, numbers: str, grads: str = "grads"
) -> Callable[..., None]:
    """The function of a rule: lists named like `exp_avgs:exp_avg`, then flags, then numbers."""
    lists = [pair.split(":") for pair in states.split()]
    either, named = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    signature = Signature([
        *(Parameter(name, either) for name in ("params", grads, *(name for name, _ in lists))),
        *(Parameter(name, either, default=_FLAGS[name]) for name in flags.split()),
        *(Parameter(name, named) for name in numbers.split()),
    ])  # fmt: skip

    def function(*args: object, **kwargs: object) -> None:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values = given.arguments
        group: dict[str, Any] = dict(_ALWAYS)
        if cls is _adamw.AdamW:
            group["decoupled_weight_decay"] = True
        for name in (*flags.split(), *numbers.split()):
            if name in _PAIRS:
                key, place = _PAIRS[name]
                group.setdefault(key, [0.0, 0.0])[place] = values[name]
            else:
                group[name] = values[name]
        kept = [(values[name], key) for name, key in lists]
        _step(cls, values["params"], values[grads], kept, group)

    name = cls.__name__.lower()
    function.__name__ = function.__qualname__ = name
    function.__module__ = cls.__module__
    function.__doc__ = f"One step of {cls.__name__} on lists of parameters, gradients and states."
    function.__signature__ = signature  # type: ignore[attr-defined]
    setattr(sys.modules[cls.__module__], name, function)
    return function


def _step(cls: type[RuleOptimizer], params: Any, grads: Any, kept: Any, group: ParamGroup) -> None:
    with no_grad():
        for i, (p, grad) in enumerate(zip(params, grads, strict=True)):
            rule: Any = cls.__new__(cls)
            state = {key: some[i] for some, key in kept if len(some) > i and some[i] is not None}
            rule.state = {p: state}
            before = p._grad
            p._grad = grad
            try:
                if grad._layered and grad.is_sparse:
                    rule._update_rows(p, group)
                elif group["differentiable"] or rule._sweep({**group, "params": [p]}):
                    rule._update(p, group)
            finally:
                p._grad = before
            for some, key in kept:
                if len(some) > i and key in state and state[key] is not some[i]:
                    if isinstance(some[i], Tensor):
                        some[i].copy_(state[key])
                    else:
                        some[i] = state[key]


_MOMENTS: Final = "exp_avgs:exp_avg exp_avg_sqs:exp_avg_sq"
adam = _function(
    _adam.Adam, f"{_MOMENTS} max_exp_avg_sqs:max_exp_avg_sq state_steps:step",
    "foreach capturable differentiable fused grad_scale found_inf has_complex "
    "decoupled_weight_decay", "amsgrad beta1 beta2 lr weight_decay eps maximize",
)  # fmt: skip
adamw = _function(
    _adamw.AdamW, f"{_MOMENTS} max_exp_avg_sqs:max_exp_avg_sq state_steps:step",
    "foreach capturable differentiable fused grad_scale found_inf has_complex",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)  # fmt: skip
sgd = _function(
    _sgd.SGD, "momentum_buffer_list:momentum_buffer",
    "has_sparse_grad foreach fused grad_scale found_inf",
    "weight_decay momentum lr dampening nesterov maximize", "d_p_list",
)  # fmt: skip
adagrad = _function(
    _adagrad.Adagrad, "state_sums:sum state_steps:step",
    "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
    "lr weight_decay lr_decay eps maximize",
)  # fmt: skip
rmsprop = _function(
    _rmsprop.RMSprop,
    "square_avgs:square_avg grad_avgs:grad_avg momentum_buffer_list:momentum_buffer "
    "state_steps:step", "foreach maximize differentiable capturable has_complex",
    "lr alpha eps weight_decay momentum centered",
)  # fmt: skip
adadelta = _function(
    _adadelta.Adadelta, "square_avgs:square_avg acc_deltas:acc_delta state_steps:step",
    "capturable foreach differentiable has_complex", "lr rho eps weight_decay maximize",
)  # fmt: skip
adamax = _function(
    _adamax.Adamax, "exp_avgs:exp_avg exp_infs:exp_inf state_steps:step",
    "foreach maximize differentiable capturable has_complex", "eps beta1 beta2 lr weight_decay",
)  # fmt: skip
nadam = _function(
    _nadam.NAdam, f"{_MOMENTS} mu_products:mu_product state_steps:step",
    "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)  # fmt: skip
radam = _function(
    _radam.RAdam, f"{_MOMENTS} state_steps:step",
    "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
    "beta1 beta2 lr weight_decay eps",
)  # fmt: skip
asgd = _function(
    _asgd.ASGD, "axs:ax mus:mu etas:eta state_steps:step",
    "foreach maximize differentiable capturable has_complex", "lambd lr t0 alpha weight_decay",
)  # fmt: skip
rprop = _function(
    _rprop.Rprop, "prevs:prev step_sizes:step_size state_steps:step",
    "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus",
)  # fmt: skip
