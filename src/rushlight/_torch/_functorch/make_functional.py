"""`make_functional`: a module as a function of its parameters, the way of `functorch`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..._table import PUBLIC
from ...func import functional_call
from ...nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._tensor.tensor import Tensor

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functional_init", "functional_init_with_buffers",
    "make_functional", "make_functional_with_buffers",
]  # fmt: skip


class _Functional(Module):
    """A copy of a module that is called with tensors for its own."""

    def __init__(
        self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...],
        all_names_map: dict[str, list[str]],
    ) -> None:  # fmt: skip
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = all_names_map

    def _called(
        self, params: Sequence[Tensor], buffers: Any, args: tuple[Tensor, ...], kwargs: Any
    ) -> Any:
        state: dict[str, Any] = {}
        names = (*self.param_names, *self.buffer_names)
        for name, tensor in zip(names, (*params, *buffers)):
            for alias in self.all_names_map[name]:
                state[alias] = tensor
        return functional_call(self.stateless_model, state, args, kwargs)

    @classmethod
    def _make(cls, model: Module, buffers: bool, frozen: bool) -> Any:
        own = copy.deepcopy(model)
        params, param_names, aliases = _name_tensors(own.named_parameters, model.named_parameters)
        held: tuple[Any, ...] = ()
        buffer_names: tuple[str, ...] = ()
        if buffers:
            held, buffer_names, more = _name_tensors(own.named_buffers, model.named_buffers)
            aliases.update(more)
        if frozen:
            params = tuple(p.detach() for p in params)
        else:
            params = tuple(p.detach().clone().requires_grad_(p.requires_grad) for p in params)
        function = cls(own, param_names, buffer_names, aliases)
        return (function, params, held) if buffers else (function, params)


def _name_tensors(
    own: Callable[..., Any], given: Callable[..., Any]
) -> tuple[tuple[Any, ...], tuple[str, ...], dict[str, list[str]]]:
    """The tensors, the first name of each, and all names by the first one."""
    first: dict[int, str] = {}
    aliases: dict[str, list[str]] = {}
    found = []
    for name, tensor in given(remove_duplicate=False):
        if tensor is None:
            continue
        if id(tensor) in first:
            aliases[first[id(tensor)]].append(name)
            continue
        first[id(tensor)] = name
        aliases[name] = [name]
    own_tensors = dict(own(remove_duplicate=False))
    found = [own_tensors[name] for name in aliases]
    return tuple(found), tuple(aliases), aliases


class FunctionalModuleWithBuffers(_Functional):
    """The callable that `make_functional_with_buffers` gives: `f(params, buffers, *inputs)`."""

    def forward(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        """The module's result with these parameters and buffers."""
        return self._called(params, buffers, args, kwargs)

    @staticmethod
    def _create_from(model: Module, disable_autograd_tracking: bool = False) -> Any:
        return FunctionalModuleWithBuffers._make(model, True, disable_autograd_tracking)


class FunctionalModule(_Functional):
    """The callable that `make_functional` gives: `f(params, *inputs)`."""

    def forward(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        """The module's result with these parameters."""
        return self._called(params, (), args, kwargs)

    @staticmethod
    def _create_from(model: Module, disable_autograd_tracking: bool = False) -> Any:
        return FunctionalModule._make(model, False, disable_autograd_tracking)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """`(f, params)`: the module as a function of its parameters, and copies of these.

    Raises:
        RuntimeError: for a module with buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """`(f, params, buffers)`: the module as a function of its tensors, and copies of these."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Any) -> Any:
    """`(f, params, buffers)` of several modules alike, the tensors stacked, for `vmap`.

    Raises:
        RuntimeError: for no module, for modules in different modes, or of different classes.
    """
    models = list(models)
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to be of the same class."
        )
    functions, params, buffers = zip(*[make_functional_with_buffers(m) for m in models])
    stack = PUBLIC[("", "stack")]
    stacked = tuple(stack(list(column)).detach() for column in zip(*params))
    return functions[0], stacked, tuple(stack(list(column)) for column in zip(*buffers))


def functional_init(
    model_class: Callable[..., Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """A constructor of an ensemble: it gives (weights, f(weights, inputs), names of the weights).

    Raises:
        ValueError: for a shape of several dimensions, or without models; for buffers.
    """

    def make(*args: Any, **kwargs: Any) -> Any:
        functions, weights, buffers = _ensemble(model_class, ensemble_shape, device, args, kwargs)
        if buffers:
            raise RuntimeError(
                "make_functional(model): `model` has buffers. Please use "
                "make_functional_with_buffers(model) instead."
            )
        function = functions[0]
        return weights, lambda w, data: function(w, *data), function.param_names

    return make


def functional_init_with_buffers(
    model_class: Callable[..., Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """The same with buffers: (weights, buffers, f(weights, buffers, inputs), names of both).

    Raises:
        ValueError: for a shape of several dimensions, or without models.
    """

    def make(*args: Any, **kwargs: Any) -> Any:
        functions, weights, buffers = _ensemble(model_class, ensemble_shape, device, args, kwargs)
        function = functions[0]
        names = function.param_names, function.buffer_names
        return weights, buffers, lambda w, b, data: function(w, b, *data), *names

    return make


def _ensemble(
    model_class: Callable[..., Module], shape: tuple[int, ...], device: Any,
    args: Any, kwargs: Any,
) -> Any:  # fmt: skip
    """The functions of some models of a class, and their tensors, stacked where there are many."""
    if len(shape) >= 2:
        raise ValueError("NYI: ensemble_shape with more than 1 element")
    count = shape[0] if shape else 1
    if count <= 0:
        raise ValueError(f"num_models {count} should be > 0")
    models = [model_class(*args, **kwargs).to(device) for _ in range(count)]
    functions, params, buffers = zip(*[make_functional_with_buffers(m, True) for m in models])
    if not any(buffers):
        functions = tuple(make_functional(m, True)[0] for m in models)
    if not shape:
        return functions, params[0], buffers[0]
    stack = PUBLIC[("", "stack")]
    together = [tuple(stack(list(c)) for c in zip(*held)) for held in (params, buffers)]
    return functions, *together
