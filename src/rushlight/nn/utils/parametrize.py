"""Parametrizations: a tensor of a module computed, whenever it is read, from other tensors.

Note [A class for each parametrized module]
Reading `module.weight` must run code, so the name has to be a property, and properties live in
classes. A parametrized module therefore gets a class of its own, derived from the one it had; when
its last parametrization goes, it gets the old class back.
"""

import collections
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from .._ground import Tensor, no_grad
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A context in which each parametrized tensor is computed once, at its first use."""
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register_parameter_or_buffer(module: Module, name: str, X: Tensor) -> None:
    if isinstance(X, Parameter):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


def _maybe_set(dest: Tensor, src: Tensor) -> None:
    """Makes `dest` hold what `src` holds, in its own memory where the shapes agree."""
    if dest is src:
        return
    if dest.shape == src.shape and dest.dtype is src.dtype:
        dest.copy_(src)
    else:
        dest.data = src.detach()


def _explain_change(what: str, place: str, before: object, after: object) -> ValueError:
    return ValueError(
        f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` "
        f"flag is enabled.\n{place.format('unparametrized', what)}: {before}\n"
        f"{place.format('parametrized', what)}: {after}"
    )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first to last, and the tensors they start from.

    Those are `original`, or `original0`, `original1` … where the first one's `right_inverse` gives
    several.
    Raises: ValueError for parametrizations that change the tensor's shape or dtype, unless
    `unsafe`.
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(list[Any](self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor) and not isinstance(new, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\n"
                    f"right_inverse(original).dtype: {new.dtype}"
                )
            with no_grad():
                _maybe_set(original, new)
            _register_parameter_or_buffer(self, "original", original)
        else:
            for i, one in enumerate(new):
                if not isinstance(one, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors "
                        "(list, tuple...). "
                        f"Got element {i} of the sequence with type {type(one).__name__}."
                    )
                if isinstance(original, Parameter):
                    one = Parameter(one, original.requires_grad)
                one.requires_grad_(original.requires_grad)
                _register_parameter_or_buffer(self, f"original{i}", one)
        if not unsafe:
            found = self()
            if not isinstance(found, Tensor):
                raise ValueError(
                    f"A parametrization must return a tensor. Got {type(found).__name__}."
                )
            if found.dtype != dtype:
                raise _explain_change("dtype", "{} {}", dtype, found.dtype)
            if found.shape != shape:
                raise _explain_change("shape", "{} {}", shape, found.shape)

    def _originals(self) -> list[Tensor]:
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrized tensor becomes `value`.

        Raises: RuntimeError where a parametrization has no `right_inverse`.
        """
        with no_grad():
            found: Any = value
            for module in reversed(list[Any](self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                found = module.right_inverse(found)
            if self.is_tensor:
                if not isinstance(found, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor, got {type(found).__name__}"
                    )
                if found.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {found.dtype} "
                        f"while `original` has dtype {self.original.dtype}"
                    )
                _maybe_set(self.original, found)
                return
            if not isinstance(found, collections.abc.Sequence):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors. "
                    f"Got {type(found).__name__}."
                )
            if len(found) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(found)}."
                )
            for i, (one, own) in enumerate(zip(found, self._originals())):
                if not isinstance(one, Tensor):
                    raise ValueError(
                        f"`right_inverse` must return a sequence of tensors. Got element {i} of "
                        f"type {type(one).__name__}"
                    )
                if one.dtype != own.dtype:
                    raise ValueError(
                        f"Tensor {i} returned by `right_inverse` has dtype {one.dtype} "
                        f"while `original{i}` has dtype {own.dtype}"
                    )
                _maybe_set(own, one)

    def forward(self) -> Tensor:
        first, *rest = list(self)
        x = first(self.original) if self.is_tensor else first(*self._originals())
        for module in rest:
            x = module(x)
        return x


def _no_state(self: Any) -> object:
    raise RuntimeError(
        "Serialization of parametrized modules is only "
        "supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _copy(self: Any, memo: dict[int, object]) -> object:
    """A deep copy, past `__getstate__`, which refuses."""
    if id(self) in memo:
        return memo[id(self)]
    twin = self.__new__(type(self))
    memo[id(self)] = twin
    twin.__dict__ = copy.deepcopy(self.__dict__, memo)
    return twin


def _chains(module: Module) -> Any:
    """The parametrizations of a module, by the name of the tensor."""
    return module.parametrizations


def _inject_new_class(module: Module) -> None:
    """See Note [A class for each parametrized module]."""
    cls = type(module)
    body: dict[str, Any] = {"__getstate__": _no_state}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = _copy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module: Module, tensor_name: str) -> None:
    def read(self: Any) -> Tensor:
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = (id(module), tensor_name)
        found = _cache.get(key)
        if found is None:
            found = _cache[key] = self.parametrizations[tensor_name]()
        return found

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(read, write))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes `module.tensor_name` what `parametrization` computes; returns the module.

    A `right_inverse` of the parametrization, where it has one, gives the starting point and is used
    when the tensor is assigned to. Several may be registered, and run in order.
    Raises: ValueError for one that changes shape or dtype, unless `unsafe`; for an unknown name.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = _chains(module)[tensor_name]
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        _chains(module)[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a "
            f"parametrized element with name '{tensor_name}'"
        )
    return module


def _check_next(module: Module, name: str, parametrization: Module) -> None:
    """Whether a further parametrization keeps shape and dtype, there and back."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless "
                f"the `unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)  # type: ignore[operator]
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} "
                f"as module.{name}, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {getattr(before, what)}\n"
                f"returned {what}: {getattr(back, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module, or its tensor of this name, is parametrized."""
    chains = getattr(module, "parametrizations", None)
    if not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Makes the tensor an ordinary one again: its present value, or its original.

    Raises: ValueError for a tensor that isn't parametrized, or has several originals to go back to.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = _chains(module)[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                # The object stays the same one: optimizers hold it.
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
            "that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del _chains(module)[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives one module the parametrizations of another, and their originals; returns it."""
    changed: Module = to_module
    if not is_parametrized(from_module):
        return changed
    names = [tensor_name] if tensor_name is not None else list(_chains(from_module))
    for name in names:
        chain = _chains(from_module)[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, chain.original)
        for one in chain:
            register_parametrization(to_module, name, one)
        own = _chains(to_module)[name]
        if chain.is_tensor:
            own.original = chain.original
        else:
            for i in range(chain.ntensors):
                setattr(own, f"original{i}", getattr(chain, f"original{i}"))
    return changed
